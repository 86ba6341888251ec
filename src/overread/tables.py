"""The rows of a run and their schema on disk; the one owner of both.

Every table is a folder of Parquet parts whose columns are the fields of one frozen dataclass here. `schema(Row)`
derives the Polars schema from the annotations, so the two cannot differ:

    str, int, float, bool   the same, required (never null on disk)
    X | None                the same, may be null
    tuple[X, ...]           a list; `None` and the empty list stay different
    Json                    an object, stored as canonical JSON text
    another row             a struct

Ids are content hashes (24 hexadecimal digits). Positions (frames, samples, slices) are in the native space of the case.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import types
import typing
from typing import Any, ClassVar, Literal

import polars as pl

SCHEMA_VERSION = 1
"""Raised whenever a column changes; written into every Parquet part and into run.json."""


class Json(dict[str, Any]):
    """A JSON object; stored on disk as canonical text."""


QuestionKind = Literal["text", "choice", "number", "embedding", "mask", "points"]
Shows = Literal["key", "reply", "nothing"]
Role = Literal["system", "user", "assistant"]
ReplyStatus = Literal["answered", "refused", "failed"]
VerdictStatus = Literal["read", "expected", "unreadable", "refused", "failed"]
Terms = Literal["open", "credentialed", "local-only"]
Level = Literal["tensor", "sent", "none"]

QUESTION_KINDS: tuple[str, ...] = typing.get_args(QuestionKind)
TERMS: tuple[str, ...] = typing.get_args(Terms)
"""From the most open to the strictest."""


@dataclasses.dataclass(frozen=True, slots=True)
class Media:
    """One medium of a case, by address; nothing is decoded here."""

    TABLE: ClassVar[str] = ""
    name: str
    kind: str
    """ecg, clip, volume or image: the file of that name in `overread.media` reads it."""
    uri: str
    """`alias://path`; the alias is resolved on each machine."""
    select: tuple[int, ...] = ()
    """Native positions: frames of a clip, `(start, stop)` samples of an ECG, slices of a volume. Empty: all."""
    change: str = ""
    """What a condition did to it: `blank`, or a probe of its kind such as `reverse`; empty: as it is."""


@dataclasses.dataclass(frozen=True, slots=True)
class Case:
    """One patient's study as an archive holds it."""

    TABLE: ClassVar[str] = "cases"
    id: str
    archive: str
    patient: str
    """Carries its archive: `ptbxl/123`."""
    media: tuple[Media, ...]
    facts: Json
    terms: Terms = "open"


@dataclasses.dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a dialogue, as later turns show it."""

    TABLE: ClassVar[str] = ""
    role: Role
    text: str
    media: tuple[str, ...] = ()
    """Names of the media attached before the text."""
    question: str | None = None
    """The question asked here; `text` is then what is shown later, the question holds what is asked."""
    source: str | None = None
    """A question of another dialogue: its reply is shown as the answer to this turn."""


@dataclasses.dataclass(frozen=True, slots=True)
class Dialogue:
    """A scripted conversation about one case under one condition."""

    TABLE: ClassVar[str] = "dialogues"
    id: str
    benchmark: str
    protocol: str
    case: str
    patient: str
    item: str
    """The same for all conditions and protocols of one original."""
    condition: str
    terms: Terms
    media: tuple[Media, ...]
    turns: tuple[Turn, ...]
    place: int = 0
    """Place of its first question in the exam."""
    cost: int = 1
    """How much work it is, roughly in tokens; shards are cut by it."""


@dataclasses.dataclass(frozen=True, slots=True)
class Question:
    """A place in a dialogue where the model speaks."""

    TABLE: ClassVar[str] = "questions"
    id: str
    dialogue: str
    place: int
    """Its place in the exam, from 0; batches are cut by it."""
    item: str
    template: str
    kind: QuestionKind
    asked: str
    """The whole text of the turn as it is asked."""
    shown: str
    """The whole text of the turn as later turns show it."""
    shows: Shows
    """What later turns show as its answer; `nothing` leaves the whole turn out."""
    prompt: str
    """Hash of everything that precedes the answer, save the replies named by `parents`."""
    options: tuple[str, ...] = ()
    many: bool = False
    low: float | None = None
    high: float | None = None
    """The range of a number, both ends included; chance is uniform over it."""
    whole: bool = False
    """The number is a whole one."""
    unit: str = ""
    wave: int = 0
    parents: tuple[str, ...] = ()
    """Questions whose replies stand in this question's history."""


@dataclasses.dataclass(frozen=True, slots=True)
class Key:
    """The right answer to a question."""

    TABLE: ClassVar[str] = "key"
    question: str
    place: int
    answer: tuple[str, ...]
    """The right options by their text, or the one right text. For a number, its text as shown."""
    number: float | None = None
    tolerance: float | None = None
    """How far a number may be off and still be right, in the question's unit."""
    stage: str = ""
    """The kind of step it is; scores are read by it as by a slice `stage=...`."""
    slices: tuple[str, ...] = ()
    """Other `name=value` labels to read scores by."""
    scored: bool = True
    """False where the key says nothing: a swapped study that happens to have the same answer."""


@dataclasses.dataclass(frozen=True, slots=True)
class Reply:
    """What a model said to one question, and under which circumstances."""

    TABLE: ClassVar[str] = "replies"
    id: str
    question: str
    place: int
    model: str
    identity: str
    """Hash of what makes two replies the same thing: weights, adapter, form, prompts, precision, sampling."""
    seed: int
    sample: int
    prompt: str
    """Hash of the whole history as sent."""
    status: ReplyStatus
    reason: str = ""
    """Why it failed or was refused; never an answer."""
    text: str | None = None
    choice: tuple[int, ...] | None = None
    """Indices into the question's options."""
    option_scores: tuple[float, ...] | None = None
    """Probabilities, one an option. Without a choice, the reply is a draw from them and scored by expectation."""
    number: float | None = None
    spread: tuple[float, ...] | None = None
    """Equally likely numbers; without a number, scored by expectation."""
    blob: str | None = None
    """Hash of a side file: vector, mask, points."""
    receipts: tuple[str, ...] = ()
    usage: Json = dataclasses.field(default_factory=Json)
    seconds: float = 0.0
    at: float = 0.0
    """When the reply was recorded, in seconds since 1970."""
    provenance: str = ""
    """The worker that recorded it: `workers/NAME.json` tells engine, host and versions."""


@dataclasses.dataclass(frozen=True, slots=True)
class Evidence:
    """A stretch of a medium that a solver read its answer from."""

    TABLE: ClassVar[str] = ""
    about: str
    """What was read there: the name of a finding or a fact."""
    part: str
    """The lead of an ECG; empty: all of the medium."""
    start: int
    """First native position: sample, frame, slice."""
    stop: int
    """One past the last."""


@dataclasses.dataclass(frozen=True, slots=True)
class Receipt:
    """What reached the model of one medium."""

    TABLE: ClassVar[str] = "receipts"
    id: str
    level: Level
    media: str
    """The medium's address."""
    form: str
    indices: tuple[int, ...] = ()
    """Native positions that reached the model, in the order in which they did."""
    shape: tuple[int, ...] = ()
    hash: str = ""
    tokens: int | None = None
    change: str = ""
    """The condition's change to the medium."""
    evidence: tuple[Evidence, ...] = ()
    """Where in it the answer was read, by solvers that can tell."""


@dataclasses.dataclass(frozen=True, slots=True)
class Verdict:
    """A judge's finding on one reply."""

    TABLE: ClassVar[str] = "verdicts"
    question: str
    place: int
    reply: str
    model: str
    seed: int
    sample: int
    judge: str
    status: VerdictStatus
    parsed: str | None = None
    """What the judge read, as text: options joined by a line feed, or a number."""
    correct: bool | None = None
    credit: float = 0.0
    """1 for right, 0 for wrong, between for partial or expected; failed, refused and unreadable replies get 0."""
    error: float | None = None
    """How far a number is from the key, without sign, in the question's unit; null where nothing was read."""
    probability: float | None = None
    """The probability that the model gave to the right answer."""


@dataclasses.dataclass(frozen=True, slots=True)
class Score:
    """A metric with its interval over patients."""

    TABLE: ClassVar[str] = "scores"
    benchmark: str
    protocol: str
    condition: str
    model: str
    judge: str
    metric: str
    slice: str
    """`all`, or a `name=value` label of the key."""
    unit: str
    """What is counted: question, dialogue, pair or exam."""
    direction: Literal["more", "less"]
    """Which is better."""
    value: float | None
    low: float | None
    high: float | None
    n: int
    patients: int
    coverage: float
    """Share of the expected replies that exist and did not fail."""
    unreadable: float
    """Share of the expected replies in which the judge could read nothing."""
    floor: str = ""
    """For a headline: the name of the best floor."""


@dataclasses.dataclass(frozen=True, slots=True)
class Clean:
    """Whether a question is clean: no blind candidate of the run answers it better than chance."""

    TABLE: ClassVar[str] = "clean"
    benchmark: str
    protocol: str
    judge: str
    """The panel of judges whose verdicts decided."""
    item: str
    """As in the questions: the same under all conditions."""
    clean: bool | None
    """None: not decided, as no model that looks was asked it blind."""


ROWS: tuple[type[Any], ...] = (Case, Dialogue, Question, Key, Reply, Receipt, Verdict, Score, Clean)
"""The rows that have a table of their own."""

_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def canonical(value: Any) -> str:
    """JSON text that is the same for equal values: sorted keys, no spaces, no NaN."""
    return _CANONICAL.encode(value)


def content_id(*parts: str) -> str:
    """A 24-digit hash of the parts; parts cannot run into each other."""
    framed = bytearray()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        framed += len(data).to_bytes(8, "little") + data
    return hashlib.blake2b(framed, digest_size=12).hexdigest()


def _column(annotation: Any) -> pl.DataType:
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        return _column(next(a for a in arguments if a is not type(None)))
    if origin is tuple:
        return pl.List(_column(arguments[0]))
    if origin is Literal or annotation in (str, Json):
        return pl.String()
    if dataclasses.is_dataclass(annotation):
        return pl.Struct(schema(typing.cast("type[Any]", annotation)))
    plain = {int: pl.Int64(), float: pl.Float64(), bool: pl.Boolean()}
    return plain[annotation]


_SCHEMAS: dict[type[Any], dict[str, pl.DataType]] = {}


def schema(row: type[Any]) -> dict[str, pl.DataType]:
    """The columns of a row's table, in the order of its fields."""
    if row not in _SCHEMAS:
        hints = typing.get_type_hints(row)
        _SCHEMAS[row] = {field.name: _column(hints[field.name]) for field in dataclasses.fields(row)}
    return dict(_SCHEMAS[row])
