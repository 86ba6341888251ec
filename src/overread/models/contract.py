"""What a model is: one file of this folder (or anywhere, by path) with

    a docstring             its first line is the title that `overread list models` shows
    KINDS = ("choice",)     the question kinds it can answer
    FORMS = {"ecg": "signal"}   for each media kind the form it takes; {} for a model that never looks
    VARIANTS = ()           optional: names for `model:variant`
    SAMPLES = True          optional: False where another seed or sample cannot give another answer
    BATCH = 32              optional: how many dialogues it likes to be given at once
    def check(setting: Setting) -> None     optional: refuses what it cannot be told, before anything is compiled
    def remote(setting: Setting) -> str     optional: the host that it sends everything to; empty: none
    def estimate(setting: Setting, load: Load) -> Mapping     optional: what asking all of it will cost, by name
    def load(setting: Setting) -> Model

Optional on the object: attributes `kinds`, `forms`, `samples` and `batch`, which override what the file says, for
models that know it only once they are loaded; `begin(usages)`, called before the first question with the usage of the
replies that the run has from it already, which may take its time; `provenance()`, a mapping of versions and devices
that is only recorded; `close()`, called when the engine is done with it. A model that raises `Stopped` is asked no
more: what it has not answered stays missing for the next run. What is not open is sent to no `remote` host unless the
user allows it (`overread.terms`).

`answer` gets dialogues and yields answers, in any order, as early as it has them. The engine adds identity, prompt hash
and provenance, checks the receipts, and turns whatever goes wrong into failed replies with a reason.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Protocol

import polars as pl

from overread.media.contract import Delivered
from overread.tables import Dialogue, Evidence, Json, Level, Media, Question, ReplyStatus, Role

Look = Callable[[Media], Delivered]
"""Hands over one medium in the form that the model declared for its kind."""


@dataclasses.dataclass(frozen=True, slots=True)
class Setting:
    """How a model was asked for: `NAME:variant[key=value]`."""

    name: str
    variant: str = ""
    options: Mapping[str, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, slots=True)
class Load:
    """How much a model would be asked, every question sent with all that precedes it."""

    questions: int
    messages: int
    characters: int
    pictures: int = 0
    """Positions (frames, slices) of the media that say which of them are shown."""
    whole: Mapping[str, int] = dataclasses.field(default_factory=dict)
    """By kind, how many media are shown whole."""


@dataclasses.dataclass(frozen=True, slots=True)
class Message:
    """One message as a model sees it: the media stand before the text."""

    role: Role
    text: str
    media: tuple[Media, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class Pending:
    """One question to be answered now."""

    question: Question
    upto: int
    """How many messages of the script precede it."""
    asked: Message
    """The turn that asks it; the answer follows."""
    seed: int
    sample: int


@dataclasses.dataclass(frozen=True, slots=True)
class Posed:
    """A dialogue as it is put to a model: the script with everything shown filled in, and where the questions stand.

    The prompt of a question is `script[:upto]` and then `asked`. What stands in the script after `upto` must not
    influence its answer: a contract test changes it and compares.
    """

    dialogue: Dialogue
    script: tuple[Message, ...]
    questions: tuple[Pending, ...]
    look: Look

    def prompt(self, pending: Pending) -> tuple[Message, ...]:
        """All messages up to and including the one that asks."""
        return (*self.script[: pending.upto], pending.asked)


@dataclasses.dataclass(frozen=True, slots=True)
class Seen:
    """What reached the model of one medium; becomes a receipt."""

    level: Level
    media: Media
    form: str
    indices: tuple[int, ...] = ()
    shape: tuple[int, ...] = ()
    hash: str = ""
    tokens: int | None = None
    evidence: tuple[Evidence, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class Answer:
    """What a model says to one question; exactly one of text, choice, option_scores, number, spread, blob is enough."""

    question: str
    seed: int
    sample: int
    status: ReplyStatus = "answered"
    reason: str = ""
    text: str | None = None
    choice: tuple[int, ...] | None = None
    option_scores: tuple[float, ...] | None = None
    number: float | None = None
    spread: tuple[float, ...] | None = None
    blob: bytes | None = None
    seen: tuple[Seen, ...] = ()
    usage: Json = dataclasses.field(default_factory=Json)
    seconds: float = 0.0


class Model(Protocol):
    """What `load` returns."""

    def identity(self) -> Mapping[str, Any]:
        """What makes two replies the same thing: weights and revision, adapter, precision, sampling, prompts."""
        ...

    def answer(self, dialogues: Iterable[Posed]) -> Iterator[Answer]:
        """Answers every pending question of every dialogue."""
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class ExamTables:
    """The exam with its key, as tables (`overread.tables`: Dialogue, Question, Key)."""

    dialogues: pl.LazyFrame
    questions: pl.LazyFrame
    key: pl.LazyFrame


class Fitted(Model, Protocol):
    """A model that may read the key; only `prior` (two-fold across patients) and `oracle` are."""

    def fit(self, exam: ExamTables) -> None:
        """Called once, before any question is asked."""
        ...


def seen_by_tensor(
    media: Media, delivered: Delivered, *, tokens: int | None = None, evidence: tuple[Evidence, ...] = ()
) -> Seen:
    """The receipt of a medium that entered the model exactly as delivered."""
    return Seen("tensor", media, delivered.form, delivered.indices, delivered.shape, delivered.hash, tokens, evidence)
