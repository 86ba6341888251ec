"""The best constant number: a fixed fraction of the range asked for, or a fixed value.

The median is taken of either, since it has the smallest mean error. A window cut around the answer shows up here: the
same fraction is then right whatever the window.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Literal, cast

import polars as pl

from overread.priors.backoff import DEPTHS, Guess, held_out, learned, look_up, words
from overread.priors.context import Context
from overread.tables import Question

LEAST = 5
"""A history counts from so many questions on: a median of fewer wanders."""

Scale = Literal["fraction", "value"]
SCALES: tuple[Scale, ...] = ("fraction", "value")


@dataclasses.dataclass(frozen=True, slots=True)
class Constant:
    """How the numbers of a template are answered."""

    scale: Scale
    depth: int
    at: float
    """The fraction or value where no history is used."""
    accuracy: float
    """Share within the key's tolerance (exact where there is none), on patients held out within the half."""
    n: int

    @property
    def words(self) -> str:
        """The cue as an audit names it."""
        what = f"{self.at:.3f} of the range" if self.scale == "fraction" else f"always {self.at:g}"
        return what + words(self.depth)


@dataclasses.dataclass(frozen=True, slots=True)
class NumberPrior:
    """What one half taught about numbers."""

    constants: dict[str, Constant]
    tables: dict[Scale, dict[int, object]]

    def number(self, question: Question, context: Context) -> float | None:
        """The number, inside the range; None for a template never seen, or a range that the scale would need."""
        constant = self.constants.get(question.template)
        if constant is None:
            return None
        found = cast("float | None", look_up(self.tables[constant.scale], question.template, constant.depth, context))
        if found is None:
            return None
        low, high = question.low, question.high
        if constant.scale == "fraction":
            if low is None or high is None:
                return None
            found = low + found * (high - low)
        if question.whole:
            found = math.floor(found + 0.5)
        if low is not None:
            found = max(low, found)
        return float(min(high, found) if high is not None else found)


def _median(scale: Scale) -> Guess:
    def guess(frame: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
        return frame.group_by(keys).agg(pl.col(scale).median().alias("guess"), pl.col(scale).count().alias("seen"))

    return guess


def _scaled(frame: pl.DataFrame) -> pl.DataFrame:
    width = pl.col("high") - pl.col("low")
    fraction = pl.when(width > 0).then((pl.col("number") - pl.col("low")) / width)
    return frame.with_columns(fraction.alias("fraction"), pl.col("number").alias("value"))


def _guessed(scale: Scale, depth: int) -> pl.Expr:
    guess = pl.col(f"guess{depth}")
    if scale == "fraction":
        guess = pl.col("low") + guess * (pl.col("high") - pl.col("low"))
    guess = pl.when("whole").then((guess + 0.5).floor()).otherwise(guess)
    return guess.clip(pl.col("low"), pl.col("high"))


def fit_number(frame: pl.DataFrame) -> NumberPrior:
    """Learns from the number questions of one half (rows of `overread.priors.read`)."""
    frame = _scaled(frame.filter(pl.col("number").is_not_null()))
    if frame.is_empty():
        return NumberPrior({}, {})
    best: dict[str, Constant] = {}
    errors: dict[str, float] = {}
    for scale in SCALES:
        tried = held_out(frame, _median(scale), LEAST)
        for row in _by_template(tried, scale).iter_rows(named=True):
            for depth in range(DEPTHS):
                error = row[f"error{depth}"]
                # Where a guess is missing for some questions the scale does not fit the template.
                if error is None or row[f"missing{depth}"] or row["at"] is None:
                    continue
                if error < errors.get(row["template"], math.inf) - 1e-9:
                    errors[row["template"]] = error
                    best[row["template"]] = Constant(scale, depth, row["at"], row[f"hit{depth}"], row["n"])
    tables: dict[Scale, dict[int, object]] = {}
    for scale in SCALES:
        depth_of = {t: c.depth for t, c in best.items() if c.scale == scale}
        tables[scale] = learned(frame, _median(scale), LEAST, depth_of)
    return NumberPrior(best, tables)


def _by_template(tried: pl.DataFrame, scale: Scale) -> pl.DataFrame:
    columns = [pl.len().alias("n"), pl.col(scale).median().alias("at")]
    within = pl.col("tolerance").fill_null(0.0) + 1e-9
    for depth in range(DEPTHS):
        error = (_guessed(scale, depth) - pl.col("number")).abs()
        columns += [
            error.mean().alias(f"error{depth}"),
            error.is_null().any().alias(f"missing{depth}"),
            (error <= within).mean().alias(f"hit{depth}"),
        ]
    return tried.group_by("template").agg(columns)
