"""One whole dialogue of an exam as text: what a model is sent, and what later turns show."""

from __future__ import annotations

import dataclasses

import polars as pl

from overread.columns import rows_of
from overread.metrics.floors import PLAIN
from overread.runs.folder import Run
from overread.tables import Dialogue, Key, Media, Question


@dataclasses.dataclass(frozen=True, slots=True)
class Spoken:
    """One turn as it is shown on the page."""

    role: str
    media: tuple[str, ...]
    text: str
    note: str = ""
    """What a reader has to know that the model is not told."""


def first_dialogue(run: Run) -> list[Spoken]:
    """The turns of the exam's first plain dialogue; the key stands where later turns show it."""
    if not run.parts:
        return []
    dialogues = run.part("dialogues", 0).filter(pl.col("condition") == PLAIN).head(1)
    if dialogues.is_empty():
        return []
    dialogue = next(rows_of(dialogues, Dialogue))
    questions = {q.id: q for q in rows_of(run.part("questions", 0).filter(pl.col("dialogue") == dialogue.id), Question)}
    keys = run.part("key", 0).filter(pl.col("question").is_in(list(questions)))
    key = {row.question: ", ".join(row.answer) for row in rows_of(keys, Key)}
    media = {medium.name: address(medium) for medium in dialogue.media}
    spoken: list[Spoken] = []
    for turn in dialogue.turns:
        attached = tuple(media[name] for name in turn.media)
        if turn.question is not None:
            spoken += _asked(questions[turn.question], key[turn.question], attached)
            continue
        spoken.append(Spoken(turn.role, attached, turn.text))
        if turn.source is not None:
            spoken.append(Spoken("assistant", (), "", "the model's reply to this question in another dialogue"))
    return spoken


def _asked(question: Question, key: str, media: tuple[str, ...]) -> list[Spoken]:
    if question.shows == "nothing":
        return [Spoken("user", media, question.asked, f"the model answers here; the key is: {key}")]
    later = "" if question.shown == question.asked else f"; later turns show the question as: {question.shown}"
    if question.shows == "reply":
        note = f"the model answers here, and later turns show its own reply; the key is: {key}{later}"
        return [Spoken("user", media, question.asked, note)]
    note = f"the model answers here; whatever it says, later turns show the key{later}"
    return [Spoken("user", media, question.asked, note), Spoken("assistant", (), key)]


def address(medium: Media) -> str:
    """A medium by its address, with what of it is shown and how it was changed."""
    part = ""
    if medium.select:
        part = f" [{len(medium.select)} positions from {medium.select[0]} to {medium.select[-1]}]"
    return f"{medium.uri}{part}{f', changed: {medium.change}' if medium.change else ''}"
