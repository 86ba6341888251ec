from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from overread.priors.cells import fold_of, half_of, mix, mix_all, token

HALVES = [0, 1, 0, 0, 1, 0, 1, 0, 1, 0, 1, 0]
"""Of the patients p/0 to p/11; other values would split every published floor anew."""

sixty_four = st.integers(0, 2**64 - 1)


@given(sixty_four, sixty_four)
def test_one_by_one_and_in_bulk_agree(left, right):
    lefts, rights = np.array([left], dtype=np.uint64), np.array([right], dtype=np.uint64)
    assert mix_all(lefts, rights)[0] == mix_all(lefts, right)[0] == mix(left, right)


def test_order_matters():
    a, b = token("a"), token("b")
    assert mix(a, b) != mix(b, a)
    assert mix(mix(a, b), b) != mix(mix(b, a), b) != mix(mix(b, b), a)


def test_halves_and_folds_are_even_independent_and_the_same_everywhere():
    patients = [f"p/{i}" for i in range(4000)]
    table = np.zeros((2, 5))
    for patient in patients:
        table[half_of(patient), fold_of(patient)] += 1
    assert table.min() > 330 and table.max() < 470
    assert [half_of(p) for p in patients[:12]] == HALVES
