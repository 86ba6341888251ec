"""Finds the cavity that beats in an echo clip and answers the exam `heartbeat` from its area; no weights."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from overread.errors import BadInput, unknown_name
from overread.measure.echo import ClipFacts, measure_clip
from overread.measure.remembered import Remembered
from overread.models.contract import Answer, Pending, Posed, Seen, Setting, seen_by_tensor

KINDS = ("number",)
FORMS = {"clip": "frames"}
SAMPLES = False
VARIANTS: tuple[str, ...] = ()

ADAPTER = 1
"""Raised whenever the same question about the same frames may get another answer than before."""


class EchoSolver:
    """Answers by measuring."""

    def __init__(self) -> None:
        self._known: Remembered[ClipFacts] = Remembered()

    def identity(self) -> Mapping[str, Any]:
        """The version of this file."""
        return {"name": "echo_solver", "variant": "", "adapter": ADAPTER, "options": {}}

    def answer(self, dialogues: Iterable[Posed]) -> Iterator[Answer]:
        """One answer a pending question, in order: an index within the frames shown."""
        for posed in dialogues:
            for pending in posed.questions:
                yield self._one(posed, pending)

    def _one(self, posed: Posed, pending: Pending) -> Answer:
        question, seed, sample = pending.question, pending.seed, pending.sample
        shown = [medium for message in posed.prompt(pending) for medium in message.media]
        if not shown:
            return Answer(question.id, seed, sample, "refused", "no frames were shown")
        seen: tuple[Seen, ...] = ()
        for medium in shown:
            given = posed.look(medium)
            seen += (seen_by_tensor(medium, given),)
        # Of several clips the last is meant: it stands nearest to the question.
        try:
            facts = self._known.get((given.hash, given.shape), lambda: measure_clip(given.data))
        except BadInput as error:
            return Answer(question.id, seed, sample, "refused", error.what, seen=seen)
        number = {"locate/ed": facts.ed_frame, "locate/es": facts.es_frame}.get(question.template)
        if number is None:
            reason = f"the solver has no answer to {question.template!r}"
            return Answer(question.id, seed, sample, "refused", reason, seen=seen)
        return Answer(question.id, seed, sample, number=float(number), seen=seen)


def check(setting: Setting) -> None:
    """Refuses variants that are not there, and options: there are none."""
    if setting.variant:
        raise unknown_name("variant of echo_solver", setting.variant, VARIANTS)
    for name in setting.options:
        raise unknown_name("option of echo_solver", name, ())


def load(setting: Setting) -> EchoSolver:
    """The solver; it has neither variants nor options."""
    check(setting)
    return EchoSolver()
