"""Puts dialogues to a model: fills in what each turn shows, and marks where the pending questions stand."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence

import polars as pl

from overread.columns import rows_of
from overread.models.contract import Look, Message, Pending, Posed
from overread.quick import quick
from overread.runs.standing import Slot
from overread.tables import Dialogue, Media, Question, Turn

_message, _pending = quick(Message), quick(Pending)


@dataclasses.dataclass(frozen=True, slots=True)
class Wanted:
    """Questions of one dialogue that one model shall answer now, at one seed and sample."""

    dialogue: str
    seed: int
    sample: int
    questions: tuple[str, ...]


class Poser:
    """Makes `Posed` dialogues of one part of an exam."""

    def __init__(self, dialogues: pl.DataFrame, questions: pl.DataFrame, key: pl.DataFrame) -> None:
        self.dialogues = {row.id: row for row in rows_of(dialogues, Dialogue)}
        self.questions = {row.id: row for row in rows_of(questions, Question)}
        self.answers = dict(zip(key["question"], key["answer"].list.join(", "), strict=True))

    @classmethod
    def of_part(cls, tables: Mapping[str, pl.DataFrame], wanted: Iterable[Wanted]) -> Poser:
        """A poser for some dialogues of a part."""
        ids = pl.Series(sorted({w.dialogue for w in wanted}), dtype=pl.String)
        if len(ids) == tables["dialogues"].height:
            return cls(tables["dialogues"], tables["questions"], tables["key"])
        dialogues = tables["dialogues"].filter(pl.col("id").is_in(ids.implode()))
        questions = tables["questions"].filter(pl.col("dialogue").is_in(ids.implode()))
        key = tables["key"].join(questions.select("place"), on="place", how="semi")
        return cls(dialogues, questions, key)

    def pose(self, wanted: Wanted, said: Mapping[Slot, str], identity: str, look: Look) -> Posed:
        """One dialogue with the wanted questions; nothing that follows the last of them is in the script."""
        dialogue = self.dialogues[wanted.dialogue]
        media = {medium.name: medium for medium in dialogue.media}
        asked = set(wanted.questions)
        script: list[Message] = []
        pending: list[Pending] = []
        for turn in dialogue.turns:
            attached = tuple([media[name] for name in turn.media]) if turn.media else ()
            question = self.questions[turn.question] if turn.question else None
            if question is not None and question.id in asked:
                ask = _message("user", question.asked, attached)
                pending.append(_pending(question, len(script), ask, wanted.seed, wanted.sample))
                if len(pending) == len(asked):
                    break
            if question is not None and question.shows == "nothing":
                continue
            script.append(_message(turn.role, turn.text, attached))
            answer = self._shown(turn, question, said, (identity, wanted.seed, wanted.sample))
            if answer is not None:
                script.append(_message("assistant", answer))
        return Posed(dialogue, tuple(script), tuple(pending), look)

    def _shown(
        self, turn: Turn, question: Question | None, said: Mapping[Slot, str], who: tuple[str, int, int]
    ) -> str | None:
        if turn.source is not None:
            return said[turn.source, *who]
        if question is None:
            return None
        return said[question.id, *who] if question.shows == "reply" else self.answers[question.id]

    def media_of(self, wanted: Iterable[Wanted]) -> Iterator[Media]:
        """The media that some dialogues will show, in order."""
        for one in wanted:
            yield from self.dialogues[one.dialogue].media


def group(pending: Sequence[tuple[str, str, int, int]]) -> list[Wanted]:
    """Pending (dialogue, question, seed, sample), in exam order -> one `Wanted` a dialogue, seed and sample."""
    groups: dict[tuple[str, int, int], list[str]] = {}
    for dialogue, question, seed, sample in pending:
        groups.setdefault((dialogue, seed, sample), []).append(question)
    return [Wanted(dialogue, seed, sample, tuple(ids)) for (dialogue, seed, sample), ids in groups.items()]
