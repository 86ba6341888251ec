"""Findings and decision graphs on facts written by hand."""

from __future__ import annotations

import dataclasses
import typing
from typing import Any

import pytest

from overread.errors import BadInput
from overread.guidelines.diagnoses import DECISIONS, Reading, book, diagnoses
from overread.guidelines.ecg_facts import EcgFacts, LeadFacts

LEADS = ("I", "II", "III", "aVR", "aVL", "aVF", "V1", "V2", "V3", "V4", "V5", "V6")
NUMBERS = dict.fromkeys(
    ("q_mv", "q_ms", "s_mv", "s_ms", "r2_mv", "r2_ms", "peak_ms", "area_mvs", "j_mv", "st_mv", "p_mv"), 0.0
)
PLAIN = LeadFacts(word="R", r_mv=0.8, r_ms=60.0, notched=False, t_mv=0.3, t_shape="upright", **NUMBERS)


def healthy(**changes: Any) -> EcgFacts:
    """A normal ECG; `V1=dict(s_mv=1.0)` changes a lead, other names change facts of the whole."""
    leads = {lead: dataclasses.replace(PLAIN, **changes.pop(lead, {})) for lead in LEADS}
    facts = EcgFacts(
        rate_bpm=75.0, atrial_bpm=75.0, rr_ms=800.0, pr_ms=160.0, p_ms=100.0, qrs_ms=95.0, qt_ms=390.0, qtc_ms=420.0,
        axis_deg=45.0, regular=True, p_waves=True, fibrillation=False, one_to_one=True, dropped=False, blocked_p=False,
        dissociated=False, premature=False, premature_wide=None, premature_qrs_ms=None, paced=False,
        ventricular_tachycardia=False, leads=leads,
    )  # fmt: skip
    return dataclasses.replace(facts, **changes)


def test_a_healthy_ecg_has_none_of_the_diagnoses() -> None:
    plain = healthy(V1={"r_mv": 0.2, "s_mv": 0.9}, V3={"s_mv": 0.4})
    assert {one.diagnosis: one.present for one in Reading(plain).all()} == dict.fromkeys(diagnoses(), False)


DECIDED: list[tuple[str, dict[str, Any], bool]] = [
    ("first_degree_av_block", {"pr_ms": 240.0}, True),
    ("first_degree_av_block", {"pr_ms": 240.0, "one_to_one": False}, False),
    ("second_degree_av_block", {"dropped": True, "blocked_p": True}, True),
    ("second_degree_av_block", {"dropped": True}, False),
    ("third_degree_av_block", {"rate_bpm": 40.0, "dissociated": True}, True),
    ("third_degree_av_block", {"rate_bpm": 40.0, "fibrillation": True}, True),
    ("third_degree_av_block", {"rate_bpm": 90.0, "dissociated": True}, False),
    ("third_degree_av_block", {"rate_bpm": 40.0, "regular": False, "dissociated": True}, False),
    (
        "complete_left_bundle_branch_block",
        {"qrs_ms": 150.0, "V1": {"r_mv": 0.1, "s_mv": 1.0}, "V2": {"s_mv": 1.5}, "V6": {"notched": True}},
        True,
    ),
    (
        "complete_left_bundle_branch_block",
        {"qrs_ms": 150.0, "V1": {"r_mv": 0.1, "s_mv": 1.0}, "V2": {"s_mv": 1.5}, "V5": {"peak_ms": 70.0}},
        True,
    ),
    ("complete_left_bundle_branch_block", {"qrs_ms": 150.0, "V1": {"s_mv": 1.0}, "V2": {"s_mv": 0.2}}, False),
    (
        "complete_right_bundle_branch_block",
        {
            "qrs_ms": 140.0,
            "V1": {"s_mv": 0.4, "r2_mv": 0.9},
            "I": {"s_mv": 0.3, "s_ms": 60.0},
            "V6": {"s_mv": 0.3, "s_ms": 70.0},
        },
        True,
    ),
    (
        "complete_right_bundle_branch_block",
        {"qrs_ms": 140.0, "V1": {"s_mv": 0.4, "r2_mv": 0.9}, "I": {"s_mv": 0.3, "s_ms": 60.0}},
        False,
    ),
    (
        "left_anterior_fascicular_block",
        {"axis_deg": -60.0, "aVL": {"q_mv": 0.1}, "III": {"r_mv": 0.2, "s_mv": 0.9}},
        True,
    ),
    ("left_anterior_fascicular_block", {"axis_deg": -20.0, "aVL": {"q_mv": 0.1}}, False),
    (
        "left_posterior_fascicular_block",
        {"axis_deg": 120.0, "I": {"r_mv": 0.2, "s_mv": 0.9}, "III": {"q_mv": 0.1}},
        True,
    ),
    ("left_ventricular_hypertrophy", {"aVL": {"r_mv": 1.4}, "V1": {"s_mv": 2.0}, "V5": {"r_mv": 2.2}}, True),
    ("left_ventricular_hypertrophy", {"aVL": {"r_mv": 1.4}}, False),
    ("left_ventricular_hypertrophy", {"aVL": {"r_mv": 1.4}, "V6": {"j_mv": -0.1, "t_mv": -0.3}}, True),
    ("right_ventricular_hypertrophy", {"axis_deg": 130.0, "V1": {"s_mv": 0.2}}, True),
    ("right_ventricular_hypertrophy", {"axis_deg": 95.0, "V1": {"s_mv": 0.2}}, False),
    ("premature_atrial_complex", {"premature": True, "premature_wide": False}, True),
    ("premature_atrial_complex", {"premature": True, "premature_wide": True}, False),
    ("premature_ventricular_complex", {"premature": True, "premature_wide": True}, True),
    ("anterior_myocardial_infarction", {"V2": {"j_mv": 0.2}, "V3": {"j_mv": 0.3}}, True),
    ("anterior_myocardial_infarction", {"V2": {"j_mv": 0.2}}, False),
    ("inferior_myocardial_infarction", {lead: {"q_mv": 0.3, "q_ms": 45.0} for lead in ("II", "aVF")}, True),
    ("inferior_myocardial_infarction", {lead: {"q_mv": 0.3, "q_ms": 25.0} for lead in ("II", "aVF")}, False),
    ("lateral_myocardial_infarction", {lead: {"r_mv": 0.0, "s_mv": 0.8, "q_mv": 0.8} for lead in ("I", "V6")}, True),
    ("anterior_ischemia", {"V2": {"j_mv": -0.09}, "V3": {"j_mv": -0.09}}, False),
    ("anterior_ischemia", {"V2": {"j_mv": -0.12}, "V3": {"j_mv": -0.09}}, True),
    ("inferior_ischemia", {"II": {"t_mv": -0.2}, "III": {"t_mv": -0.2}}, True),
    ("lateral_ischemia", {"I": {"j_mv": -0.1}, "V5": {"j_mv": -0.1}}, True),
]


@pytest.mark.parametrize(("diagnosis", "changes", "present"), DECIDED)
def test_graphs_decide_as_they_are_written(diagnosis: str, changes: dict[str, Any], present: bool) -> None:
    assert Reading(healthy(**dict(changes))).decide(diagnosis).present is present


def test_the_path_names_the_findings_in_the_order_in_which_they_were_looked_at() -> None:
    found = Reading(healthy(pr_ms=240.0)).decide("first_degree_av_block")
    assert [name for name, _ in found.path] == ["one_to_one", "long_pr"]


def test_the_margin_counts_steps_to_the_nearest_threshold() -> None:
    assert Reading(healthy(pr_ms=225.0)).decide("first_degree_av_block").margin == pytest.approx(2.5)


def test_what_is_not_known_leaves_open_only_what_depends_on_it() -> None:
    reading = Reading(healthy(pr_ms=None))
    assert reading.decide("first_degree_av_block").present is None
    assert reading.decide("anterior_ischemia").present is False


def test_a_lead_that_is_missing_leaves_a_finding_open_only_where_it_could_decide() -> None:
    facts = healthy(II={"j_mv": 0.3}, III={"j_mv": 0.3})
    without = dataclasses.replace(facts, leads={lead: one for lead, one in facts.leads.items() if lead != "aVF"})
    assert Reading(without).finding("st_elevation_inferior").holds is True
    facts = healthy(II={"j_mv": 0.3})
    without = dataclasses.replace(facts, leads={lead: one for lead, one in facts.leads.items() if lead != "aVF"})
    assert Reading(without).finding("st_elevation_inferior").holds is None


def test_findings_about_leads_name_the_leads_in_which_they_hold() -> None:
    assert Reading(healthy(V2={"j_mv": 0.2}, V4={"j_mv": 0.3})).finding("st_elevation_anterior").leads == ("V2", "V4")


@pytest.mark.parametrize(("axis", "inside"), [(-179.0, False), (179.0, True), (91.0, True), (89.0, False)])
def test_arcs_end_where_the_circle_closes(axis: float, inside: bool) -> None:
    assert Reading(healthy(axis_deg=axis)).finding("right_axis").holds is inside


def test_how_sure_a_decision_is_follows_its_least_sure_fact() -> None:
    facts = healthy(pr_ms=240.0, confidence={"pr_ms": 0.4})
    assert Reading(facts).decide("first_degree_av_block").sure == 0.4


def test_unknown_names_are_told_with_those_that_are_near() -> None:
    with pytest.raises(BadInput, match="first_degree_av_block"):
        Reading(healthy()).decide("first_degree_av_blok")
    with pytest.raises(BadInput, match="long_pr"):
        Reading(healthy()).finding("long_qr")


def test_every_graph_ends_and_names_only_findings_that_there_are() -> None:
    findings, used = book()["findings"], set()
    for graph in book()["diagnoses"].values():
        for node, ways in graph.items():
            names = ways["of"] if node == "count" else [node]
            used.update(names)
            ends = [ways[way] for way in (("none", "one", "more") if node == "count" else (True, False))]
            assert all(end in DECISIONS or end in graph for end in ends)
    assert used == set(findings)


def test_rules_name_only_facts_that_there_are() -> None:
    known = {*typing.get_type_hints(EcgFacts), *typing.get_type_hints(LeadFacts)}

    def named(rule: Any) -> set[str]:
        if isinstance(rule, dict):
            own = {rule["fact"]} if "fact" in rule else set()
            return own.union(*(named(part) for part in rule.values()))
        return set().union(*map(named, rule)) if isinstance(rule, list) else set()

    assert named(list(book()["findings"].values())) <= known
