from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overread.errors import BadInput
from overread.judges.draws import draws_of


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6), st.booleans())
def test_the_draws_of_a_distribution_are_as_probable_as_all_of_it(scores: list[float], many: bool) -> None:
    draws = list(draws_of(scores, None, len(scores), many=many))
    assert (not draws and not many) or sum(weight for weight, _, _ in draws) == pytest.approx(1.0)


def test_many_of_options_are_independent() -> None:
    draws = {choice: weight for weight, choice, _ in draws_of((0.5, 0.25), None, 2, many=True)}
    assert draws == {(): 0.375, (0,): 0.375, (1,): 0.125, (0, 1): 0.125}


def test_numbers_of_a_spread_are_equally_likely() -> None:
    assert list(draws_of(None, (1.0, 3.0), 0, many=False)) == [(0.5, None, 1.0), (0.5, None, 3.0)]


@pytest.mark.parametrize("scores", [(0.5,), (float("nan"), 1.0), (-1.0, 2.0), (0.0, 0.0)])
def test_what_is_no_distribution_has_no_draws(scores: tuple[float, ...]) -> None:
    assert list(draws_of(scores, None, 2, many=False)) == []


def test_too_many_options_of_which_several_may_be_right_are_refused() -> None:
    with pytest.raises(BadInput, match="13 options"):
        list(draws_of((0.5,) * 13, None, 13, many=True))
