"""The best answer without looking: learned from the key of other patients, never from media.

Patients are split into two halves; a question is answered from what the other half taught. For each template the cue
that does best on held-out patients of that half is used: place, length or numbers of the options, their text, their
text after the answers shown before; a fraction of the range for numbers; the most frequent whole answer for texts and
sets.
`report()` names the cues. A template that the other half lacks is guessed uniformly (a text is refused).

`prior` takes the most probable answer question by question: the floor for accuracy, error, and everything else
that counts single questions. `prior:chain` takes the answers by which the most whole dialogues come out right, even
where another answer is likelier at one step: the floor for completion and depth. Where a dialogue has left the best
path it goes on with the best continuation, off all known paths question by question; numbers, cues other than the
text, and questions whose key is not shown later are answered question by question too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import polars as pl

from overread.errors import BadInput, unknown_name
from overread.models.contract import Answer, ExamTables, Pending, Posed, Setting
from overread.priors.cells import half_of
from overread.priors.context import contexts, steps_of
from overread.priors.half import EMPTY, Finding, Half, learn
from overread.priors.read import read

KINDS = ("choice", "number", "text")
FORMS: dict[str, str] = {}
VARIANTS = ("chain",)
SAMPLES = False

ADAPTER = 1
"""Raised whenever the same exam may get other answers than before."""


class Prior:
    """Answers from what the other half of the patients taught."""

    def __init__(self, chained: bool) -> None:
        self.chained = chained
        self._halves: tuple[Half, Half] | None = None

    def identity(self) -> Mapping[str, Any]:
        """The variant and the version of this file."""
        return {"name": "prior", "variant": "chain" if self.chained else "", "adapter": ADAPTER, "options": {}}

    def fit(self, exam: ExamTables) -> None:
        """Learns from the plain questions of an exam, each half of its patients apart."""
        rows = read(exam)
        parts = [rows.filter(pl.col("half") == half) for half in (0, 1)]
        del rows
        first, second = (EMPTY if part.is_empty() else learn(part, self.chained) for part in parts)
        self._halves = (first, second)

    def answer(self, dialogues: Iterable[Posed]) -> Iterator[Answer]:
        """One answer a pending question, in the order of the dialogue's turns."""
        for posed in dialogues:
            other = self._learned()[1 - half_of(posed.dialogue.patient)]
            pending: dict[str, list[Pending]] = {}
            for one in posed.questions:
                pending.setdefault(one.question.id, []).append(one)
            for question, ordinal, context in contexts(steps_of(posed)):
                for one in pending.get(question, ()):
                    yield other.answer(one, ordinal, context)

    def report(self) -> list[Finding]:
        """For each template and half the cue in words, its accuracy on held-out patients, and the number of questions.

        Sorted by template; two rows a template, one row where both halves chose the same cue.
        """
        merged: dict[tuple[str, str], Finding] = {}
        for half in self._learned():
            for new in half.findings():
                old = merged.get((new.template, new.cue), Finding(new.template, new.cue, 0.0, 0))
                n = old.n + new.n
                mean = (old.accuracy * old.n + new.accuracy * new.n) / n
                merged[new.template, new.cue] = Finding(new.template, new.cue, mean, n)
        return sorted(merged.values())

    def _learned(self) -> tuple[Half, Half]:
        if self._halves is None:
            raise BadInput("the prior was asked before it was fitted", do="call fit with the exam's tables first")
        return self._halves


def check(setting: Setting) -> None:
    """Refuses variants that are not there, and options: there are none."""
    if setting.variant not in ("", *VARIANTS):
        raise unknown_name("variant of prior", setting.variant, VARIANTS)
    for name in setting.options:
        raise unknown_name("option of prior", name, ())


def load(setting: Setting) -> Prior:
    """A prior still to be fitted; it has no options."""
    check(setting)
    return Prior(setting.variant == "chain")
