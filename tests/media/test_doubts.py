from __future__ import annotations

import itertools
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from overread.media import ecg
from overread.media.doubts import doubts_about, height_mv
from overread.media.leads import LEADS

LIMB = LEADS[:6]


@pytest.fixture
def mv(trees: ModuleType) -> np.ndarray:
    # Its axis lies so that no two limb leads look alike: such a swap could not be seen by anyone.
    return np.array(trees.phantom(7))


def test_a_sound_ecg_raises_no_doubt(trees: ModuleType) -> None:
    for seed, rhythm in enumerate(["normal", "atrial_fibrillation", "left_bundle_branch_block", "sinus_bradycardia"]):
        for rate in (100, 500):
            mv = trees.phantom(seed, rhythm, rate_hz=rate)
            assert doubts_about(mv, rate, LEADS) == (), (rhythm, rate)
        clean = trees.phantom(seed, rhythm, noise_mv=0.0, wander_mv=0.0)
        assert doubts_about(clean, 500, LEADS) == (), "a baseline of zeros is no limit"


@pytest.mark.parametrize(("one", "other"), list(itertools.combinations(range(6), 2)))
def test_swapped_limb_leads_are_told_by_name_and_left_as_they_are(mv: np.ndarray, one: int, other: int) -> None:
    mv[[one, other]] = mv[[other, one]]
    before = mv.copy()
    found = doubts_about(mv, 500, LEADS)
    assert found == (f"the limb leads contradict each other: {LIMB[one]} and {LIMB[other]} are probably swapped",)
    assert np.array_equal(mv, before)


@pytest.mark.parametrize("lead", range(6))
def test_a_limb_lead_of_the_wrong_sign_is_told_by_name(mv: np.ndarray, lead: int) -> None:
    mv[lead] *= -1
    assert doubts_about(mv, 500, LEADS) == (
        f"the limb leads contradict each other: {LIMB[lead]} probably has the wrong sign",
    )


def test_three_limb_leads_can_contradict_each_other_too(mv: np.ndarray) -> None:
    mv[2] *= -1
    mv[3:] = np.nan
    assert doubts_about(mv, 500, ("I", "II", "III")) == (
        "the limb leads contradict each other: leads may be swapped or have the wrong sign",
    )
    assert doubts_about(mv, 500, ("I", "II")) == (), "two leads contradict nothing"


def test_leads_that_have_nothing_to_do_with_each_other_are_told(mv: np.ndarray) -> None:
    mv[:6] = np.random.default_rng(1).normal(size=(6, mv.shape[1]))
    assert "contradict" in doubts_about(mv, 500, LEADS)[0]


@pytest.mark.parametrize(("factor", "doubted"), [(1, False), (1000, True), (1e-3, True), (5, False), (0.2, False)])
def test_sizes_that_no_heart_has_speak_of_wrong_units(mv: np.ndarray, factor: float, doubted: bool) -> None:
    found = doubts_about((mv * factor).astype(np.float32), 500, LEADS)
    assert any("units" in doubt for doubt in found) is doubted


def test_flat_and_empty_leads_are_listed_and_do_not_spoil_the_rest(mv: np.ndarray) -> None:
    mv[6] = 0.25
    mv[7] = 0.0
    mv[8] = np.nan
    assert doubts_about(mv, 500, LEADS) == ("lead V3 holds no valid sample", "leads V1, V2 are flat")
    assert doubts_about(np.full((12, 100), np.nan, np.float32), 500, LEADS)[0].startswith("leads I, II")
    assert doubts_about(np.zeros((12, 100), np.float32), 500, LEADS)[0].startswith("leads I, II")


def test_a_lead_cut_off_at_its_limits_is_told(mv: np.ndarray) -> None:
    mv[9] = np.clip(mv[9], None, np.float32(0.5 * mv[9].max()))
    assert doubts_about(mv, 500, LEADS) == ("lead V4 is cut off at its limits",)


def test_a_rate_too_low_for_an_ecg_is_told(mv: np.ndarray) -> None:
    assert "too few" in doubts_about(mv[:, ::20], 25, LEADS)[0]


@pytest.mark.parametrize("samples", [1, 2, 11, 30, 31, 100])
def test_short_stretches_are_no_trouble(mv: np.ndarray, samples: int) -> None:
    assert isinstance(doubts_about(mv[:, :samples], 500, LEADS), tuple)


def test_the_height_is_that_of_a_typical_lead_in_a_typical_stretch() -> None:
    mv = np.zeros((3, 4000), np.float32)
    mv[:, ::500] = [[1.0], [2.0], [30.0]]
    assert height_mv(mv, 500) == 2.0
    mv[:, 10] = np.nan
    assert height_mv(mv, 500) == 2.0
    assert height_mv(np.full((2, 10), np.nan, np.float32), 500) == 0.0


@pytest.mark.real
def test_real_ecgs_raise_no_doubt_and_swapped_ones_mostly_do(real_data: Path) -> None:
    swapped, told = 0, 0
    for header in sorted((real_data / "ptbxl").rglob("*.hea")) + sorted((real_data / "ludb" / "data").glob("*.hea")):
        signal = ecg.read(header)
        assert signal.doubts == (), (header.name, signal.doubts)
        for one, other in itertools.combinations(range(6), 2):
            mv = signal.mv.copy()
            mv[[one, other]] = mv[[other, one]]
            found = doubts_about(mv, signal.rate_hz, LEADS)
            swapped += 1
            told += bool(found)
    assert told / swapped > 0.8
