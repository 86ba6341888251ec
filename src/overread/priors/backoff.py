"""One guess for a template, or for a template after a history, falling back to shorter histories."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from overread.priors.cells import FOLDS, mix, token
from overread.priors.context import LEVELS, Context
from overread.priors.read import CONTEXT_COLUMNS

DEPTHS = len(LEVELS) + 1
"""0: the template alone; above: the levels of context up to this one."""

Guess = Callable[[pl.DataFrame, list[str]], pl.DataFrame]
"""Rows and the columns that tell cells apart -> those columns, `guess`, and `seen` (rows in the cell)."""

_LEVEL = 1000


def _keys(depth: int) -> list[str]:
    return ["template", *CONTEXT_COLUMNS[depth - 1 : depth]] if depth else ["template"]


def _known(frame: pl.DataFrame, guess: Guess, depth: int, least: int) -> pl.DataFrame:
    return guess(frame, _keys(depth)).filter(pl.col("seen") >= (least if depth else 1)).drop("seen")


def held_out(frame: pl.DataFrame, guess: Guess, least: int) -> pl.DataFrame:
    """The rows with columns `guess0`, `guess1`, ...: what other folds of patients suggest at each depth."""
    parts: list[pl.DataFrame] = []
    for fold in range(FOLDS):
        test, rest = frame.filter(pl.col("fold") == fold), frame.filter(pl.col("fold") != fold)
        if test.is_empty():
            continue
        for depth in range(DEPTHS):
            known = _known(rest, guess, depth, least).rename({"guess": f"guess{depth}"})
            test = test.join(known, on=_keys(depth), how="left", maintain_order="left")
            if depth:
                test = test.with_columns(pl.coalesce(f"guess{depth}", f"guess{depth - 1}").alias(f"guess{depth}"))
        parts.append(test)
    return pl.concat(parts)


def learned(frame: pl.DataFrame, guess: Guess, least: int, depth_of: dict[str, int]) -> dict[int, object]:
    """The guess of every cell that the chosen depths will look up."""
    table: dict[int, object] = {}
    for depth in range(DEPTHS):
        used = frame.filter(pl.col("template").is_in([t for t, d in depth_of.items() if d >= depth]))
        if used.is_empty():
            continue
        for row in _known(used, guess, depth, least).iter_rows(named=True):
            table[_cell(row["template"], depth, row[CONTEXT_COLUMNS[depth - 1]] if depth else 0)] = row["guess"]
    return table


def look_up(table: dict[int, object], template: str, depth: int, context: Context) -> object:
    """The guess with the longest history that is known; None where the template is not."""
    for level in range(depth, -1, -1):
        found = table.get(_cell(template, level, context[level - 1] if level else 0))
        if found is not None:
            return found
    return None


def _cell(template: str, depth: int, context: int) -> int:
    return mix(mix(token(template), _LEVEL + depth), context)


def words(depth: int) -> str:
    """How an audit names a depth: empty for the template alone."""
    return f" after {LEVELS[depth - 1]}" if depth else ""
