from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overread.media.leads import LEADS, is_unnamed, lead_of, modified_of, shown


@pytest.mark.parametrize(
    ("name", "lead"),
    [
        ("I", "I"), ("i", "I"), ("ii", "II"), ("iii", "III"), ("avr", "aVR"), ("AVL", "aVL"), ("aVF", "aVF"),
        ("DI", "I"), ("DII", "II"), ("DIII", "III"), ("D1", "I"), ("D3", "III"), ("LII", "II"), ("v1", "V1"),
        ("V 6", "V6"), ("ECG I", "I"), ("EKG V1", "V1"), ("ecg avr", "aVR"), ("ECG-II", "II"), ("ECG_V3", "V3"),
        ("ECGV4", "V4"), ("Lead II", "II"), ("lead aVF", "aVF"), ("LeadV5", "V5"), ("ECG Lead III", "III"),
        ("MDC_ECG_LEAD_AVL", "aVL"), ("  V2  ", "V2"), ("aV R", "aVR"),
    ],
)  # fmt: skip
def test_every_spelling_of_a_lead_is_that_lead(name: str, lead: str) -> None:
    assert lead_of(name) == lead


@pytest.mark.parametrize(
    "name",
    ["", "C3", "C1", "-aVR", "ECG -aVR", "- I", "V7", "V4R", "V3R", "VX", "vy", "MLII", "ECG", "ECG 1", "EKG2", "IV",
     "V", "V11", "aV", "ECGI", "Fp1", "I-II", "II-III", "resp", "MCL1", "EEG C4", "Lead", "Lead 1", "CM5", "V1-V2"],
)  # fmt: skip
def test_what_is_not_surely_one_of_the_twelve_is_none_of_them(name: str) -> None:
    assert lead_of(name) is None


@given(st.text(max_size=12))
def test_a_lead_is_found_only_in_a_name_that_ends_as_it_does(name: str) -> None:
    lead = lead_of(name)
    assert lead is None or (lead in LEADS and name.strip()[0] != "-")


def test_modified_leads_are_known_as_such() -> None:
    assert [modified_of(name) for name in ("MLII", "ECG MLII", "mli", "II", "ML")] == ["II", "II", "I", None, None]


def test_a_name_may_say_that_it_is_an_ecg_and_not_which_lead() -> None:
    assert all(is_unnamed(name) for name in ("", "ECG", "EKG1", "ecg 2", "ECG_1", "ch 1", "lead"))
    assert not any(is_unnamed(name) for name in ("II", "resp", "ECG II", "V1", "EEG"))


def test_names_from_a_file_are_made_fit_for_a_message() -> None:
    assert shown(["I", "a\nb\x1b[2J", "", "x" * 99]) == f"I, a?b?[2J, '', {'x' * 24}"
    assert shown([str(i) for i in range(20)]).endswith("15 and 4 more")
