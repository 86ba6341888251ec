"""Share of samples whose last decision is right, with the key of every step before it shown (GT-RDA).

It measures whether a rule is followed, not whether an ECG is read: in a free conversation it has no such meaning.
"""

from __future__ import annotations

import polars as pl

from overread.metrics import reasoning

UNIT = "dialogue"
DIRECTION = "more"
SHARE = True
LABEL = "last decision"
COLUMNS = reasoning.COLUMNS


def values(marks: pl.DataFrame) -> pl.DataFrame:
    """One row a sample, seed and sample of replies."""
    last = pl.col("credit").filter("last").sum()
    return reasoning.per_sample(reasoning.steps_of(marks), last.alias("value"))
