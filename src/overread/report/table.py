"""The headline of a run: every model against its best floor, as rows of plain data."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from overread.catalog import load
from overread.media.conditions import BLIND
from overread.metrics.floors import FLOOR_MODELS, NO_HEADLINE, PLAIN, family
from overread.metrics.sums import ALL
from overread.report.seen import witnessed
from overread.report.words import LIFT
from overread.runs.folder import Run, Seat

NOT_ASKED = "not asked"
GROUPS = ("model", "contrastive", "reference")
"""In the order of the headline. Contrastive models do not answer: the options are scored for them, as sentences."""


@dataclasses.dataclass(frozen=True, slots=True)
class Scores:
    """The scores of a run under one panel of judges, to be looked up."""

    panel: str
    rows: dict[tuple[str, str, str, str], dict[str, Any]]
    """By model, condition, metric and slice."""

    def get(self, model: str, metric: str, condition: str = PLAIN, slice_: str = ALL) -> dict[str, Any] | None:
        """One score; None where it was not asked for."""
        return self.rows.get((model, condition, metric, slice_))

    def names(self, column: str) -> list[str]:
        """All values of a column, sorted."""
        return sorted({row[column] for row in self.rows.values()})


def scores_of(run: Run) -> list[Scores]:
    """The scores of each panel of judges, in the order of their names."""
    table = run.table("scores")
    return [
        Scores(
            str(panel),
            {(r["model"], r["condition"], r["metric"], r["slice"]): r for r in rows.iter_rows(named=True)},
        )
        for (panel,), rows in table.sort("judge").group_by("judge", maintain_order=True)
    ]


def metrics_of(run: Run) -> tuple[str, ...]:
    """The metrics of the run's benchmark; the first is the headline."""
    metrics: Sequence[str] = load("benchmarks", run.exam["benchmark"]).METRICS
    return tuple(metrics)


def direction_of(metric: str) -> str:
    """`more` or `less`: which is better."""
    return str(load("metrics", metric).DIRECTION)


def headline_rows(run: Run) -> list[dict[str, Any]]:
    """One row a panel and model, with plain values: shares between 0 and 1, None where there is no value.

    `not_asked` names the floors that were not asked, so that they can be told from those without a value.
    """
    levels = witnessed(run).levels
    return [row for scores in scores_of(run) for row in rows_of(run, scores, levels)]


def rows_of(run: Run, scores: Scores, levels: Any) -> list[dict[str, Any]]:
    """The rows of one panel; candidates first, then floors and references."""
    metric = metrics_of(run)[0]
    direction = direction_of(metric)
    best = {name: _best(run, scores, metric, name, direction) for name in FLOOR_MODELS}
    rows = [{**_row(scores, metric, seat.model, best), "group": group_of(seat)} for seat in run.seats()]
    exam = {"benchmark": run.exam["benchmark"], "protocol": run.exam["protocol"], "judge": scores.panel}
    whole = [
        {**exam, **row, "direction": direction, "receipts": levels.get(row["model"], "")}
        for row in sorted(rows, key=lambda row: GROUPS.index(row["group"]))
    ]
    for row in whole:
        row["not_asked"] = ", ".join(name for name in (*FLOOR_MODELS, *BLIND) if row.pop(f"no_{name}"))
    return whole


def group_of(seat: Seat) -> str:
    """The group that a model stands in."""
    if family(seat.model) in NO_HEADLINE:
        return "reference"
    return "contrastive" if seat.details.get("track") == "contrastive" else "model"


def _best(run: Run, scores: Scores, metric: str, name: str, direction: str) -> dict[str, Any] | None:
    """The score of the best variant of a floor model."""
    found = [scores.get(seat.model, metric) for seat in run.seats() if family(seat.model) == name]
    known = [row for row in found if row is not None and row["value"] is not None]
    sign = 1 if direction == "more" else -1
    return max(known, key=lambda row: (sign * row["value"], row["model"]), default=None)


def _row(scores: Scores, metric: str, model: str, best: dict[str, dict[str, Any] | None]) -> dict[str, Any]:
    raw, lift = scores.get(model, metric), scores.get(model, metric + LIFT)
    floors = {**best, **{condition: scores.get(model, metric, condition) for condition in BLIND}}
    return {
        "model": model,
        "metric": metric,
        **{f"lift{end}": lift and lift[column] for end, column in (("", "value"), ("_low", "low"), ("_high", "high"))},
        "floor": lift["floor"] if lift else "",
        **{column: raw and raw[column] for column in ("value", "low", "high")},
        # Without a single usable reply its score is 0, and no floor: a failure must not pass for a low one.
        **{name: row["value"] if row and row["coverage"] else None for name, row in floors.items()},
        **{f"no_{name}": row is None for name, row in floors.items()},
        **{column: raw and raw[column] for column in ("n", "patients", "coverage", "unreadable")},
    }
