"""Metrics of unit exam: computed once on all marks of a group and again on every resample of its patients."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from overread.errors import blaming
from overread.metrics.contract import GROUPS, MARKS
from overread.metrics.floors import is_absent, is_floor
from overread.metrics.statistics import Estimate, draws
from overread.metrics.sums import ALL, Group


class Kept:
    """The columns of the marks that one exam metric needs."""

    def __init__(self, metric: Any) -> None:
        self._score = metric.score
        self._file = str(getattr(metric, "__file__", ""))
        self._name = Path(self._file).stem
        named = tuple(getattr(metric, "COLUMNS", MARKS))
        self._columns = tuple(dict.fromkeys((*GROUPS, "slices", "status", *named)))
        self._frames: list[pl.DataFrame] = []

    def add(self, marks: pl.DataFrame) -> None:
        """Keeps a batch."""
        self._frames.append(marks.select(self._columns))

    def _parts(self, sliced: pl.Expr) -> Iterator[tuple[Group, pl.DataFrame]]:
        marks = pl.concat(self._frames)
        for key, part in marks.group_by(GROUPS[:4]):
            yield Group(*(str(k) for k in (*key, ALL))), part
        labelled = marks.filter(sliced).with_columns(slice=pl.col("slices").list.unique()).explode("slice")
        for key, part in labelled.drop_nulls("slice").group_by(*GROUPS[:4], "slice"):
            yield Group(*(str(k) for k in key)), part.drop("slice")

    def sizes(self, sliced: pl.Expr) -> dict[Group, tuple[int, int]]:
        """Marks and patients of each group."""
        if not self._frames:
            return {}
        return {group: (part.height, part["patient"].n_unique()) for group, part in self._parts(sliced)}

    def estimates(
        self, patients: pl.DataFrame, seed: int, resamples: int, sliced: pl.Expr
    ) -> tuple[dict[Group, Estimate], dict[Group, Estimate]]:
        """The score of each group, and of each group as a floor: without the replies that do not exist.

        `patients` gives each `patient` (a category) its `column` among all patients of the exam.
        """
        if not self._frames:
            return {}, {}
        whole: dict[Group, Estimate] = {}
        floors: dict[Group, Estimate] = {}
        for group, part in self._parts(sliced):
            whole[group] = self._estimate(part, patients, seed, resamples)
            present = part.filter(~(is_floor() & is_absent()))
            if present.height == part.height:
                floors[group] = whole[group]
            elif not present.is_empty():
                floors[group] = self._estimate(present, patients, seed, resamples)
        return whole, floors

    def _value(self, marks: pl.DataFrame) -> float:
        with blaming(f"the metric {self._name}", self._file):
            value = self._score(marks) if marks.height else None
            return float("nan") if value is None else float(value)

    def _estimate(self, marks: pl.DataFrame, patients: pl.DataFrame, seed: int, resamples: int) -> Estimate:
        placed = marks.with_columns(pl.col("patient").cast(pl.Categorical)).join(
            patients, on="patient", maintain_order="left"
        )
        columns = placed["column"].to_numpy()
        value = self._value(marks)
        if len(np.unique(columns)) < 2:
            return Estimate(value, np.full(resamples, np.nan))
        rows = np.arange(marks.height)
        resampled = [
            self._value(marks[np.repeat(rows, counts[columns, draw].astype(np.int64))])
            for counts in draws(patients.height, seed, resamples)
            for draw in range(counts.shape[1])
        ]
        return Estimate(value, np.array(resampled))
