"""The headline of a run for a terminal: one table where there is room, else what matters first and the floors below.

A number with its interval is never folded: what does not fit in the width goes into a table below, models named again.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Sequence
from typing import Any

from rich import box
from rich.table import Table

from overread.media.conditions import BLIND
from overread.metrics.floors import FLOOR_MODELS
from overread.report.numbers import DASH, number, percent, span, with_interval
from overread.report.seen import NEVER
from overread.report.table import NOT_ASKED, direction_of, headline_rows, metrics_of
from overread.report.texts import cell
from overread.report.words import is_share
from overread.runs.folder import Run

LONGEST_NAME = 24
"""Room that a model's name may claim; a longer one is folded where the rest needs it."""
WIDE, NARROW = 3, 2
"""Columns of the terminal that stand between two cells, with and without lines."""


@dataclasses.dataclass(frozen=True, slots=True)
class Column:
    """One column, as texts."""

    head: str
    cells: tuple[str, ...]
    left: bool = False
    whole: bool = False
    """Its cells are never folded, not even between words."""

    @property
    def least(self) -> int:
        """The width below which a word or a number would be cut."""
        words = [
            *self.head.split(),
            *(part for text in self.cells for part in ([text] if self.whole else text.split())),
        ]
        return max(map(len, words), default=0)

    @property
    def most(self) -> int:
        """The width at which nothing is folded."""
        return max(map(len, (self.head, *self.cells)))


def headline_tables(run: Run, width: int) -> list[Table]:
    """The headline, one row a panel and model, in tables of at most `width` columns of the terminal."""
    metric = metrics_of(run)[0]
    better = "less is better" if direction_of(metric) == "less" else "more is better"
    unit = "in per cent; " if is_share(metric) else ""
    exam = f"{run.exam['benchmark']} ({run.exam['protocol']})"
    title = f"{exam}: {metric}, {unit}{better}"
    rows = headline_rows(run)
    breaks = [later["group"] != row["group"] for row, later in itertools.pairwise(rows)]
    names, first, floors, last = _columns(rows, metric)
    if width >= _wide(names + first + floors + last):
        return [_table(title, names + first + floors + last, breaks)]
    packs = _packed(names, first + last, floors, width)
    titles = [title] + [f"{exam}, continued" for _ in packs[1:]]
    return [_table(said, names + pack, breaks, narrow=width) for said, pack in zip(titles, packs, strict=True)]


def _columns(rows: Sequence[dict[str, Any]], metric: str) -> tuple[list[Column], ...]:
    """Those that say which row it is; those that matter most; the floors; the rest."""
    share = is_share(metric)

    def column(head: str, text: Callable[[dict[str, Any]], str], *, left: bool = False, whole: bool = False) -> Column:
        return Column(head, tuple(map(text, rows)), left, whole)

    judges = [column("judge", lambda row: row["judge"], left=True)] if len({row["judge"] for row in rows}) > 1 else []
    names = [column("model", lambda row: row["model"], left=True)]
    first = [
        column("above the best floor", lambda row: _lift(row, share), whole=True),
        column("best floor", lambda row: row["floor"] or DASH, left=True),
        column(metric, lambda row: _score(row, share), whole=True),
    ]
    floors = [Column(name, tuple(_floor(row, name, share) for row in rows)) for name in (*FLOOR_MODELS, *BLIND)]
    last = [
        column("coverage", lambda row: _percent(row["coverage"])),
        column("unreadable", lambda row: _percent(row["unreadable"])),
        column("receipts", lambda row: row["receipts"], left=True),
    ]
    return names + judges, first, floors, last


def _wide(columns: Sequence[Column]) -> int:
    named = min(columns[0].most, LONGEST_NAME)
    return named + sum(column.most for column in columns[1:]) + WIDE * len(columns) + 1


def _packed(names: list[Column], main: list[Column], floors: list[Column], width: int) -> list[list[Column]]:
    """Columns in the order of what matters, as many in each table as fit; the floors begin in the second."""
    named = min(names[0].most, LONGEST_NAME) + NARROW + sum(column.least + NARROW for column in names[1:])
    packs: list[list[Column]] = [[]]
    used = named
    for column in (*main, *floors):
        begins = column is floors[0] and len(packs) == 1
        needed = column.least + NARROW
        if packs[-1] and (begins or used + needed > width):
            packs.append([])
            used = named
        packs[-1].append(column)
        used += needed
    return packs


def _table(title: str, columns: Sequence[Column], breaks: Sequence[bool], *, narrow: int = 0) -> Table:
    look: dict[str, Any] = {"box": box.SIMPLE_HEAD, "show_edge": False, "padding": (0, 1, 0, 0)} if narrow else {}
    table = Table(title=cell(title), title_justify="left", **look)
    widths = _widths(columns, narrow) if narrow else [None] * len(columns)
    for column, fixed in zip(columns, widths, strict=True):
        side = "left" if column.left else "right"
        table.add_column(cell(column.head), justify=side, overflow="fold", width=fixed)  # type: ignore[arg-type]
    for number_of, texts in enumerate(zip(*(column.cells for column in columns), strict=True)):
        table.add_row(*map(cell, texts), end_section=number_of < len(breaks) and breaks[number_of])
    return table


def _widths(columns: Sequence[Column], width: int) -> list[int | None]:
    """What each column takes: what it needs, and what it would like as far as there is room, names first."""
    needs = [1, *(column.least for column in columns[1:])]
    spare = width - sum(needs) - NARROW * len(columns)
    widths: list[int | None] = []
    for need, column in zip(needs, columns, strict=True):
        more = max(0, min(column.most - need, spare))
        spare -= more
        widths.append(need + more)
    return widths


def _lift(row: dict[str, Any], share: bool) -> str:
    lift = row["lift"]
    if lift is None:
        return DASH
    interval = span(row["lift_low"], row["lift_high"], lift, share=share, signed=True)
    return f"{number(lift, share=share, signed=True)} {interval}".strip()


def _score(row: dict[str, Any], share: bool) -> str:
    return with_interval(row["value"], row["low"], row["high"], share=share).replace(" %", "")


def _percent(share: float | None) -> str:
    return DASH if share is None else percent(share)


def _floor(row: dict[str, Any], name: str, share: bool) -> str:
    if row[name] is not None:
        return number(row[name], share=share)
    absent = name in row["not_asked"].split(", ")
    return DASH if not absent or (row["receipts"] == NEVER and name in BLIND) else NOT_ASKED
