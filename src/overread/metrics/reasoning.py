"""Chains of `ecg_reasoning` as units: all steps of one sample, in one dialogue or in several, loop after loop.

Credits may be probabilities: then everything here is the exact expectation, as long as answers are independent.
"""

from __future__ import annotations

import weakref

import polars as pl

from overread.metrics.accuracy import credit
from overread.metrics.chains import with_slices
from overread.metrics.contract import GROUPS

FIRST = "initial_diagnostic_question"
CRITERION = "criterion_selection"
DECISION = "diagnostic_decision"
GROUNDINGS = ("lead_grounding", "wave_grounding", "measurement_grounding")
STEPS = (CRITERION, "finding_identification", *GROUNDINGS, DECISION)
FURTHER = "further findings"

SAMPLE: tuple[str, ...] = (*GROUPS, "case", "seed", "sample")
"""What makes one pass of one model through one sample."""
COLUMNS = (*SAMPLE, "item", "place", "stage", "slices", "options", "answer", "status", "parsed", "credit")

_PLACE = r"(?:step(\d+)/0|(\d+))$"
"""A question's name ends with its number in its dialogue, or is alone in the dialogue of a numbered step."""


class _Latest:
    """The steps of the marks that were asked for last: all metrics of chains look at the same marks in turn."""

    def __init__(self) -> None:
        self._marks: weakref.ref[pl.DataFrame] | None = None
        self._steps = pl.DataFrame()

    def __call__(self, marks: pl.DataFrame) -> pl.DataFrame:
        if self._marks is None or self._marks() is not marks:
            self._steps, self._marks = _steps_of(marks), weakref.ref(marks)
        return self._steps


steps_of = _Latest()
"""The steps after the first question, sorted, each with its loop (from 1), its credit and what its key is.

A sample of which a step is not there (because it cannot be scored) is left out.
"""


def _steps_of(marks: pl.DataFrame) -> pl.DataFrame:
    last = pl.col("place") == pl.col("place").max().over(SAMPLE)
    told = pl.col("answer").list.first().fill_null("").str.to_lowercase()
    number = pl.coalesce(pl.col("item").str.extract(_PLACE, 1), pl.col("item").str.extract(_PLACE, 2)).cast(pl.Int64)
    return (
        marks.filter(pl.col("stage").is_in(STEPS))
        .select(*(name for name in COLUMNS if name != "credit"), credit=credit(), number=number)
        .sort("place")
        .with_columns(
            loop=(pl.col("stage") == CRITERION).cum_sum().over(SAMPLE),
            decides=pl.col("stage") == DECISION,
            further=(pl.col("stage") == DECISION) & told.str.starts_with(FURTHER),
            last=last,
            whole=(pl.col("number").max() - pl.col("number").min() + 1 == pl.len()).over(SAMPLE),
        )
        .with_columns(
            whole=pl.col("whole") & (pl.col("last") & pl.col("decides") & ~pl.col("further")).any().over(SAMPLE)
        )
        .filter(pl.col("whole").fill_null(False) & (pl.col("loop") > 0))
    )


def per_sample(steps: pl.DataFrame, *values: pl.Expr) -> pl.DataFrame:
    """One row a sample: `values` over its steps, and the slices that all of its steps carry."""
    chains = steps.group_by(SAMPLE).agg(*values)
    return with_slices(chains, steps, SAMPLE).select(*GROUPS, "slices", *(value.meta.output_name() for value in values))
