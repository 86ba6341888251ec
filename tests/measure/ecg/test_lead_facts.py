from __future__ import annotations

import numpy as np
import pytest

from overread.guidelines.ecg_facts import LeadFacts
from overread.measure.ecg.lead_facts import LeadBeat, lead_facts, waves


def beat(*knots: tuple[float, float], qrs: tuple[int, int] = (100, 150), st: float = 0.0) -> LeadFacts:
    """A complex of straight lines between (sample, mV), 500 samples a second, and an ST segment."""
    at, heights = zip((0, 0.0), (qrs[0], 0.0), *knots, (qrs[1], st), (400, st), strict=True)
    return lead_facts(LeadBeat(np.interp(np.arange(400.0), at, heights), 0.0, qrs, (200, 300), 0.0))


@pytest.mark.parametrize(
    ("knots", "word"),
    [
        ([(125, 0.8)], "R"),
        ([(110, -0.2), (125, 0.8)], "qR"),
        ([(110, -0.2), (125, 0.8), (140, -0.3)], "qRs"),
        ([(115, 0.2), (135, -0.9)], "rS"),
        ([(110, 0.2), (125, -0.6), (140, 0.7)], "rSR'"),
        ([(125, -0.7)], "QS"),
        ([(125, 0.03)], ""),
        ([(110, -0.04), (125, 0.8)], "R"),
    ],
)
def test_complexes_are_written_as_they_look(knots, word):
    assert beat(*knots).word == word


def test_heights_durations_and_the_peak_are_measured_from_the_level():
    found = beat((110, -0.2), (125, 1.0), (140, -0.4))
    assert (found.q_mv, found.r_mv, found.s_mv, found.r2_mv) == pytest.approx((0.2, 1.0, 0.4, 0.0))
    # Of the Q wave what is beyond 0.02 mV: 10 samples down and 2.5 up, but for the edges.
    assert found.q_ms == pytest.approx(2 * (10 - 1.0 + 2.5 - 0.25), abs=0.1)
    assert found.peak_ms == pytest.approx(50.0) and found.area_mvs == pytest.approx(0.015, abs=0.0002)


def test_the_way_to_a_displaced_st_segment_is_no_wave():
    raised = beat((125, 1.0), (140, 0.3), st=0.3)
    assert raised.word == "R" and raised.j_mv == pytest.approx(0.3) and raised.st_mv == pytest.approx(0.3)
    lowered = beat((125, 1.0), st=-0.2)
    assert lowered.word == "R" and lowered.s_mv == 0.0 and lowered.j_mv == pytest.approx(-0.2)


def test_a_notch_is_a_dip_between_two_summits():
    assert beat((115, 0.8), (125, 0.6), (138, 0.9)).notched
    assert not beat((115, 0.8), (125, 0.78), (138, 0.9)).notched


def test_small_runs_are_overlooked_and_part_nothing():
    lead = np.array([0.0, 0.3, 0.3, -0.01, 0.3, 0.2, 0.0])
    assert [(wave.sign, wave.mv) for wave in waves(lead)] == [(1, 0.3)]
