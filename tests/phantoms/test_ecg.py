from __future__ import annotations

import hashlib
import subprocess
import sys

import numpy as np
import pytest

from overread.errors import BadInput
from overread.phantoms.ecg import RHYTHMS, EcgPhantom, ecg_phantom
from overread.phantoms.ecg_waves import LEADS
from overread.tables import canonical

LEAD = {name: i for i, name in enumerate(LEADS)}


def clean(seed: int, rhythm: str) -> EcgPhantom:
    return ecg_phantom(seed, rhythm, noise_mv=0.0, wander_mv=0.0)


def complexes(phantom: EcgPhantom, lead: str, wave: str = "qrs", kind: str = "N") -> list[np.ndarray]:
    truth = phantom.truth
    spans = [s for s, t in zip(truth["waves"][wave], truth["beat_types"], strict=True) if t == kind and s]
    return [phantom.mv[LEAD[lead], a : b + 1] for a, b in spans]


@pytest.mark.parametrize("rhythm", RHYTHMS)
def test_limb_leads_obey_einthoven_in_whole_microvolts(rhythm: str) -> None:
    uv = np.rint(ecg_phantom(1, rhythm).mv.astype(np.float64) * 1000)
    assert np.abs(uv / 1000 - ecg_phantom(1, rhythm).mv).max() < 1e-6
    one, two = uv[LEAD["I"]], uv[LEAD["II"]]
    assert np.array_equal(uv[LEAD["III"]], two - one)
    assert np.array_equal(2 * uv[LEAD["aVR"]], -(one + two))
    assert np.array_equal(2 * uv[LEAD["aVL"]], 2 * one - two)
    assert np.array_equal(2 * uv[LEAD["aVF"]], 2 * two - one)


@pytest.mark.parametrize("rhythm", RHYTHMS)
def test_intervals_keep_clear_of_the_thresholds(rhythm: str) -> None:
    wide = rhythm in ("left_bundle_branch_block", "right_bundle_branch_block")
    rates = {"sinus_bradycardia": (40, 54), "sinus_tachycardia": (105, 140)}.get(rhythm, (60, 95))
    for seed in range(12):
        truth = ecg_phantom(seed, rhythm).truth
        if rhythm == "atrial_fibrillation":
            assert 60 <= truth["rate_bpm"] <= 95 or 105 <= truth["rate_bpm"] <= 140
            assert truth["pr_ms"] is None
        else:
            assert rates[0] <= truth["rate_bpm"] <= rates[1]
            low, high = (215, 280) if rhythm == "first_degree_block" else (130, 185)
            assert low <= truth["pr_ms"] <= high
        assert (130 if wide else 80) <= truth["qrs_ms"] <= (160 if wide else 105)
        assert 230 <= truth["qt_ms"] <= 520


@pytest.mark.parametrize("rhythm", RHYTHMS)
def test_waves_of_a_beat_follow_one_another(rhythm: str) -> None:
    for seed in range(12):
        truth = ecg_phantom(seed, rhythm).truth
        p, qrs, t = (truth["waves"][name] for name in ("p", "qrs", "t"))
        assert len(p) == len(qrs) == len(t) == len(truth["beats"]) == len(truth["beat_types"])
        marks = [m for beat in zip(p, qrs, t, strict=True) for span in beat if span for m in span]
        assert marks == sorted(set(marks))
        assert marks[0] >= 0 and marks[-1] < truth["samples"]


@pytest.mark.parametrize("rhythm", [r for r in RHYTHMS if r != "atrial_fibrillation"])
def test_the_signal_is_flat_outside_the_beats_and_leaves_the_line_within_them(rhythm: str) -> None:
    phantom = clean(4, rhythm)
    height = np.abs(phantom.mv).max(axis=0)
    waves = phantom.truth["waves"]
    spans = [(q[0], t[1]) for q, t in zip(waves["qrs"], waves["t"], strict=True) if t] + [s for s in waves["p"] if s]
    outside = np.ones(height.size, dtype=bool)
    for start, stop in spans:
        outside[start + 1 : stop] = False
        assert height[start] == height[stop] == 0
    first, last = min(s[0] for s in spans), max(s[1] for s in spans)
    assert height[first:last][outside[first:last]].max() == 0
    for start, stop in (span for wave in waves.values() for span in wave if span):
        assert height[start + 5 : stop - 5].min() > 0.001
    for start, stop in waves["qrs"]:
        assert height[start + 3] > 0.01 and np.abs(phantom.mv[:, stop - 3] - phantom.mv[:, stop]).max() > 0.01


@pytest.mark.parametrize("rhythm", RHYTHMS)
def test_intervals_are_those_of_the_marked_waves(rhythm: str) -> None:
    truth = ecg_phantom(2, rhythm).truth
    for beat, kind in enumerate(truth["beat_types"]):
        p, qrs, t = (truth["waves"][name][beat] for name in ("p", "qrs", "t"))
        if kind == "N":
            assert (qrs[1] - qrs[0]) * 2 == truth["qrs_ms"]
            assert p is None or (qrs[0] - p[0]) * 2 == truth["pr_ms"]
            assert t is None or (t[1] - qrs[0]) * 2 == truth["qt_ms"]
        assert (p is not None) <= truth["p_waves"]


@pytest.mark.parametrize("rhythm", RHYTHMS)
def test_beats_are_where_lead_two_is_furthest_from_zero(rhythm: str) -> None:
    phantom = clean(5, rhythm)
    two = np.abs(phantom.mv[LEAD["II"]])
    beats = phantom.truth["beats"]
    for beat, (start, stop) in zip(beats, phantom.truth["waves"]["qrs"], strict=True):
        # The waves of a fibrillating atrium are added on top.
        assert two[beat] >= two[start : stop + 1].max() - (0.15 if rhythm == "atrial_fibrillation" else 0.005)
    rate = 60 * 500 * (len(beats) - 1) / (beats[-1] - beats[0])
    assert phantom.truth["rate_bpm"] == pytest.approx(rate, abs=0.01)


def test_atrial_fibrillation_is_irregular_with_f_waves_and_no_p() -> None:
    for seed in range(20):
        phantom = clean(seed, "atrial_fibrillation")
        gaps = np.diff(phantom.truth["beats"])
        assert gaps.std() / gaps.mean() > 0.12
        assert phantom.truth["waves"]["p"] == [None] * len(phantom.truth["beats"])
        assert not phantom.truth["regular"] and not phantom.truth["p_waves"]
        power = np.abs(np.fft.rfft(clean(seed, "atrial_fibrillation").mv[LEAD["V1"], :1000])) ** 2
        assert power[6:18].sum() > 0
        before = [phantom.mv[LEAD["V1"], a - 40 : a] for a, _ in phantom.truth["waves"]["qrs"] if a > 40]
        assert np.mean([np.ptp(b) for b in before]) > 0.05


@pytest.mark.parametrize("rhythm", [r for r in RHYTHMS if r not in ("atrial_fibrillation", "premature_ventricular")])
def test_regular_rhythms_are_regular(rhythm: str) -> None:
    truth = ecg_phantom(3, rhythm).truth
    gaps = np.diff(truth["beats"])
    assert truth["regular"] and gaps.std() / gaps.mean() < 0.03


def test_left_bundle_branch_block_has_a_deep_s_in_v1_and_a_broad_r_without_q_in_v6() -> None:
    for seed in range(10):
        phantom = clean(seed, "left_bundle_branch_block")
        for v1, v6 in zip(complexes(phantom, "V1"), complexes(phantom, "V6"), strict=True):
            assert v1.min() < -0.7 and v1.max() < 0.06
            assert v6[: len(v6) // 2].min() >= 0 and (v6 > v6.max() / 2).mean() > 0.4
        assert min(t.min() for t in complexes(phantom, "V6", "t")) < -0.1


def test_right_bundle_branch_block_has_rsr_in_v1_and_a_broad_s_in_one_and_v6() -> None:
    for seed in range(10):
        phantom = clean(seed, "right_bundle_branch_block")
        for v1 in complexes(phantom, "V1"):
            valley = int(v1.argmin())
            assert v1[valley] < -0.2 and 0.1 < v1[:valley].max() < v1[valley:].max()
        for lead in ("I", "V6"):
            for wave in complexes(phantom, lead):
                assert wave.max() > 0.4 and (wave[wave.argmax() :] < -0.02).sum() * 2 > 40


def test_premature_beats_are_early_wide_and_without_p() -> None:
    for seed in range(20):
        truth = ecg_phantom(seed, "premature_ventricular").truth
        early = [i for i, kind in enumerate(truth["beat_types"]) if kind == "V"]
        assert early and not truth["regular"]
        for i in early:
            start, stop = truth["waves"]["qrs"][i]
            assert (stop - start) * 2 >= 140
            assert truth["waves"]["p"][i] is None
            if 0 < i < len(truth["beats"]) - 1:
                before, after = np.diff(truth["beats"][i - 1 : i + 2])
                assert before < 0.75 * after


def test_noise_and_wander_change_the_signal_and_not_the_truth() -> None:
    still, noisy = clean(7, "normal"), ecg_phantom(7, "normal", noise_mv=0.02, wander_mv=0.2)
    assert still.truth == noisy.truth
    rest = noisy.mv - still.mv
    assert 0.015 < np.diff(rest[LEAD["V3"]]).std() < 0.04
    assert 0.07 < np.abs(rest[LEAD["V3"]]).max() < 0.35


def test_the_rate_of_sampling_changes_the_grid_and_not_the_beats() -> None:
    fine, coarse = ecg_phantom(8, "normal"), ecg_phantom(8, "normal", rate_hz=250)
    assert coarse.mv.shape == (12, 2500)
    assert np.abs(np.array(fine.truth["beats"]) / 2 - coarse.truth["beats"]).max() <= 2


def test_the_same_seed_gives_the_same_bytes_in_another_process() -> None:
    code = (
        "import hashlib; from overread.phantoms.ecg import ecg_phantom; from overread.tables import canonical\n"
        "p = ecg_phantom(11, 'atrial_fibrillation')\n"
        "print(hashlib.sha256(p.mv.tobytes() + canonical(p.truth).encode()).hexdigest())"
    )
    there = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    np.random.default_rng(1).random()
    here = ecg_phantom(11, "atrial_fibrillation")
    assert hashlib.sha256(here.mv.tobytes() + canonical(here.truth).encode()).hexdigest() == there


def test_another_seed_gives_another_ecg() -> None:
    assert not np.array_equal(ecg_phantom(1, "normal").mv, ecg_phantom(2, "normal").mv)


def test_an_unknown_rhythm_is_answered_with_the_nearest() -> None:
    with pytest.raises(BadInput, match="sinus_tachycardia"):
        ecg_phantom(0, "sinus_tachicardia")


@pytest.mark.parametrize("bad", [{"seconds": 1.0}, {"rate_hz": 10}, {"seed": -1}])
def test_settings_out_of_range_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(BadInput):
        ecg_phantom(**({"seed": 0, "rhythm": "normal"} | bad))  # type: ignore[arg-type]
