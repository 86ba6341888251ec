"""The most frequent whole answer: for texts, and for sets of options that come as one."""

from __future__ import annotations

import dataclasses
from typing import cast

import polars as pl

from overread.priors.backoff import DEPTHS, held_out, learned, look_up, words
from overread.priors.context import Context
from overread.priors.rows import LEAST
from overread.tables import Question

BETWEEN = "\n"
"""Stands between the options of a set; a set is written in alphabetical order."""


@dataclasses.dataclass(frozen=True, slots=True)
class Habit:
    """How a template is answered as a whole."""

    depth: int
    accuracy: float
    """On patients held out within the half that was learned from."""
    n: int

    @property
    def words(self) -> str:
        """The cue as an audit names it."""
        return "most frequent whole answer" + words(self.depth)


@dataclasses.dataclass(frozen=True, slots=True)
class WholePrior:
    """What one half taught about whole answers."""

    habits: dict[str, Habit]
    table: dict[int, object]

    def answer(self, question: Question, context: Context) -> str | None:
        """The text, or the set of options joined by `BETWEEN`; None for a template never seen."""
        habit = self.habits.get(question.template)
        if habit is None:
            return None
        return cast("str | None", look_up(self.table, question.template, habit.depth, context))


def said() -> pl.Expr:
    """The key as one text, the same for the same set in any order."""
    answer = pl.when("many").then(pl.col("answer").list.sort()).otherwise("answer")
    return answer.list.join(BETWEEN).alias("said")


def placed(answer: str, options: tuple[str, ...]) -> tuple[int, ...] | None:
    """The places of a whole answer among a question's options; None where one of them is not offered."""
    parts = answer.split(BETWEEN) if answer else []
    if any(part not in options for part in parts):
        return None
    return tuple(sorted(options.index(part) for part in parts))


def _most_frequent(frame: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    counts = frame.group_by([*keys, "said"]).len("times")
    counts = counts.sort("times", "said", descending=[True, False])
    return counts.group_by(keys, maintain_order=True).agg(
        pl.col("said").first().alias("guess"), pl.col("times").sum().alias("seen")
    )


def fit_whole(frame: pl.DataFrame) -> WholePrior:
    """Learns from questions of one half (rows of `overread.priors.read`)."""
    if frame.is_empty():
        return WholePrior({}, {})
    frame = frame.with_columns(said())
    hits = (
        held_out(frame, _most_frequent, LEAST)
        .group_by("template")
        .agg(
            pl.len().alias("n"),
            *((pl.col(f"guess{d}") == pl.col("said")).fill_null(False).mean().alias(f"hit{d}") for d in range(DEPTHS)),
        )
    )
    habits: dict[str, Habit] = {}
    for row in hits.iter_rows(named=True):
        shares = [row[f"hit{d}"] for d in range(DEPTHS)]
        depth = next(d for d in range(DEPTHS) if shares[d] >= max(shares) - 1e-9)
        habits[row["template"]] = Habit(depth, shares[depth], row["n"])
    return WholePrior(habits, learned(frame, _most_frequent, LEAST, {t: h.depth for t, h in habits.items()}))
