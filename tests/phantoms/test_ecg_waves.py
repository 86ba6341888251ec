from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from overread.phantoms.ecg_waves import LEADS, p_lobes, rounded, st_t, twelve

heights = st.lists(st.floats(-3.0, 3.0), min_size=2, max_size=6)


def even_places(count: int) -> tuple[float, ...]:
    return tuple(((np.arange(count) + 1) / (count + 1)).tolist())


@given(heights)
def test_the_line_passes_through_its_heights_and_starts_from_zero(values: list[float]) -> None:
    inner = len(values) - 1
    length = 20 * (inner + 1)
    line = np.array(values) @ rounded(even_places(inner), length)
    assert line[0] == 0.0
    assert np.allclose(line[20::20], values, atol=1e-9)


def test_the_line_leaves_zero_in_a_corner_and_takes_its_time_to_full_slope() -> None:
    line = np.array([0.9, 0.0]) @ rounded((0.5,), 100)
    steps = np.diff(line)
    assert steps[0] > 0.2 * steps[22:28].mean() and steps[-1] < -0.2 * steps[22:28].mean()
    assert (np.diff(steps[:15]) > 0).all()
    # Beyond that it is straight up to where it is rounded.
    assert np.abs(np.diff(steps[21:28])).max() < 1e-12
    assert np.abs(np.diff(steps)).max() < 0.15 * steps.max()


@given(heights)
def test_the_end_of_the_line_is_not_eased_away(values: list[float]) -> None:
    inner = len(values) - 1
    line = np.array(values) @ rounded(even_places(inner), 20 * (inner + 1))
    assert line[-1] == values[-1]


def test_p_waves_start_with_the_right_atrium_and_end_with_the_left() -> None:
    right, left = p_lobes(100)
    assert right[0] == left[-1] == 0.0 and right[2] > 0.01 and left[-2] > 0.01
    assert right[73:].max() == left[:28].max() == 0.0
    assert right.max() > 0.999 and left.max() > 0.999


def test_an_st_segment_runs_from_its_level_to_the_next_and_t_ends_at_zero() -> None:
    early, late, wave = st_t(60, 140, 0.58)
    assert early[0] == late[60] == 1.0 and late[0] == early[60] == 0.0
    assert early[-1] == late[-1] == wave[-1] == 0.0
    assert wave[:61].max() == 0.0 and abs(int(wave.argmax()) - 60 - round(0.58 * 140)) <= 1
    # It arrives clearly and departs gently.
    assert wave[-6] > 2 * wave[65] > 0.0


def test_all_leads_follow_from_eight() -> None:
    drawn = np.random.default_rng(0).standard_normal((8, 5))
    leads = dict(zip(LEADS, twelve(drawn), strict=True))
    assert np.allclose(leads["I"] + leads["III"], leads["II"])
    assert np.allclose(leads["aVR"] + leads["aVL"] + leads["aVF"], 0.0)
    assert np.allclose(leads["aVF"], (leads["II"] + leads["III"]) / 2)
    for a, b in itertools.pairwise(("V1", "V2", "V3", "V4", "V5", "V6")):
        assert not np.allclose(leads[a], leads[b])
