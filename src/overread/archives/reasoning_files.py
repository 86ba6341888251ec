"""Where samples of ECG-Reasoning-Benchmark lie: lines of JSONL, rows of Parquet, one JSON file a sample.

A folder is read as the JSONL or Parquet files that lie in it, in its folder `data`, or as `<source>/test*`; where there
is none, as a tree of single files, `.../<source>/<diagnosis>/<id>.json`. What a file leaves unsaid, its path tells.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from overread.archives.reasoning_releases import release_of
from overread.archives.reasoning_samples import Broken, Fault, Sample, read_sample
from overread.errors import BadInput
from overread.paths import is_file, is_folder

TABLES = (".jsonl", ".parquet")
LARGEST = 64 * 1024 * 1024
"""Bytes of one sample."""


class Found(NamedTuple):
    """One sample, or why there is none."""

    where: str
    sample: Sample | None
    faults: list[Fault]
    file: Path


def files_of(path: Path) -> list[Path]:
    """The files that hold samples below a path, in their order."""
    if is_file(path):
        return [path]
    if not is_folder(path):
        raise BadInput("there is no such file or folder", where=str(path), do="name a folder with samples")
    for pattern in ("*", "data/*", "*/test*"):  # the last: a folder a source, as hubs keep data sets
        tables = sorted(file for ending in TABLES for file in path.glob(f"{pattern}{ending}"))
        if tables:
            return tables
    return sorted(path.glob("**/*.json"), key=_numbered)


def _numbered(file: Path) -> tuple[str, int, str]:
    return (str(file.parent), int(file.stem) if file.stem.isdecimal() else -1, file.stem)


def read_all(path: Path) -> Iterator[Found]:
    """Every sample below a path, or why it is none; a number that appears twice within a source is named."""
    seen: dict[str, Sample] = {}
    for found in map(_read, _raw(files_of(path))):
        if found.sample is None:
            yield found
            continue
        before = seen.setdefault(found.sample.name, found.sample)
        if before is not found.sample:
            same = (before.first, before.loops) == (found.sample.first, found.sample.loops)
            what = "the sample stands there twice" if same else "two different samples have this id"
            kind = "duplicate" if same else "duplicate_id"
            fault = Fault(kind, found.sample.name, "", f"{what} ({found.where})", fatal=True)
            yield Found(found.where, None, [*found.faults, fault], found.file)
        else:
            yield found


def read_one(file: Path) -> Found:
    """The sample of a file that holds one, with what a model said where it is a file of results."""
    return _read(_whole(file))


class _Raw(NamedTuple):
    where: str
    value: Any
    hints: dict[str, Any]
    file: Path
    fault: str = ""


def _read(raw: _Raw) -> Found:
    if raw.fault:
        kind = "empty_file" if raw.fault.startswith("the file is empty") else "not_json"
        return Found(raw.where, None, [Fault(kind, raw.where, "", raw.fault, fatal=True)], raw.file)
    try:
        return Found(raw.where, *read_sample(raw.value, raw.where, raw.hints), raw.file)
    except Broken as broken:
        return Found(raw.where, None, list(broken.faults), raw.file)


def _raw(files: list[Path]) -> Iterator[_Raw]:
    for file in files:
        if file.suffix == ".jsonl":
            yield from _lines(file)
        elif file.suffix == ".parquet":
            yield from _rows(file)
        else:
            yield _whole(file)


def _lines(file: Path) -> Iterator[_Raw]:
    hints = {"data_source": file.stem}
    try:
        with file.open("rb") as stream:
            for number, line in enumerate(stream, start=1):
                if line.strip():
                    yield _Raw(f"{file.name}:{number}", *_parsed(line, hints), file=file)
    except OSError as error:
        raise BadInput(f"the file cannot be read: {error.strerror}", where=str(file), do="check it") from error


def _parsed(line: bytes, hints: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    try:
        return json.loads(line), hints
    except (ValueError, RecursionError):
        return None, hints  # told as "it is no object", with its line


def _rows(file: Path) -> Iterator[_Raw]:
    try:
        frame = pl.read_parquet(file)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise BadInput(f"the table cannot be read: {error}", where=str(file), do="fetch it again") from error
    for number, row in enumerate(frame.iter_rows(named=True), start=1):
        yield _Raw(f"{file.name}:{number}", _without_nothing(row), {"data_source": file.parent.name}, file)


def _without_nothing(value: Any) -> Any:
    """What a table fills up with nulls, left out again."""
    if isinstance(value, dict):
        return {key: _without_nothing(inner) for key, inner in value.items() if inner is not None}
    return [_without_nothing(inner) for inner in value] if isinstance(value, list) else value


def _whole(file: Path) -> _Raw:
    hints: dict[str, Any] = {"data_source": file.parent.parent.name, "target_dx": file.parent.name}
    if file.stem.isdecimal():
        hints["id"] = int(file.stem)
    where = "/".join(file.parts[-4:])
    try:
        size = file.stat().st_size
        if size == 0:
            return _Raw(where, None, hints, file, "the file is empty: a claim that a stopped run has left behind")
        if size > LARGEST:
            return _Raw(where, None, hints, file, "the file is too large for a sample")
        return _Raw(where, json.loads(file.read_bytes()), hints, file)
    except OSError as error:
        return _Raw(where, None, hints, file, f"the file cannot be read: {error.strerror}")
    except (ValueError, RecursionError) as error:
        return _Raw(where, None, hints, file, f"the file is not JSON: {type(error).__name__}")


def releases(found: list[Sample]) -> dict[str, str]:
    """For each source the release that its samples tell; empty where they do not tell."""
    sources: dict[str, set[str]] = {}
    for sample in found:
        sources.setdefault(sample.source, set()).add(release_of(sample))
    told = {source: sorted(filter(None, names)) for source, names in sources.items()}
    for source, names in told.items():
        if len(names) > 1:
            raise BadInput(
                f"the samples of {source} are of different releases: {' and '.join(names)}",
                where=source,
                do="keep each release in a folder of its own; their results must not be mixed",
            )
    return {source: names[0] if names else "" for source, names in told.items()}
