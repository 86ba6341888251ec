"""Reads numbers: a value, a spread of values or a text with one number, in the unit that was asked for.

A number is right when it is off by no more than the key's tolerance (without one: not at all) and lies within the
question's range; its error counts in any case. A spread without a number is scored by expectation over its values.
"""

from __future__ import annotations

import polars as pl

from overread.errors import BadInput
from overread.judges.contract import FINDING
from overread.judges.quantity import read
from overread.judges.rows import UNREADABLE, Finding, Row, by_row, in_parts, only

KINDS = ("number",)

SLACK = 1e-9
"""How far a number may exceed its tolerance: what floating point makes of `0.4 - 0.3`."""

_INDEX = "__index"


def judge(table: pl.DataFrame) -> pl.DataFrame:
    """The findings on numbers."""
    only(table, KINDS, "number")
    broken = table.filter(~pl.col("key_number").is_finite().fill_null(False))
    if broken.height:
        template = broken["template"][0]
        raise BadInput(
            "the key of a number question holds no number",
            where=f"template {template!r}",
            do="mend the benchmark that wrote this key: `Key.number` is needed beside its text",
        )
    return in_parts(
        table,
        [
            (pl.col("number").is_not_null(), _marked),
            (pl.col("text").is_not_null(), _written),
            (pl.col("spread").list.len() > 0, _expected),
        ],
    )


def _error(value: str) -> pl.Expr:
    return (pl.col(value) - pl.col("key_number")).abs()


def _right(value: str) -> pl.Expr:
    allowed = pl.col("tolerance").fill_null(0.0) + SLACK
    inside = (pl.col(value) >= pl.col("low")).fill_null(True) & (pl.col(value) <= pl.col("high")).fill_null(True)
    return (_error(value) <= allowed) & inside


def _marked(table: pl.DataFrame) -> pl.DataFrame:
    """Findings from rows whose `number` was given or read; null, NaN and infinite ones are unreadable."""
    value = pl.col("number")
    is_read = value.is_finite().fill_null(False)
    correct = is_read & _right("number").fill_null(False)
    # Adding zero would do, but an optimiser may leave that out.
    digits = pl.when(value == 0).then(0.0).otherwise(value).cast(pl.String).str.replace(r"\.0$", "")
    return table.select(
        "reply",
        pl.when(is_read).then(pl.lit("read")).otherwise(pl.lit("unreadable")).alias("status"),
        pl.when(is_read).then(digits).alias("parsed"),
        correct.alias("correct"),
        correct.cast(pl.Float64).alias("credit"),
        pl.when(is_read).then(_error("number")).alias("error"),
        pl.lit(None, dtype=pl.Float64).alias("probability"),
    )


def _written(table: pl.DataFrame) -> pl.DataFrame:
    """Texts are read row by row; what was read is marked like any other number."""
    found = by_row(table, _read)
    return _marked(table.with_columns(found["parsed"].cast(pl.Float64).alias("number")))


def _read(row: Row) -> Finding:
    value = read(row.text or "", row.unit, row.tolerance, whole=row.whole)
    return UNREADABLE if value is None else Finding("read", repr(value))


def _expected(table: pl.DataFrame) -> pl.DataFrame:
    cells = table.with_row_index(_INDEX).explode("spread")
    sums = cells.group_by(_INDEX, maintain_order=True).agg(
        pl.col("reply").first(),
        pl.col("spread").is_finite().fill_null(False).all().alias("fine"),
        _right("spread").cast(pl.Float64).mean().alias("credit"),
        _error("spread").mean().alias("error"),
    )
    fine = pl.col("fine")
    return sums.with_columns(
        pl.when(fine).then(pl.lit("expected")).otherwise(pl.lit("unreadable")).alias("status"),
        pl.lit(None, dtype=pl.String).alias("parsed"),
        pl.when(fine).then(pl.lit(None, dtype=pl.Boolean)).otherwise(False).alias("correct"),
        pl.when(fine).then("credit").otherwise(0.0).alias("credit"),
        pl.when(fine).then("error").alias("error"),
        pl.lit(None, dtype=pl.Float64).alias("probability"),
    ).select(*FINDING)
