from __future__ import annotations

import math

import numpy as np
import pytest

from overread.archives.ludb import DrawnWave
from overread.measure.ecg.agreement import Agreement, agreement, consensus, drawn_spans, drawn_within, matches


def spans(*middles: float) -> np.ndarray:
    return np.array([(at - 20.0, at + 20.0) for at in middles]).reshape(-1, 2)


def test_the_consensus_is_the_median_over_the_leads_that_show_a_wave():
    by_lead = [[(100.0 + k, 140.0 - k)] for k in range(7)] + [[(600.0, 640.0)]] * 5
    assert consensus(by_lead, 500.0).tolist() == [[103.0, 137.0]]


def test_waves_that_lie_together_match_once_and_the_rest_is_extra_or_missed():
    found = agreement(spans(1000, 2000, 3000), spans(1010, 1020, 3200), 500.0, (0, 5000))
    assert (found.matched, found.extra, found.missed) == (1, 2, 2)
    assert found.onset == (20.0, 0.0) and found.f1 == pytest.approx(2 / 6)


def test_what_was_found_outside_of_the_drawn_stretch_does_not_count():
    found = agreement(spans(1000), spans(200, 1000, 4000), 500.0, (900, 1100))
    assert (found.matched, found.extra, found.missed) == (1, 0, 0)


def test_agreements_add_up_and_nothing_at_all_is_agreement():
    both = Agreement(1, 0, 1, (4.0,), (2.0,)) + Agreement(2, 1, 0, (-4.0, 0.0), (2.0, 2.0))
    assert (both.matched, both.extra, both.missed, both.onset[0], both.offset) == (3, 1, 1, 0.0, (2.0, 0.0))
    assert Agreement().f1 == 1.0 and math.isnan(Agreement().onset[0])


def test_nearest_pairs_come_first():
    assert matches(spans(100, 160), spans(150), 75.0) == [(1, 0)]


def test_drawn_waves_without_an_end_are_left_out_but_bound_the_stretch():
    waves = {
        "I": (DrawnWave("p", None, 90, 99), DrawnWave("qrs", 110, 120, 130)),
        "II": (DrawnWave("qrs", 500, 510, None),),
    }
    assert [one.tolist() for one in drawn_spans(waves, "qrs")] == [[[110.0, 130.0]], []]
    assert drawn_within(waves) == (99.0, 500.0)
