"""What a phantom says of itself holds for the signal it hands out."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

import numpy as np
import pytest

from overread.guidelines.ecg_facts import EcgFacts
from overread.measure.ecg.boundaries import UNSEEN, Waves
from overread.phantoms.ecg import EcgPhantom, ecg_phantom, recipes
from overread.phantoms.ecg_waves import LEADS
from overread.tables import canonical

LEAD = {name: i for i, name in enumerate(LEADS)}
STILL = [name for name, one in recipes().items() if one.rhythm["kind"] not in ("fibrillation", "dissociated", "paced")]


def clean(seed: int, name: str, **settings: Any) -> EcgPhantom:
    return ecg_phantom(seed, name, noise_mv=0.0, wander_mv=0.0, **settings)


def spans(waves: Waves, lead: int) -> list[tuple[int, int]]:
    return [(first, last) for first, last in waves.per_lead[:, lead].tolist() if first != UNSEEN]


@pytest.mark.parametrize("name", STILL)
def test_every_lead_leaves_its_level_at_its_own_onset(name: str) -> None:
    phantom = clean(1, name)
    for row, lead in enumerate(phantom.mv.astype(float)):
        for first, last in spans(phantom.boundaries.qrs, row):
            assert abs(lead[first]) < 0.03
            inside = np.abs(lead[first : last + 1])
            assert inside[:8].max() > 0.01 and inside.max() >= 0.02
        for waves in (phantom.boundaries.p, phantom.boundaries.t):
            for first, last in spans(waves, row):
                assert np.abs(lead[first : last + 1]).max() >= 0.019
        assert all(lead[last] == 0.0 for _, last in spans(phantom.boundaries.t, row))


@pytest.mark.parametrize("name", recipes())
def test_boundaries_of_all_leads_are_the_median_of_those_that_show_the_wave(name: str) -> None:
    found = ecg_phantom(2, name).boundaries
    beats = len(found.peaks)
    assert beats == len(found.kinds) and (np.diff(found.peaks) > 0).all()
    for waves in (found.p, found.qrs, found.t):
        assert waves.per_lead.shape == (beats, 12, 2) and waves.joint.shape == (beats, 2)
        for per_lead, joint, sure in zip(waves.per_lead, waves.joint, waves.sure, strict=True):
            seen = per_lead[per_lead[:, 0] != UNSEEN]
            assert (sure == 1.0) == (len(seen) > 0) == (joint[0] != UNSEEN)
            if len(seen):
                assert np.abs(np.median(seen, axis=0) - joint).max() <= 0.5
                # Nearly all leads begin and end together.
                assert (np.abs(seen - joint).max(axis=1) <= 1).mean() > 0.5
    assert ((found.qrs.joint[:, 0] <= found.peaks) & (found.peaks <= found.qrs.joint[:, 1])).all()


@pytest.mark.parametrize("name", recipes())
def test_intervals_run_from_joint_onset_to_joint_offset(name: str) -> None:
    phantom = ecg_phantom(4, name)
    found, facts = phantom.boundaries, phantom.facts
    usual = np.array([kind in ("N", "P") or "tachycardia" in name for kind in phantom.truth["beat_types"]])
    qrs = (found.qrs.joint[usual, 1] - found.qrs.joint[usual, 0]) * 2
    assert np.abs(qrs - facts.qrs_ms).max() <= 2
    whole = usual & (found.t.joint[:, 0] != UNSEEN)
    assert np.abs((found.t.joint[whole, 1] - found.qrs.joint[whole, 0]) * 2 - facts.qt_ms).max() <= 2
    led = usual & (found.p.joint[:, 0] != UNSEEN)
    assert (facts.pr_ms is None) == (not led.any())
    if facts.pr_ms is not None:
        assert np.median(found.qrs.joint[led, 0] - found.p.joint[led, 0]) * 2 == pytest.approx(facts.pr_ms, abs=20)


@pytest.mark.parametrize(
    "name", ["normal", "complete_left_bundle_branch_block/notched", "lateral_ischemia/st_depression"]
)
def test_heights_are_those_of_the_signal(name: str) -> None:
    phantom = clean(6, name)
    beat = 2
    for lead, facts in phantom.facts.leads.items():
        line = phantom.mv[LEAD[lead]].astype(float)
        (first, last), (t_first, t_last) = phantom.boundaries.qrs.joint[beat], phantom.boundaries.t.joint[beat]
        complex_, t = line[first : last + 1], line[t_first : t_last + 1]
        if facts.r_mv > facts.r2_mv:
            assert complex_.max() == pytest.approx(facts.r_mv, abs=0.012)
        if max(facts.q_mv, facts.s_mv) > -facts.j_mv:
            assert -complex_.min() == pytest.approx(max(facts.q_mv, facts.s_mv), abs=0.012)
        assert t[np.abs(t).argmax()] == pytest.approx(facts.t_mv, abs=0.002)
        assert np.median(line[last : last + 11]) == pytest.approx(facts.j_mv, abs=0.003)
        assert complex_.sum() / 500 == pytest.approx(facts.area_mvs, abs=2e-4)


@pytest.mark.parametrize("name", list(recipes())[::7])
def test_the_axis_follows_from_the_net_areas(name: str) -> None:
    facts = ecg_phantom(7, name).facts
    foot = facts.leads["II"].area_mvs - facts.leads["I"].area_mvs / 2
    assert facts.axis_deg == pytest.approx(math.degrees(math.atan2(foot * 2 / 3**0.5, facts.leads["I"].area_mvs)))


def test_the_axis_of_a_recipe_is_met() -> None:
    assert ecg_phantom(0, "right_ventricular_hypertrophy/but_axis_beyond_100").facts.axis_deg == pytest.approx(95.0)
    for seed in range(5):
        axis = ecg_phantom(seed, "left_anterior_fascicular_block").facts.axis_deg
        assert axis is not None and -58 <= axis <= -40


def test_premature_beats_stand_out_in_the_facts_and_count_in_nothing_else() -> None:
    wide, narrow = (ecg_phantom(1, f"premature_{kind}_complex").facts for kind in ("ventricular", "atrial"))
    assert wide.premature and wide.premature_wide and (wide.premature_qrs_ms or 0) > 140
    assert narrow.premature and narrow.premature_wide is False and narrow.premature_qrs_ms == narrow.qrs_ms
    for facts in (wide, narrow):
        assert facts.regular and facts.one_to_one and not facts.dropped
        assert (facts.qrs_ms or 0) < 110 and (facts.rr_ms or 0) > 650
    bigeminy = ecg_phantom(1, "premature_ventricular_complex/bigeminy")
    assert bigeminy.boundaries.kinds.tolist() == [int(kind == "V") for kind in bigeminy.truth["beat_types"]]


def test_lone_p_waves_are_those_that_lead_to_no_beat() -> None:
    phantom = clean(2, "second_degree_av_block/mobitz")
    lone = phantom.boundaries.lone_p
    assert len(lone) >= 1
    two = phantom.mv[LEAD["II"]]
    for first, last in lone.tolist():
        assert two[first] == two[last] == 0.0 and two[first : last + 1].max() > 0.08
        after = phantom.boundaries.qrs.joint[:, 0] - first
        assert after[after > 0].min() > 150
    apart = clean(2, "third_degree_av_block/dissociated").boundaries
    assert (apart.p.joint == UNSEEN).all() and len(apart.lone_p) > len(apart.peaks)
    for first, last in apart.lone_p.tolist():
        assert all(last <= on or first >= off for on, off in apart.qrs.joint.tolist())


def test_the_atrial_signal_holds_the_atria_alone() -> None:
    normal, flutter = clean(3, "normal"), clean(3, "atrial_fibrillation")
    atria = np.zeros(5000, dtype=bool)
    for first, last in normal.boundaries.p.joint.tolist():
        atria[max(first, 0) : last + 1] = True
    inside = slice(*normal.boundaries.qrs.joint[[0, -1], 0])
    assert np.abs(normal.boundaries.atrial[inside][~atria[inside]]).max() == 0.0
    assert normal.boundaries.atrial.max() > 0.05
    assert flutter.boundaries.atrial.shape == (5000,) and flutter.boundaries.atrial.std() > 0.03


def test_spikes_lie_where_the_signal_jumps() -> None:
    for rate_hz in (100, 500, 1000):
        phantom = clean(1, "paced/ventricle", rate_hz=rate_hz)
        two = phantom.mv[LEAD["V1"]].astype(float)
        assert len(phantom.boundaries.spikes) >= 9
        for spike in phantom.boundaries.spikes[1:].tolist():
            assert two[spike] < two[spike - 1] - 0.6


def test_the_dictionary_holds_the_facts_and_is_json() -> None:
    for name in list(recipes())[::10]:
        phantom = ecg_phantom(0, name)
        again = json.loads(canonical(phantom.truth))
        assert again == phantom.truth
        known = {field.name for field in dataclasses.fields(EcgFacts)} - {"leads", "confidence"}
        assert known <= set(again) and set(again["lead_facts"]) == set(LEADS)
        assert again["qrs_ms"] == phantom.facts.qrs_ms and again["leads"] == list(LEADS)


@pytest.mark.parametrize("rate_hz", [100, 250, 257, 1000])
def test_boundaries_lie_at_the_same_times_at_every_rate(rate_hz: int) -> None:
    fine, other = ecg_phantom(8, "normal").boundaries, ecg_phantom(8, "normal", rate_hz=rate_hz).boundaries
    for one, two in ((fine.qrs, other.qrs), (fine.p, other.p), (fine.t, other.t)):
        seen = (one.joint[:, 0] != UNSEEN) & (two.joint[:, 0] != UNSEEN)
        assert seen.sum() >= 8
        assert np.abs(one.joint[seen] / 500 - two.joint[seen] / rate_hz).max() <= 0.5 / rate_hz + 1e-9


def test_long_records_hold_beats_to_their_end() -> None:
    phantom = ecg_phantom(1, "premature_ventricular_complex", seconds=300.0)
    peaks = phantom.boundaries.peaks
    assert phantom.mv.shape == (12, 150_000) and peaks[-1] > 149_000 and np.diff(peaks).max() < 900
