"""The key itself: shows that an exam can be passed and that its judges give full marks.

On anything but phantoms a model that reads the key is a mistake waiting to be published; `oracle[anywhere=true]`
allows it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import polars as pl

from overread.errors import BadInput, unknown_name
from overread.models.contract import Answer, ExamTables, Pending, Posed, Setting

KINDS = ("choice", "number", "text")
FORMS: dict[str, str] = {}
VARIANTS: tuple[str, ...] = ()
SAMPLES = False

ADAPTER = 1
OPTIONS = ("anywhere",)


class Oracle:
    """Answers what the key says."""

    def __init__(self, anywhere: bool) -> None:
        self.anywhere = anywhere
        self._answers: dict[str, tuple[str, ...]] = {}
        self._numbers: dict[str, float] = {}

    def identity(self) -> Mapping[str, Any]:
        """The version of this file and where it may be used."""
        options = {"anywhere": "true" if self.anywhere else "false"}
        return {"name": "oracle", "variant": "", "adapter": ADAPTER, "options": options}

    def fit(self, exam: ExamTables) -> None:
        """Reads the key of an exam.

        Raises `BadInput` where a patient is not a phantom, unless `anywhere` was set.
        """
        if not self.anywhere:
            _only_phantoms(exam.dialogues)
        known: dict[tuple[str, ...], tuple[str, ...]] = {}
        rows = exam.key.select("question", "answer", "number").collect()
        for part in rows.iter_slices(50_000):
            for question, answer, number in part.iter_rows():
                right = tuple(answer)
                # Equal answers are kept once; an exam has far fewer answers than questions.
                self._answers[question] = known.setdefault(right, right)
                if number is not None:
                    self._numbers[question] = number

    def answer(self, dialogues: Iterable[Posed]) -> Iterator[Answer]:
        """One answer a pending question, in order."""
        for posed in dialogues:
            for pending in posed.questions:
                yield self._one(pending)

    def _one(self, pending: Pending) -> Answer:
        question, seed, sample = pending.question, pending.seed, pending.sample
        right = self._answers.get(question.id)
        if right is None:
            return Answer(question.id, seed, sample, "refused", "the key says nothing about this question")
        if question.kind == "choice":
            if not set(right) <= set(question.options):
                return Answer(question.id, seed, sample, "failed", "the key is not among the options")
            choice = tuple(sorted(question.options.index(text) for text in right))
            return Answer(question.id, seed, sample, choice=choice)
        if question.kind == "number":
            number = self._numbers.get(question.id)
            if number is None:
                return Answer(question.id, seed, sample, "refused", "the key holds no number for this question")
            return Answer(question.id, seed, sample, number=number)
        if question.kind == "text":
            return Answer(question.id, seed, sample, text=", ".join(right))
        return Answer(question.id, seed, sample, "refused", f"the key cannot be said as {question.kind}")


def _only_phantoms(dialogues: pl.LazyFrame) -> None:
    archive = pl.col("patient").str.split("/").list.first().alias("archive")
    real = dialogues.filter(~pl.col("patient").str.starts_with("phantoms/")).select(archive).unique().collect()
    if real.height:
        raise BadInput(
            "the oracle reads the key and only sits exams on phantoms",
            where=f"patients of {', '.join(sorted(real['archive'].to_list()))}",
            do="use another model, or oracle[anywhere=true] to check an exam of your own",
        )


def check(setting: Setting) -> None:
    """Refuses what an oracle cannot be told; `anywhere` is true or false."""
    if setting.variant:
        raise unknown_name("variant of oracle", setting.variant, VARIANTS)
    for name in setting.options:
        if name not in OPTIONS:
            raise unknown_name("option of oracle", name, OPTIONS)
    anywhere = setting.options.get("anywhere", "false")
    if anywhere not in ("true", "false"):
        raise BadInput(f"anywhere must be true or false, not {anywhere!r}", where="oracle[anywhere=...]")


def load(setting: Setting) -> Oracle:
    """An oracle still to be fitted."""
    check(setting)
    return Oracle(setting.options.get("anywhere") == "true")
