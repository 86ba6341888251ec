"""A model of your own, in an environment of its own

    foreign[python=ENVIRONMENT/bin/python,script=my_model.py,option.weights=v2]

Options: `script` (needed); `python`, the environment's interpreter (without it, this one); `option.KEY=VALUE`, handed
to the script's `load`; `start_seconds` (120), `silence_seconds` (60) and `answer_seconds` (300): how long it is waited
for until it has loaded, without a sign of life, and without an answer. docs/foreign.md says what a script has.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from overread.errors import BadInput, ModelFault, OverreadError
from overread.foreign.asking import Outcome, Patience, converse
from overread.foreign.greeting import Greeting, greet, same
from overread.foreign.process import Process, Start
from overread.foreign.request import Packed, pack, request
from overread.models.contract import Answer, Posed, Setting
from overread.worker import MAX_LINE, PROTOCOL

KINDS = ("text", "choice", "number", "embedding", "mask", "points")
FORMS: dict[str, str] = {}
VARIANTS = ()

DEATHS = 3
"""So many workers lost one after the other, without one answered request between them, end the model."""
LONGEST_HEARTBEAT = 5.0
FRAME = 1024
"""Bytes set aside for what stands around a dialogue in its line."""


class Foreign:
    """A script in a worker; `kinds` and `forms` are what the script declares."""

    def __init__(self, start: Start, options: Mapping[str, str], patience: Patience) -> None:
        self._start = start
        self._options = dict(options)
        self._patience = patience
        self._script_hash = _hash(start.script)
        self._numbers = itertools.count(1)
        self._deaths = 0
        self._fault: ModelFault | None = None
        self._texts: tuple[str, ...] = ()
        self._busy = False
        self._process: Process | None = None
        self._process, self._greeting = self._begin()
        self.kinds = self._greeting.kinds
        self.forms: Mapping[str, str] = self._greeting.forms

    def identity(self) -> Mapping[str, Any]:
        """The script's bytes, its options and what it says of itself; not where it runs."""
        return {
            "script": self._script_hash,
            "options": self._options,
            "protocol": PROTOCOL,
            "identity": dict(self._greeting.identity),
        }

    def provenance(self) -> Mapping[str, Any]:
        """The environment that the worker runs in."""
        return {"python": self._greeting.python, "numpy": self._greeting.numpy}

    def answer(self, dialogues: Iterable[Posed]) -> Iterator[Answer]:
        """Answers dialogue by dialogue, or in batches where the script takes them."""
        remaining = iter(dialogues)
        while posed := list(itertools.islice(remaining, self._greeting.batch)):
            yield from self._ask(posed)
            if self._fault is not None:
                raise self._fault

    def close(self) -> None:
        """Ends the worker; also from another thread than the one that waits for its answers, which then fail."""
        process = self._process
        if process is None:
            return
        if self._busy:
            self._fault = ModelFault("the model was closed while it was being asked")
            process.kill()  # the thread that waits notices, and cleans up
            return
        process.say_goodbye()
        process.end()
        self._process = None

    def _begin(self) -> tuple[Process, Greeting]:
        process = Process(self._start)
        try:
            return process, greet(process, str(self._start.script), self._patience.start)
        except BaseException:
            process.end()
            raise

    def _running(self) -> Process:
        """The worker, started again where it was lost."""
        if self._process is not None and self._process.alive:
            return self._process
        if self._process is not None:
            self._lose(self._process.how_it_ended())
        while self._fault is None:
            if _hash(self._start.script) != self._script_hash:
                raise BadInput("the script was changed during the run", where=str(self._start.script), do="start anew")
            try:
                self._process, greeting = self._begin()
            except BadInput as error:
                self._lose(f"could not be started again: {error.what}")
                continue
            if not same(greeting, self._greeting):
                raise ModelFault("the script greets otherwise than at first: its identity or forms are not stable")
            return self._process
        raise self._fault

    def _lose(self, reason: str) -> None:
        """Ends a worker that cannot be used any more, and the model with it at the third time in a row."""
        lament = ""
        if self._process is not None:
            lament = self._process.lament.told(self._texts)
            self._process.end()
            self._process = None
        self._deaths += 1
        if self._deaths >= DEATHS:
            what = f"the worker was lost {self._deaths} times in a row; at last it {reason}"
            self._fault = ModelFault(
                f"{what}\n{lament}".rstrip(),
                where=str(self._start.script),
                do="try the script by hand: docs/foreign.md",
            )

    def _ask(self, posed: list[Posed]) -> Iterator[Answer]:
        if self._fault is not None:
            raise self._fault
        process = self._running()
        number = next(self._numbers)
        longest = MAX_LINE // self._greeting.batch - FRAME
        packed: list[Packed] = []
        for place, dialogue in enumerate(posed):
            try:
                packed.append(pack(dialogue, process.folder, f"{number}.{place}", longest))
            except OverreadError as error:
                for pending in dialogue.questions:
                    yield Answer(pending.question.id, pending.seed, pending.sample, "failed", error.what)
        if packed:
            yield from self._converse(process, number, packed)

    def _converse(self, process: Process, number: int, packed: list[Packed]) -> Iterator[Answer]:
        outcome = Outcome(packed, process.folder)
        process.forget_errors()
        self._texts = tuple(outcome.texts)
        self._busy = True
        try:
            yield from converse(process, request(number, packed), number, outcome, self._patience)
            self._deaths = 0
            process.clear_folder()
        except ModelFault as error:
            outcome.error(None, f"the worker {error.what}")
            self._lose(error.what)
        except BaseException:
            process.end()  # interrupted in the midst of an answer: what comes next from it would be out of step
            self._process = None
            raise
        finally:
            self._busy = False
        yield from outcome.rest()


def _hash(script: Path) -> str:
    try:
        return hashlib.sha256(script.read_bytes()).hexdigest()
    except OSError as error:
        raise BadInput(
            f"the script cannot be read: {error.strerror}", where=str(script), do="give script=PATH of a Python file"
        ) from error


def _seconds(setting: Setting, name: str, default: float) -> float:
    text = setting.options.get(name)
    try:
        seconds = default if text is None else float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise BadInput(f"{name}={text} is no time", where=setting.name, do=f"give seconds, e.g. {name}={default:g}")
    return seconds


def _interpreter(setting: Setting) -> str:
    python = setting.options.get("python", sys.executable)
    found = shutil.which(str(Path(python).expanduser()))
    if found is None:
        raise BadInput(
            f"there is no program {python!r} that can be run",
            where=setting.name,
            do="give the interpreter of the model's environment: python=ENVIRONMENT/bin/python",
        )
    return str(Path(found).absolute())  # not resolved: a virtual environment is known by its link


KNOWN = ("python", "script", "start_seconds", "silence_seconds", "answer_seconds")


def check(setting: Setting) -> None:
    """Refuses what cannot start a worker: unknown options, times that are none, no script, no interpreter."""
    _patience(setting)
    wrong = sorted(k for k in setting.options if k not in KNOWN and not k.startswith("option."))
    if wrong:
        raise BadInput(
            f"foreign has no option {wrong[0]!r}",
            where=setting.name,
            do=f"known: {', '.join(KNOWN)}; an option of the script itself is option.{wrong[0]}=...",
        )
    if "script" not in setting.options:
        raise BadInput("a foreign model needs a script", where=setting.name, do="give script=PATH; see docs/foreign.md")
    _hash(_script(setting))
    _interpreter(setting)


def _patience(setting: Setting) -> Patience:
    return Patience(
        _seconds(setting, "start_seconds", 120.0),
        _seconds(setting, "silence_seconds", 60.0),
        _seconds(setting, "answer_seconds", 300.0),
    )


def _script(setting: Setting) -> Path:
    return Path(setting.options["script"]).expanduser().absolute()


def load(setting: Setting) -> Foreign:
    """Starts the worker and waits for its greeting."""
    check(setting)
    patience = _patience(setting)
    options = {k.removeprefix("option."): v for k, v in setting.options.items() if k.startswith("option.")}
    heartbeat = min(LONGEST_HEARTBEAT, patience.silence / 4)
    start = Start(_interpreter(setting), _script(setting), json.dumps(options), heartbeat)
    return Foreign(start, options, patience)
