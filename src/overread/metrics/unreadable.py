"""Share of the expected replies in which the judge could read nothing.

An unreadable reply is wrong as well; this tells how much of what is wrong is of that kind. It has no headline.
"""

from __future__ import annotations

import polars as pl

from overread.metrics.contract import GROUPS

UNIT = "question"
DIRECTION = "less"
SHARE = True
LABEL = "unreadable"
FLOORS = False
COLUMNS = (*GROUPS, "slices", "status")


def values(marks: pl.DataFrame) -> pl.DataFrame:
    """One row an expected reply."""
    return marks.select(*GROUPS, "slices", value=(pl.col("status") == "unreadable").cast(pl.Float64))
