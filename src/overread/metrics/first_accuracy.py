"""Share of first questions, is the diagnosis there?, that are answered right.

Of chains that begin with such a question, before any reasoning (IDA of the paper on ECG-Reasoning-Benchmark).
"""

from __future__ import annotations

import polars as pl

from overread.metrics.accuracy import credit
from overread.metrics.contract import GROUPS
from overread.metrics.reasoning import FIRST

UNIT = "question"
DIRECTION = "more"
SHARE = True
LABEL = "first question"
COLUMNS = (*GROUPS, "stage", "slices", "status", "credit")


def values(marks: pl.DataFrame) -> pl.DataFrame:
    """One row a first question."""
    return marks.filter(pl.col("stage") == FIRST).select(*GROUPS, "slices", value=credit())
