from __future__ import annotations

import dataclasses
import random

import pytest

from overread.errors import BadInput
from overread.models import prior
from overread.models.contract import Message, Setting
from overread.priors.cells import half_of


def fitted(exam, variant=""):
    model = prior.load(Setting("prior", variant))
    model.fit(exam.tables())
    return model


def cues(model, template="t"):
    return {finding.cue for finding in model.report() if finding.template == template}


def words(rng, length):
    return "".join(rng.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(length))


def test_the_longest_option_is_found(new_exam):
    exam, rng = new_exam(), random.Random(1)
    for i in range(60):
        options = [words(rng, 5) for _ in range(4)] + [words(rng, 9)]
        right = options[-1]
        rng.shuffle(options)
        exam.add(f"p/{i}", ({"options": tuple(options)}, (right,)))
    model = fitted(exam)
    assert cues(model) == {"length"}
    assert exam.share_right(exam.answers(model)) == 1.0


def test_a_tie_for_the_longest_is_not_taken_for_the_longest(new_exam):
    exam, rng = new_exam(), random.Random(2)
    for i in range(80):
        options = [words(rng, 5), words(rng, 5), words(rng, 4)] if i % 2 else [words(rng, n) for n in (5, 4, 3)]
        right = options[-1] if i % 2 else options[0]
        rng.shuffle(options)
        exam.add(f"p/{i}", ({"options": tuple(options)}, (right,)))
    model = fitted(exam)
    assert exam.share_right(exam.answers(model)) == 1.0


def test_the_position_is_found(new_exam):
    exam, rng = new_exam(), random.Random(3)
    for i in range(60):
        options = tuple(words(rng, 5) for _ in range(4))
        exam.add(f"p/{i}", ({"options": options}, (options[2],)))
    model = fitted(exam)
    assert cues(model) == {"position"}
    assert exam.share_right(exam.answers(model)) == 1.0


def segment(start, width):
    return f"[{start:.2f}s - {start + width:.2f}s]"


@pytest.mark.parametrize("cue", ["width", "middle"])
def test_the_numbers_in_ranges_are_found(new_exam, cue):
    exam, rng = new_exam(), random.Random(4)
    for i in range(80):
        widths = [0.24, 0.10, 0.12, 0.16] if cue == "width" else [0.1, 0.1, 0.1, 0.1]
        options = [segment(rng.uniform(1, 8), w) for w in widths]
        right = options[0] if cue == "width" else max(options, key=lambda o: float(o[1:5]))
        rng.shuffle(options)
        exam.add(f"p/{i}", ({"options": tuple(options)}, (right,)))
    model = fitted(exam)
    assert cues(model) == {cue}
    assert exam.share_right(exam.answers(model)) == 1.0


def test_the_text_is_found_among_changing_distractors(new_exam):
    exam, rng = new_exam(), random.Random(5)
    for i in range(60):
        options = ["PR prolonged", *rng.sample(["wide QRS", "ST raised", "T flat", "P absent"], 2)]
        rng.shuffle(options)
        exam.add(f"p/{i}", ({"options": tuple(options)}, ("PR prolonged",)))
    model = fitted(exam)
    assert cues(model) == {"text"}
    assert exam.share_right(exam.answers(model)) == 1.0


def test_a_rule_on_earlier_answers_is_found_behind_answers_that_are_all_different(new_exam):
    exam, rng = new_exam(), random.Random(6)
    for i in range(120):
        finding = rng.choice(["Yes", "No"])
        wave = [segment(rng.uniform(1, 8), 0.1) for _ in range(4)]
        exam.add(
            f"p/{i}",
            ({"template": "finding", "options": ("Yes", "No")}, (finding,)),
            ({"template": "wave", "options": tuple(wave)}, (rng.choice(wave),)),
            ({"template": "decision", "options": ("Yes", "No")}, ("No" if finding == "Yes" else "Yes",)),
        )
    model = fitted(exam)
    answers = exam.answers(model)
    assert cues(model, "decision") <= {f"text after {level}" for level in prior_levels()[1:3]}
    assert exam.share_right(answers, "decision") == 1.0
    assert abs(exam.share_right(answers, "finding") - 0.5) < 0.15


def prior_levels():
    from overread.priors.context import LEVELS

    return LEVELS


def test_a_known_text_leans_on_a_feature_where_texts_are_new(new_exam):
    exam, rng = new_exam(), random.Random(7)
    for i in range(100):
        fixed = i % 2 == 0
        options = ["rhythm", "rotate"] if fixed else [words(rng, 9), words(rng, 5)]
        right = options[0]
        rng.shuffle(options)
        exam.add(f"p/{i}", ({"options": tuple(options)}, (right,)))
    model = fitted(exam)
    assert cues(model) == {"text, else length"}
    assert exam.share_right(exam.answers(model)) == 1.0


@pytest.mark.parametrize("variant", ["", "chain"])
def test_nothing_to_find_leaves_the_prior_at_chance(new_exam, variant):
    exam, rng = new_exam(), random.Random(8)
    for i in range(1500):
        options = tuple(words(rng, rng.randint(4, 9)) for _ in range(3))
        fixed = ("A", "B", "C")
        exam.add(f"p/{i}", ({"options": options}, (rng.choice(options),)), ({"options": fixed}, (rng.choice(fixed),)))
    assert abs(exam.share_right(exam.answers(fitted(exam, variant))) - 1 / 3) < 0.03


@pytest.mark.parametrize("variant", ["", "chain"])
def test_the_keys_of_ones_own_half_do_not_change_ones_answers(new_exam, variant):
    exam, rng = new_exam(), random.Random(9)
    for i in range(80):
        exam.add(f"p/{i}", *questions_of_each_kind(rng))
    posed = {d.id: exam.pose(d) for d in exam.dialogues}
    before = {a.question: a for a in fitted(exam, variant).answer(posed.values())}
    own = [d for d in exam.dialogues if half_of(d.patient) == 0]
    for dialogue in own:
        for q in [t.question for t in dialogue.turns if t.question]:
            exam.key[q] = changed(exam.questions[q], exam.key[q])
    after = {a.question: a for a in fitted(exam, variant).answer(posed.values())}
    mine = {q for q, question in exam.questions.items() if question.dialogue in {d.id for d in own}}
    assert {q for q in before if before[q] != after[q]}.isdisjoint(mine)
    assert any(before[q] != after[q] for q in before if q not in mine)


def questions_of_each_kind(rng):
    second = rng.choice(["A", "A", "B"])
    return (
        ({"template": "one", "options": ("A", "B")}, (second,)),
        ({"template": "set", "options": ("V1", "V2", "V5"), "many": True}, rng.choice([("V1", "V2"), ("V5",)])),
        ({"template": "n", "kind": "number", "low": 0.0, "high": 70.0, "whole": True}, float(rng.randint(10, 20))),
        ({"template": "say", "kind": "text"}, (rng.choice(["normal", "normal", "block"]),)),
        ({"template": "then", "options": ("A", "B")}, (second,)),
    )


def changed(question, key):
    if question.kind == "number":
        return dataclasses.replace(key, number=69.0, answer=("69",))
    if question.kind == "text":
        return dataclasses.replace(key, answer=("tachycardia",))
    return dataclasses.replace(key, answer=tuple(o for o in question.options if o not in key.answer))


@pytest.mark.parametrize("variant", ["", "chain"])
def test_nothing_shown_after_a_question_changes_its_answer(new_exam, variant):
    exam, rng = new_exam(), random.Random(10)
    for i in range(60):
        exam.add(f"p/{i}", *questions_of_each_kind(rng))
    model = fitted(exam, variant)
    for posed in list(exam.posed())[:10]:
        whole = {a.question: a for a in model.answer([posed])}
        for pending in posed.questions:
            script = tuple(
                m if i < pending.upto else Message(m.role, "B" if m.role == "assistant" else m.text)
                for i, m in enumerate(posed.script)
            )
            later = {a.question: a for a in model.answer([dataclasses.replace(posed, script=script)])}
            assert later[pending.question.id] == whole[pending.question.id]
            alone = dataclasses.replace(posed, questions=(pending,), script=posed.script[: pending.upto])
            assert list(model.answer([alone])) == [whole[pending.question.id]]


@pytest.mark.parametrize("as_one", [True, False])
def test_sets_are_guessed_whole_or_option_by_option(new_exam, as_one):
    exam, rng = new_exam(), random.Random(11)
    for i in range(90):
        if as_one:
            # V1 alone is right most often, yet never alone: the pair V5, V6 is the most frequent set.
            right = (("V5", "V6"), ("V5", "V6"), ("V1", "V2"), ("V1", "V3"), ("V1", "V2", "V3"))[rng.randrange(5)]
            options = ("V1", "V2", "V3", "V5", "V6")
        else:
            options = tuple(rng.sample(["V1", "V2", "V3", "I", "II", "aVL"], 4))
            right = tuple(o for o in options if o.startswith("V")) or options[:1]
        exam.add(f"p/{i}", ({"options": options, "many": True}, right))
    model = fitted(exam)
    share = exam.share_right(exam.answers(model))
    assert share == (pytest.approx(0.4, abs=0.12) if as_one else 1.0)
    assert all(("whole" in cue) == as_one for cue in cues(model))
    assert all(a.option_scores and max(a.option_scores) <= 1 for a in exam.answers(model).values())


def test_a_window_cut_around_the_answer_is_found(new_exam):
    exam, rng = new_exam(), random.Random(12)
    for i in range(200):
        d = rng.randint(6, 40)
        c = 2 * d // 3
        early = rng.random() > 0.1
        number = {"kind": "number", "low": 0.0, "high": float(d + 2 * c), "whole": True}
        exam.add(f"p/{i}", (number, float(c if early else c + d)))
    model = fitted(exam)
    answers = exam.answers(model)
    errors = sorted(abs(answers[q].number - exam.key[q].number) for q in exam.key)
    assert errors[100] == 0.0
    assert sum(e == 0 for e in errors) > 170
    assert all(cue.startswith("0.28") and cue.endswith("of the range") for cue in cues(model))


def test_a_constant_number_is_found_whatever_the_range(new_exam):
    exam, rng = new_exam(), random.Random(13)
    for i in range(60):
        number = {"kind": "number", "low": 0.0, "high": float(rng.randint(60, 300))}
        exam.add(f"p/{i}", (number, 42.0), ({**number, "template": "open", "low": None, "high": None}, 7.5))
    model = fitted(exam)
    assert cues(model) == {"always 42"} and cues(model, "open") == {"always 7.5"}
    assert {a.number for a in exam.answers(model).values()} == {42.0, 7.5}


def test_a_number_may_hang_on_the_answer_before(new_exam):
    exam, rng = new_exam(), random.Random(14)
    for i in range(120):
        first = rng.choice(["systole", "diastole"])
        number = {"template": "n", "kind": "number", "low": 0.0, "high": 100.0}
        exam.add(
            f"p/{i}", ({"options": ("systole", "diastole")}, (first,)), (number, 20.0 if first == "systole" else 80.0)
        )
    model = fitted(exam)
    answers = exam.answers(model)
    assert all(answers[q].number == exam.key[q].number for q in exam.key if exam.questions[q].kind == "number")


def test_texts_get_the_most_frequent_text_after_the_history(new_exam):
    exam = new_exam()
    for i in range(90):
        first = "A" if i % 3 else "B"
        exam.add(
            f"p/{i}", ({"options": ("A", "B")}, (first,)), ({"template": "say", "kind": "text"}, (f"It is {first}.",))
        )
    answers = exam.answers(fitted(exam))
    assert all(answers[q].text == exam.key[q].answer[0] for q in exam.key if exam.questions[q].kind == "text")


def test_a_template_that_only_ones_own_half_has_is_guessed_uniformly(new_exam):
    exam = new_exam()
    lonely = next(f"p/{i}" for i in range(99) if half_of(f"p/{i}") == 0)
    number = {"kind": "number", "low": 1.0, "high": 3.0, "whole": True}
    exam.add(lonely, ({"options": ("A", "B")}, ("A",)), (number, 2.0), ({"kind": "text"}, ("hm",)))
    answers = list(exam.answers(fitted(exam)).values())
    assert answers[0].option_scores == (0.5, 0.5) and answers[0].choice is None
    assert answers[1].spread == (1.0, 2.0, 3.0) and answers[1].number is None
    assert answers[2].status == "refused" and "no such template" in answers[2].reason


def test_only_the_plain_condition_teaches_and_all_are_answered(new_exam):
    exam = new_exam()
    for i in range(60):
        exam.add(f"p/{i}", ({"options": ("A", "B")}, ("A",)))
        exam.add(f"p/{i}", ({"options": ("A", "B")}, ("B",)), condition="swap")
    answers = exam.answers(fitted(exam))
    assert {a.choice for a in answers.values()} == {(0,)}
    exam.dialogues = [d for d in exam.dialogues if d.condition == "swap"]
    with pytest.raises(BadInput, match="plain"):
        fitted(exam)


def test_a_cue_that_only_a_patients_own_questions_confirm_is_not_trusted(new_exam):
    """Each patient repeats a habit of its own: within a patient the text tells all, across patients nothing."""
    exam, rng = new_exam(), random.Random(20)
    for i in range(40):
        options = tuple(words(rng, 6) for _ in range(3))
        right = rng.choice(options)
        exam.add(f"p/{i}", *[({"options": tuple(rng.sample(options, 3)), "shows": "nothing"}, (right,))] * 6)
    assert all(finding.accuracy < 0.6 for finding in fitted(exam).report())


def test_a_history_that_only_a_patients_own_questions_confirm_is_not_trusted(new_exam):
    exam, rng = new_exam(), random.Random(21)
    for i in range(40):
        exam.add(f"p/{i}", *[({"kind": "text"}, (words(rng, 8),))] * 6)
    assert all(finding.accuracy < 0.2 for finding in fitted(exam).report())


def test_options_that_are_all_alike_are_left_to_expectation(new_exam):
    exam = new_exam()
    for half in (0, 1):
        patient = next(f"p/{i}" for i in range(99) if half_of(f"p/{i}") == half)
        exam.add(patient, ({"options": ("A", "B")}, ("B",)))
    model = fitted(exam)
    assert cues(model) == {"uniform"}
    assert {(a.choice, a.option_scores) for a in exam.answers(model).values()} == {(None, (0.5, 0.5))}


def test_the_report_counts_all_questions_once(new_exam):
    exam, rng = new_exam(), random.Random(17)
    for i in range(50):
        exam.add(f"p/{i}", *questions_of_each_kind(rng))
    report = fitted(exam).report()
    counts: dict[str, int] = {}
    for template, cue, accuracy, n in report:
        counts[template] = counts.get(template, 0) + n
        assert cue and 0 <= accuracy <= 1
    assert counts == {"one": 50, "set": 50, "n": 50, "say": 50, "then": 50}


def test_a_prior_that_was_not_fitted_says_so(new_exam):
    exam = new_exam()
    exam.add("p/1", ({"options": ("A", "B")}, ("A",)))
    with pytest.raises(BadInput, match="fitted"):
        list(prior.load(Setting("prior")).answer(exam.posed()))


def test_unknown_variants_and_options_are_named():
    with pytest.raises(BadInput, match="chian"):
        prior.load(Setting("prior", "chian"))
    with pytest.raises(BadInput, match="folds"):
        prior.load(Setting("prior", options={"folds": "3"}))
    assert prior.load(Setting("prior")).identity() != prior.load(Setting("prior", "chain")).identity()
