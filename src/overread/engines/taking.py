"""Takes answers from a model, whatever it does: raise, hang, say too little, too much, or nonsense.

The model runs in a thread of its own, so that one that hangs can be left behind; it is then loaded anew.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence

from overread.errors import ModelFault, OverreadError
from overread.models.contract import Answer, Model, Pending, Posed

Slot = tuple[str, int, int]
"""question, seed, sample"""

Taken = tuple[Posed, Pending, Answer]
"""An answer with the question that it answers."""

TOGETHER = 512
"""At most so many answers are handed on together."""

_Queue = queue.SimpleQueue["Answer | BaseException | None"]


class Hanging(ModelFault):
    """The model said nothing within its time limit."""


class Taker:
    """Asks one model, loaded when it is first needed, and counts what its contract forbids."""

    def __init__(self, load: Callable[[], Model], seconds: float) -> None:
        self._load = load
        self._seconds = seconds
        self._model: Model | None = None
        self.unknown = 0
        """Answers to questions that were not asked."""
        self.repeated = 0
        """Answers to questions that had one already."""
        self.hung = 0
        self.raised = 0

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
        except ModelFault as error:
            reason = str(error)
            if len(batch) > 1:
                for posed in batch:
                    open_ones = tuple(pending for pending in posed.questions if slot_of(pending) in left)
                    if open_ones:
                        yield from self.take([dataclasses.replace(posed, questions=open_ones)])
                return
        yield [(*asked, failed(slot, reason)) for slot, asked in left.items()]

    def _collect(self, batch: Sequence[Posed], left: dict[Slot, tuple[Posed, Pending]]) -> Iterator[list[Taken]]:
        answered: set[Slot] = set()
        for answers in self._with_limit(batch):
            taken = []
            for answer in answers:
                slot = slot_of(answer)
                asked = left.pop(slot, None)
                if asked is not None:
                    answered.add(slot)
                    taken.append((*asked, checked(answer)))
                elif slot in answered:
                    self.repeated += 1
                else:
                    self.unknown += 1
            yield taken

    def close(self) -> None:
        """Lets the model give back what it holds: a process, a graphics card."""
        model, self._model = self._model, None
        if model is not None:
            close_model(model)

    def _with_limit(self, batch: Sequence[Posed]) -> Iterator[list[Answer]]:
        if self._model is None:
            self._model = self._load()
        said: _Queue = queue.SimpleQueue()
        threading.Thread(target=_feed, args=(self._model, batch, said), daemon=True).start()
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
            if isinstance(last, BaseException):
                self.raised += 1
                raise ModelFault(_why(last)) from last


def _feed(model: Model, batch: Iterable[Posed], said: _Queue) -> None:
    try:
        for answer in model.answer(batch):
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


def failed(slot: Slot, reason: str) -> Answer:
    """The answer that stands for a failure."""
    question, seed, sample = slot
    return Answer(question, seed, sample, status="failed", reason=_clean(reason))


def checked(answer: Answer) -> Answer:
    """The answer in plain types, or a failed one where it holds something that cannot be an answer."""
    if answer.status == "answered" and _is_plain_text(answer):
        return answer
    slot = slot_of(answer)
    if answer.status not in ("answered", "refused", "failed"):
        return failed(slot, f"the model returned an unknown status {answer.status!r}")
    try:
        plain = dataclasses.replace(
            answer,
            text=None if answer.text is None else _clean(answer.text),
            reason=_clean(answer.reason),
            choice=None if answer.choice is None else tuple(int(i) for i in answer.choice),
            option_scores=None if answer.option_scores is None else tuple(float(x) for x in answer.option_scores),
            number=None if answer.number is None else float(answer.number),
            spread=None if answer.spread is None else tuple(float(x) for x in answer.spread),
        )
    except (TypeError, ValueError, AttributeError) as error:
        return failed(slot, f"the model returned something that is no answer: {error}")
    numbers = (*(plain.option_scores or ()), *(plain.spread or ()), *(() if plain.number is None else (plain.number,)))
    if not all(math.isfinite(number) for number in numbers):
        return failed(slot, "the model returned a number that is not finite")
    said = (plain.text, plain.choice, plain.option_scores, plain.number, plain.spread, plain.blob)
    if plain.status == "answered" and all(part is None for part in said):
        return failed(slot, "the model returned an empty answer")
    return plain


def _is_plain_text(answer: Answer) -> bool:
    """Whether an answer is nothing but a text that can be kept as it is: the common case, and a fast one."""
    if type(answer.text) is not str or not answer.text.isascii() or answer.reason != "":
        return False
    return all(part is None for part in (answer.choice, answer.option_scores, answer.number, answer.spread))


def _clean(text: str) -> str:
    """The text without lone surrogates, which no file can hold."""
    return text.encode("utf-8", "replace").decode("utf-8") if not text.isascii() else text
