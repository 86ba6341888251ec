"""What a metric is: one file of this folder (or anywhere, by path) with

    a docstring             its first line is the title that `overread list metrics` shows
    UNIT = "question"       what is counted: question, dialogue, or exam
    DIRECTION = "more"      which is better: more or less
    LABEL = "accuracy"      optional: how tables head it
    SHARE = True            optional: it is a share of a whole and is written in per cent
    FLOORS = False          optional: it has no headline, because no score above a floor would mean anything
    COLUMNS = ("credit",)   optional, unit exam: the only columns of the marks that it needs
    def values(marks: polars.DataFrame) -> polars.DataFrame        for units question and dialogue
    def score(marks: polars.DataFrame) -> float | None             for unit exam

A metric of unit question or dialogue is a mean over its units: `values` gives one row a unit with the columns of
`GROUPS`, `slices`, `value` (null: this unit does not enter) and `weight` (1 where nothing is said). Its intervals are
computed for all resamples at once. A metric of unit exam (AUC, retrieval) gets all marks of one group and is computed
again for every resample.

A question whose key says nothing under a condition (a swapped study that has the same answer, a probe that leaves no
answer right) is not in the marks that `values` and `score` get; a dialogue that has such a question has no value there.

`marks` has one row for each reply that is expected, whether it exists or not, with the columns of `MARKS`.
Questions of one dialogue, and all conditions of one item, are never split between two calls of `values`.
"""

from __future__ import annotations

import polars as pl

GROUPS: tuple[str, ...] = ("protocol", "condition", "model", "judge", "patient")
"""What scores are told apart by, and the patient over whom intervals are resampled."""

MARKS: dict[str, pl.DataType] = {
    "protocol": pl.String(),
    "condition": pl.String(),
    "model": pl.String(),
    "judge": pl.String(),
    "patient": pl.String(),
    "case": pl.String(),
    "dialogue": pl.String(),
    "question": pl.String(),
    "item": pl.String(),  # of the question: the same for all conditions and protocols of one original
    "place": pl.Int64(),
    "template": pl.String(),
    "kind": pl.String(),
    "stage": pl.String(),
    "scored": pl.Boolean(),  # false where the key says nothing under this condition
    "slices": pl.List(pl.String()),
    "options": pl.List(pl.String()),
    "answer": pl.List(pl.String()),
    "seed": pl.Int64(),
    "sample": pl.Int64(),
    "status": pl.String(),  # VerdictStatus, or `missing`: never asked, or no verdict yet
    "parsed": pl.String(),
    "correct": pl.Boolean(),
    "credit": pl.Float64(),
    "error": pl.Float64(),
    "probability": pl.Float64(),
    "chance_credit": pl.Float64(),  # what a uniform guess gets
    "chance_error": pl.Float64(),  # the mean error of a uniform guess over the question's range
}
