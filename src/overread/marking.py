"""Marks: one row for every reply that is expected, whether it exists or not; what metrics count."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from overread.judging import verdicts_of
from overread.metrics.contract import MARKS
from overread.runs.folder import Run

ROUNDING = 1e-9
"""What a limit may miss a whole number by and still reach it."""


def marks_of(run: Run, panel: str) -> Iterator[pl.DataFrame]:
    """The marks of a run under one panel of judges, part by part; a part never splits an item."""
    for index in range(len(run.parts)):
        yield _marks(run, panel, index)


def _marks(run: Run, panel: str, index: int) -> pl.DataFrame:
    questions = run.part(
        "questions",
        index,
        ["place", "id", "dialogue", "item", "template", "kind", "options", "many", "low", "high", "whole"],
    ).rename({"id": "question"})
    key = run.part("key", index, ["place", "answer", "number", "tolerance", "stage", "slices", "scored"])
    dialogues = run.part("dialogues", index, ["id", "protocol", "condition", "case", "patient"])
    stage = pl.concat_str(pl.lit("stage="), "stage")
    key = key.with_columns(
        slices=pl.when((pl.col("stage") == "") | pl.col("slices").list.contains(stage))
        .then("slices")
        .otherwise(pl.concat_list("slices", stage))
    )
    base = (
        questions.join(key, on="place")
        .join(dialogues.rename({"id": "dialogue"}), on="dialogue")
        .with_columns(chance_credit=_chance_credit(), chance_error=_chance_error())
    )
    verdicts = verdicts_of(run, panel, index).select(
        "place", "model", "seed", "sample", "status", "parsed", "correct", "credit", "error", "probability"
    )
    expected = base.join(_slots(run), how="cross").filter(pl.col("looks") | (pl.col("condition") == "plain"))
    marked = expected.join(verdicts, on=["place", "model", "seed", "sample"], how="left").with_columns(
        status=pl.col("status").fill_null("missing"), credit=pl.col("credit").fill_null(0.0), judge=pl.lit(panel)
    )
    return marked.sort("model", "seed", "sample", "place").select(
        [pl.col(name).cast(kind) for name, kind in MARKS.items()]
    )


def _slots(run: Run) -> pl.DataFrame:
    """Each model with the seeds and samples at which it is asked."""
    often = (run.exam["seed"], run.exam["seeds"], run.exam["samples"])
    rows = [(seat.model, seat.looks, *repeat) for seat in run.seats() for repeat in seat.repeats(*often)]
    columns = {"model": pl.String, "looks": pl.Boolean, "seed": pl.Int64, "sample": pl.Int64}
    return pl.DataFrame(rows, schema=columns, orient="row")


def _chance_credit() -> pl.Expr:
    """What a uniform guess gets."""
    count = pl.col("options").list.len()
    low, high, key, slack = pl.col("low"), pl.col("high"), pl.col("number"), pl.col("tolerance").fill_null(0.0)
    first, last = pl.max_horizontal(key - slack, low), pl.min_horizontal(key + slack, high)
    exact = (last - first) / (high - low)
    whole = ((last + ROUNDING).floor() - (first - ROUNDING).ceil() + 1) / (high - low + 1)
    hit = pl.when("whole").then(whole).otherwise(exact).clip(0.0, 1.0)
    return (
        pl.when((pl.col("kind") == "choice") & pl.col("many"))
        .then(pl.lit(0.5).pow(count))
        .when(pl.col("kind") == "choice")
        .then(1.0 / count)
        .when((pl.col("kind") == "number") & (high > low))
        .then(hit)
        .otherwise(0.0)
    )


def _chance_error() -> pl.Expr:
    """The mean distance of a uniform guess from the key, over the question's range."""
    low, high, key = pl.col("low"), pl.col("high"), pl.col("number")
    below, above = (key - low).clip(0), (high - key).clip(0)
    spread = (below.pow(2) + above.pow(2)) / (2 * (high - low))
    whole = (below * (below + 1) + above * (above + 1)) / (2 * (high - low + 1))
    return pl.when(pl.col("whole")).then(whole).otherwise(spread)
