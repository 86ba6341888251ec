"""Two models on the same questions, of one run or of two: which is better, by how much, and how sure.

Marks are matched on protocol, condition, judge, question item, seed and sample. A question that only one of the two
has, or that one of the two was never asked, is left out and counted; whatever was asked counts as the metric says,
refused, failed and unreadable replies included. Intervals and p are by patient (`permutation`).
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import polars as pl

from overread.errors import BadInput
from overread.metrics.accuracy import KINDS
from overread.metrics.chains import CHAIN
from overread.metrics.permutation import paired
from overread.metrics.statistics import Floats

MATCH: tuple[str, ...] = ("protocol", "condition", "judge", "item", "seed", "sample", "nth")


@dataclasses.dataclass(frozen=True, slots=True)
class Comparison:
    """How much better the first model is than the second; positive is better, whatever the metric's direction."""

    first: str
    second: str
    effect: float | None
    low: float | None
    high: float | None
    p: float | None
    n: int
    """Pairs of units that enter: questions, or dialogues."""
    patients: int
    right_to_wrong: int
    """Questions that the first has right and the second wrong; replies scored by expectation are not among them."""
    wrong_to_right: int
    left_out: int
    """Marks of either side without a partner, or whose partner was never asked."""


def _side(marks: pl.DataFrame, place: str) -> tuple[str, pl.DataFrame]:
    names = marks["model"].unique().to_list()
    if len(names) != 1:
        raise BadInput(
            f"the {place} side of a comparison has {len(names)} models: {', '.join(sorted(names)) or 'none'}",
            do="choose one model of each run",
        )
    order = pl.int_range(pl.len()).over(*MATCH[:-1], order_by=["place", "dialogue"])
    return names[0], marks.with_columns(nth=order)


def _by_patient(metric: Any, marks: pl.DataFrame, patients: pl.DataFrame) -> tuple[Floats, int]:
    """Sum and weight of each patient, (patients, 2), and how many units entered."""
    values = metric.values(marks.drop("nth")).drop_nulls("value")
    weight = pl.col("weight").cast(pl.Float64) if "weight" in values.columns else pl.lit(1.0)
    units = values.select("patient", sum=pl.col("value") * weight, weight=weight)
    sums = units.group_by("patient").agg(pl.col("sum", "weight").sum())
    placed = patients.join(sums, on="patient", how="left", maintain_order="left").fill_null(0.0)
    return placed.select("sum", "weight").to_numpy(), units.height


def _flips(first: pl.DataFrame, second: pl.DataFrame) -> tuple[int, int]:
    right = ((pl.col("status") == "read") & pl.col("correct")).fill_null(False)
    kinds = pl.col("kind").is_in(KINDS) & (pl.col("status") != "expected")
    both = (
        first.filter(kinds).select(*MATCH, one=right).join(second.filter(kinds).select(*MATCH, other=right), on=MATCH)
    )
    one, other = both["one"], both["other"]
    return int((one & ~other).sum()), int((~one & other).sum())


def compare(
    marks_a: pl.DataFrame, marks_b: pl.DataFrame, metric: Any, *, seed: int = 0, resamples: int = 1000
) -> Comparison:
    """Compares the models of two tables of marks (columns of `contract.MARKS`), already cut to one condition."""
    if metric.UNIT == "exam":
        raise BadInput(
            "two models cannot be compared by a metric of unit exam",
            do="choose a metric of unit question or dialogue; `overread list metrics` tells the units",
        )
    # A dialogue in which one question cannot be scored has no value as a whole.
    scored = pl.col("scored") if metric.UNIT == "question" else pl.col("scored").all().over(CHAIN)
    (name_a, first), (name_b, second) = (
        _side(marks.filter(scored), place) for marks, place in ((marks_a, "first"), (marks_b, "second"))
    )
    asked = pl.col("status") != "missing"
    common = first.filter(asked).select(MATCH).join(second.filter(asked).select(MATCH), on=MATCH)
    left_out = first.height + second.height - 2 * common.height
    first, second = (side.join(common, on=MATCH, how="semi") for side in (first, second))
    if first.is_empty():
        raise BadInput(
            f"{name_a} and {name_b} have no question in common",
            do="compare runs of the same exam, protocol, judge, seeds and samples",
        )
    patients = first.select(pl.col("patient").unique()).sort("patient")
    (sums_a, units_a), (sums_b, units_b) = (_by_patient(metric, side, patients) for side in (first, second))
    entering = np.flatnonzero((sums_a[:, 1] > 0) | (sums_b[:, 1] > 0))
    result = paired(
        sums_a[entering], sums_b[entering], direction=metric.DIRECTION, seed=seed, resamples=resamples
    )  # fmt: skip
    worse, better = _flips(first, second)
    return Comparison(
        name_a, name_b, result.effect, result.low, result.high, result.p,
        min(units_a, units_b), result.patients, worse, better, left_out,
    )  # fmt: skip
