"""Letter for letter: only an option exactly as it was offered counts."""

import polars as pl

from overread.judges.rows import UNREADABLE, Finding, Row, by_row

KINDS = ("choice",)


def judge(table: pl.DataFrame) -> pl.DataFrame:
    """One finding a reply, in order; `by_row` does what all judges do alike."""
    return by_row(table, find)


def find(row: Row) -> Finding:
    """The finding on one reply that was answered."""
    if row.text is not None:
        said = [row.text]
    else:
        said = [row.options[index] for index in row.choice or () if 0 <= index < len(row.options)]
    if not said or not set(said) <= set(row.options):
        return UNREADABLE
    correct = set(said) == set(row.answer)
    return Finding("read", "\n".join(said), correct, credit=float(correct))
