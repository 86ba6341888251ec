from __future__ import annotations

import dataclasses
import functools
from collections import defaultdict
from typing import Any

import numpy as np
import pytest

from overread.benchmarks import ecg_steps
from overread.errors import BadInput
from overread.exam.script import Ask, Options
from overread.media.contract import Delivered
from overread.models import ecg_solver
from overread.models.contract import Answer, Message, Pending, Posed, Setting
from overread.phantoms.ecg import RHYTHMS, ecg_phantom
from overread.tables import Case, Dialogue, Json, Media, Question

ECG = Media("ecg", "ecg", "phantoms://1")


@functools.cache
def delivered(seed: int, rhythm: str) -> Delivered:
    made = ecg_phantom(seed, rhythm)
    return Delivered("signal", made.mv, (0, 5000), made.mv.shape, f"{rhythm}{seed}", {"rate_hz": made.rate_hz})


def posed(ask: Ask, given: Any, *, media: tuple[Media, ...] = (ECG,)) -> Posed:
    question = Question("q", "d", 0, "i", ask.template, ask.kind, ask.text, ask.text, "nothing", "", ask.options)
    dialogue = Dialogue("d", "b", "p", "c", "phantoms/1", "i", "plain", "open", media, ())
    script = (Message("system", "Read."), Message("user", "Look at this.", media), Message("assistant", "I see."))
    look = given if callable(given) else lambda _: given
    return Posed(dialogue, script, (Pending(question, len(script), Message("user", ask.text), 3, 1),), look)


def answer(ask: Ask, given: Any, model: Any = None, **about: Any) -> Answer:
    (one,) = (model or ecg_solver.load(Setting("ecg_solver"))).answer([posed(ask, given, **about)])
    assert (one.question, one.seed, one.sample) == ("q", 3, 1)
    return one


def ask(template: str, *options: str) -> Ask:
    return Ask(template, "?", "choice", (options[0],), options)


def said(template: str, options: tuple[str, ...], rhythm: str) -> str:
    one = answer(ask(template, *options), delivered(1, rhythm))
    assert one.status == "answered" and one.choice is not None
    return options[one.choice[0]]


@pytest.mark.parametrize("protocol", ["single", "commit"])
def test_nearly_every_question_of_the_exam_is_answered_right(protocol):
    model = ecg_solver.load(Setting("ecg_solver"))
    right: dict[str, list[bool]] = defaultdict(list)
    for seed in range(4):
        for rhythm in RHYTHMS:
            case = Case(f"{rhythm}{seed}", "phantoms", "p", (ECG,), Json(ecg_phantom(seed, rhythm).truth))
            for script in ecg_steps.exam([case], 0, Options(protocol=protocol)):
                for one in script.asks():
                    got = answer(one, delivered(seed, rhythm), model)
                    right[one.stage].append(got.choice == (one.options.index(one.answer[0]),))
    assert {stage for stage, marks in right.items() if np.mean(marks) < 0.95} == set()
    assert len(right) >= 2


def test_options_may_come_in_any_order():
    ranges = ("140 to 160 ms", "below 70 ms", "160 ms and above", "70 to 140 ms")
    assert said("wide_complex/qrs_wide/measurement", ranges, "normal") == "70 to 140 ms"
    assert said("wide_complex/qrs_wide/finding", ("No", "Yes"), "left_bundle_branch_block") == "Yes"


@pytest.mark.parametrize(
    ("rhythm", "right"), [("sinus_bradycardia", "below 55 bpm"), ("sinus_tachycardia", "99.5 bpm and above")]
)
def test_ranges_without_a_lower_or_an_upper_end_are_read(rhythm, right):
    ranges = ("below 55 bpm", "55 to 99.5 bpm", "99.5 bpm and above")
    assert said("bradycardia/rate_low/measurement", ranges, rhythm) == right


def test_the_decision_waits_only_where_waiting_is_offered():
    further = "More findings are needed"
    template = "atrial_fibrillation/irregular/decision"
    assert said(template, ("Yes", "No", further), "atrial_fibrillation") == further
    assert said(template, ("Yes", "No"), "atrial_fibrillation") == "Yes"
    assert said(template, ("Yes", "No", further), "normal") == "No"
    # Irregular, but with P waves.
    assert said(template, ("Yes", "No"), "premature_ventricular") == "No"


def test_what_is_shown_counts_and_not_what_the_conversation_says():
    one = ask("first/bradycardia", "Yes", "No")
    first = posed(one, delivered(1, "normal"))
    told = dataclasses.replace(first, script=(*first.script[:-1], Message("assistant", "Yes, bradycardia.")))
    model = ecg_solver.load(Setting("ecg_solver"))
    assert [a.choice for a in model.answer([first, told])] == [(1,), (1,)]


def test_the_receipt_says_what_was_handed_over():
    given = delivered(1, "normal")
    (seen,) = answer(ask("first/bradycardia", "Yes", "No"), given).seen
    assert (seen.level, seen.media, seen.form) == ("tensor", ECG, "signal")
    assert (seen.indices, seen.shape, seen.hash) == (given.indices, given.shape, given.hash)


def test_of_several_signals_the_last_counts_and_each_has_its_receipt():
    both = (ECG, Media("second", "ecg", "phantoms://2"))
    other = delivered(1, "sinus_bradycardia")
    one = answer(
        ask("first/bradycardia", "Yes", "No"),
        lambda medium: delivered(1, "normal") if medium == ECG else other,
        media=both,
    )
    assert [seen.media for seen in one.seen] == list(both)
    assert one.choice == (0,)


def test_without_a_signal_it_refuses():
    one = answer(ask("first/bradycardia", "Yes", "No"), None, media=())
    assert (one.status, one.reason, one.choice) == ("refused", "no signal was shown", None)


def test_a_signal_that_cannot_be_measured_is_refused_with_the_reason():
    flat = dataclasses.replace(delivered(1, "normal"), data=np.zeros((12, 5000), np.float32), hash="flat")
    one = answer(ask("first/bradycardia", "Yes", "No"), flat)
    assert one.status == "refused" and "flat" in one.reason and one.choice is None


def test_a_signal_that_cannot_be_read_is_left_to_the_engine():
    def look(_: Media) -> Delivered:
        raise BadInput("the record is cut short")

    with pytest.raises(BadInput, match="the record is cut short"):
        answer(ask("first/bradycardia", "Yes", "No"), look)


@pytest.mark.parametrize(
    "template", ["first/gout", "rhythm", "bradycardia/pr_long/finding", "bradycardia/rate_low/mood", "a/b/c/d", ""]
)
def test_a_template_that_it_does_not_know_is_refused_with_a_receipt(template):
    one = answer(ask(template, "Yes", "No"), delivered(1, "normal"))
    assert one.status == "refused" and template in one.reason and len(one.seen) == 1


def test_an_answer_that_is_not_offered_is_refused():
    assert answer(ask("first/bradycardia", "Perhaps", "Never"), delivered(1, "normal")).status == "refused"
    gap = ask("first_degree_block/pr_long/measurement", "below 120 ms", "120 to 140 ms")
    assert answer(gap, delivered(1, "atrial_fibrillation")).status == "refused"


def test_each_signal_is_measured_once(monkeypatch):
    calls: list[int] = []
    measure = ecg_solver.measure_ecg
    monkeypatch.setattr(ecg_solver, "measure_ecg", lambda *given: calls.append(1) or measure(*given))
    model = ecg_solver.load(Setting("ecg_solver"))
    for rhythm in ("normal", "normal", "atrial_fibrillation", "normal"):
        answer(ask("first/bradycardia", "Yes", "No"), delivered(1, rhythm), model)
    assert len(calls) == 2


def test_variants_and_options_are_unknown():
    for setting in (Setting("ecg_solver", "fast"), Setting("ecg_solver", options={"a": "b"})):
        with pytest.raises(BadInput, match="ecg_solver"):
            ecg_solver.load(setting)
