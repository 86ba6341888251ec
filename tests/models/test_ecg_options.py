from __future__ import annotations

import math

import pytest

from overread.models.ecg_options import option_of_spans, option_of_value, options_of_leads, range_of


@pytest.mark.parametrize(
    ("option", "low", "high"),
    [
        ("below 40 bpm", -math.inf, 40), ("Below 90ms", -math.inf, 90), ("40 to 50 bpm", 40, 50),
        ("140 bpm and above", 140, math.inf), ("Above 240ms", 240, math.inf), ("120-130ms", 120, 130),
        ("120ms - 130ms", 120, 130), ("-90 to -60 degrees", -90, -60), ("-30\u00b0 - 0\u00b0", -30, 0),
        ("1.1-1.2mV", 1.1, 1.2),
        ("[1.20s - 1.85s]", 1.2, 1.85), ("\u221290..\u221230", -90, -30),
    ],
)  # fmt: skip
def test_ranges_are_read_as_people_write_them(option, low, high):
    found = range_of(option)
    assert found is not None and (found.low, found.high) == (low, high)


@pytest.mark.parametrize("option", ["Yes", "lead V1", "", "about 40", "40", "QRS"])
def test_what_is_no_range_is_none(option):
    assert range_of(option) is None


def test_a_limit_belongs_to_the_range_above_it():
    options = ["below 120 ms", "120 to 140 ms", "140 ms and above"]
    assert [option_of_value(options, value) for value in (119.9, 120, 140, None)] == [0, 1, 2, None]
    assert option_of_value(["120 to 140 ms"], 150.0) is None


def test_leads_are_found_by_their_names():
    assert options_of_leads(["lead V1", "aVL", "Lead avf", "V9"], {"V1", "aVF"}) == (0, 2)


def test_the_stretch_that_fits_best_is_chosen():
    options = ["[0.10s - 0.20s]", "[1.00s - 1.12s]", "[1.05s - 2.00s]"]
    assert option_of_spans(options, [(0.99, 1.10), (5.0, 5.1)]) == 1
    assert option_of_spans(options, [(8.0, 8.1)]) is None
