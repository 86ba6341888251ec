"""Mean credit above a uniform guess."""

import polars as pl

from overread.metrics.contract import GROUPS

UNIT = "question"
DIRECTION = "more"
LABEL = "above a guess"


def values(marks: pl.DataFrame) -> pl.DataFrame:
    """One row a choice question."""
    above = pl.col("credit").fill_null(0.0) - pl.col("chance_credit")
    return marks.filter(pl.col("kind") == "choice").select(*GROUPS, "slices", value=above)
