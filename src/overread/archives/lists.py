"""Lists that archives ship as CSV: read line by line, checked, with errors that name the line and never its content."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NoReturn

from overread.errors import BadInput

Row = dict[str, str]

_BLANK = " \t\r\n"
_NUMBER = re.compile(r"[-+]?(?:\d{1,15}(?:\.\d{0,17})?|\.\d{1,17})(?:[eE][-+]?\d{1,2})?", re.ASCII)
_WHOLE = re.compile(r"([-+]?\d{1,15})(?:\.0{0,6})?", re.ASCII)


def rows_of(file: Path, needed: Sequence[str], advice: str) -> Iterator[tuple[str, Row]]:
    """The rows of a list by column, each with its place (`file:line`); `advice` says how to get the file."""
    try:
        with file.open(encoding="utf-8-sig", newline="") as stream:
            lines = csv.reader(stream, strict=True)
            columns = next(lines, [])
            check_columns(columns, needed, file, advice)
            for line in lines:
                where = f"{file}:{lines.line_num}"
                if len(line) != len(columns):
                    if not line:
                        continue
                    fail(f"the row has {len(line)} fields, and there are {len(columns)} columns", where, advice)
                yield where, dict(zip(columns, line, strict=True))
    except OSError as error:
        raise BadInput(f"the list cannot be read: {error.strerror}", where=str(file), do=advice) from error
    except (UnicodeDecodeError, csv.Error) as error:
        # What such an error quotes may be a patient's; its kind is enough.
        raise BadInput(f"the list is not a CSV table: {type(error).__name__}", where=str(file), do=advice) from None


def check_columns(columns: Sequence[str], needed: Sequence[str], file: Path, advice: str) -> None:
    """Refuses a list that lacks a column, or has one twice."""
    missing = [name for name in needed if name not in columns]
    if missing:
        fail(f"the list has no column {missing[0]!r}", f"{file}:1", advice)
    if len(set(columns)) < len(columns):
        fail("two columns of the list have one name", f"{file}:1", advice)


def number(row: Row, column: str, where: str, advice: str) -> float | None:
    """A number of a row; None where the field is empty."""
    text = row.get(column, "").strip(_BLANK)
    if not text:
        return None
    value = float(text) if _NUMBER.fullmatch(text) else math.nan
    if not math.isfinite(value):
        fail(f"{column!r} is no number", where, advice)
    return value


def whole(row: Row, column: str, where: str, advice: str) -> int | None:
    """A whole number of a row, also where it is written `12.0`; None where the field is empty."""
    text = row.get(column, "").strip(_BLANK)
    found = _WHOLE.fullmatch(text)
    if text and not found:
        fail(f"{column!r} is no whole number", where, advice)
    return int(found[1]) if found else None


def truth(row: Row, column: str, where: str, advice: str) -> bool | None:
    """A yes or no of a row, written True/False or 1/0; None where the field is empty."""
    text = row.get(column, "").strip(_BLANK).casefold()
    if text not in ("", "true", "false", "1", "0", "1.0", "0.0"):
        fail(f"{column!r} is neither true nor false", where, advice)
    return text in ("true", "1", "1.0") if text else None


def fail(what: str, where: str, advice: str) -> NoReturn:
    """The error for a list that is not as it should be."""
    raise BadInput(what, where=where, do=advice)
