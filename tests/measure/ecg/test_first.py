from __future__ import annotations

import functools
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overread.errors import BadInput
from overread.measure.ecg import EcgFacts, measure_ecg
from overread.media.ecg import read
from overread.phantoms.ecg import RHYTHMS, EcgPhantom, ecg_phantom

SEEDS = range(40, 45)


@functools.cache
def phantom(seed: int, rhythm: str) -> EcgPhantom:
    return ecg_phantom(seed, rhythm)


@functools.cache
def facts(seed: int, rhythm: str) -> EcgFacts:
    made = phantom(seed, rhythm)
    return measure_ecg(made.mv, made.rate_hz)


@pytest.mark.parametrize("rhythm", RHYTHMS)
def test_every_beat_is_found_where_it_is(rhythm):
    for seed in SEEDS:
        found, true = np.array(facts(seed, rhythm).beats), np.array(phantom(seed, rhythm).truth["beats"])
        # Beats that the record cuts off may be counted or not.
        inside = true[(true > 60) & (true < 4940)]
        assert all(np.abs(found - at).min() <= 25 for at in inside)
        assert len(found) - len(true) <= 1


@pytest.mark.parametrize("rhythm", RHYTHMS)
def test_rate_and_intervals_are_those_of_the_phantom(rhythm):
    for seed in SEEDS:
        found, truth = facts(seed, rhythm), phantom(seed, rhythm).truth
        assert found.rate_bpm == pytest.approx(truth["rate_bpm"], rel=0.05)
        assert found.qrs_ms == pytest.approx(truth["qrs_ms"], abs=8)
        assert found.pr_ms == (None if truth["pr_ms"] is None else pytest.approx(truth["pr_ms"], abs=8))


@pytest.mark.parametrize("rhythm", RHYTHMS)
def test_regularity_and_p_waves_are_those_of_the_phantom(rhythm):
    for seed in SEEDS:
        found, truth = facts(seed, rhythm), phantom(seed, rhythm).truth
        assert (found.regular, found.p_waves) == (truth["regular"], truth["p_waves"])


def test_wide_premature_beats_do_not_widen_the_ordinary_ones():
    found = facts(7, "premature_ventricular")
    assert len(found.beats) == len(phantom(7, "premature_ventricular").truth["beats"])
    assert found.qrs_ms < 110 and found.pr_ms is not None


@pytest.mark.parametrize("rate_hz", [100, 250, 1000])
def test_intervals_do_not_depend_on_the_sampling_rate(rate_hz):
    made = ecg_phantom(3, "left_bundle_branch_block", rate_hz=rate_hz)
    found = measure_ecg(made.mv, made.rate_hz)
    assert found.qrs_ms == pytest.approx(made.truth["qrs_ms"], abs=10)
    assert found.pr_ms == pytest.approx(made.truth["pr_ms"], abs=10)


@pytest.mark.parametrize("seed", range(5))
def test_noise_and_a_moving_baseline_are_borne(seed):
    made = ecg_phantom(seed, "first_degree_block", noise_mv=0.03, wander_mv=0.3)
    found = measure_ecg(made.mv, made.rate_hz)
    assert found.qrs_ms == pytest.approx(made.truth["qrs_ms"], abs=6)
    assert found.pr_ms == pytest.approx(made.truth["pr_ms"], abs=10)


def test_a_flat_and_an_invalid_lead_are_left_out():
    made = phantom(41, "normal")
    mv = made.mv.copy()
    mv[0], mv[7, 100] = 0.0, np.nan
    found = measure_ecg(mv, made.rate_hz)
    assert found.qrs_ms == pytest.approx(made.truth["qrs_ms"], abs=8)


def test_the_signal_is_left_as_it_is():
    made = phantom(41, "normal")
    before = made.mv.copy()
    made.mv.flags.writeable = False
    measure_ecg(made.mv, made.rate_hz)
    assert np.array_equal(made.mv, before)


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
        (np.eye(12, 5000, 2500), 500, "three are needed"),
    ],
)
def test_what_cannot_be_measured_is_named(mv, rate_hz, reason):
    with pytest.raises(BadInput, match=reason):
        measure_ecg(mv.astype(np.float32), rate_hz)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), samples=st.integers(0, 1500), noise=st.floats(-4, 1), steps=st.integers(0, 30))
def test_any_signal_is_measured_or_refused(seed, samples, noise, steps):
    rng = np.random.default_rng(seed)
    mv = rng.standard_normal((12, samples)) * 10**noise
    for start in rng.integers(0, samples + 1, steps):
        mv[:, start : start + 20] += rng.standard_normal((12, 1))
    try:
        found = measure_ecg(mv.astype(np.float32), 125.0)
    except BadInput:
        return
    assert found.rate_bpm > 0 and found.qrs_ms > 0 and (found.pr_ms is None or found.pr_ms > 0)
    assert list(found.beats) == sorted(set(found.beats))


@pytest.mark.real
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of pandas, which the wfdb package brings
def test_every_beat_that_cardiologists_marked_is_found():
    import wfdb

    headers = sorted((Path(os.environ["OVERREAD_REAL_DATA"]) / "ludb" / "data").glob("*.hea"))[:30]
    assert headers
    for header in headers:
        record = header.with_suffix("")
        study = read(record)
        marks = wfdb.rdann(str(record), "ii")
        true = marks.sample[[i for i, symbol in enumerate(marks.symbol) if symbol == "N"]]
        found = np.array(measure_ecg(study.mv, study.rate_hz).beats)
        assert all(np.abs(found - at).min() <= 75 for at in true), header.name
        # The first and the last beat of a record are often left unmarked.
        assert ((found > true[0] - 75) & (found < true[-1] + 75)).sum() == len(true), header.name
