"""Share of samples with every step after the first question right.

Of chains with several dialogues too: what counts is the sample. For guesses the exact expectation.
"""

from __future__ import annotations

import polars as pl

from overread.metrics import reasoning

UNIT = "dialogue"
DIRECTION = "more"
SHARE = True
LABEL = "completion, hard"
COLUMNS = reasoning.COLUMNS


def values(marks: pl.DataFrame) -> pl.DataFrame:
    """One row a sample, seed and sample of replies."""
    return reasoning.per_sample(reasoning.steps_of(marks), pl.col("credit").product().alias("value"))
