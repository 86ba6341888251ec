"""Parquet parts: written beside and renamed, so that a part is whole or not there; read with a check of its version."""

from __future__ import annotations

import contextlib
import io
import os
import secrets
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from overread.errors import BadRun
from overread.tables import SCHEMA_VERSION

_VERSION = "overread_schema"
ROW_GROUP = 8192


def write_atomically(path: Path, data: bytes) -> None:
    """Writes a file so that others see the old one or the whole new one, and never a piece."""
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with beside.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)
        raise cannot_write(path, error) from error


def cannot_write(path: Path, error: OSError) -> BadRun:
    """The error for a file that could not be written."""
    return BadRun(
        f"cannot write: {error.strerror or error}",
        where=str(path),
        do="make room, or choose another folder with --out; what was written before is kept: run again to go on",
    )


_OF_THE_EXAM = {"cases", "dialogues", "questions", "key"}
"""What was compiled together; the manifest says that it is whole."""


def write_part(path: Path, frame: pl.DataFrame) -> None:
    """Writes one part."""
    buffer = io.BytesIO()
    frame.write_parquet(
        buffer,
        compression="zstd",
        compression_level=1,
        row_group_size=ROW_GROUP,
        metadata={_VERSION: str(SCHEMA_VERSION)},
    )
    write_atomically(path, buffer.getvalue())


def read_part(path: Path, columns: Sequence[str] | None = None, where: pl.Expr | None = None) -> pl.DataFrame:
    """Reads one part, or some columns and rows of it; a damaged or newer part is named in the error."""
    try:
        # At once: another process may put a new part in its place between two looks at a path.
        data = path.read_bytes()
        check_version(path, pl.read_parquet_metadata(io.BytesIO(data)).get(_VERSION, "0"))
        lazy = pl.scan_parquet(io.BytesIO(data))
        if where is not None:
            lazy = lazy.filter(where)
        return lazy.collect() if columns is None else lazy.select(columns).collect()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise damaged(path, error) from error


def check_version(path: Path, version: object) -> None:
    """Refuses what a newer overread wrote."""
    if not str(version).isdigit():
        raise BadRun("this is not a part of a run", where=str(path), do="move the file away")
    if int(str(version)) > SCHEMA_VERSION:
        raise BadRun(
            f"written by a newer overread (table version {version}, this one reads up to {SCHEMA_VERSION})",
            where=str(path),
            do="upgrade: pip install --upgrade overread",
        )


def damaged(path: Path, error: BaseException) -> BadRun:
    """The error for a file of a run that cannot be read."""
    first = (str(error).strip() or type(error).__name__).splitlines()[0]
    also = " and run.json" if path.parent.name in _OF_THE_EXAM else ""
    again = "with the same models " if path.parent.name == "workers" else ""
    if path.name == "run.json":
        do = "move it away and give the command of the run again: a file in workers/ tells it; the replies stand"
        return BadRun(f"a file of the run is damaged: {first[:200]}", where=str(path), do=do)
    return BadRun(
        f"a file of the run is damaged: {first[:200]}",
        where=str(path),
        do=f"move it{also} away and give the command of the run again {again}"
        "(run.json tells it): what it held is made or asked anew, the rest stands",
    )
