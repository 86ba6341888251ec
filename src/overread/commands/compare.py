"""Two runs side by side: every model of the one against every model of the other, on the same questions."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import polars as pl
from rich.table import Table

from overread.catalog import load
from overread.errors import BadInput
from overread.judging import chosen_panel, judges_of
from overread.marking import marks_of
from overread.metrics.compare import compare
from overread.metrics.permutation import holm
from overread.report.texts import plain_table
from overread.runs.folder import Run


def compare_runs(
    first: Run, second: Run, metric: str | None = None, condition: str = "plain", judges: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """One row a pair of models: effect (positive: the first is better), interval, p, p corrected by Holm, counts.

    Both runs are taken as the same panel of judges found them: `judges`, or the benchmark's own.
    """
    benchmark = first.exam["benchmark"]
    if second.exam["benchmark"] != benchmark:
        raise BadInput(
            f"the runs hold different exams: {benchmark} and {second.exam['benchmark']}",
            where=str(second.folder),
            do="compare runs of the same benchmark",
        )
    metrics = load("benchmarks", benchmark).METRICS  # loaded in any case: it may bring the metric that is named
    name = metric or metrics[0]
    module = load("metrics", name)
    panel = _panel(first, second, judges)
    ours, theirs = _marks(first, panel, condition), _marks(second, panel, condition)
    same = first.folder.resolve() == second.folder.resolve()
    pairs = [(a, b) for a in ours for b in theirs if not same or a < b]
    found = [compare(ours[a], theirs[b], module, seed=first.exam["seed"]) for a, b in pairs]
    if not found:
        raise BadInput(
            "there are no two models to compare", where=str(first.folder), do="name two runs, or one of two models"
        )
    corrected = holm([result.p for result in found])
    return [
        {"metric": name, "judge": panel, **dataclasses.asdict(result), "p_holm": p}
        for result, p in zip(found, corrected, strict=True)
    ]


def comparison_table(rows: Sequence[dict[str, Any]], condition: str) -> Table:
    """The rows of `compare_runs` for the terminal."""
    title = f"differences under {condition}; positive: the first is better"
    return plain_table(title, list(rows[0]), ([_cell(value) for value in row.values()] for row in rows))


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _panel(first: Run, second: Run, judges: Sequence[str]) -> str:
    """The panel of judges that found on both runs."""
    panel = chosen_panel(first, judges)
    chosen_panel(second, judges)
    one, other = judges_of(first, panel), judges_of(second, panel)
    if one != other:
        raise BadInput(
            f"the runs were not judged alike: the verdicts {panel!r} are by {_named(one)} and by {_named(other)}",
            where=f"{first.folder} and {second.folder}",
            do="judge one of them again by the judges of the other: overread judge RUN --judge JUDGE",
        )
    return panel


def _named(judges: Sequence[str]) -> str:
    return ", ".join(judges) or "none of ours (brought from elsewhere)"


def _marks(run: Run, panel: str, condition: str) -> dict[str, pl.DataFrame]:
    marks = pl.concat([part.filter(pl.col("condition") == condition) for part in marks_of(run, panel)])
    if marks.is_empty():
        raise BadInput(f"the run has nothing under the condition {condition!r}", where=str(run.folder))
    return {str(model): rows for (model,), rows in marks.group_by("model", maintain_order=True)}
