"""What a worker says of its script before anything is asked, checked."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping
from typing import Any

from overread.errors import BadInput, ModelFault
from overread.foreign.lament import tell
from overread.foreign.process import Process
from overread.media.contract import KINDS as MEDIA_KINDS
from overread.tables import QUESTION_KINDS, canonical
from overread.worker import PROTOCOL

LARGEST_BATCH = 256


@dataclasses.dataclass(frozen=True, slots=True)
class Greeting:
    """What the script takes, and in which environment it runs."""

    kinds: tuple[str, ...]
    forms: Mapping[str, str]
    identity: Mapping[str, Any]
    batch: int
    python: str
    numpy: str


def greet(process: Process, script: str, seconds: float) -> Greeting:
    """Waits for the greeting; BadInput says why the script cannot be used, or why nothing came."""
    until = time.monotonic() + seconds
    try:
        message = process.receive(until - time.monotonic())
    except ModelFault as error:
        raise BadInput(
            f"the model's worker {error.what} before its greeting\n{process.lament.told()}".rstrip(),
            where=script,
            do="run worker.py with the model's Python and the script by hand; docs/foreign.md says how",
        ) from error
    if message is None:
        raise BadInput(
            f"the script was not loaded within {seconds:g} s",
            where=script,
            do="raise start_seconds if its weights take longer to load",
        )
    if message["type"] == "failed":
        raise BadInput(
            f"the script raised during {tell(str(message.get('stage')))}:\n{tell(str(message.get('traceback')))}",
            where=script,
            do="mend the script, or the options given to it",
        )
    try:
        return read_greeting(message)
    except ValueError as error:
        raise BadInput(
            f"the script's greeting cannot be used: {error}", where=script, do="see docs/foreign.md"
        ) from error


def read_greeting(message: Mapping[str, Any]) -> Greeting:
    """A greeting, checked; ValueError says what is wrong with it."""
    if message.get("type") != "hello" or message.get("protocol") != PROTOCOL:
        raise ValueError(f"the worker does not speak protocol {PROTOCOL}")
    kinds, forms, identity, batch = (message.get(name) for name in ("kinds", "forms", "identity", "batch"))
    if not isinstance(kinds, list) or not kinds or not all(kind in QUESTION_KINDS for kind in kinds):
        raise ValueError(f"KINDS must name some of {', '.join(QUESTION_KINDS)}")
    if not isinstance(forms, dict) or not all(k in MEDIA_KINDS and isinstance(f, str) for k, f in forms.items()):
        raise ValueError(f"FORMS must give a form for some of {', '.join(MEDIA_KINDS)}")
    if not isinstance(identity, dict):
        raise ValueError("identity() must return a dict")
    if isinstance(batch, bool) or not isinstance(batch, int) or not 1 <= batch <= LARGEST_BATCH:
        raise ValueError(f"BATCH must be a whole number from 1 to {LARGEST_BATCH}")
    python, numpy = message.get("python"), message.get("numpy")
    return Greeting(tuple(kinds), dict(forms), dict(identity), batch, str(python), str(numpy))


def same(one: Greeting, other: Greeting) -> bool:
    """Whether two workers of one script take and are the same; versions do not count."""

    def told(greeting: Greeting) -> str:
        return canonical([greeting.kinds, greeting.forms, greeting.identity, greeting.batch])

    return told(one) == told(other)
