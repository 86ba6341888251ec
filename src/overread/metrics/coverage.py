"""Share of the expected replies that exist and did not fail.

Says how far a run got, not how good a model is; it has no headline.
"""

from __future__ import annotations

import polars as pl

from overread.metrics.contract import GROUPS

UNIT = "question"
DIRECTION = "more"
SHARE = True
LABEL = "coverage"
FLOORS = False
COLUMNS = (*GROUPS, "slices", "status")


def values(marks: pl.DataFrame) -> pl.DataFrame:
    """One row an expected reply."""
    there = ~pl.col("status").is_in(["missing", "failed"])
    return marks.select(*GROUPS, "slices", value=there.cast(pl.Float64))
