"""Partial sums by group and patient: all that is kept of the marks once a batch has been added.

A group is protocol, condition, model, judge and slice. Rows of the same group and patient are merged whenever they have
grown enough, so that memory goes with the number of patients and not of questions.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import polars as pl
import scipy.sparse

from overread.metrics.contract import GROUPS

ALL = "all"
ROWS = 500_000
"""Rows that may wait before they are merged, at least."""


class Group(NamedTuple):
    """What a score is about, save its metric."""

    protocol: str
    condition: str
    model: str
    judge: str
    slice: str


def by_patient(units: pl.DataFrame, sliced: pl.Expr) -> pl.DataFrame:
    """Adds up units (columns of GROUPS, `slices`, `sum`, `weight`): over all of them and, where `sliced`, by slice."""
    adding = (pl.col("sum").sum(), pl.col("weight").sum(), pl.len().alias("n"))
    whole = units.group_by(GROUPS).agg(adding).with_columns(slice=pl.lit(ALL))
    labelled = units.filter(sliced).with_columns(slice=pl.col("slices").list.unique()).explode("slice")
    parts = labelled.drop_nulls("slice").group_by(*GROUPS, "slice").agg(adding)
    return pl.concat([whole, parts.select(whole.columns)])


class Sums:
    """Sums of one metric, one row a group and patient."""

    def __init__(self) -> None:
        self._codes: dict[Group, int] = {}
        self._units: dict[Group, int] = {}
        self._frames: list[pl.DataFrame] = []
        self._waiting = 0
        self._merged = 0

    def add(self, sums: pl.DataFrame) -> None:
        """Adds what `by_patient` gave."""
        if sums.is_empty():
            return
        found = sums.group_by(Group._fields).agg(pl.col("n").sum())
        codes = []
        for *names, n in found.iter_rows():
            group = Group(*names)
            codes.append(self._codes.setdefault(group, len(self._codes)))
            self._units[group] = self._units.get(group, 0) + n
        coded = sums.drop("n").join(found.with_columns(group=pl.Series(codes, dtype=pl.UInt32)), on=Group._fields)
        # Categories keep each patient's text once, instead of once a row.
        patient = pl.col("patient").cast(pl.Categorical)
        self._frames.append(coded.select("group", patient, "sum", "weight"))
        self._waiting += sums.height
        if self._waiting > max(ROWS, self._merged):
            self._merge()

    def _merge(self) -> pl.DataFrame | None:
        if len(self._frames) > 1:
            totals = pl.concat(self._frames).group_by("group", "patient").agg(pl.col("sum", "weight").sum())
            self._frames = [totals]
        self._waiting = 0
        self._merged = self._frames[0].height if self._frames else 0
        return self._frames[0] if self._frames else None

    @property
    def groups(self) -> list[Group]:
        """All groups, in the order of their codes."""
        return list(self._codes)

    def matrix(self, patients: pl.DataFrame) -> Any:
        """Sums and, below, weights as sparse (2 * groups, patients); `patients` gives each `patient` its `column`."""
        frame = self._merge()
        shape = (len(self._codes), patients.height)
        if frame is None:
            return scipy.sparse.csr_matrix((0, patients.height))
        placed = frame.join(patients, on="patient").sort("group", "column")
        where = placed["group"].to_numpy(), placed["column"].to_numpy()
        parts = [scipy.sparse.csr_matrix((placed[name].to_numpy(), where), shape=shape) for name in ("sum", "weight")]
        return scipy.sparse.vstack(parts, format="csr")

    def sizes(self) -> dict[Group, tuple[int, int]]:
        """Units and patients of each group."""
        frame = self._merge()
        if frame is None:
            return {}
        patients = dict(frame["group"].value_counts().iter_rows())
        return {group: (self._units[group], patients[code]) for group, code in self._codes.items()}
