"""Steps of chains are answered from the recording, and rules followed from what the conversation tells."""

from __future__ import annotations

import functools
import itertools

import pytest

from overread.measure.ecg import measure_ecg
from overread.models.contract import Message
from overread.models.ecg_chain import Said, said
from overread.models.ecg_reading import EcgReading
from overread.phantoms.ecg import ecg_phantom

FURTHER = "Further findings are required to confirm the diagnosis"


@functools.cache
def made(recipe: str):
    return ecg_phantom(9, recipe, snr_db=30.0)


@functools.cache
def reading(recipe: str) -> EcgReading:
    return EcgReading(measure_ecg(made(recipe).mv, made(recipe).rate_hz))


def answer(recipe: str, diagnosis: str, so_far: tuple[str, ...], text: str, options: tuple[str, ...]) -> set[str]:
    before = [Message("user", f"Does this ECG suggest the presence of {diagnosis}?"), Message("assistant", "No")]
    before += [Message("assistant", one) for one in so_far]
    found = said(before, text, options, reading(recipe))
    assert isinstance(found, Said), found
    return {options[n] for n in found.choice}


BLOCK = "complete left bundle branch block"
WIDE = "Prolongation of the QRS duration"
DEEP = "Presence of a dominant S wave in leads V1 and V2"


def test_criteria_and_decisions_follow_what_was_told_and_not_what_is_seen():
    options = (DEEP, WIDE, "Presence of a delta wave")
    assert answer("normal", BLOCK, (), "Which?", options) == {WIDE}
    assert answer("normal", BLOCK, (WIDE, "Yes"), "Which?", options) == {DEEP}
    decide = ("Yes", "No", FURTHER)
    assert answer("normal", BLOCK, (WIDE, "Yes"), "So?", decide) == {FURTHER}
    assert answer("complete_left_bundle_branch_block/notched", BLOCK, (WIDE, "No"), "So?", decide) == {"No"}


def test_a_forced_decision_follows_the_recording_where_what_was_told_does_not_suffice():
    forced = ("Yes", "No")
    assert answer("normal", BLOCK, (WIDE, "Yes"), "So?", forced) == {"No"}
    assert answer("complete_left_bundle_branch_block/notched", BLOCK, (WIDE, "Yes"), "So?", forced) == {"Yes"}


def test_findings_follow_the_recording_and_not_what_was_told():
    recipe = "complete_left_bundle_branch_block/notched"
    for first in ("Yes", "No"):
        assert answer(recipe, BLOCK, (first, WIDE), "Prolonged?", ("Yes", "No")) == {"Yes"}


def test_published_leads_are_those_of_the_criterion_and_generated_ones_any():
    recipe, options = (
        "complete_left_bundle_branch_block/notched",
        ("Lead I", "Lead aVL", "Lead V6", "Lead V5", "Lead V1"),
    )
    so_far = ("Presence of a positive monophasic QRS complex without a Q wave in lateral leads", "Yes")
    shown = answer(recipe, BLOCK, so_far, "Which of the following leads show it? Select all possible leads.", options)
    assert shown <= {"Lead I", "Lead aVL", "Lead V6"} and len(shown) >= 2
    free = answer(recipe, BLOCK, so_far, "In which of these leads is it? Select all possible leads.", options)
    assert free >= shown and "Lead V5" in free


@pytest.mark.parametrize(
    ("which", "fact", "sign"), [("R higher", "r_mv", 1), ("S deeper", "s_mv", 1), ("the J point lower", "j_mv", -1)]
)
def test_of_two_leads_the_one_with_the_greater_number_is_chosen(which, fact, sign):
    heights = {lead: sign * reading("normal").value(f"{lead}.{fact}") for lead in ("V5", "V1")}
    right = f"Lead {max(heights, key=heights.__getitem__)}"
    text = f"In which of these two leads is {which}?"
    assert answer("normal", BLOCK, (WIDE, "Yes"), text, ("Lead V5", "Lead V1")) == {right}


def test_a_wave_is_found_among_segments():
    truth = made("normal").truth["waves"]
    (q0, q1), (t0, t1) = truth["qrs"][3], truth["t"][5]
    told = {
        name: f"[{a / 500:.2f}s - {b / 500:.2f}s]"
        for name, a, b in (("qrs", q0, q1), ("t", t0, t1), ("gap", t1 + 20, t1 + 60))
    }
    options = tuple(told.values())
    assert answer("normal", BLOCK, (WIDE, "No"), "In which segment is a QRS wave?", options) == {told["qrs"]}
    assert answer("normal", BLOCK, (WIDE, "No"), "locate the T wave in these leads?", options) == {told["t"]}


def test_the_longest_gap_is_counted_from_the_beat_that_is_pointed_at():
    truth = made("second_degree_av_block/mobitz").truth["waves"]["qrs"]
    gaps = [after[0] - before[0] for before, after in itertools.pairwise(truth[1:])]
    options = tuple(f"[{n}th QRS wave - {n + 1}th QRS wave]" for n in range(1, len(gaps) + 1))
    first = f"[{truth[1][0] / 500:.2f}s - {truth[1][1] / 500:.2f}s]"
    text = f"Which interval is longer? The '1st QRS wave' refers to the QRS wave located at {first}."
    said = ("Occurrence of intermittent dropped beats", "Yes")
    chosen = answer("second_degree_av_block/mobitz", "second degree AV block", said, text, options)
    assert [gaps[options.index(one)] for one in chosen] == [pytest.approx(max(gaps), abs=10)]


@pytest.mark.parametrize(
    ("text", "fact"),
    [("measured QRS duration", "qrs_ms"), ("measured PR interval", "pr_ms"), ("measured heart rate", "rate_bpm")],
)
def test_a_number_outside_all_ranges_goes_to_the_nearest(text, fact):
    value = reading("normal").value(fact)
    near, far = f"[{value + 3:.0f} - {value + 9:.0f}]", f"[{value + 30:.0f} - {value + 40:.0f}]"
    assert answer("normal", BLOCK, (WIDE, "No"), f"Which range does the {text} fall into?", (far, near)) == {near}


def test_evidence_stands_beside_what_was_read():
    before = [Message("user", f"Does this ECG suggest the presence of {BLOCK}?"), Message("assistant", WIDE)]
    found = said(before, "Prolonged?", ("Yes", "No"), reading("complete_left_bundle_branch_block/notched"))
    assert isinstance(found, Said) and found.evidence and {one.about for one in found.evidence} == {"qrs_ms"}


def test_what_is_not_known_is_said():
    assert "no diagnosis" in said([], "Is this gout?", ("Yes", "No"), reading("normal"))
    assert "no such question" in said([], "Is this gout?", ("red", "blue"), reading("normal"))
    before = [Message("user", "Does this ECG show premature atrial complexes?")]
    text, options = "Which range does the measured atrial rate fall into?", ("Below 60 bpm", "Above 60 bpm")
    assert "does not tell" in said(before, text, options, reading("atrial_fibrillation"))
