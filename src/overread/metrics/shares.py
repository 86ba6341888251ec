"""How many of the expected replies of a group exist, and how many could not be read: counts, without intervals."""

from __future__ import annotations

import polars as pl

from overread.metrics.sums import ALL, Group

PARTS = 64
"""Batches whose counts may wait before they are merged."""


class Shares:
    """Expected replies of each group, existing ones and unreadable ones; for pairs, both sides together."""

    def __init__(self) -> None:
        self._frames: list[pl.DataFrame] = []

    def add(self, rows: pl.DataFrame, sliced: pl.Expr) -> None:
        """Adds rows with the columns of GROUPS, `slices`, `there` and `unreadable`."""
        counted = (pl.len().cast(pl.Int64).alias("expected"), pl.col("there", "unreadable").sum().cast(pl.Int64))
        whole = rows.group_by(Group._fields[:4]).agg(counted).with_columns(slice=pl.lit(ALL))
        labelled = rows.filter(sliced).with_columns(slice=pl.col("slices").list.unique()).explode("slice")
        parts = labelled.drop_nulls("slice").group_by(Group._fields).agg(counted)
        self._frames += [whole.select(parts.columns), parts]
        if len(self._frames) > PARTS:
            self._frames = [self._total()]

    def _total(self) -> pl.DataFrame:
        return pl.concat(self._frames).group_by(Group._fields).agg(pl.col("expected", "there", "unreadable").sum())

    def shares(self) -> dict[Group, tuple[float, float]]:
        """Coverage and unreadable of each group."""
        if not self._frames:
            return {}
        rows = self._total().select(*Group._fields, "there", "unreadable", "expected").iter_rows()
        return {Group(*row[:5]): (row[5] / row[7], row[6] / row[7]) for row in rows}
