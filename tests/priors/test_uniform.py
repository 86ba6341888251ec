from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from overread.priors.uniform import FEW_WHOLE, MANY_WHOLE, option_scores, spread


@given(st.integers(-5000, 5000), st.integers(0, 9000))
def test_whole_numbers_stay_whole_inside_and_centred(low, width):
    numbers = np.array(spread(float(low), float(low + width), True))
    assert len(numbers) == (width + 1 if width < FEW_WHOLE else MANY_WHOLE)
    assert np.all(numbers == np.floor(numbers))
    assert numbers.min() >= low and numbers.max() <= low + width
    assert len(set(numbers.tolist())) == len(numbers) or width >= FEW_WHOLE
    assert abs(numbers.mean() - (low + width / 2)) <= 0.51


@given(st.floats(-1e6, 1e6), st.floats(0, 1e6))
def test_continuous_numbers_leave_half_a_part_at_both_ends(low, width):
    numbers = np.array(spread(low, low + width, False))
    part = (low + width - low) / 101
    assert np.allclose([numbers[0] - low, low + width - numbers[-1]], part / 2, atol=1e-6)


def test_options_share_the_probability():
    assert option_scores(4, False) == (0.25,) * 4
    assert option_scores(4, True) == (0.5,) * 4
