"""Dialogues as units: what one dialogue of one model, seed and sample adds up to, question after question."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from overread.metrics.accuracy import KINDS, credit
from overread.metrics.contract import GROUPS

CHAIN: tuple[str, ...] = (*GROUPS, "dialogue", "seed", "sample")
"""What makes one pass of one model through one dialogue."""


def over_dialogues(marks: pl.DataFrame, value: pl.Expr) -> pl.DataFrame:
    """One row a pass through a dialogue; `value` aggregates `credit`, which stands in the order of the questions.

    A dialogue carries the slices that all of its questions carry.
    """
    scored = marks.filter(pl.col("kind").is_in(KINDS)).select(*CHAIN, "place", "slices", credit=credit())
    chains = scored.sort("place").group_by(CHAIN).agg(value.alias("value"))
    return with_slices(chains, scored, CHAIN).select(*GROUPS, "slices", "value")


def with_slices(chains: pl.DataFrame, scored: pl.DataFrame, chain: Sequence[str]) -> pl.DataFrame:
    """One row a chain, with the slices that all of its rows of `scored` carry."""
    labels = (
        scored.select(*chain, pl.col("slices").list.unique(), questions=pl.len().over(chain))
        .explode("slices")
        .drop_nulls("slices")
        .group_by(*chain, "slices")
        .agg(carrying=pl.len(), questions=pl.col("questions").first())
        .filter(pl.col("carrying") == pl.col("questions"))
        .group_by(chain)
        .agg("slices")
    )
    empty = pl.lit([], dtype=pl.List(pl.String))
    return chains.join(labels, on=list(chain), how="left").with_columns(pl.col("slices").fill_null(empty))
