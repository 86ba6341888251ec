"""Takes answers from a model, whatever it does: raise, hang, say too little, too much, or nonsense.

The model runs in a thread of its own, so that one that hangs can be left behind; it is then loaded anew.
"""

from __future__ import annotations

import contextlib
import dataclasses
import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence

from overread.engines.checking import checked, failed, is_answer
from overread.errors import ModelFault, OverreadError, Stopped
from overread.models.contract import Answer, Model, Pending, Posed
from overread.runs.standing import TWICE

Slot = tuple[str, int, int]
"""question, seed, sample"""

Taken = tuple[Posed, Pending, Answer]
"""An answer with the question that it answers."""

HANGS_ENOUGH = 3
"""A model that hung so often in a run is given up; its other questions stay missing."""

EXTRA = 1000
"""So many answers that nobody asked for, beside two for each question, are taken to have no end."""

TOGETHER = 512
"""At most so many answers are handed on together."""

_Queue = queue.SimpleQueue["Answer | BaseException | None"]


class Hanging(ModelFault):
    """The model said nothing within its time limit."""


class Taker:
    """Asks one model, loaded when it is first needed, and counts what its contract forbids."""

    def __init__(self, load: Callable[[], Model], seconds: float, *, hangs: int = HANGS_ENOUGH) -> None:
        self._load = load
        self._seconds = seconds
        self._hangs = hangs
        self._model: Model | None = None
        self.unknown = 0
        """Answers to questions that were not asked, or no answers at all."""
        self.repeated = 0
        """Answers to questions that had one already."""
        self.hung = 0
        self.raised = 0
        self.stopped = ""
        """Why the model is to be asked no more; what it has not answered then stays missing."""

    def take(self, batch: Sequence[Posed]) -> Iterator[list[Taken]]:
        """One answer to each pending question of each dialogue, failed ones included, as they come.

        Answers that are there already come together in one list, so that they can be written at once.

        When a batch raises or hangs, the dialogues that it left open are asked again one by one, so that only the
        guilty ones fail.
        """
        left = {slot_of(pending): (posed, pending) for posed in batch for pending in posed.questions}
        try:
            yield from self._collect(batch, left)
            reason = "the model gave no answer"
        except Stopped as stop:
            self.stopped = stop.what
            return
        except ModelFault as error:
            reason = str(error)
            if len(batch) > 1:
                for posed in batch:
                    if self.hung >= self._hangs or self.stopped:
                        return
                    open_ones = tuple(pending for pending in posed.questions if slot_of(pending) in left)
                    if open_ones:
                        yield from self.take([dataclasses.replace(posed, questions=open_ones)])
                return
        yield [(*asked, failed(slot, reason)) for slot, asked in left.items()]

    def _collect(self, batch: Sequence[Posed], left: dict[Slot, tuple[Posed, Pending]]) -> Iterator[list[Taken]]:
        answered: dict[Slot, tuple[Posed, Pending]] = {}
        voided: set[Slot] = set()
        enough = EXTRA + 2 * len(left) + self.unknown + self.repeated
        for answers in self._with_limit(batch):
            taken = []
            for answer in answers:
                slot = slot_of(answer) if is_answer(answer) else None
                asked = left.pop(slot, None) if slot is not None else None
                if asked is not None and slot is not None:
                    answered[slot] = asked
                    taken.append((*asked, checked(answer)))
                elif slot is not None and slot in answered:
                    self.repeated += 1
                    if slot not in voided:
                        voided.add(slot)
                        taken.append((*answered[slot], failed(slot, TWICE)))
                else:
                    self.unknown += 1
            yield taken
            if self.unknown + self.repeated > enough:
                raise ModelFault("the model answers without end")

    def close(self) -> None:
        """Lets the model give back what it holds: a process, a graphics card."""
        model, self._model = self._model, None
        if model is not None:
            close_model(model)

    def _with_limit(self, batch: Sequence[Posed]) -> Iterator[list[Answer]]:
        if self._model is None:
            self._model = self._load()
        said: _Queue = queue.SimpleQueue()
        stop = threading.Event()
        threading.Thread(target=_feed, args=(self._model, batch, said, stop), daemon=True).start()
        try:
            yield from self._until_end(said)
        finally:
            stop.set()

    def _until_end(self, said: _Queue) -> Iterator[list[Answer]]:
        while True:
            try:
                come = [said.get(timeout=self._seconds)]
            except queue.Empty:
                self.hung += 1
                self.close()
                raise Hanging(f"the model said nothing for {self._seconds:g} s") from None
            with contextlib.suppress(queue.Empty):
                while not _is_end(come[-1]) and len(come) < TOGETHER:
                    come.append(said.get_nowait())
            yield [answer for answer in come if answer is not None and not isinstance(answer, BaseException)]
            last = come[-1]
            if last is None:
                return
            if isinstance(last, Stopped):
                raise last
            if isinstance(last, BaseException):
                self.raised += 1
                raise ModelFault(_why(last)) from last


def _feed(model: Model, batch: Iterable[Posed], said: _Queue, stop: threading.Event) -> None:
    try:
        for answer in model.answer(batch):
            if stop.is_set():
                return
            said.put(answer)
        said.put(None)
    except BaseException as error:  # noqa: BLE001  whatever a model raises becomes a failed reply, with the reason
        said.put(error)


def _is_end(said: Answer | BaseException | None) -> bool:
    return said is None or isinstance(said, BaseException)


def _why(error: BaseException) -> str:
    """Why a model stopped, for the reason of the replies that failed by it."""
    if isinstance(error, OverreadError):
        return str(error)
    return f"the model raised {type(error).__name__}: {str(error)[:500]}"


def close_model(model: Model) -> None:
    """Ends a model that wants to be ended; doing so twice does no harm."""
    if hasattr(model, "close"):
        model.close()


def slot_of(asked: Answer | Pending) -> Slot:
    """The place of an answer or of a pending question."""
    question = asked.question if isinstance(asked, Answer) else asked.question.id
    return (question, asked.seed, asked.sample)
