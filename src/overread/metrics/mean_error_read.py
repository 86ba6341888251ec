"""Mean error of the numbers that could be read.

Only replies with a readable number enter, so models that stay silent on hard questions look better here: read it beside
`mean_error` and `unreadable`. For that reason it has no headline.
"""

from __future__ import annotations

import polars as pl

from overread.metrics.contract import GROUPS

UNIT = "question"
DIRECTION = "less"
LABEL = "mean error (read)"
FLOORS = False
COLUMNS = (*GROUPS, "slices", "kind", "status", "error")


def values(marks: pl.DataFrame) -> pl.DataFrame:
    """One row a number question; null where nothing was read."""
    value = pl.when(pl.col("status").is_in(["read", "expected"])).then(pl.col("error"))
    return marks.filter(pl.col("kind") == "number").select(*GROUPS, "slices", value=value)
