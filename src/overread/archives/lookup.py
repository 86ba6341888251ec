"""Rows of a second list, found by a key while the first is streamed.

Both lists usually have one order, so the row wanted is the next one. Rows that were passed over are remembered, by
where they stand in the file and not by what they hold: memory stays small whatever the order.
"""

from __future__ import annotations

import csv
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from overread.archives.lists import Row, check_columns, fail
from overread.errors import BadInput


class Lookup:
    """A list whose rows are found by one column; every row is a line."""

    def __init__(self, file: Path, key: str, needed: tuple[str, ...], advice: str) -> None:
        self._file, self._advice = file, advice
        self._passed: dict[str, tuple[int, int]] = {}
        try:
            self._stream: BinaryIO = file.open("rb")
        except OSError as error:
            raise BadInput(f"the list cannot be read: {error.strerror}", where=str(file), do=advice) from error
        self._number = 1
        try:
            self._columns = self._fields(self._stream.readline().removeprefix(b"\xef\xbb\xbf"), 1)
            check_columns(self._columns, (key, *needed), file, advice)
        except BadInput:
            self._stream.close()
            raise
        self._place = self._columns.index(key)
        self._at = self._stream.tell()

    def __enter__(self) -> Lookup:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stream.close()

    def find(self, key: str) -> tuple[str, Row] | None:
        """The row of a key and its place; None where the list has none. A key is asked for once."""
        if key in self._passed:
            at, number = self._passed.pop(key)
            self._stream.seek(at)
            return self._row(self._stream.readline(), number)
        self._stream.seek(self._at)
        while line := self._stream.readline():
            self._number += 1
            at, self._at = self._at, self._at + len(line)
            if not line.strip():
                continue
            fields = self._fields(line, self._number)
            found = fields[self._place] if len(fields) > self._place else ""
            if found == key:
                return self._row(line, self._number)
            self._passed.setdefault(found, (at, self._number))
        return None

    def _row(self, line: bytes, number: int) -> tuple[str, Row]:
        where = f"{self._file}:{number}"
        fields = self._fields(line, number)
        if len(fields) != len(self._columns):
            fail(f"the row has {len(fields)} fields, and there are {len(self._columns)} columns", where, self._advice)
        return where, dict(zip(self._columns, fields, strict=True))

    def _fields(self, line: bytes, number: int) -> list[str]:
        try:
            return next(csv.reader([line.decode("utf-8")], strict=True), [])
        except (UnicodeDecodeError, csv.Error) as error:
            raise BadInput(
                f"the list is not a CSV table of one row a line: {type(error).__name__}",
                where=f"{self._file}:{number}",
                do=self._advice,
            ) from None
