"""What a judge is: one file of this folder (or anywhere, by path) with

    a docstring             its first line is the title that `overread list judges` shows
    KINDS = ("choice",)     the question kinds it can judge
    VARIANTS = ()           optional: names for `judge:variant`
    def judge(table: polars.DataFrame) -> polars.DataFrame          with VARIANTS: judge(table, variant)

A judge that is itself a model has beside these

    def ask(table: polars.DataFrame) -> list[str | None]    for each reply what the model is asked; None: nothing

and is named with its model in brackets: `rubric[openai_chat[model=NAME]]`. What the model says comes to `judge` in one
more column, `ruling`; a reply that it was to be asked about and did not rule on is not in the table.

`table` has one row a reply, with the columns of `COLUMNS`; what comes back has the columns of `FINDING`, one row a
reply of the table, in the same order. A judge never guesses: what it cannot read is `unreadable`, credit 0.
"""

from __future__ import annotations

import polars as pl

COLUMNS: dict[str, pl.DataType] = {
    "reply": pl.String(),
    "kind": pl.String(),
    "template": pl.String(),
    "stage": pl.String(),
    "asked": pl.String(),
    "options": pl.List(pl.String()),
    "many": pl.Boolean(),
    "low": pl.Float64(),
    "high": pl.Float64(),
    "whole": pl.Boolean(),
    "unit": pl.String(),
    "answer": pl.List(pl.String()),  # of the key
    "key_number": pl.Float64(),
    "tolerance": pl.Float64(),
    "status": pl.String(),  # of the reply: answered, refused, failed
    "text": pl.String(),
    "choice": pl.List(pl.Int64()),
    "option_scores": pl.List(pl.Float64()),
    "number": pl.Float64(),
    "spread": pl.List(pl.Float64()),
    "blob": pl.String(),
}
"""What a judge gets of each reply, its question and its key."""

RULING = "ruling"
"""The column of what the model of a judge has said."""

FINDING: dict[str, pl.DataType] = {
    "reply": pl.String(),
    "status": pl.String(),  # VerdictStatus
    "parsed": pl.String(),
    "correct": pl.Boolean(),
    "credit": pl.Float64(),
    "error": pl.Float64(),
    "probability": pl.Float64(),
}
"""What a judge gives back; see `overread.tables.Verdict` for what each column means."""
