"""Replies on disk: each worker appends to a file of its own; finished files become Parquet parts.

    replies/WORKER-00000.jsonl     being written: one line a receipt or a reply, flushed, synced every few seconds
    replies/WORKER-00000.parquet   finished, sorted by place; its receipts in receipts/ under the same name

A line torn by a crash is passed over: its question is asked again. A reply that lies in two files (a crash between
writing the part and removing the lines) has one id and counts once.
"""

from __future__ import annotations

import dataclasses
import json
import operator
import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import polars as pl

from overread.columns import records_frame, to_frame, usual_values
from overread.errors import BadRun
from overread.runs.parts import cannot_write, damaged, read_part, write_atomically, write_part
from overread.tables import Evidence, Json, Receipt, Reply, canonical, content_id, schema

_Rows = dict[str, list[dict[str, Any]]]

SYNC_SECONDS = 5.0
LINES_A_FILE = 50_000


class ReplyWriter:
    """The file of one worker; use as a context manager."""

    def __init__(self, folder: Path, worker: str, *, lines_a_file: int = LINES_A_FILE) -> None:
        self.folder, self.worker = folder, worker
        self._lines_a_file = lines_a_file
        self._receipts: dict[str, Receipt] = {}
        self._replies: list[Reply] = []
        self._number = self._ids = 0
        self._prefix = content_id(worker)[:14]
        self._synced = time.monotonic()
        self._open()

    def _open(self) -> None:
        self.path = self.folder / "replies" / f"{self.worker}-{self._number:05d}.jsonl"
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self.path.open("xb", buffering=0)
        except OSError as error:
            raise cannot_write(self.path, error) from error

    def new_id(self) -> str:
        """An id that no other reply has: the worker's own hash, and a count."""
        self._ids += 1
        return f"{self._prefix}{self._ids:010x}"

    def add(self, replies: Iterable[Reply], receipts: Iterable[Receipt]) -> None:
        """Appends replies and, before them, those of their receipts that this file does not have yet."""
        fresh = {receipt.id: receipt for receipt in receipts if receipt.id not in self._receipts}
        come = list(replies)
        data = b"".join([_line("receipt", receipt) for receipt in fresh.values()] + [_line("reply", r) for r in come])
        try:
            while data:
                data = data[self._file.write(data) or 0 :]
            if time.monotonic() - self._synced > SYNC_SECONDS:
                os.fsync(self._file.fileno())
                self._synced = time.monotonic()
        except OSError as error:
            raise cannot_write(self.path, error) from error
        self._receipts.update(fresh)
        self._replies += come
        if len(self._replies) >= self._lines_a_file:
            self._compact()
            self._open()

    def put_blob(self, data: bytes, name: str) -> None:
        """Keeps a side file (a vector, a mask) under its hash."""
        path = self.folder / "blobs" / name
        if not path.exists():
            write_atomically(path, data)

    def _compact(self) -> None:
        """Turns what the lines hold into a part and removes them."""
        self._file.close()
        name = self.path.with_suffix(".parquet").name
        write_part(self.folder / "receipts" / name, to_frame(self._receipts.values(), Receipt))
        write_part(self.folder / "replies" / name, to_frame(self._replies, Reply).sort("place"))
        self.path.unlink()
        self._receipts.clear()
        self._replies.clear()
        self._number += 1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file.closed:
            return
        if kind is not None and issubclass(kind, BadRun):
            self._file.close()  # the disk is full or gone: leave the lines as they are
        elif self._replies:
            self._compact()
        else:
            self._file.close()
            self.path.unlink(missing_ok=True)


_ROWS: dict[str, type[Any]] = {"reply": Reply, "receipt": Receipt}
_VALUES = {kind: operator.attrgetter(*schema(row)) for kind, row in _ROWS.items()}
_USUAL = {
    kind: [(f'"{name}":', usual_values(row).get(name, ...)) for name in schema(row)] for kind, row in _ROWS.items()
}
"""How each field begins in a line, and what it holds where the line lacks it; `...` where the line must say it."""

_ENCODE = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), allow_nan=False).encode
_QUOTED = json.encoder.encode_basestring_ascii


def _line(kind: str, row: Reply | Receipt) -> bytes:
    fields = []
    for (head, default), value in zip(_USUAL[kind], _VALUES[kind](row), strict=True):
        if value is not default and value != default:
            # Most are short texts, and there are a dozen in every line.
            fields.append(head + (_QUOTED(value) if type(value) is str else _text(value)))
    return f'{{"{kind}":{{{",".join(fields)}}}}}\n'.encode()


def _text(value: Any) -> str:
    """A field as JSON; most are short texts, for which building an encoder costs more than encoding."""
    kind = type(value)
    if kind is str:
        return _QUOTED(value)
    if kind is int or kind is float:
        return repr(value)
    if kind is tuple:
        return f"[{','.join(map(_text, value))}]"
    if kind is Evidence:
        return _ENCODE(dataclasses.asdict(value))
    return _QUOTED(canonical(value)) if kind is Json else _ENCODE(value)


def finished(folder: Path) -> frozenset[str]:
    """The names of the parts that workers have finished."""
    return frozenset(path.name for path in (folder / "replies").glob("*.parquet"))


def being_asked(folder: Path) -> bool:
    """Whether lines of a worker lie there that are not a part yet: it asks, or was killed."""
    return any((folder / "replies").glob("*.jsonl"))


def parse_lines(path: Path, offset: int) -> tuple[pl.DataFrame, pl.DataFrame, int]:
    """The replies and receipts that stand in a worker's file from a byte on, and up to which byte it is whole."""
    try:
        with path.open("rb") as file:
            file.seek(offset)
            data = file.read()
    except FileNotFoundError:
        return pl.DataFrame(schema=schema(Reply)), pl.DataFrame(schema=schema(Receipt)), offset  # just compacted
    except OSError as error:
        raise damaged(path, error) from error
    whole = data.rfind(b"\n") + 1
    lines = data[:whole].splitlines()
    rows = _at_once(lines) or _line_by_line(path, lines)
    try:
        replies, receipts = records_frame(rows["reply"], Reply), records_frame(rows["receipt"], Receipt)
    except (pl.exceptions.PolarsError, TypeError, AttributeError) as error:
        raise damaged(path, error) from error
    return replies, receipts, offset + whole


def _at_once(lines: list[bytes]) -> _Rows | None:
    """What whole lines hold, read as one document, which is much faster; None where any of them is not as it should."""
    rows: _Rows = {"reply": [], "receipt": []}
    try:
        found = json.loads(b"[" + b",".join(lines) + b"]")
        for one in found:
            ((kind, record),) = one.items()
            rows[kind].append(record)
    except (ValueError, KeyError, AttributeError):
        return None
    return rows if len(found) == len(lines) else None


def _line_by_line(path: Path, lines: list[bytes]) -> _Rows:
    """What the lines hold up to a torn end."""
    rows: _Rows = {"reply": [], "receipt": []}
    for number, line in enumerate(lines):
        try:
            ((kind, record),) = json.loads(line).items()
            rows[kind].append(record)
        except (ValueError, KeyError, AttributeError) as error:
            if any(_is_json(later) for later in lines[number + 1 :]):
                raise damaged(path, ValueError(f"line {number + 1} is not a reply")) from error
            break  # a torn end: the disk lost what had not been synced
    return rows


def _is_json(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


class ReplyReader:
    """All replies of a run, by place; `refresh` takes up what other workers have written since."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "replies"
        self._receipts = folder / Receipt.TABLE
        self._offsets: dict[Path, int] = {}
        self._lines: list[pl.DataFrame] = []
        self._ranges: dict[Path, tuple[int, int]] = {}

    def refresh(self) -> list[pl.DataFrame]:
        """Takes up new files and new lines; returns the replies in the new lines."""
        fresh = []
        for path in sorted(self.folder.glob("*.jsonl")):
            replies, _, offset = parse_lines(path, self._offsets.get(path, 0))
            self._offsets[path] = offset
            if replies.height:
                self._lines.append(replies)
                fresh.append(replies)
        for path in self.folder.glob("*.parquet"):
            if path not in self._ranges:
                places = read_part(path, ["place"])["place"]
                self._ranges[path] = (int(places[0]), int(places[-1])) if places.len() else (0, -1)
        return fresh

    def between(self, start: int, stop: int, columns: list[str] | None = None) -> pl.DataFrame:
        """The replies to questions from place `start` up to, not including, `stop`; each id once."""
        inside = (pl.col("place") >= start) & (pl.col("place") < stop)
        names = columns or list(schema(Reply))
        frames = [pl.DataFrame(schema={name: schema(Reply)[name] for name in names})]
        for path, (first, last) in sorted(self._ranges.items()):
            if first < stop and last >= start:
                # A reply whose receipts are lost shows nothing any more: it is as if it had not come.
                lost = not (self._receipts / path.name).is_file()
                unproven = inside & (pl.col("receipts").list.len() == 0) if lost else inside
                frames.append(read_part(path, names, unproven))
        frames.extend(chunk.filter(inside).select(names) for chunk in self._lines)
        return pl.concat(frames).unique("id", keep="first", maintain_order=True)


def replies_of(folder: Path) -> pl.DataFrame:
    """All replies of a run, each once, those in the lines of workers that are at it or were killed included."""
    return _all_of(folder, Reply).sort("place", maintain_order=True)


def receipts_of(folder: Path) -> pl.DataFrame:
    """All receipts of a run, each once."""
    return _all_of(folder, Receipt)


def reply_files(folder: Path, columns: list[str]) -> Iterator[pl.DataFrame]:
    """Some columns of all replies file by file; each reply once, save those of a worker that was killed midway."""
    # Lines first: those of a worker that makes a part of them in between are then taken from the part, and not missed.
    lines = {
        path.stem: parse_lines(path, 0)[0].select(columns) for path in sorted((folder / "replies").glob("*.jsonl"))
    }
    for path in sorted((folder / "replies").glob("*.parquet")):
        lines.pop(path.stem, None)
        yield read_part(path, columns)
    yield from lines.values()


def _all_of(folder: Path, row: type[Reply] | type[Receipt]) -> pl.DataFrame:
    frames = [pl.DataFrame(schema=schema(row))]
    # Lines first: a worker that makes a part of its lines in between is then read twice, and not missed.
    for path in sorted((folder / "replies").glob("*.jsonl")):
        replies, receipts, _ = parse_lines(path, 0)
        frames.append(replies if row is Reply else receipts)
    frames.extend(read_part(path) for path in sorted((folder / row.TABLE).glob("*.parquet")))
    return pl.concat(frames).unique("id", keep="first", maintain_order=True)
