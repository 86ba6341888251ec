"""From marks to scores: batches of marks come in, sums by group and patient are kept, scores come out.

    tally = Tally({"accuracy": accuracy}, benchmark="spatial", seed=0)
    for marks in batches:
        tally.add(marks)
    scores = tally.scores()

Which scores there are:

- every metric for every protocol, condition, model and judge over all questions (`all`), and under `plain` also for
  each slice. Other conditions have no slices of their own; what they say about a slice is in the two that follow;
- `METRIC:lift`, the headline, for every slice that has floors: how far the model is above its best floor. A metric may
  refuse it with `FLOORS = False`. Floors are scored over the replies that exist: a blind condition that failed or was
  not finished must not pass for a low floor;
- the measures of `pairs`, wherever `accuracy` is asked for, with the condition that they hold against `plain`.

`n` counts units, or pairs; coverage and unreadable are of all expected replies of the group, or of both sides of the
pairs. With a single patient there is no interval. A value is null where there is nothing to divide by.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import polars as pl

from overread.errors import BadInput, blaming
from overread.media.conditions import BLIND
from overread.metrics import pairs
from overread.metrics.chains import CHAIN
from overread.metrics.clean import Evidence
from overread.metrics.contract import GROUPS
from overread.metrics.floors import (
    FLOOR_MODELS,
    NO_HEADLINE,
    PLAIN,
    family,
    floors_of,
    is_absent,
    is_floor,
)
from overread.metrics.recomputed import Kept
from overread.metrics.shares import Shares
from overread.metrics.statistics import Direction, Estimate, headline, interval, ratios, resampled_sums
from overread.metrics.sums import ALL, ROWS, Group, Sums, by_patient
from overread.tables import Score, schema

DIGITS = 10
"""Scores are rounded to this many decimals, so that the order of adding cannot be seen in them."""

Found = Mapping[Group, Estimate]


def _sliced() -> pl.Expr:
    """Marks whose slices are summed: those that get a score a slice, and the floors of those."""
    return pl.col("condition").is_in([PLAIN, *BLIND])


class Tally:
    """Scores of one benchmark, from marks that come in batches; a batch never splits an item or a dialogue."""

    def __init__(
        self,
        metrics: Mapping[str, Any],
        *,
        benchmark: str,
        seed: int,
        resamples: int = 1000,
        base: Mapping[str, str] | None = None,
        clean: Evidence | None = None,
    ) -> None:
        """`base` names the text-only base model of a model, for leakage; `clean` decides who gets the slice `clean`."""
        self._metrics = dict(metrics)
        self._benchmark, self._seed, self._resamples = benchmark, seed, resamples
        self._base, self._clean = dict(base or {}), clean
        self._sums = {name: Sums() for name, metric in self._metrics.items() if metric.UNIT != "exam"}
        self._absent = {name: Sums() for name in self._sums}
        self._kept = {name: Kept(metric) for name, metric in self._metrics.items() if metric.UNIT == "exam"}
        self._measures: dict[str, Sums] = {}
        self._replies, self._pairs, self._leaks = Shares(), Shares(), Shares()
        self._patients: list[pl.Series] = []

    def add(self, marks: pl.DataFrame) -> None:
        """Adds a batch of marks (columns of `contract.MARKS`)."""
        if marks.is_empty():
            return
        if self._clean is not None:
            marks = self._clean.with_slice(marks)
        everything, marks = marks, marks.filter("scored")
        self._patients.append(marks["patient"].unique().cast(pl.Categorical))
        if sum(map(len, self._patients)) > ROWS and len(self._patients) > 64:
            self._patients = [pl.concat(self._patients).unique()]
        status = marks.select(
            *GROUPS, "slices", there=~is_absent(), unreadable=pl.col("status") == "unreadable"
        )  # fmt: skip
        self._replies.add(status, pl.col("condition") == PLAIN)
        some_absent = not status["there"].all()
        # A dialogue in which one question cannot be scored has no value as a whole.
        whole = marks if everything.height == marks.height else everything.filter(pl.col("scored").all().over(CHAIN))
        for name, sums in self._sums.items():
            metric = self._metrics[name]
            mine = marks if metric.UNIT == "question" else whole
            sums.add(by_patient(self._units(name, mine), _sliced()))
            if getattr(metric, "FLOORS", True) and some_absent:
                absent = is_absent() if metric.UNIT == "question" else is_absent().any().over(CHAIN)
                floors = mine.filter(is_floor()).filter(absent)
                self._absent[name].add(by_patient(self._units(name, floors), _sliced()))
        for kept in self._kept.values():
            kept.add(marks)
        if "accuracy" in self._metrics:
            self._add_pairs(everything)

    def _units(self, name: str, marks: pl.DataFrame) -> pl.DataFrame:
        metric = self._metrics[name]
        with blaming(f"the metric {name}", str(getattr(metric, "__file__", name))):
            values: pl.DataFrame = metric.values(marks)
            weight = pl.col("weight") if "weight" in values.columns else pl.lit(1.0)
            units = values.drop_nulls("value").select(
                *GROUPS, "slices", sum=pl.col("value").cast(pl.Float64) * weight, weight=weight.cast(pl.Float64)
            )
        if not units["sum"].is_finite().all():
            raise BadInput(
                f"the metric {name} gave a value that is not a finite number",
                where=f"benchmark {self._benchmark}",
                do="let `values` give null for a unit that does not enter",
            )
        return units

    def _add_pairs(self, marks: pl.DataFrame) -> None:
        if not self._base and (marks["condition"] == PLAIN).all():
            return
        found = pairs.matched(marks)
        both = (pl.col("there") & pl.col("there_other"), pl.col("unreadable") | pl.col("unreadable_other"))
        if not found.is_empty():
            self._pairs.add(found.with_columns(both), pl.lit(True))
            for measure, units in pairs.over_conditions(found):
                self._measures.setdefault(measure, Sums()).add(by_patient(units, pl.lit(True)))
        if self._base:
            found = pairs.over_models(marks, self._base)
            self._leaks.add(found.with_columns(both), pl.lit(True))
            self._measures.setdefault(pairs.LEAKAGE, Sums()).add(by_patient(pairs.leakage(found), pl.lit(True)))

    def scores(self) -> pl.DataFrame:
        """All scores so far, with the columns of `Score`, sorted."""
        if not self._patients:
            return pl.DataFrame(schema=schema(Score))
        known = pl.concat(self._patients).unique()
        # By name, so that the draws do not depend on the order in which patients came.
        patients = known.to_frame().sort(pl.col("patient").cast(pl.String)).with_row_index("column")
        rows = [row for part in (self._metric_rows, self._measure_rows) for row in part(patients)]
        frame = pl.DataFrame(rows, schema=schema(Score), orient="row")
        rounded = frame.with_columns(pl.col("value", "low", "high").round(DIGITS))
        return rounded.sort("protocol", "model", "judge", "metric", "condition", "slice")

    def _metric_rows(self, patients: pl.DataFrame) -> Iterator[dict[str, Any]]:
        shares = self._replies.shares()
        for name, metric in self._metrics.items():
            if metric.UNIT == "exam":
                found, floors = self._kept[name].estimates(patients, self._seed, self._resamples, _sliced())
                sizes = self._kept[name].sizes(_sliced())
            else:
                found, floors = self._estimates(name, patients)
                sizes = self._sums[name].sizes()
            same = {"unit": metric.UNIT, "direction": metric.DIRECTION}
            for group, estimate in found.items():
                if group.slice == ALL or group.condition == PLAIN:
                    yield self._row(group, name, estimate, sizes[group], shares[group]) | same
            if getattr(metric, "FLOORS", True):
                for group, lift, floor in _lifts(found, floors, metric.DIRECTION):
                    row = self._row(group, f"{name}:lift", lift, sizes[group], shares[group])
                    yield row | {"unit": metric.UNIT, "direction": "more", "floor": floor}

    def _measure_rows(self, patients: pl.DataFrame) -> Iterator[dict[str, Any]]:
        between_conditions, between_models = self._pairs.shares(), self._leaks.shares()
        for measure, sums in self._measures.items():
            shares = between_models if measure == pairs.LEAKAGE else between_conditions
            sizes = sums.sizes()
            for group, estimate in self._resampled(sums, patients).items():
                least = 0.0 if measure == pairs.LEAKAGE else -np.inf
                bounded = Estimate(float(np.maximum(least, estimate.value)), np.maximum(least, estimate.resampled))
                row = self._row(group, measure, bounded, sizes[group], shares[group])
                yield row | {"unit": "pair", "direction": pairs.direction(measure)}

    def _resampled(self, sums: Sums, patients: pl.DataFrame, absent: Sums | None = None) -> dict[Group, Estimate]:
        """The ratios of a metric's groups; with `absent`, of what is left without them."""
        values, drawn = self._totals(sums, patients)
        if absent is not None and absent.groups:
            less_values, less_drawn = self._totals(absent, patients)
            codes = {group: code for code, group in enumerate(sums.groups)}
            where = [codes[group] for group in absent.groups]
            values[:, where] -= less_values
            drawn[:, where] -= less_drawn
        point, resampled = ratios(values[0], values[1]), ratios(drawn[0], drawn[1])
        return {group: Estimate(float(point[k]), resampled[k]) for k, group in enumerate(sums.groups)}

    def _totals(self, sums: Sums, patients: pl.DataFrame) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Sums and weights as (2, groups), and of every resample as (2, groups, resamples)."""
        matrix = sums.matrix(patients)
        values = np.asarray(matrix.sum(axis=1)).reshape(2, -1)
        return values, resampled_sums(matrix, self._seed, self._resamples).reshape(2, -1, self._resamples)

    def _estimates(self, name: str, patients: pl.DataFrame) -> tuple[dict[Group, Estimate], dict[Group, Estimate]]:
        whole = self._resampled(self._sums[name], patients)
        absent = self._absent[name]
        return whole, self._resampled(self._sums[name], patients, absent) if absent.groups else whole

    def _row(
        self, group: Group, metric: str, estimate: Estimate, sizes: tuple[int, int], shares: tuple[float, float]
    ) -> dict[str, Any]:
        known = not np.isnan(estimate.value)
        low, high = (interval(estimate.resampled) if known and sizes[1] > 1 else None) or (None, None)
        return {
            "benchmark": self._benchmark,
            **group._asdict(),
            "metric": metric,
            "value": estimate.value if known else None,
            "low": low,
            "high": high,
            "n": sizes[0],
            "patients": sizes[1],
            "coverage": shares[0],
            "unreadable": shares[1],
            "floor": "",
        }


def _lifts(found: Found, floors: Found, direction: Direction) -> Iterator[tuple[Group, Estimate, str]]:
    """The headline of every plain group that has floors, with the name of the best one."""
    models = sorted({group.model for group in found if family(group.model) in FLOOR_MODELS})
    for group, estimate in found.items():
        if group.condition != PLAIN or family(group.model) in NO_HEADLINE:
            continue
        named = {name: floors[floor] for name, floor in floors_of(group, floors, models).items()}
        best = headline(estimate, named, direction=direction)
        if best is not None:
            yield group, Estimate(best.lift, best.resampled), best.floor
