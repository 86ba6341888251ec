from __future__ import annotations

import dataclasses
import random

import pytest

from overread.errors import ModelFault
from overread.models import prior
from overread.models.contract import Setting
from overread.tables import Turn


def fitted(exam):
    model = prior.load(Setting("prior"))
    model.fit(exam.tables())
    return model


def test_replies_in_the_history_are_wildcards(new_exam):
    exam, rng = new_exam(), random.Random(15)
    for i in range(120):
        opinion, finding = rng.choice(["Yes", "No"]), rng.choice(["Yes", "No"])
        exam.add(
            f"p/{i}",
            ({"template": "opinion", "options": ("Yes", "No"), "shows": "reply"}, (opinion,)),
            ({"template": "finding", "options": ("Yes", "No")}, (finding,)),
            ({"template": "decision", "options": ("Yes", "No")}, (finding,)),
        )
    model = fitted(exam)
    for reply in ("Yes", "No", "I cannot tell 12"):
        for dialogue in exam.dialogues[:20]:
            later = [str(t.question) for t in dialogue.turns if t.question][1:]
            posed = exam.pose(dialogue, reply, only=later)
            answers = {a.question: a for a in model.answer([posed])}
            question = exam.questions[later[1]]
            assert answers[later[1]].choice == (question.options.index(exam.key[later[1]].answer[0]),)
            assert answers == {a.question: a for a in model.answer([exam.pose(dialogue, "other", only=later)])}


def test_a_rule_reaches_over_a_reply_or_another_dialogues_answer(new_exam):
    exam, rng = new_exam(), random.Random(18)
    for i in range(160):
        finding = rng.choice(["Yes", "No"])
        dialogue = exam.add(
            f"p/{i}",
            ({"template": "finding", "options": ("Yes", "No")}, (finding,)),
            ({"template": "opinion", "options": ("Yes", "No"), "shows": "reply"}, (rng.choice(["Yes", "No"]),)),
            ({"template": "decision", "options": ("Yes", "No")}, (finding,)),
        )
        system, first, second, third = dialogue.turns
        turns = (system, first, second, Turn("user", "Overall?", source="elsewhere"), third)
        exam.dialogues[-1] = dataclasses.replace(dialogue, turns=turns)
    model = fitted(exam)
    for reply in ("Yes", "No", "I cannot tell"):
        for dialogue in exam.dialogues:
            q = f"{dialogue.id}q2"
            (answer,) = model.answer([exam.pose(dialogue, reply, only=[q])])
            assert answer.choice == (("Yes", "No").index(exam.key[q].answer[0]),)


def test_a_question_that_was_left_out_and_is_not_asked_now_is_not_mistaken_for_one_shown(new_exam):
    exam, rng = new_exam(), random.Random(19)
    for i in range(80):
        finding = rng.choice(["Yes", "No"])
        exam.add(
            f"p/{i}",
            ({"template": "aside", "options": ("A", "B"), "shows": "nothing"}, (rng.choice("AB"),)),
            ({"template": "finding", "options": ("Yes", "No")}, (finding,)),
            ({"template": "decision", "options": ("Yes", "No")}, (finding,)),
        )
    model = fitted(exam)
    for dialogue in exam.dialogues:
        q = f"{dialogue.id}q2"
        (answer,) = model.answer([exam.pose(dialogue, only=[q])])
        assert answer.choice == (("Yes", "No").index(exam.key[q].answer[0]),)


def test_a_script_that_leaves_its_dialogue_is_a_fault(new_exam):
    exam = new_exam()
    for i in range(8):
        exam.add(f"p/{i}", ({"options": ("A", "B")}, ("A",)), ({"options": ("A", "B")}, ("A",)))
    model = fitted(exam)
    posed = exam.pose(exam.dialogues[0])
    shifted = dataclasses.replace(posed.questions[1], upto=2)
    with pytest.raises(ModelFault, match="stands after 2 messages"):
        list(model.answer([dataclasses.replace(posed, questions=(posed.questions[0], shifted))]))


def test_a_question_that_its_dialogue_does_not_hold_is_a_fault(new_exam):
    exam = new_exam()
    for i in range(8):
        exam.add(f"p/{i}", ({"options": ("A", "B")}, ("A",)), ({"options": ("A", "B")}, ("A",)))
    posed = exam.pose(exam.dialogues[0])
    short = dataclasses.replace(posed.dialogue, turns=posed.dialogue.turns[:-1])
    with pytest.raises(ModelFault, match="does not hold"):
        list(fitted(exam).answer([dataclasses.replace(posed, dialogue=short)]))


def test_every_sample_of_a_question_gets_the_same_answer(new_exam):
    exam = new_exam()
    for i in range(30):
        exam.add(f"p/{i}", ({"options": ("A", "B")}, ("A",)))
    posed = exam.pose(exam.dialogues[0])
    again = dataclasses.replace(posed.questions[0], sample=1, seed=7)
    first, second = fitted(exam).answer([dataclasses.replace(posed, questions=(*posed.questions, again))])
    assert (second.seed, second.sample) == (7, 1)
    assert dataclasses.replace(second, seed=0, sample=0) == first


def test_scripted_turns_and_other_dialogues_replies_do_not_disturb_the_walk(new_exam):
    exam, rng = new_exam(), random.Random(16)
    for i in range(80):
        mood = rng.choice(["Yes", "No"])
        dialogue = exam.add(
            f"p/{i}",
            ({"template": "aside", "options": ("A", "B"), "shows": "nothing"}, (rng.choice("AB"),)),
            ({"options": ("Yes", "No")}, (mood,)),
        )
        system, *asked = dialogue.turns
        extra = (
            Turn("user", "Overall?", source="elsewhere"),
            Turn("user", "Hint?"),
            Turn("assistant", f"It is {mood}"),
        )
        exam.dialogues[-1] = dataclasses.replace(dialogue, turns=(system, *extra, *asked))
    answers = exam.answers(fitted(exam))
    assert exam.share_right(answers) == 1.0
