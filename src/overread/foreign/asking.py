"""One request to a worker and what came of it: answers, errors, or the worker's loss."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

from overread.errors import ModelFault
from overread.foreign.answers import failed, read_answer
from overread.foreign.lament import tell
from overread.foreign.process import Process
from overread.foreign.request import Packed
from overread.models.contract import Answer


@dataclasses.dataclass(frozen=True, slots=True)
class Patience:
    """How long a worker is waited for, in seconds."""

    start: float = 120.0
    """Until its greeting: the import of the script and the loading of weights."""
    silence: float = 60.0
    """Without any sign of life from a busy worker: its Python hangs in a library, or is stopped."""
    answer: float = 300.0
    """Without an answer from a worker that does give signs of life; less than the engine's own patience, so that the
    worker is replaced before the engine leaves the whole model behind."""


LONGEST_ID = 64


class Outcome:
    """What is known of one request's questions."""

    def __init__(self, packed: Sequence[Packed], folder: Path) -> None:
        self._packed = packed
        self._folder = folder
        self._open = {ask: asked for one in packed for ask, asked in one.asked.items()}
        self._reasons: dict[str, str] = {}
        self._since = time.monotonic()

    @property
    def texts(self) -> Iterator[str]:
        """Every text that was sent with the request."""
        for packed in self._packed:
            yield from packed.texts

    def answer(self, place: int | None, given: dict[str, Any]) -> Answer:
        """One answer as the engine takes it.

        One to a question that was not asked, or was answered before, goes on to the engine, which counts it; the
        dialogue's open questions then fail by that reason.
        """
        ask = given.get("question")
        within = self._within(place)
        asked = next((one.asked[ask] for one in within if ask in one.asked), None) if isinstance(ask, str) else None
        if asked is None:
            reason = "the script answered a question that was not asked"
            self.error(place, reason)
            return Answer(str(ask)[:LONGEST_ID], 0, 0, "failed", reason)
        if self._open.pop(cast("str", ask), None) is None:
            self.error(place, "the script answered a question twice")
        now = time.monotonic()
        seconds, self._since = now - self._since, now
        answer = read_answer(given, asked, self._folder)
        return answer if answer.seconds else dataclasses.replace(answer, seconds=seconds)

    def error(self, place: int | None, reason: str) -> None:
        """Notes why the dialogue's open questions have no answer; the first reason counts."""
        told = tell(reason, self.texts)
        for packed in self._within(place):
            for ask in packed.asked:
                self._reasons.setdefault(ask, told)

    def rest(self) -> Iterator[Answer]:
        """The failed answers of all questions that are open; none is open afterwards."""
        while self._open:
            ask = next(iter(self._open))
            yield failed(self._open.pop(ask), self._reasons.get(ask, "the script gave no answer to this question"))

    def _within(self, place: int | None) -> Sequence[Packed]:
        if place is None:
            return self._packed
        if not 0 <= place < len(self._packed):
            raise ModelFault("broke the protocol: it spoke of a dialogue that it was not given")
        return self._packed[place : place + 1]


def converse(process: Process, line: bytes, number: int, outcome: Outcome, patience: Patience) -> Iterator[Answer]:
    """Sends a request and gives the answers as they come, until it is done; ModelFault when the worker is lost."""
    process.send(line, patience.silence)
    progress = time.monotonic()
    while True:
        left = progress + patience.answer - time.monotonic()
        message = process.receive(max(0.0, min(patience.silence, left)))
        if message is None:
            if left > patience.silence:
                raise ModelFault(f"gave no sign of life for {patience.silence:g} s")
            raise ModelFault(f"was busy for {patience.answer:g} s without an answer")
        kind = message["type"]
        if kind == "alive":
            continue  # even of the last request: it may have crossed with that one's end
        if message.get("request") != number:
            raise ModelFault("broke the protocol: it spoke of another request")
        if kind == "done":
            return
        place = message.get("dialogue")
        if place is not None and (isinstance(place, bool) or not isinstance(place, int)):
            raise ModelFault("broke the protocol: its dialogue is no number")
        if kind == "answer" and isinstance(message.get("answer"), dict):
            yield outcome.answer(place, message["answer"])
        elif kind == "error" and isinstance(message.get("error"), str):
            at = f" ({message['at']})" if isinstance(message.get("at"), str) and message["at"] else ""
            outcome.error(place, f"the script raised {message['error']}{at}")
        else:
            raise ModelFault("broke the protocol: it sent an unknown message")
        progress = time.monotonic()
