"""The facts of a lead on complexes drawn by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from overread.guidelines.ecg_facts import LeadFacts
from overread.phantoms.ecg_beats import Shape
from overread.phantoms.ecg_leads import lead_facts, lead_spans
from overread.phantoms.ecg_waves import LEADS

QRS_MS, ST_MS, T_MS = 100, 80, 160


def shape(*knots: tuple[int, float], level: float = 0.0, t: float = 0.3) -> Shape:
    """A beat whose leads V1 to V6 all show the polyline through `knots` (ms, mV), which ends at `level`."""
    at, mv = zip((0, 0.0), *knots, (QRS_MS, level), strict=True)
    complex_ = np.interp(np.arange(QRS_MS + 1), at, mv)
    x = np.arange(1, ST_MS + T_MS + 1)
    rest = np.where(x <= ST_MS, level, level + (t - level) * np.sin(np.pi * (x - ST_MS) / T_MS))
    rest[-1] = 0.0
    line = np.concatenate([complex_, rest])
    body = np.stack([line] * 8)
    p = np.stack([0.1 * np.sin(np.pi * np.arange(91) / 90)] * 8)
    return Shape(p, body, 90, QRS_MS, QRS_MS + ST_MS, QRS_MS + ST_MS + T_MS)


def v1(*knots: tuple[int, float], **settings: Any) -> LeadFacts:
    return lead_facts(shape(*knots, **settings), p_wave=True)["V1"]


def test_q_r_and_s_are_named_in_order() -> None:
    found = v1((15, -0.2), (30, 0.0), (50, 1.0), (70, 0.0), (85, -0.3))
    assert found.word == "qRs"
    assert (found.q_mv, found.r_mv, found.s_mv, found.r2_mv) == pytest.approx((0.2, 1.0, 0.3, 0.0))
    # From where the line is 0.02 mV away to where it last is: 1.5 and 1.5 ms less than the whole.
    assert (found.q_ms, found.r_ms) == pytest.approx((27.0, 39.2), abs=0.01)
    assert found.peak_ms == 50


def test_a_second_wave_upwards_is_r2_and_the_higher_one_has_the_peak_time() -> None:
    found = v1((15, 0.3), (40, -0.6), (75, 0.9))
    assert found.word == "rSR'"
    assert (found.r_mv, found.s_mv, found.r2_mv, found.peak_ms) == pytest.approx((0.3, 0.6, 0.9, 75.0))


def test_a_complex_without_r_is_qs_and_its_depth_stands_twice() -> None:
    found = v1((50, -0.9))
    assert (found.word, found.r_mv, found.peak_ms) == ("QS", 0.0, 0.0)
    assert (found.q_mv, found.q_ms) == (found.s_mv, found.s_ms) == pytest.approx((0.9, 97.78), abs=0.01)


def test_what_stays_below_the_smallest_height_is_no_wave_and_parts_none() -> None:
    found = v1((10, -0.04), (20, 0.0), (40, 0.8), (55, -0.03), (70, 0.7))
    assert found.word == "R" and found.notched
    assert found.r_ms > 70 and found.peak_ms == 40


def test_a_notch_is_a_dip_of_the_smallest_height() -> None:
    assert v1((30, 0.8), (50, 0.7), (70, 0.8)).notched
    assert not v1((30, 0.8), (50, 0.76), (70, 0.8)).notched
    # Down to below the level it is an S wave.
    assert v1((30, 0.8), (50, -0.2), (70, 0.8)).word == "RSR'".replace("S", "s")
    assert not v1((30, 0.8), (50, -0.2), (70, 0.8)).notched


@pytest.mark.parametrize("level", [0.3, -0.3])
def test_the_way_to_a_displaced_st_segment_is_no_wave(level: float) -> None:
    after_s = v1((30, 0.8), (70, -0.5), level=level)
    assert after_s.word == "RS" and after_s.r2_mv == 0.0
    assert v1((40, 0.8), level=level).word == "R"
    assert after_s.j_mv == after_s.st_mv == pytest.approx(level)


def test_a_last_wave_that_comes_back_to_the_segment_counts() -> None:
    assert v1((30, 0.8), (80, -0.2), level=-0.1).word == "Rs"
    assert v1((30, 0.8), (80, -0.13), level=-0.1).word == "R"


def test_the_area_is_net_and_in_millivolt_seconds() -> None:
    assert v1((50, 1.0)).area_mvs == pytest.approx(0.05)
    assert v1((25, 1.0), (50, 0.0), (75, -1.0)).area_mvs == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(("height", "word"), [(0.3, "upright"), (-0.3, "inverted"), (0.04, "flat"), (-0.04, "flat")])
def test_t_waves_have_a_height_and_a_shape(height: float, word: str) -> None:
    found = v1((50, 1.0), t=height)
    assert (found.t_mv, found.t_shape) == (pytest.approx(height), word)


def test_a_t_wave_on_both_sides_of_the_level_is_biphasic() -> None:
    assert v1((50, 1.0), level=0.1, t=-0.3).t_shape == "biphasic"


def test_p_waves_count_only_where_there_are_some() -> None:
    beat = shape((50, 1.0))
    assert lead_facts(beat, p_wave=True)["V1"].p_mv == pytest.approx(0.1)
    assert lead_facts(beat, p_wave=False)["V1"].p_mv == 0.0


def test_a_lead_that_starts_late_has_an_onset_and_a_peak_time_of_its_own() -> None:
    beat = shape((20, 0.0), (60, 1.0))
    span = dict(zip(LEADS, lead_spans(beat), strict=True))["V1"]
    assert span == (20, 100)
    assert lead_facts(beat, p_wave=True)["V1"].peak_ms == 40


def test_a_lead_without_a_complex_has_no_span() -> None:
    spans = dict(zip(LEADS, lead_spans(shape((50, 1.0))), strict=True))
    assert spans["V1"] == (0, 100)
    # I and II are the same here, so III is flat.
    assert spans["III"] is None
