"""What of a dialogue is put to a model: everything shown before, nothing that comes after the last question."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from overread.columns import to_frame
from overread.engines.posing import Poser, Wanted, group
from overread.exam.compiling import Exam, compile_parts
from overread.exam.framing import load_framings
from overread.exam.script import Ask, Say, Script, Take, Tell
from overread.exam.survey import survey
from overread.models.contract import Posed
from overread.tables import Case, Dialogue, Json, Key, Media, Question

YES_NO = ("Yes", "No")
CASE = Case("c", "x", "x/p", (Media("b", "ecg", "x://b"), Media("a", "clip", "x://a")), Json())


def ask(name: str, answer: str = "Yes", **changes: Any) -> Ask:
    one = Ask(name, f"What of {name}?", "choice", (answer,), YES_NO, shows="key", stage=name)
    return dataclasses.replace(one, **changes)


class Sheet:
    """Scripts, compiled under plain, to be posed by the templates of their questions."""

    def __init__(self, *scripts: Script) -> None:
        found = survey(scripts, 0, None, everyone=True, swap=False)
        (self.part,) = compile_parts(Exam("b", "p", ("plain",), 0, load_framings()), scripts, found, 1000)
        self.tables = {
            "dialogues": to_frame(self.part.dialogues, Dialogue),
            "questions": to_frame(self.part.questions, Question),
            "key": to_frame(self.part.key, Key),
        }
        self.ids = {question.template: question.id for question in self.part.questions}
        self.asked = {question.template: question.asked for question in self.part.questions}

    def pose(self, *templates: str, said: dict[str, str] | None = None, seed: int = 0, dialogue: int = 0) -> Posed:
        questions = tuple(self.ids[template] for template in templates)
        wanted = Wanted(self.part.dialogues[dialogue].id, seed, 0, questions)
        heard = {(self.ids[template], "me", seed, 0): text for template, text in (said or {}).items()}
        return Poser.of_part(self.tables, [wanted]).pose(wanted, heard, "me", lambda media: pytest.fail("looked"))


def texts(posed: Posed, place: int = 0) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in posed.prompt(posed.questions[place])]


def test_keys_stand_as_answers_before_a_question_and_nothing_stands_behind_the_last() -> None:
    sheet = Sheet(Script(CASE, "i", (Say("Read.", role="system"), ask("one", "No"), ask("two"), ask("three"))))
    posed = sheet.pose("two")
    assert texts(posed) == [
        ("system", "Read."), ("user", sheet.asked["one"]), ("assistant", "No"), ("user", sheet.asked["two"]),
    ]  # fmt: skip
    assert len(posed.script) == posed.questions[0].upto == 3
    assert "three" not in repr(posed.script)


def test_several_questions_share_one_script_and_each_has_its_own_prompt() -> None:
    sheet = Sheet(Script(CASE, "i", (ask("one", "No"), ask("two"), ask("three"))))
    posed = sheet.pose("one", "three")
    assert [pending.upto for pending in posed.questions] == [0, 4]
    assert [len(texts(posed, place)) for place in (0, 1)] == [1, 5]
    assert texts(posed, 1)[1] == ("assistant", "No")


def test_a_question_that_shows_nothing_is_left_out_of_what_follows() -> None:
    sheet = Sheet(Script(CASE, "i", (Say("Read."), ask("one", shows="nothing"), ask("two"))))
    assert texts(sheet.pose("one")) == [("user", "Read."), ("user", sheet.asked["one"])]
    posed = sheet.pose("one", "two")
    assert texts(posed, 1) == [("user", "Read."), ("user", sheet.asked["two"])]


def test_a_shown_reply_is_the_models_own_at_its_own_seed() -> None:
    sheet = Sheet(Script(CASE, "i", (ask("one", shows="reply"), ask("two"))))
    assert texts(sheet.pose("two", said={"one": "I think so."}, seed=3))[1] == ("assistant", "I think so.")
    assert "Yes" not in [text for _, text in texts(sheet.pose("two", said={"one": ""}))]
    with pytest.raises(KeyError):
        sheet.pose("two")


def test_a_reply_of_another_dialogue_is_shown_where_it_is_taken() -> None:
    first = Script(CASE, "i", (Say("Read.", role="system"), ask("one", shows="reply")), name="first")
    branch = Script(CASE, "i", (Say("Read.", role="system"), Take("first", "one"), ask("two")), name="branch")
    sheet = Sheet(first, branch)
    assert texts(sheet.pose("two", said={"one": "Hm."}, dialogue=1)) == [
        ("system", "Read."), ("user", sheet.asked["one"]), ("assistant", "Hm."), ("user", sheet.asked["two"]),
    ]  # fmt: skip


def test_a_told_question_stands_with_its_key_and_is_not_asked() -> None:
    sheet = Sheet(Script(CASE, "i", (Tell(ask("told", "No")), ask("two"))))
    assert list(sheet.ids) == ["two"]
    assert [role for role, _ in texts(sheet.pose("two"))] == ["user", "assistant", "user"]
    assert texts(sheet.pose("two"))[1] == ("assistant", "No")


def test_a_question_is_asked_in_full_and_shown_otherwise_afterwards() -> None:
    shown = ("Yes", "No", "Unsure")
    sheet = Sheet(Script(CASE, "i", (ask("one", shown_as=shown), ask("two", shown_as="question"), ask("three"))))
    assert "Unsure" not in texts(sheet.pose("one"))[-1][1]
    later = texts(sheet.pose("three"))
    assert "- Unsure" in later[0][1] and later[2] == ("user", "What of two?")


def test_several_right_options_are_shown_with_commas_and_a_number_with_its_unit() -> None:
    many = Ask("many", "Which?", "choice", ("a", "c"), ("a", "b", "c"), many=True, shows="key")
    far = Ask("far", "How far?", "number", 12.0, unit="mm", shows="key")
    posed = Sheet(Script(CASE, "i", (many, far, ask("last")))).pose("last")
    assert [text for role, text in texts(posed) if role == "assistant"] == ["a, c", "12 mm"]


def test_media_come_before_the_text_in_the_order_that_the_turn_names() -> None:
    sheet = Sheet(Script(CASE, "i", (Say("Here.", media=("a",)), ask("one", media=("b", "a")), ask("two"))))
    posed = sheet.pose("two")
    assert [[medium.name for medium in message.media] for message in posed.prompt(posed.questions[0])] == [
        ["a"], ["b", "a"], [], [],
    ]  # fmt: skip
    assert posed.questions[0].asked.media == ()


def test_pending_questions_are_grouped_by_dialogue_seed_and_sample_in_order() -> None:
    asked = [("d", "q1", 0, 0), ("e", "q3", 0, 0), ("d", "q2", 0, 0), ("d", "q1", 1, 0), ("d", "q1", 0, 1)]
    assert group(asked) == [
        Wanted("d", 0, 0, ("q1", "q2")), Wanted("e", 0, 0, ("q3",)),
        Wanted("d", 1, 0, ("q1",)), Wanted("d", 0, 1, ("q1",)),
    ]  # fmt: skip
    assert group([]) == []
