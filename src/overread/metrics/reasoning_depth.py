"""How far each loop of reasoning gets before its first error, from 0 to 4.

One each for criterion, finding and decision, and for grounding the share of its questions that are right before the
first wrong one; nothing counts after the loop's first error, and the next loop starts anew. Only loops that have
grounding count, each alike: a sample weighs as many.
"""

from __future__ import annotations

import polars as pl

from overread.metrics import reasoning

UNIT = "dialogue"
DIRECTION = "more"
LABEL = "depth of 4"
COLUMNS = reasoning.COLUMNS

_LOOP = (*reasoning.SAMPLE, "loop")


def values(marks: pl.DataFrame) -> pl.DataFrame:
    """One row a sample, seed and sample of replies; its weight is the number of its loops that count."""
    grounding = pl.col("stage").is_in(reasoning.GROUNDINGS)
    steps = reasoning.steps_of(marks).with_columns(
        reached=pl.col("credit").cum_prod().over(_LOOP), groundings=grounding.sum().over(_LOOP)
    )
    counting = steps.filter(pl.col("groundings") > 0).with_columns(
        part=pl.when(grounding).then(pl.col("reached") / pl.col("groundings")).otherwise("reached")
    )
    found = reasoning.per_sample(
        counting, pl.col("part").sum().alias("total"), pl.col("loop").n_unique().cast(pl.Float64).alias("weight")
    )
    return found.with_columns(value=pl.col("total") / pl.col("weight")).drop("total")
