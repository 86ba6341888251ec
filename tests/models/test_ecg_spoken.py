"""What a question asks is told from its words, whether it is one of the published samples or a generated one."""

from __future__ import annotations

import pytest

from overread.guidelines.diagnoses import book, diagnoses
from overread.models.contract import Message
from overread.models.ecg_spoken import findings_of, spoken, stage, told

FURTHER = "Further findings are required to confirm the diagnosis"
WIDE = "Prolongation of the QRS duration"
DEEP = "Presence of a dominant S wave in leads V1 and V2"


def history(*said: str) -> list[Message]:
    first = Message("user", "Does this ECG suggest the presence of complete left bundle branch block?")
    return [first, *(Message("assistant", text) for text in said)]


def test_every_finding_of_every_diagnosis_has_a_name_in_both_vocabularies():
    for diagnosis in diagnoses():
        named = [one for label in spoken().criteria if (one := spoken().criterion(label, diagnosis))]
        assert {name: named.count(name) for name in findings_of(diagnosis)} == dict.fromkeys(findings_of(diagnosis), 2)
    assert set().union(*map(findings_of, diagnoses())) == set(book()["findings"])


def test_a_conversation_tells_what_was_found():
    before = told(history("No", WIDE, "Yes", "[1.00s - 1.20s]", FURTHER, f"**{DEEP}.**"), "Is S deeper?")
    assert before.diagnosis == "complete_left_bundle_branch_block"
    assert before.findings == {"wide_qrs": True, "dominant_s_v1_v2": None} and before.open == "dominant_s_v1_v2"


def test_what_is_no_plain_answer_leaves_a_finding_open():
    assert told(history("No", WIDE, "I cannot tell, yes or no"), "?").findings == {"wide_qrs": None}


@pytest.mark.parametrize(
    ("said", "options", "step"),
    [
        ((), ("Yes", "No"), "first"),
        (("Yes",), (DEEP, WIDE, "Presence of flattened T waves"), "criterion"),
        (("Yes", WIDE), ("No", "Yes"), "finding"),
        (("Yes", WIDE, "Yes"), ("Yes", "No"), "decision"),
        (("Yes", WIDE, "Yes"), ("Yes", "No", FURTHER), "decision"),
        (("Yes", WIDE, "Yes"), ("Lead V1", "Lead aVF"), "leads"),
        (("Yes", WIDE, "Yes"), ("[0.10s - 0.32s]", "[4.00s - 4.20s]"), "wave"),
        (("Yes", WIDE, "Yes"), ("Below 90ms", "[90ms - 100ms]"), "number"),
        (("Yes", WIDE, "Yes"), ("[1st QRS wave - 2nd QRS wave]", "[2nd QRS wave - 3rd QRS wave]"), "gap"),
        (("Yes", WIDE, "Yes"), ("green", "blue"), None),
    ],
)  # fmt: skip
def test_the_step_is_told_by_the_options_and_what_went_before(said, options, step):
    assert stage(options, told(history(*said), "?")) == step


def test_one_name_means_what_its_diagnosis_looks_at():
    label = "Presence of right axis deviation"
    assert spoken().criterion(label, "left_posterior_fascicular_block") == "right_axis"
    assert spoken().criterion(label, "right_ventricular_hypertrophy") == "axis_beyond_100"
    assert spoken().criterion(label, "first_degree_av_block") is None
    absent = "Absence of significant QRS prolongation in the premature beat compared to normal beats"
    assert spoken().criterion(absent, "premature_atrial_complex") == "wide_premature_beat"
    assert spoken().criterion(absent, "premature_ventricular_complex") is None


def test_the_lead_of_a_height_is_the_one_named_last():
    asked = [*history("No"), Message("user", "a QRS wave to measure the S amplitude in lead V3?")]
    assert told(asked, "which range does the measured S amplitude fall into?").leads == ("V3",)
    assert told(asked, "In which range does the height of R in aVL lie?").leads == ("aVL",)
