from __future__ import annotations

import functools

import numpy as np
import pytest

from overread.measure.ecg import UNSEEN, Boundaries, delineate
from overread.measure.ecg.agreement import agreement
from overread.phantoms.ecg import EcgPhantom, ecg_phantom, recipes

SOME = ("normal", "atrial_fibrillation", "left_bundle_branch_block", "premature_ventricular", "paced/ventricle",
        "second_degree_av_block/wenckebach", "third_degree_av_block/dissociated", "sinus_tachycardia")  # fmt: skip


@functools.cache
def phantom(seed: int, rhythm: str, rate_hz: int = 500) -> EcgPhantom:
    return ecg_phantom(seed, rhythm, rate_hz=rate_hz, snr_db=30.0)


@functools.cache
def found(seed: int, rhythm: str, rate_hz: int = 500) -> Boundaries:
    made = phantom(seed, rhythm, rate_hz)
    return delineate(made.mv, made.rate_hz)


def seen(spans: np.ndarray) -> np.ndarray:
    return spans[spans[:, 0] != UNSEEN].astype(float)


@pytest.mark.parametrize("rhythm", SOME)
def test_waves_are_found_where_they_are_and_nowhere_else(rhythm):
    for seed in (20, 21):
        true, marks = phantom(seed, rhythm).boundaries, found(seed, rhythm)
        # What the record cuts off may be found or not.
        inner = (60.0, 4940.0)
        for kind in ("p", "qrs", "t"):
            drawn, here = (seen(getattr(one, kind).joint) for one in (true, marks))
            if kind == "p":
                drawn, here = np.concatenate([drawn, true.lone_p]), np.concatenate([here, marks.lone_p])
            drawn = drawn[(drawn.mean(axis=1) > inner[0] + 60) & (drawn.mean(axis=1) < inner[1] - 60)]
            wide = agreement(drawn, here, 500.0, inner)
            assert wide.missed == 0, kind
            strict = agreement(drawn, here, 500.0, (inner[0] + 200, inner[1] - 200))
            assert strict.extra == 0, kind
            assert max(np.abs([*wide.onsets_ms, *wide.offsets_ms]), default=0.0) <= (30.0 if kind == "t" else 12.0)


def test_joint_boundaries_are_the_median_of_those_of_the_leads():
    marks = found(20, "normal")
    for waves in (marks.p, marks.qrs, marks.t):
        for beat, joint in enumerate(waves.joint):
            if joint[0] != UNSEEN:
                of_leads = waves.per_lead[beat]
                assert np.abs(np.median(of_leads[of_leads[:, 0] != UNSEEN], axis=0) - joint).max() <= 1


def test_no_wave_of_a_lead_ends_before_it_begins_even_in_noise():
    marks = delineate(np.random.default_rng(0).normal(0, 0.15, (12, 5000)), 500.0)
    for waves in (marks.p, marks.qrs, marks.t):
        spans = waves.per_lead.reshape(-1, 2)
        assert (spans[:, 0] <= spans[:, 1]).all()


def test_what_a_pacer_does_in_the_atria_is_no_beat():
    made = phantom(22, "left_bundle_branch_block")
    mv, at = made.mv.copy(), np.arange(made.mv.shape[1])
    height = np.linspace(0.2, -0.2, 12)[:, None]
    onsets = made.boundaries.qrs.joint[2:8:3, 0]
    for onset in onsets:
        off = (at - (onset - 90)) / 5.0
        mv += height * off * np.exp((1 - off**2) / 2)
    marks = delineate(mv, made.rate_hz)
    assert len(marks.peaks) == len(found(22, "left_bundle_branch_block").peaks)


def test_an_onset_comes_before_its_offset_and_a_beat_before_the_next():
    for rhythm in SOME:
        marks = found(21, rhythm)
        for waves in (marks.p, marks.qrs, marks.t):
            spans = seen(waves.joint)
            assert (spans[:, 0] < spans[:, 1]).all() and (np.diff(spans[:, 0]) > 0).all()
        assert (np.diff(marks.peaks) > 0).all() and ((marks.p.sure >= 0) & (marks.p.sure <= 1)).all()


def test_ectopic_beats_are_a_kind_of_their_own():
    true, marks = phantom(20, "premature_ventricular").boundaries, found(20, "premature_ventricular")
    assert len(true.kinds) == len(marks.kinds) and (true.kinds == marks.kinds).all()


def test_p_waves_that_lead_nowhere_are_lone_and_those_of_dissociated_atria_all_are():
    blocked, apart = found(20, "second_degree_av_block/mobitz"), found(20, "third_degree_av_block/dissociated")
    assert abs(len(blocked.lone_p) - len(phantom(20, "second_degree_av_block/mobitz").boundaries.lone_p)) <= 1
    assert len(apart.lone_p) >= 8 and (apart.p.joint == UNSEEN).all()
    assert len(found(20, "normal").lone_p) == 0


def test_pacing_spikes_are_found_and_do_not_shift_the_complex():
    for rhythm in ("paced/ventricle", "paced/atrium_and_ventricle"):
        true, marks = phantom(22, rhythm).boundaries, found(22, rhythm)
        assert len(true.spikes) == len(marks.spikes) and np.abs(true.spikes - marks.spikes).max() <= 2
    assert all(len(found(20, rhythm).spikes) == 0 for rhythm in ("normal", "left_bundle_branch_block"))


@pytest.mark.parametrize("rate_hz", [100, 250, 400, 1000])
def test_places_are_samples_of_the_recording_whatever_its_rate(rate_hz):
    true, marks = phantom(23, "normal", rate_hz).boundaries, found(23, "normal", rate_hz)
    assert marks.rate_hz == rate_hz
    both = agreement(seen(true.qrs.joint), seen(marks.qrs.joint), rate_hz, (0.1 * rate_hz, 9.9 * rate_hz))
    assert both.missed == 0 and both.extra <= 1
    assert max(np.abs([*both.onsets_ms, *both.offsets_ms])) <= 4.0 + 1000.0 / rate_hz
    assert len(marks.atrial) == len(true.atrial) == 10 * rate_hz


@pytest.mark.parametrize("fault", ["flat", "detached"])
def test_a_lead_without_a_heart_is_left_out_and_the_others_are_measured(fault):
    made = ecg_phantom(24, "normal", snr_db=30.0, faults={"V2": fault, "aVF": fault})
    marks = delineate(made.mv, made.rate_hz)
    assert (marks.usable == made.boundaries.usable).all()
    assert (marks.qrs.per_lead[:, ~marks.usable] == UNSEEN).all()
    assert agreement(seen(made.boundaries.qrs.joint), seen(marks.qrs.joint), 500.0, (60, 4940)).f1 > 0.95


def test_a_step_hum_wander_and_muscle_are_borne():
    made = ecg_phantom(25, "normal", hum_mv=0.1, wander_mv=0.5, muscle_mv=0.03, faults={"V4": "step"})
    marks = delineate(made.mv, made.rate_hz)
    both = agreement(seen(made.boundaries.qrs.joint), seen(marks.qrs.joint), 500.0, (60, 4940))
    assert both.missed == 0 and both.extra == 0
    assert abs(both.onset[0]) <= 6 and abs(both.offset[0]) <= 6


def test_the_atrial_signal_shows_f_waves_and_little_else():
    made, marks = phantom(26, "atrial_fibrillation"), found(26, "atrial_fibrillation")
    inner = slice(300, 4700)
    assert np.corrcoef(made.boundaries.atrial[inner], marks.atrial[inner])[0, 1] > 0.6
    assert np.std(marks.atrial[inner]) < 0.35 * np.std(made.mv[1, inner])


@pytest.mark.slow
@pytest.mark.parametrize("rhythm", sorted(recipes()))
def test_every_recipe_is_delineated(rhythm):
    for seed in range(3):
        made = phantom(seed, rhythm)
        both = agreement(seen(made.boundaries.qrs.joint), seen(found(seed, rhythm).qrs.joint), 500.0, (150.0, 4850.0))
        assert both.extra == 0
        assert np.median(np.abs([*both.onsets_ms, *both.offsets_ms])) <= 4.0
