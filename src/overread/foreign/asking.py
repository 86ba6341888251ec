"""One request to a worker and what came of it: answers, errors, or the worker's loss."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator, Sequence
from typing import Any

from overread.errors import ModelFault
from overread.foreign.answers import failed, read_answer
from overread.foreign.lament import tell
from overread.foreign.process import Process
from overread.foreign.request import Asked, Packed
from overread.models.contract import Answer


@dataclasses.dataclass(frozen=True, slots=True)
class Patience:
    """How long a worker is waited for, in seconds."""

    start: float = 120.0
    """Until its greeting: the import of the script and the loading of weights."""
    silence: float = 60.0
    """Without any sign of life from a busy worker: its Python hangs in a library, or is stopped."""
    answer: float = 3600.0
    """Without an answer from a worker that does give signs of life."""


class Outcome:
    """What is known of one request's questions."""

    def __init__(self, packed: Sequence[Packed]) -> None:
        self._packed = packed
        self._given: dict[str, dict[str, Any]] = {}
        self._reasons: dict[str, str] = {}

    @property
    def texts(self) -> Iterator[str]:
        """Every text that was sent with the request."""
        for packed in self._packed:
            yield from packed.texts

    def answer(self, place: int | None, given: dict[str, Any]) -> None:
        """Notes one answer; an id that was not asked, or comes twice, spoils the dialogue that it came with."""
        ask = given.get("question")
        if not isinstance(ask, str) or not any(ask in packed.asked for packed in self._within(place)):
            self._spoil(place, "the script answered a question that was not asked")
        elif ask in self._given:
            self._spoil(place, "the script answered a question twice")
        else:
            self._given[ask] = given

    def error(self, place: int | None, reason: str) -> None:
        """Notes why the dialogue's other questions have no answer."""
        told = tell(reason, self.texts)
        for packed in self._within(place):
            for ask in packed.asked:
                self._reasons.setdefault(ask, told)

    def _spoil(self, place: int | None, reason: str) -> None:
        for packed in self._within(place):
            for ask in packed.asked:
                self._given[ask] = {"question": ask, "status": "failed", "reason": reason}

    def _within(self, place: int | None) -> Sequence[Packed]:
        if place is None:
            return self._packed
        if not 0 <= place < len(self._packed):
            raise ModelFault("broke the protocol: it spoke of a dialogue that it was not given")
        return self._packed[place : place + 1]

    def answers(self, process: Process, seconds: float) -> Iterator[Answer]:
        """Every question's answer; `seconds` is shared out over those whose script does not tell its own."""
        share = seconds / max(1, len(self._given))
        for packed in self._packed:
            for ask, asked in packed.asked.items():
                yield self._one(ask, asked, process, share)

    def _one(self, ask: str, asked: Asked, process: Process, share: float) -> Answer:
        given = self._given.get(ask)
        if given is None:
            return failed(asked, self._reasons.get(ask, "the script gave no answer to this question"))
        answer = read_answer(given, asked, process.folder)
        return answer if answer.seconds else dataclasses.replace(answer, seconds=share)


def converse(process: Process, line: bytes, number: int, outcome: Outcome, patience: Patience) -> None:
    """Sends a request and takes in what comes, until it is done; raises ModelFault when the worker is lost."""
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
        progress = time.monotonic()
        _take_in(message, outcome)


def _take_in(message: dict[str, Any], outcome: Outcome) -> None:
    place = message.get("dialogue")
    if place is not None and (isinstance(place, bool) or not isinstance(place, int)):
        raise ModelFault("broke the protocol: its dialogue is no number")
    if message["type"] == "answer" and isinstance(message.get("answer"), dict):
        outcome.answer(place, message["answer"])
    elif message["type"] == "error" and isinstance(message.get("error"), str):
        at = f" ({message['at']})" if isinstance(message.get("at"), str) and message["at"] else ""
        outcome.error(place, f"the script raised {message['error']}{at}")
    else:
        raise ModelFault("broke the protocol: it sent an unknown message")
