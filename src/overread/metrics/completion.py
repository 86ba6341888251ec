"""Share of dialogues with every question right.

The product of the credits of a dialogue's scored questions: 1 only if all are right. Where credits are probabilities (a
guess scored by expectation), the product is the exact expectation.
"""

from __future__ import annotations

import polars as pl

from overread.metrics.chains import CHAIN, over_dialogues

UNIT = "dialogue"
DIRECTION = "more"
SHARE = True
LABEL = "completion"
COLUMNS = (*CHAIN, "place", "slices", "kind", "status", "credit")


def values(marks: pl.DataFrame) -> pl.DataFrame:
    """One row a dialogue, seed and sample."""
    return over_dialogues(marks, pl.col("credit").product())
