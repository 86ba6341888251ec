"""Mean error of numbers, where no answer counts as a guess.

Over number questions whose range is known: how far the number is from the key, in the question's unit. A reply without
a readable number takes the mean error of a uniform guess over the range, so that staying silent never pays. Questions
without a range have no such guess and do not enter, for any model; `mean_error_read` has them.
"""

from __future__ import annotations

import polars as pl

from overread.metrics.contract import GROUPS

UNIT = "question"
DIRECTION = "less"
LABEL = "mean error"
COLUMNS = (*GROUPS, "slices", "kind", "status", "error", "chance_error")


def values(marks: pl.DataFrame) -> pl.DataFrame:
    """One row a number question."""
    read = pl.col("status").is_in(["read", "expected"])
    value = pl.when(read).then(pl.coalesce("error", "chance_error")).otherwise(pl.col("chance_error"))
    numbers = (pl.col("kind") == "number") & pl.col("chance_error").is_not_null()
    return marks.filter(numbers).select(*GROUPS, "slices", value=value)
