"""The clean subset: questions that no blind candidate of the run answers better than chance.

Candidates are the models `chance` and `prior` under `plain`, and every other model under `text`, `guess` and `blank`,
each in every protocol and under every judge. A candidate's evidence on a question item is its replies (seed, sample)
that exist and did not fail, ranked by seed and sample.

Cross-fitting. Deciding and scoring on the same replies would flatter: of a coin-tossing candidate only the questions
that it happened to miss would stay, and as a floor it would score nothing. So only half of the evidence decides. Each
patient is on one of two sides (the parity of a hash of the patient's name): on side 0 the replies of even rank decide,
on side 1 those of odd rank, and the others are left for the scores. A candidate with a single reply decides with it,
and has no reply left to be a floor with. Replies under `swap` never decide, so that floor is always whole; so are
chance and every prior that is scored by expectation, as there is no luck in them to select by.

Rule. With mean credit m over the k deciding replies and c the credit of a uniform guess, a candidate answers better
than chance if

    m - c > sqrt(c (1 - c) / k)

that is by more than the standard deviation of k guesses. One lucky hit on two options says nothing; two of two, or one
hit on three options or more, say enough. Replies scored by expectation are exact, so for them it is m > c.

`clean` is true where no candidate does so, false where one does, and null (not decided) where no model other than
chance and prior has evidence: a question that no model was asked blind is not known to be clean.
"""

from __future__ import annotations

import hashlib

import polars as pl

from overread.metrics.accuracy import KINDS, credit
from overread.metrics.floors import PLAIN, is_absent, never_looks
from overread.metrics.pairs import CLEAN

DECIDING: tuple[str, ...] = ("text", "guess", "blank")
CANDIDATE: tuple[str, ...] = ("protocol", "condition", "model", "judge", "item")


def side(patient: str) -> int:
    """0 or 1: which half of the replies decides on this patient's questions."""
    return hashlib.blake2b(patient.encode("utf-8", "surrogatepass"), digest_size=1).digest()[0] & 1


def _deciding(marks: pl.DataFrame) -> pl.DataFrame:
    """The replies that decide."""
    candidate = pl.when(never_looks()).then(pl.col("condition") == PLAIN).otherwise(pl.col("condition").is_in(DECIDING))
    evidence = marks.filter(pl.col("scored") & candidate & pl.col("kind").is_in(KINDS) & ~is_absent())
    patients = evidence.select(pl.col("patient").unique())
    sides = patients.with_columns(side=pl.Series([side(p) for p in patients["patient"]], dtype=pl.Int64))
    rank = pl.int_range(pl.len()).over(CANDIDATE, order_by=["seed", "sample", "place"])
    ranked = evidence.with_columns(rank=rank, replies=pl.len().over(CANDIDATE)).join(sides, on="patient")
    return ranked.filter((pl.col("replies") == 1) | (pl.col("rank") % 2 == pl.col("side")))


def _decision(deciding: pl.DataFrame) -> pl.DataFrame:
    guess = pl.col("chance_credit").fill_null(0.0).first()
    mean, many = pl.col("credit").mean(), pl.len()
    spread = pl.when((pl.col("status") == "expected").all()).then(0.0).otherwise((guess * (1 - guess) / many).sqrt())
    candidates = deciding.with_columns(credit=credit()).group_by(CANDIDATE).agg(
        better=mean - guess > spread + 1e-9, asked=~never_looks().first()
    )  # fmt: skip
    asked = pl.col("asked").any()
    return candidates.group_by("item").agg(clean=pl.when(asked).then(~pl.col("better").any()))


def clean_questions(marks: pl.DataFrame) -> pl.DataFrame:
    """Decides on every question: columns `item` and `clean` (true, false, or null: not decided), sorted by item."""
    items = marks.select(pl.col("item").unique())
    return items.join(_decision(_deciding(marks)), on="item", how="left").sort("item")


def with_clean_slice(marks: pl.DataFrame) -> pl.DataFrame:
    """Adds the label `clean` to the slices of the marks on clean questions, save replies that helped to decide."""
    deciding = _deciding(marks)
    decided = _decision(deciding).filter("clean").select("item", kept=pl.lit(True))
    reply = (*CANDIDATE, "question", "seed", "sample")
    exact = (pl.col("status") == "expected") & never_looks()
    used = deciding.filter(~exact).select(reply).unique().with_columns(used=pl.lit(True))
    labelled = marks.join(decided, on="item", how="left", maintain_order="left")
    labelled = labelled.join(used, on=reply, how="left", maintain_order="left")
    slices = pl.col("slices").list.concat(pl.lit([CLEAN], dtype=pl.List(pl.String)))
    keep = pl.col("kept").fill_null(False) & ~pl.col("used").fill_null(False)
    return labelled.with_columns(slices=pl.when(keep).then(slices).otherwise("slices")).drop("kept", "used")
