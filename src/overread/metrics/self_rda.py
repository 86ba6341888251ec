"""Share of samples that reasoning of one's own leads to the right diagnosis (Self-RDA).

The chain is walked up to the first decision that is not a right `further findings`. A wrong criterion, finding or
grounding before it gives nothing; a yes or no that comes early is compared with the diagnosis. Of a guess that is only
a distribution, what is not on the right answer is taken to be spread evenly over the others.
"""

from __future__ import annotations

import polars as pl

from overread.metrics import reasoning

UNIT = "dialogue"
DIRECTION = "more"
SHARE = True
LABEL = "own reasoning"
COLUMNS = reasoning.COLUMNS

_SAMPLE = reasoning.SAMPLE


def values(marks: pl.DataFrame) -> pl.DataFrame:
    """One row a sample, seed and sample of replies."""
    label = pl.col("answer").list.first().filter("last").first().over(_SAMPLE)
    early = (
        pl.when(pl.col("status") == "expected")
        .then((1.0 - pl.col("credit")) / (pl.col("options").list.len() - 1))
        .otherwise((pl.col("parsed").str.to_lowercase() == label.str.to_lowercase()).cast(pl.Float64).fill_null(0.0))
    )
    steps = reasoning.steps_of(marks).with_columns(
        sound=pl.when("decides").then(1.0).otherwise("credit").cum_prod().over(_SAMPLE),
        on=pl.when("further").then("credit").otherwise(1.0).cum_prod().over(_SAMPLE),
        match=pl.when("further").then(early).otherwise("credit"),
    )
    before = pl.col("on").shift(1, fill_value=1.0).over(_SAMPLE)
    worth = pl.when("decides").then(pl.col("sound") * before * pl.col("match")).otherwise(0.0)
    return reasoning.per_sample(steps.with_columns(worth=worth), pl.col("worth").sum().alias("value"))
