"""What people see in a terminal: tables on stdout, progress on stderr."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table

from overread.report.texts import clean, plain_table

QUIET_SECONDS = 2.0
"""Nothing is shown of what takes no longer than this."""

LONGEST_NAME = 60
"""Characters of a model's name before the bar."""

PLAIN_WIDTH = 200
"""Columns where the output is no terminal, so that tables in files are not folded."""


def error_console() -> Console:
    """The console for everything that is not data."""
    return Console(stderr=True)


def show_table(table: Table) -> None:
    """Prints a table to stdout."""
    _console().print(table)


def table_width() -> int:
    """Columns that a table on stdout may take."""
    return _console().width


def _console() -> Console:
    return Console(width=None if sys.stdout.isatty() else PLAIN_WIDTH)


def listing_table(kind: str, entries: Sequence[Mapping[str, Any]]) -> Table:
    """The entries of one kind of the catalogue."""
    rows = ([entry["name"], entry["title"], ", ".join(entry["variants"])] for entry in entries)
    return plain_table(kind, ("name", "what it is", "variants"), rows)


@contextlib.contextmanager
def progress_bar() -> Iterator[Callable[[str, int, int], None]]:
    """A bar with rate and time left, shown after two seconds; yields a function of (what, done, whole)."""
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    bar = Progress(*columns, console=error_console(), transient=True)
    tasks: dict[str, tuple[TaskID, float]] = {}
    started = time.monotonic()

    def advance(what: str, done: int, whole: int) -> None:
        now = time.monotonic()
        if what not in tasks:
            tasks[what] = (bar.add_task(clean(what, LONGEST_NAME), total=whole, rate=""), now)
        task, since = tasks[what]
        rate = f"{done / (now - since):.0f}/s" if now > since else ""
        bar.update(task, completed=done, total=whole, rate=rate)
        if now - started > QUIET_SECONDS and not bar.live.is_started:
            bar.start()

    try:
        yield advance
    finally:
        bar.stop()
