"""Writes the tables of a run for other programs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from overread.errors import unknown_name
from overread.runs.folder import Run
from overread.runs.parts import write_atomically
from overread.tables import ROWS

FORMATS = ("jsonl", "csv")


def export_run(run: Run, format_: str, out: Path) -> Iterator[Path]:
    """One file a table; lists and structs are JSON text in CSV. Yields the paths as they are written."""
    if format_ not in FORMATS:
        raise unknown_name("export format", format_, FORMATS, where="--format")
    for row in ROWS:
        frame = run.table(row.TABLE)
        text = frame.write_ndjson() if format_ == "jsonl" else _flat(frame).write_csv()
        path = out / f"{row.TABLE}.{format_}"
        write_atomically(path, text.encode())
        yield path


def _flat(frame: pl.DataFrame) -> pl.DataFrame:
    nested = [name for name, kind in frame.schema.items() if kind.is_nested()]
    texts = [
        pl.Series(
            name, [None if value is None else json.dumps(value) for value in frame[name].to_list()], dtype=pl.String
        )
        for name in nested
    ]
    return frame.with_columns(texts)
