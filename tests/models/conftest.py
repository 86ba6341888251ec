from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import pytest

from overread.columns import to_frame
from overread.models.contract import Answer, ExamTables, Message, Pending, Posed
from overread.tables import Dialogue, Key, Question, Turn


def _no_look(media: Any) -> Any:
    raise AssertionError("a model without forms looked at a medium")


class Exam:
    """A small exam under construction: dialogues of questions with their right answers."""

    def __init__(self) -> None:
        self.dialogues: list[Dialogue] = []
        self.questions: dict[str, Question] = {}
        self.key: dict[str, Key] = {}

    def add(self, patient: str, *asked: tuple[Mapping[str, Any], tuple[str, ...] | float], **about: Any) -> Dialogue:
        """One dialogue; each question is given by its fields and its right answers (or its number)."""
        name = f"d{len(self.dialogues)}"
        turns: list[Turn] = [Turn("system", "Be brief.")]
        for place, (fields, right) in enumerate(asked):
            values: dict[str, Any] = {"template": "t", "kind": "choice", "shows": "key", **fields}
            number = right if isinstance(right, float) else None
            answer = (f"{right:g}",) if isinstance(right, float) else right
            q = f"{name}q{place}"
            self.questions[q] = Question(
                id=q,
                dialogue=name,
                place=len(self.questions),
                item=q,
                asked="Which?",
                shown=f"Question {place}",
                prompt="",
                **values,
            )
            self.key[q] = Key(q, len(self.key), answer, number=number)
            turns.append(Turn("user", f"Question {place}", question=q))
        condition = about.get("condition", "plain")
        self.dialogues.append(
            Dialogue(name, "b", "p", name, patient, name, condition, "open", (), tuple(turns), cost=1)
        )
        return self.dialogues[-1]

    def tables(self) -> ExamTables:
        return ExamTables(
            to_frame(self.dialogues, Dialogue).lazy(),
            to_frame(self.questions.values(), Question).lazy(),
            to_frame(self.key.values(), Key).lazy(),
        )

    def pose(self, dialogue: Dialogue, reply: str = "my reply", only: Iterable[str] | None = None) -> Posed:
        """The dialogue with everything shown filled in; `only` names the questions that are asked now."""
        script: list[Message] = []
        pending: list[Pending] = []
        parents: tuple[str, ...] = ()
        for turn in dialogue.turns:
            if turn.question is None and turn.source is None:
                script.append(Message(turn.role, turn.text))
                continue
            if turn.source is not None:
                script += [Message("user", turn.text), Message("assistant", reply)]
                parents = (*parents, turn.source)
                continue
            question = dataclasses.replace(self.questions[str(turn.question)], parents=parents)
            if only is None or question.id in only:
                pending.append(Pending(question, len(script), Message("user", question.asked), 0, 0))
            if question.shows == "nothing":
                continue
            shown = reply if question.shows == "reply" else ", ".join(self.key[question.id].answer)
            script += [Message("user", question.shown), Message("assistant", shown)]
            if question.shows == "reply":
                parents = (*parents, question.id)
        return Posed(dialogue, tuple(script), tuple(pending), _no_look)

    def posed(self) -> Iterator[Posed]:
        return (self.pose(dialogue) for dialogue in self.dialogues)

    def answers(self, model: Any) -> dict[str, Answer]:
        return {answer.question: answer for answer in model.answer(self.posed())}

    def share_right(self, answers: Mapping[str, Answer], template: str = "t") -> float:
        """Mean credit over the choice questions of a template; without a choice, the probability of the key."""
        credits = []
        for q, question in self.questions.items():
            if question.template != template:
                continue
            right = {question.options.index(text) for text in self.key[q].answer if text in question.options}
            answer = answers[q]
            if answer.choice is not None:
                credits.append(float(set(answer.choice) == right))
            else:
                scores = answer.option_scores or ()
                credits.append(sum(scores[i] for i in right))
        return sum(credits) / len(credits)

    def share_whole(self, answers: Mapping[str, Answer]) -> float:
        """The share of dialogues in which every question is right."""
        hits = [
            all(
                {question.options[i] for i in answers[q].choice or ()} == set(self.key[q].answer)
                for q, question in self.questions.items()
                if question.dialogue == dialogue.id
            )
            for dialogue in self.dialogues
        ]
        return sum(hits) / len(hits)


@pytest.fixture
def new_exam() -> Callable[[], Exam]:
    return Exam
