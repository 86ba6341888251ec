"""Share of samples with every step after the first question right, early decisions aside.

A decision may be wrong where its key is that further findings are required.
"""

from __future__ import annotations

import polars as pl

from overread.metrics import reasoning

UNIT = "dialogue"
DIRECTION = "more"
SHARE = True
LABEL = "completion, soft"
COLUMNS = reasoning.COLUMNS


def values(marks: pl.DataFrame) -> pl.DataFrame:
    """One row a sample, seed and sample of replies."""
    tolerant = pl.when("further").then(1.0).otherwise("credit")
    return reasoning.per_sample(reasoning.steps_of(marks), tolerant.product().alias("value"))
