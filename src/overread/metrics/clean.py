"""The clean subset: questions that no blind candidate of the run answers better than chance.

Candidates are the models `chance` and `prior` under `plain`, and every other model under `text`, `guess` and `blank`,
each in every protocol. What a candidate shows of a question is its credit above a uniform guess, in the replies that
exist and did not fail.

Cross-fitting. To decide on a question by its own key would flatter whoever is scored on it afterwards: where the prior
says "Yes" to all, the questions that it happens to miss are those whose key is "No", and on these it would be no floor
at all. So each patient is on one of two sides (the parity of a hash of the patient's name), and the other side decides:
on questions of the same template where a candidate has at least `ENOUGH` replies there, else on all questions of the
same kind with the same chance. No reply to a question decides on it, and all models and floors are scored on the same
clean questions.

Rule. With n replies, of credit m above chance on the mean, a candidate answers better than chance if

    n m > sqrt(sum of v)

that is by more than the standard deviation of as many guesses: v is c (1 - c) for a guess of chance c, and the square
of what was found for a reply that is scored by expectation. Where many candidates sit an exam, this calls a question
clean rather too seldom than too often.

`clean` is true where no candidate does so, false where one does, and null (not decided) where no model other than
chance and prior was asked blind on the other side: such a question is not known to be clean.
"""

from __future__ import annotations

import hashlib

import polars as pl

from overread.metrics.accuracy import KINDS, credit
from overread.metrics.floors import PLAIN, is_absent, never_looks
from overread.metrics.pairs import CLEAN

DECIDING: tuple[str, ...] = ("text", "guess", "blank")
CANDIDATE: tuple[str, ...] = ("protocol", "condition", "model", "judge")
ENOUGH = 10
"""So many replies to a template on the other side say something about that template."""

_ALIKE = ("kind", "chance")
"""What questions share that are taken together where a template is too rare."""


def side(patient: str) -> int:
    """0 or 1: which half of the patients this one is in."""
    return hashlib.blake2b(patient.encode("utf-8", "surrogatepass"), digest_size=1).digest()[0] & 1


class Evidence:
    """What the blind candidates of a run show, batch by batch; then which questions are clean."""

    def __init__(self) -> None:
        self._sums: list[pl.DataFrame] = []

    def add(self, marks: pl.DataFrame) -> None:
        """Takes up a batch of marks (columns of `contract.MARKS`)."""
        blind = pl.col("condition").is_in(DECIDING)
        candidate = pl.when(never_looks()).then(pl.col("condition") == PLAIN).otherwise(blind)
        found = marks.filter(pl.col("scored") & candidate & pl.col("kind").is_in(KINDS) & ~is_absent())
        if found.is_empty():
            return
        chance = pl.col("chance_credit").fill_null(0.0)
        above = credit() - chance
        sums = _sided(found).with_columns(
            above=above, spread=pl.when(pl.col("status") == "expected").then(above**2).otherwise(chance * (1 - chance))
        )
        self._sums.append(_added(sums.with_columns(replies=pl.lit(1), looks=~never_looks())))

    def decide(self, marks: pl.DataFrame) -> pl.DataFrame:
        """Decides on every question: columns `item` and `clean` (true, false, or null), sorted by item."""
        asked = _sided(marks).select("item", "template", *_ALIKE, "side").unique("item", maintain_order=True)
        if not self._sums:
            return asked.select("item", clean=pl.lit(None, dtype=pl.Boolean)).sort("item")
        templates = asked.select("template", *_ALIKE, "side").unique()
        found = asked.join(self._by_template(templates), on=["template", *_ALIKE, "side"], how="left")
        return found.select("item", "clean").sort("item")

    def with_slice(self, marks: pl.DataFrame) -> pl.DataFrame:
        """Adds the label `clean` to the slices of the marks on clean questions."""
        kept = self.decide(marks).filter("clean").select("item", kept=pl.lit(True))
        slices = pl.col("slices").list.concat(pl.lit([CLEAN], dtype=pl.List(pl.String)))
        labelled = marks.join(kept, on="item", how="left", maintain_order="left")
        return labelled.with_columns(slices=pl.when(pl.col("kept")).then(slices).otherwise("slices")).drop("kept")

    def _by_template(self, templates: pl.DataFrame) -> pl.DataFrame:
        """Whether the questions of each template are clean, for the patients of each side."""
        self._sums = [_added(pl.concat(self._sums))]
        (mine,) = self._sums
        wide = mine.group_by(*CANDIDATE, *_ALIKE, "side").agg(
            pl.col("above", "spread", "replies").sum(), pl.col("looks").first()
        )
        near = mine.rename({"side": "decides"}).select(
            *CANDIDATE, "template", *_ALIKE, "decides", better_near=_better(), replies_near="replies"
        )
        far = wide.rename({"side": "decides"}).select(*CANDIDATE, *_ALIKE, "decides", "looks", better_far=_better())
        both = (
            templates.with_columns(decides=1 - pl.col("side"))
            .join(far, on=[*_ALIKE, "decides"])
            .join(near, on=[*CANDIDATE, "template", *_ALIKE, "decides"], how="left")
        )
        better = pl.when(pl.col("replies_near") >= ENOUGH).then("better_near").otherwise("better_far")
        return both.group_by("template", *_ALIKE, "side").agg(clean=pl.when(pl.col("looks").any()).then(~better.any()))


def _sided(marks: pl.DataFrame) -> pl.DataFrame:
    """Marks with the side of their patient and what questions are taken together by."""
    patients = marks.select(pl.col("patient").unique())
    sides = patients.with_columns(side=pl.Series([side(p) for p in patients["patient"]], dtype=pl.Int64))
    chance = (pl.col("chance_credit").fill_null(0.0) * 1e6).round().cast(pl.Int64)
    return marks.with_columns(chance=chance).join(sides, on="patient", maintain_order="left")


def _added(sums: pl.DataFrame) -> pl.DataFrame:
    return sums.group_by(*CANDIDATE, "template", *_ALIKE, "side").agg(
        pl.col("above", "spread", "replies").sum(), pl.col("looks").first()
    )


def _better() -> pl.Expr:
    return pl.col("above") > pl.col("spread").sqrt() + 1e-9 * pl.col("replies")
