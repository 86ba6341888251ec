from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from overread.errors import BadInput
from overread.phantoms.ecg import EcgPhantom, ecg_phantom, recipes
from overread.phantoms.ecg_noise import Disturbance
from overread.phantoms.ecg_waves import LEADS

LEAD = {name: i for i, name in enumerate(LEADS)}
DRAWN = [LEAD[name] for name in ("I", "II", "V1", "V2", "V3", "V4", "V5", "V6")]


def made(**settings: Any) -> EcgPhantom:
    return ecg_phantom(5, "normal", **({"noise_mv": 0.0, "wander_mv": 0.0} | settings))


CLEAN = made()


def rest(**settings: Any) -> np.ndarray:
    return made(**settings).mv.astype(float) - CLEAN.mv


@pytest.mark.parametrize("snr_db", [10.0, 20.0, 30.0])
def test_noise_lies_as_far_below_the_signal_as_asked(snr_db: float) -> None:
    noise = rest(snr_db=snr_db)
    power = (CLEAN.mv[DRAWN].astype(float) ** 2).mean()
    for lead in DRAWN:
        assert 10 * np.log10(power / (noise[lead] ** 2).mean()) == pytest.approx(snr_db, abs=0.25)
    assert (noise[LEAD["III"]] ** 2).mean() == pytest.approx(2 * power * 10 ** (-snr_db / 10), rel=0.1)


def test_noise_has_the_spread_that_is_asked_for() -> None:
    assert rest(noise_mv=0.05)[LEAD["V4"]].std() == pytest.approx(0.05, rel=0.05)


def test_hum_is_one_frequency() -> None:
    for hum_hz in (50.0, 60.0):
        power = (np.abs(np.fft.rfft(rest(hum_mv=0.1, hum_hz=hum_hz), axis=1)) ** 2).sum(axis=0)
        assert np.fft.rfftfreq(5000, 1 / 500)[power.argmax()] == hum_hz
        assert power.max() / power.sum() > 0.99
    assert np.abs(rest(hum_mv=0.1)[DRAWN]).max() == pytest.approx(0.1, abs=0.002)


def test_muscle_noise_is_fast_and_has_the_spread_that_is_asked_for() -> None:
    noise = rest(muscle_mv=0.05)
    power = np.abs(np.fft.rfft(noise[LEAD["V2"]])) ** 2
    assert power[:150].sum() < 0.02 * power.sum()
    assert noise[LEAD["V2"]].std() == pytest.approx(0.05, rel=0.02)


def test_the_baseline_wanders_slowly() -> None:
    wander = rest(wander_mv=0.3)
    assert 0.1 < np.abs(wander[LEAD["V3"]]).max() <= 0.301
    assert np.abs(np.diff(wander[LEAD["V3"]])).max() < 0.003


@pytest.mark.parametrize(
    "settings",
    [{"snr_db": 15.0}, {"hum_mv": 0.2}, {"muscle_mv": 0.1}, {"wander_mv": 0.5}, {"snr_db": 25.0, "wander_mv": 0.2}],
)
def test_limb_leads_obey_einthoven_however_disturbed(settings: dict[str, float]) -> None:
    uv = np.rint(made(**settings).mv.astype(float) * 1000)
    assert np.abs(made(**settings).mv * 1000.0 - uv).max() < 1e-3
    one, two = uv[LEAD["I"]], uv[LEAD["II"]]
    assert np.array_equal(uv[LEAD["III"]], two - one)
    assert np.array_equal(2 * uv[LEAD["aVR"]], -(one + two))


@pytest.mark.parametrize("name", list(recipes())[::9])
def test_no_disturbance_changes_the_truth(name: str) -> None:
    plain = ecg_phantom(3, name)
    settings: dict[str, Any] = {"snr_db": 10.0, "muscle_mv": 0.1, "wander_mv": 0.5, "hum_mv": 0.2, "limit_mv": 0.8}
    noisy = ecg_phantom(3, name, faults={"V2": "detached", "I": "step"}, **settings)
    assert noisy.truth == plain.truth and noisy.facts == plain.facts
    assert np.array_equal(noisy.boundaries.qrs.per_lead, plain.boundaries.qrs.per_lead)
    assert np.array_equal(noisy.boundaries.atrial, plain.boundaries.atrial)


def test_what_is_drawn_for_one_disturbance_does_not_depend_on_another() -> None:
    both, noise, hum = rest(snr_db=20.0, hum_mv=0.1), rest(snr_db=20.0), rest(hum_mv=0.1)
    assert np.abs(both - noise - hum).max() < 0.006


def test_leads_fail_alone() -> None:
    failed = made(faults={"V3": "flat", "II": "step", "V6": "detached"})
    changed = [lead for lead in LEADS if not np.array_equal(failed.mv[LEAD[lead]], CLEAN.mv[LEAD[lead]])]
    assert changed == ["II", "V3", "V6"]
    assert np.ptp(failed.mv[LEAD["V3"]]) == 0.0
    step = np.rint(1000 * (failed.mv[LEAD["II"]] - CLEAN.mv[LEAD["II"]]))
    assert len(set(step.tolist())) == 2 and 400 <= np.abs(step).max() <= 1000
    assert abs(np.corrcoef(failed.mv[LEAD["V6"]], CLEAN.mv[LEAD["V6"]])[0, 1]) < 0.3
    assert failed.boundaries.usable.tolist() == [lead not in ("V3", "V6") for lead in LEADS]


def test_an_amplifier_saturates_at_its_limit() -> None:
    cut = made(limit_mv=0.5)
    assert np.abs(cut.mv).max() == pytest.approx(0.5)
    inside = np.abs(CLEAN.mv) < 0.5
    assert np.array_equal(cut.mv[inside], CLEAN.mv[inside])


@pytest.mark.parametrize(
    "bad",
    [
        {"noise_mv": -0.1},
        {"wander_mv": np.inf},
        {"hum_mv": np.nan},
        {"hum_hz": 0.0},
        {"limit_mv": 0.0},
        {"faults": {"V7": "flat"}},
        {"faults": {"V1": "loose"}},
        {"snr_db": np.nan},
    ],
)
def test_disturbances_that_mean_nothing_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        Disturbance(**bad)
