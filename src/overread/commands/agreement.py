"""How far the judges of a run agree: every two panels, on the replies that both found right or wrong."""

from __future__ import annotations

import itertools
from typing import Any

import polars as pl
from rich.table import Table

from overread.judging import panels, verdicts_of
from overread.report.texts import cell, plain_table
from overread.runs.folder import Run

ALL = "all"
_COLUMNS = ("model", "stage", "one", "other", "n", "agreement", "kappa", "only_one", "only_other")


def agreement(run: Run) -> list[dict[str, Any]]:
    """One row a model, stage and pair of panels: how many replies, the share found alike, Cohen's kappa.

    `only_one` and `only_other` are the replies that the one, or the other, alone found right. Distributions are neither
    right nor wrong and do not count.
    """
    rows: list[dict[str, Any]] = []
    for one, other in itertools.combinations(panels(run), 2):
        parts = [_both(run, one, other, index) for index in range(len(run.parts))]
        both = pl.concat(parts)
        stages = pl.concat([both, both.with_columns(stage=pl.lit(ALL))])
        counted = stages.group_by("model", "stage").agg(
            n=pl.len(),
            agreement=(pl.col("right") == pl.col("right_other")).mean(),
            first=pl.col("right").mean(),
            second=pl.col("right_other").mean(),
            only_one=(pl.col("right") & ~pl.col("right_other")).sum(),
            only_other=(~pl.col("right") & pl.col("right_other")).sum(),
        )
        expected = pl.col("first") * pl.col("second") + (1 - pl.col("first")) * (1 - pl.col("second"))
        kappa = pl.when(expected < 1).then((pl.col("agreement") - expected) / (1 - expected))
        named = counted.with_columns(kappa=kappa, one=pl.lit(one), other=pl.lit(other))
        rows += named.sort("model", pl.col("stage") != ALL, "stage").select(_COLUMNS).to_dicts()
    return rows


def _both(run: Run, one: str, other: str, index: int) -> pl.DataFrame:
    found = [
        verdicts_of(run, panel, index)
        .filter(pl.col("correct").is_not_null())
        .select("place", "model", "seed", "sample", right="correct")
        for panel in (one, other)
    ]
    stages = run.part("key", index, ["place", "stage"])
    joined = found[0].join(found[1], on=["place", "model", "seed", "sample"], suffix="_other")
    return joined.join(stages, on="place")


def as_table(rows: list[dict[str, Any]]) -> Table:
    """The rows for the terminal."""
    table = plain_table(
        "how far the judges agree", ("model", "stage", "judges", "n", "alike", "kappa", "only one right")
    )
    for row in rows:
        kappa = "-" if row["kappa"] is None else f"{row['kappa']:.2f}"
        apart = f"{row['only_one']} / {row['only_other']}"
        judges = f"{row['one']} / {row['other']}"
        alike = f"{100 * row['agreement']:.1f} %"
        table.add_row(*map(cell, (row["model"], row["stage"], judges, str(row["n"]), alike, kappa, apart)))
    return table
