"""The run folder: one exam, some models.

    run.json        what was compiled, from what, and where its parts begin
    cases/ dialogues/ questions/ key/     the exam, in parts of whole items
    workers/NAME.json                     each process that asked: command, versions, models and their identity
    replies/ receipts/ blobs/             what models said (`overread.runs.replies`)
    rulings/JUDGE/BATCH/                  what judges' models were asked, each batch a run folder (`overread.ruling`)
    verdicts/JUDGE/ scores/ clean/ report.html    what became of it

Nothing is locked and nothing is changed in place: files are written whole and renamed, workers append to files of
their own. So a run can be killed at any moment, and several processes can work on it at once.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from overread.errors import BadRun
from overread.paths import is_file
from overread.runs.parts import check_version, damaged, read_part, write_atomically, write_part
from overread.runs.replies import receipts_of, replies_of
from overread.tables import ROWS, SCHEMA_VERSION, schema
from overread.version import __version__

KEPT_PARTS = 4
"""So many parts of exam tables are held in memory; they never change."""

EXAM_TABLES = ("dialogues", "questions", "key")


@dataclasses.dataclass(frozen=True, slots=True)
class Seat:
    """One model in a run: the name that tables show, and the identity that its replies carry."""

    model: str
    identity: str
    looks: bool
    """Whether it takes media; one that does not is asked under `plain` alone."""
    samples: bool
    """Whether another seed or sample can give another answer."""
    details: dict[str, Any]

    def repeats(self, seed: int, seeds: int, samples: int) -> list[tuple[int, int]]:
        """The (seed, sample) at which it is asked: one where another could not change its answer."""
        if not self.samples:
            return [(seed, 0)]
        return [(seed + n, sample) for n in range(seeds) for sample in range(samples)]


class Run:
    """A run folder that exists."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.manifest = _read_manifest(folder)
        self.notes: list[str] = []
        """What the user should know of the last asking, a sentence each; not kept on disk."""
        self._kept: dict[tuple[str, int], pl.DataFrame] = {}

    @staticmethod
    def exists(folder: Path) -> bool:
        """Whether a compiled run lies there."""
        return is_file(folder / "run.json")

    @classmethod
    def publish(cls, folder: Path, manifest: dict[str, Any]) -> Run:
        """Makes a compiled exam a run; the manifest is written last."""
        whole = {"overread": __version__, "schema": SCHEMA_VERSION, **manifest}
        write_json(folder / "run.json", whole)
        return cls(folder)

    @property
    def exam(self) -> dict[str, Any]:
        """What was compiled: benchmark, protocol, conditions, seed, settings."""
        exam: dict[str, Any] = self.manifest["exam"]
        return exam

    @property
    def parts(self) -> list[tuple[int, int]]:
        """For each part the places of its questions: first, and after the last."""
        return [(start, stop) for start, stop in self.manifest["parts"]]

    def check_same_exam(self, exam: dict[str, Any]) -> None:
        """Refuses to mix replies to different exams."""
        differing = [key for key in sorted(exam.keys() | self.exam.keys()) if exam.get(key) != self.exam.get(key)]
        if differing:
            said = "; ".join(f"{k}: {self.exam.get(k)!r} there, {exam.get(k)!r} now" for k in differing)
            raise BadRun(
                f"the folder holds a run of another exam ({said})",
                where=str(self.folder),
                do="choose another folder with --out, or give the same settings to go on with this one",
            )

    def part(self, table: str, index: int, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """One part of the exam; the last ones that were read whole are kept, because each stage reads them again."""
        kept = self._kept.get((table, index))
        if kept is not None:
            return kept if columns is None else kept.select(columns)
        read = read_part(self.part_path(table, index), columns)
        if columns is None:
            if len(self._kept) >= KEPT_PARTS:
                del self._kept[next(iter(self._kept))]
            self._kept[table, index] = read
        return read

    def part_path(self, table: str, index: int) -> Path:
        """Where a part of the exam lies."""
        return self.folder / table / part_name(index, self.manifest.get("tag", ""))

    def table(self, table: str) -> pl.DataFrame:
        """A whole table: cases, dialogues, questions, key, replies, receipts, verdicts, scores or clean."""
        row = {row.TABLE: row for row in ROWS}.get(table)
        if row is None:
            raise BadRun(f"a run has no table {table!r}", do=f"known: {', '.join(row.TABLE for row in ROWS)}")
        if table in ("replies", "receipts"):
            return replies_of(self.folder) if table == "replies" else receipts_of(self.folder)
        paths = sorted((self.folder / table).rglob("*.parquet"))
        if table in ("cases", *EXAM_TABLES):
            paths = [self.part_path(table, index) for index in range(1 if table == "cases" else len(self.parts))]
        frames = [read_part(path) for path in paths]
        return pl.concat(frames) if frames else pl.DataFrame(schema=schema(row))

    def seats(self) -> list[Seat]:
        """The models of the run, in the order of their first asking; names made unique where identities differ."""
        found: dict[str, Seat] = {}
        for worker in self.workers():
            for seat in worker.get("models", []):
                found.setdefault(seat["identity"], Seat(**seat))
        names = [seat.model for seat in found.values()]
        return [
            seat
            if names.count(seat.model) == 1
            else dataclasses.replace(seat, model=f"{seat.model}~{seat.identity[:6]}")
            for seat in found.values()
        ]

    def workers(self) -> Iterator[dict[str, Any]]:
        """What each process that asked wrote about itself, oldest first."""
        documents = [read_json(path) for path in sorted((self.folder / "workers").glob("*.json"))]
        return iter(sorted(documents, key=lambda document: document.get("started", 0.0)))

    def shard(self, shard: tuple[int, int]) -> tuple[int, int]:
        """The places of shard i of n: first, and after the last. Shards have equal cost and never split an item."""
        number, count = shard
        return self._cuts(count)[number - 1], self._cuts(count)[number]

    @functools.lru_cache(maxsize=4)  # noqa: B019  a run lives as long as its process
    def _cuts(self, count: int) -> list[int]:
        columns = ["item", "place", "cost"]
        dialogues = pl.concat([self.part("dialogues", index, columns) for index in range(len(self.parts))])
        items = dialogues.group_by("item", maintain_order=True).agg(pl.col("place").min(), pl.col("cost").sum())
        share = (items["cost"].cum_sum() - items["cost"]) * count / max(1, int(items["cost"].sum()))
        owner = share.floor().cast(pl.Int64).clip(0, count - 1)
        end = self.parts[-1][1] if self.parts else 0
        firsts = [items.filter(owner >= number)["place"].min() for number in range(count)]
        return [end if first is None else int(str(first)) for first in firsts] + [end]

    @functools.cached_property
    def fingerprint(self) -> str:
        """Tells this exam from others: the hash over its questions, made when it was compiled."""
        return str(self.manifest["fingerprint"])


def part_name(index: int, tag: str = "") -> str:
    """The file of the n-th part of a table; the tables of an exam carry its tag."""
    return f"part-{index:05d}-{tag}.parquet" if tag else f"part-{index:05d}.parquet"


def write_exam_part(folder: Path, index: int, frames: dict[str, pl.DataFrame], tag: str = "") -> None:
    """Writes the n-th part of each exam table."""
    for table, frame in frames.items():
        write_part(folder / table / part_name(index, tag), frame)


def write_json(path: Path, document: dict[str, Any]) -> None:
    """Writes a JSON document whole or not at all."""
    write_atomically(path, (json.dumps(document, indent=2, ensure_ascii=False, default=str) + "\n").encode())


def read_json(path: Path) -> dict[str, Any]:
    """Reads a JSON document of a run."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise damaged(path, error) from error
    if not isinstance(document, dict):
        raise damaged(path, ValueError("not a JSON object"))
    check_version(path, document.get("schema", SCHEMA_VERSION))
    return document


def _read_manifest(folder: Path) -> dict[str, Any]:
    path = folder / "run.json"
    if not is_file(path):
        raise BadRun(
            "there is no run here",
            where=str(folder),
            do="give the folder that `overread run ... --out FOLDER` wrote; it holds a run.json",
        )
    manifest = read_json(path)
    if not isinstance(manifest.get("exam"), dict) or not isinstance(manifest.get("parts"), list):
        raise damaged(path, ValueError("it lacks `exam` or `parts`"))
    return manifest


def safe_name(text: str) -> str:
    """A file name made from any text."""
    return re.sub(r"[^A-Za-z0-9._+=-]+", "-", text).strip("-.")[:80] or "run"
