"""Share of right answers.

The mean credit over choice, number and text questions. What is missing, failed, refused or unreadable gets nothing.
"""

from __future__ import annotations

import polars as pl

from overread.metrics.contract import GROUPS

UNIT = "question"
DIRECTION = "more"
SHARE = True
LABEL = "accuracy"
KINDS = ("choice", "number", "text")
COLUMNS = (*GROUPS, "slices", "kind", "status", "credit")


def credit() -> pl.Expr:
    """The credit of each mark: only what a judge read, or scored by expectation, can have any."""
    return pl.when(pl.col("status").is_in(["read", "expected"])).then(pl.col("credit").fill_null(0.0)).otherwise(0.0)


def values(marks: pl.DataFrame) -> pl.DataFrame:
    """One row a question."""
    return marks.filter(pl.col("kind").is_in(KINDS)).select(*GROUPS, "slices", value=credit())
