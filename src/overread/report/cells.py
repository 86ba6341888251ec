"""What stands in a table of the page: cells with their interval, and never an empty one."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from overread.report.numbers import DASH, number, percent, span
from overread.report.table import NOT_ASKED


@dataclasses.dataclass(frozen=True, slots=True)
class Cell:
    """One cell."""

    text: str
    interval: str = ""
    second: str = ""
    """A second, quieter line."""
    title: str = ""
    """What pointing at it shows."""
    absent: bool = False
    span: int = 1
    """Columns it takes."""


@dataclasses.dataclass(frozen=True, slots=True)
class Line:
    """One row of a grid."""

    label: str
    cells: tuple[Cell, ...]
    note: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class Grid:
    """A table: heads with a note each, and named groups of rows."""

    label: str
    """What it is called to those who cannot see it."""
    corner: str
    heads: tuple[tuple[str, str], ...]
    groups: tuple[tuple[str, tuple[Line, ...]], ...]

    @property
    def empty(self) -> bool:
        """Whether it has no rows."""
        return not any(lines for _, lines in self.groups)


def absent(why: str) -> Cell:
    """A dash, with the reason."""
    return Cell(DASH, title=why, absent=True)


def not_asked(what: str = "") -> Cell:
    """Said in words, so that it cannot be taken for nothing."""
    return Cell(NOT_ASKED, title=what or "this was not asked in this run", absent=True)


NO_VALUE = "there is nothing to divide by: no unit of this score exists"
ONE_PATIENT = "no interval: fewer than two patients"


def score_cell(row: Mapping[str, Any] | None, *, share: bool, signed: bool = False, lift: Cell | None = None) -> Cell:
    """A score with its interval, or why there is none; `lift` becomes the second line."""
    if row is None:
        return not_asked()
    if row["value"] is None:
        return absent(NO_VALUE)
    interval = span(row["low"], row["high"], row["value"], share=share, signed=signed)
    of = f"{row['n']:,} {row['unit']}s of {row['patients']:,} patients; coverage {percent(row['coverage'])}"
    title = of if interval else f"{of}; {ONE_PATIENT}"
    second = f"{lift.text} {lift.interval}".strip() if lift is not None else ""
    return Cell(number(row["value"], share=share, signed=signed), interval, second, title)


def value_cell(value: float | None, *, share: bool, title: str = "", asked: bool = True) -> Cell:
    """A value without interval."""
    if value is not None:
        return Cell(number(value, share=share), title=title)
    return absent(NO_VALUE) if asked else not_asked()


def share_cell(value: float | None) -> Cell:
    """A share of replies in whole per cent."""
    return absent("this model has no score") if value is None else Cell(percent(value))
