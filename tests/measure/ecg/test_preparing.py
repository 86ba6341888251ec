from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overread.errors import BadInput
from overread.measure.ecg import measure_ecg
from overread.measure.ecg.preparing import WORK_HZ, prepare, slow
from overread.phantoms.ecg import ecg_phantom


@pytest.mark.parametrize(
    ("mv", "rate_hz", "reason"),
    [
        (np.zeros((12, 5000)), 500, "flat"),
        (np.full((12, 5000), np.nan), 500, "invalid samples"),
        (np.ones((12, 600)), 500, "1.2 s is too short"),
        (np.ones((12, 0)), 500, "too short"),
        (np.ones((3, 5000)), 500, "12 leads"),
        (np.ones((12, 5000)), 50, "at 50 Hz"),
        (np.ones((12, 5000)), float("nan"), "at nan Hz"),
        (np.ones((12, 5000)), float("inf"), "at inf Hz"),
        (np.eye(12, 5000, 2500), 500, "flat|three are needed"),
        (1000 * np.random.default_rng(0).standard_normal((12, 5000)), 500, "too high to be in millivolts"),
        (np.full((12, 5000), 1e30) * np.resize([1, -1], 5000), 500, "no millivolts"),
    ],
)
def test_what_cannot_be_measured_is_named(mv, rate_hz, reason):
    with pytest.raises(BadInput, match=reason):
        measure_ecg(mv.astype(np.float32), rate_hz)


def test_an_ecg_in_microvolts_is_refused_and_not_measured_a_thousand_times_too_high():
    made = ecg_phantom(1, "normal")
    with pytest.raises(BadInput, match="millivolts"):
        measure_ecg(made.mv * 1000, made.rate_hz)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), samples=st.integers(0, 1500), noise=st.floats(-4, 1), steps=st.integers(0, 30))
def test_any_signal_is_measured_or_refused(seed, samples, noise, steps):
    rng = np.random.default_rng(seed)
    mv = rng.standard_normal((12, samples)) * 10**noise
    for start in rng.integers(0, samples + 1, steps):
        mv[:, start : start + 20] += rng.standard_normal((12, 1))
    try:
        facts = measure_ecg(mv.astype(np.float32), 125.0).facts
    except BadInput:
        return
    assert facts.rate_bpm > 0 and facts.qrs_ms > 0 and (facts.pr_ms is None or facts.pr_ms > 0)


def test_gaps_are_bridged_and_a_lead_of_gaps_is_given_up():
    made = ecg_phantom(2, "normal")
    mv = made.mv.copy()
    mv[0, 100:120], mv[7, :3000] = np.nan, np.nan
    prepared = prepare(mv, made.rate_hz)
    assert np.isfinite(prepared.mv).all() and prepared.usable.tolist() == [k != 7 for k in range(12)]
    assert prepared.valid[0] == pytest.approx(0.996)


def test_the_signal_is_left_as_it_is():
    made = ecg_phantom(3, "normal")
    before = made.mv.copy()
    made.mv.flags.writeable = False
    measure_ecg(made.mv, made.rate_hz)
    assert np.array_equal(made.mv, before)


@pytest.mark.parametrize("rate_hz", [100, 250, 257, 400, 1000])
def test_a_place_comes_back_to_the_sample_that_it_came_from(rate_hz):
    made = ecg_phantom(4, "normal", rate_hz=rate_hz)
    prepared = prepare(made.mv, float(rate_hz))
    assert prepared.mv.shape[1] == pytest.approx(10 * WORK_HZ, abs=3)
    own = np.array([0, 37, 500, 10 * rate_hz - 1])
    assert np.abs(prepared.native(np.rint(own * WORK_HZ / rate_hz)) - own).max() <= 1
    assert prepared.native([-1]).tolist() == [-1]


def test_slow_movements_are_followed_and_fast_ones_are_not():
    t = np.arange(5000) / WORK_HZ
    wander, fast = np.sin(2 * np.pi * 0.1 * t), np.sin(2 * np.pi * 5.0 * t)
    both = slow((wander + fast)[None], 0.35)[0]
    assert np.abs(both - wander)[500:-500].max() < 0.05
