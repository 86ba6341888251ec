from __future__ import annotations

import random

from overread.models import prior
from overread.models.contract import Setting


def fitted(exam, variant=""):
    model = prior.load(Setting("prior", variant))
    model.fit(exam.tables())
    return model


def forked(new_exam, n=600, after=lambda rng: ()):
    """First B is the likelier key (.6), but what follows B is a toss-up of three while what follows A is certain."""
    exam, rng = new_exam(), random.Random(1)
    for i in range(n):
        first = "A" if rng.random() < 0.4 else "B"
        second = "x" if first == "A" else rng.choice("xyz")
        exam.add(
            f"p/{i}",
            ({"template": "first", "options": ("A", "B")}, (first,)),
            *after(rng),
            ({"template": "second", "options": ("x", "y", "z")}, (second,)),
        )
    return exam


def test_the_chain_gives_up_a_likely_step_for_a_likely_whole(new_exam):
    exam = forked(new_exam)
    steps, chain = exam.answers(fitted(exam)), exam.answers(fitted(exam, "chain"))
    assert abs(exam.share_right(steps, "first") - 0.6) < 0.05
    assert abs(exam.share_right(chain, "first") - 0.4) < 0.05
    assert exam.share_whole(steps) < 0.27
    assert exam.share_whole(chain) > 0.35


def test_off_the_best_path_the_chain_goes_on_with_the_likeliest_answer(new_exam):
    exam, rng = new_exam(), random.Random(2)
    for i in range(400):
        first = "A" if rng.random() < 0.7 else "B"
        second = "x" if first == "A" else "z"
        exam.add(
            f"p/{i}",
            ({"template": "first", "options": ("A", "B")}, (first,)),
            ({"template": "second", "options": ("x", "y", "z")}, (second,)),
        )
    answers = exam.answers(fitted(exam, "chain"))
    assert exam.share_right(answers, "first") < 0.8
    assert exam.share_right(answers, "second") == 1.0


def test_answers_that_are_all_different_do_not_break_the_chain(new_exam):
    def wave(rng):
        starts = [rng.uniform(1, 8) for _ in range(3)]
        options = tuple(f"[{s:.3f}s - {s + 0.1:.3f}s]" for s in starts)
        return (({"template": "wave", "options": options}, (options[1],)),)

    exam = forked(new_exam, after=wave)
    steps, chain = exam.answers(fitted(exam)), exam.answers(fitted(exam, "chain"))
    assert exam.share_right(chain, "wave") == 1.0
    assert exam.share_whole(steps) < 0.27
    assert exam.share_whole(chain) > 0.35


def test_what_comes_next_is_chance_not_choice(new_exam):
    """Two questions may follow A, both passable; B leads to one that is harder than either but likelier to come."""
    exam, rng = new_exam(), random.Random(3)
    for i in range(600):
        first = "A" if rng.random() < 0.45 else "B"
        template, options = ("sure", ("x", "y")) if rng.random() < 0.5 else ("certain", ("v", "w"))
        right = options[0]
        if first == "B":
            template, options = "open", ("p", "q", "r")
            right = rng.choice(options)
        exam.add(
            f"p/{i}",
            ({"template": "first", "options": ("A", "B")}, (first,)),
            ({"template": template, "options": options}, (right,)),
        )
    assert exam.share_whole(exam.answers(fitted(exam, "chain"))) > 0.4


def test_a_question_whose_key_stays_hidden_is_answered_by_itself(new_exam):
    exam, rng = new_exam(), random.Random(4)
    for i in range(300):
        first = "A" if rng.random() < 0.4 else "B"
        second = "x" if first == "A" else rng.choice("xyz")
        exam.add(
            f"p/{i}",
            ({"template": "first", "options": ("A", "B"), "shows": "nothing"}, (first,)),
            ({"template": "second", "options": ("x", "y", "z"), "shows": "nothing"}, (second,)),
        )
    assert exam.answers(fitted(exam)) == exam.answers(fitted(exam, "chain"))


def test_sets_and_texts_take_part_in_the_chain(new_exam):
    exam, rng = new_exam(), random.Random(5)
    sets = [("V1", "V2"), ("V5", "V6"), ("V3",)]
    for i in range(600):
        easy = rng.random() < 0.4
        leads = sets[0] if easy else sets[1]
        last = "x" if easy else rng.choice("xyz")
        said = "block" if easy else rng.choice(["normal", "rotated", "paced"])
        exam.add(
            f"p/{i}",
            ({"template": "leads", "options": ("V1", "V2", "V3", "V5", "V6"), "many": True}, leads),
            ({"template": "say", "kind": "text"}, (said,)),
            ({"template": "last", "options": ("x", "y", "z")}, (last,)),
        )
    answers = exam.answers(fitted(exam, "chain"))
    assert {answers[f"d{i}q0"].choice for i in range(600)} == {(0, 1)}
    for i in range(600):
        easy = exam.key[f"d{i}q0"].answer == sets[0]
        assert not easy or (answers[f"d{i}q1"].text, answers[f"d{i}q2"].choice) == ("block", (0,))


def test_a_path_is_worth_what_the_best_continuation_gets_not_the_likeliest(new_exam):
    """After A the best continuation has a half, after B only four tenths, though there every end is sure."""
    exam, rng = new_exam(), random.Random(6)
    for i in range(1000):
        if rng.random() < 0.55:
            first, second = "A", rng.choice("cd")
        else:
            first, second = "B", rng.choices("efg", weights=(4, 3, 3))[0]
        third = rng.choice("klmnopqrst") if second == "d" else "k"
        exam.add(
            f"p/{i}",
            ({"template": "first", "options": ("A", "B")}, (first,)),
            ({"template": "second", "options": tuple("cdefg")}, (second,)),
            ({"template": "third", "options": tuple("klmnopqrst")}, (third,)),
        )
    answers = exam.answers(fitted(exam, "chain"))
    assert {answers[f"d{i}q0"].choice for i in range(1000)} == {(0,)}
    assert all(answers[f"d{i}q1"].choice == (0,) for i in range(1000) if exam.key[f"d{i}q0"].answer == ("A",))
