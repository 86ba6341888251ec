"""How a benchmark writes a dialogue: what is said, what is asked, and what later turns show of it.

    Script(case, item="ph/1/rhythm", turns=(
        Say("You are a cardiologist.", role="system"),
        Ask(template="rate", text="Is the heart rate above 100 bpm?", kind="choice", options=("Yes", "No"),
            answer=("No",), shows="reply", media=("ecg",)),
        Ask(template="rhythm", text="Which rhythm is it?", kind="choice", options=RHYTHMS, answer=("AF",)),
    ))

A benchmark yields scripts in which the question stands apart from its options; `overread.exam.compiling` turns each,
under each condition, into one dialogue with questions and key. A script must be the same whenever it is made again.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Literal

from overread.tables import Case, Media, QuestionKind, Role, Shows

ShownAs = Literal["asked", "question"] | tuple[str, ...]
"""How a question's own turn looks later: as it was asked, only its question line, or with these options instead."""


@dataclasses.dataclass(frozen=True, slots=True)
class Say:
    """A turn that is only said: a system text, an example, a scripted answer (role `assistant`)."""

    text: str
    role: Role = "user"
    media: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class Ask:
    """A turn in which the model speaks, with its key."""

    template: str
    """Names the kind of question across patients: the prior learns by it."""
    text: str
    """The question itself, without options and instructions."""
    kind: QuestionKind
    answer: tuple[str, ...] | float
    """The key: the right options or texts, or a number."""
    options: tuple[str, ...] = ()
    many: bool = False
    low: float | None = None
    high: float | None = None
    whole: bool = False
    unit: str = ""
    tolerance: float | None = None
    shows: Shows = "nothing"
    shown_as: ShownAs = "asked"
    media: tuple[str, ...] = ()
    """Names of the media attached before the question."""
    stage: str = ""
    slices: tuple[str, ...] = ()
    wording: str = ""
    """The same question in other words, for the probe `wording`."""
    follow: Mapping[str, tuple[str, ...] | float] = dataclasses.field(default_factory=dict)
    """The key under probes of the media, moved or as it was: {"reverse": 12}. Under the others no answer is right."""
    scored: bool = True
    """False where no answer is right: set by a probe that `follow` does not name."""
    name: str = ""
    """By which a `Take` in another script refers to it; the template where empty."""


@dataclasses.dataclass(frozen=True, slots=True)
class Take:
    """A turn that shows a question of another script of the same item, with the reply that the model gave there."""

    script: str
    ask: str


@dataclasses.dataclass(frozen=True, slots=True)
class Tell:
    """A turn that shows a question with its key, without asking it."""

    ask: Ask


@dataclasses.dataclass(frozen=True, slots=True)
class Script:
    """One dialogue with its key, before any condition."""

    case: Case
    item: str
    """The same for all protocols of one original; scripts of one item follow each other."""
    turns: tuple[Say | Ask | Tell | Take, ...]
    name: str = ""
    """By which a `Take` refers to it; unique within its item."""
    media: tuple[Media, ...] | None = None
    """The media it uses, such as a window of a clip; those of the case where nothing is said."""

    def asks(self) -> Iterable[Ask]:
        """Its questions in order."""
        return (turn for turn in self.turns if isinstance(turn, Ask))

    def shown_media(self) -> tuple[Media, ...]:
        """The media that the dialogue has."""
        return self.case.media if self.media is None else self.media


@dataclasses.dataclass(frozen=True, slots=True)
class Options:
    """Settings of a benchmark: `--set benchmark.key=value`."""

    protocol: str = ""
    variant: str = ""
    values: Mapping[str, str] = dataclasses.field(default_factory=dict)


def key_text(answer: tuple[str, ...] | float, *, whole: bool = False, unit: str = "") -> str:
    """A key as later turns show it: options joined by a comma, a number with its unit."""
    if isinstance(answer, tuple):
        return ", ".join(answer)
    number = f"{round(answer)}" if whole else f"{answer:g}"
    return f"{number} {unit}".rstrip()
