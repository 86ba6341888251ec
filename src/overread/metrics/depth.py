"""How many questions of a dialogue are right before the first wrong one.

The sum of the running products of the credits, in the order of the questions: for right and wrong answers the number of
leading right ones, for probabilities its exact expectation.
"""

from __future__ import annotations

import polars as pl

from overread.metrics.chains import CHAIN, over_dialogues

UNIT = "dialogue"
DIRECTION = "more"
LABEL = "depth"
COLUMNS = (*CHAIN, "place", "slices", "kind", "status", "credit")


def values(marks: pl.DataFrame) -> pl.DataFrame:
    """One row a dialogue, seed and sample."""
    return over_dialogues(marks, pl.col("credit").cum_prod().sum())
