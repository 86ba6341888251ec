from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overread.priors.options import FEATURES, NO_NUMBER, codes


def order(options, feature):
    """The places of the options from the greatest down."""
    found = codes(options, feature)
    return sorted(range(len(options)), key=lambda i: found[i])


def test_the_width_of_a_range_is_ranked_not_its_place():
    assert order(["[1.20s - 1.44s]", "[3.00s - 3.60s]", "[9.00s - 9.10s]"], "width") == [1, 0, 2]
    assert order(["[1.20s - 1.44s]", "[3.00s - 3.60s]", "[9.00s - 9.10s]"], "middle") == [2, 1, 0]


def test_equal_widths_tie_in_spite_of_rounding():
    first, second = codes(["[1.20s - 1.44s]", "[2.20s - 2.44s]"], "width")
    assert first == second


@pytest.mark.parametrize(
    ("options", "highest"),
    [
        (["90-100 ms", "120-130 ms"], 1),
        (["-90..-60", "-60..-45", "-45..-30"], 2),
        (["-90 to -60", "0 to 90"], 1),
        (["−30 to 0", "-180 to -90"], 0),
    ],
)
def test_a_dash_is_a_minus_only_where_it_can_be(options, highest):
    assert order(options, "middle")[0] == highest


def test_an_option_without_a_range_is_told_apart():
    found = codes(["below 90", "90-100", "no value", "V1"], "width")
    assert [code & NO_NUMBER == NO_NUMBER for code in found] == [True, False, True, True]
    found = codes(["below 90", "90-100", "no value"], "middle")
    assert [code & NO_NUMBER == NO_NUMBER for code in found] == [False, False, True]


def test_ties_are_told_from_places():
    two_longest, one_longest = codes(["aaa", "bbb", "c"], "length"), codes(["aaa", "bb", "c"], "length")
    assert two_longest[0] == two_longest[1] != one_longest[0]
    assert one_longest[1] not in two_longest


@given(st.lists(st.text(max_size=12), min_size=1, max_size=8), st.randoms())
def test_all_features_but_the_place_follow_the_options_through_a_shuffle(options, rng):
    places = list(range(len(options)))
    rng.shuffle(places)
    for feature in FEATURES[1:]:
        before = codes(options, feature)
        assert codes([options[i] for i in places], feature) == [before[i] for i in places]
    assert codes(options, "position") == codes(options[::-1], "position")


def test_an_unknown_feature_is_an_error():
    with pytest.raises(ValueError, match="colour"):
        codes(["a"], "colour")
