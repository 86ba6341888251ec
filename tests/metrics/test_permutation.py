from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from overread.metrics.permutation import exchange_p, holm, paired


def with_weight(values: list[float] | np.ndarray) -> np.ndarray:
    return np.stack([np.asarray(values, dtype=float), np.ones(len(values))], axis=1)


def test_with_few_patients_every_exchange_is_tried() -> None:
    # Differences 1, 1, 1: of the 8 sign patterns, only +++ and --- reach a mean of 1.
    assert exchange_p(with_weight([1, 1, 1]), with_weight([0, 0, 0]), seed=0) == pytest.approx(2 / 8)


def test_patients_without_a_difference_do_not_matter() -> None:
    assert exchange_p(with_weight([1, 1, 1, 1, 0]), with_weight([0, 0, 0, 1, 0]), seed=0) == pytest.approx(2 / 8)


def test_a_single_patient_proves_nothing() -> None:
    found = paired(with_weight([1]), with_weight([0]), direction="more", seed=0)
    assert (found.effect, found.low, found.high, found.p) == (1.0, None, None, 1.0)


def test_equal_models_have_p_1() -> None:
    found = paired(with_weight([1, 0, 1]), with_weight([1, 0, 1]), direction="more", seed=0)
    assert (found.effect, found.low, found.high, found.p) == (0.0, 0.0, 0.0, 1.0)


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=8))
def test_the_exact_p_is_that_of_the_sign_flip_test(differences: list[int]) -> None:
    flips = [sum(s * d for s, d in zip(signs, differences, strict=True))
             for signs in itertools.product((1, -1), repeat=len(differences))]  # fmt: skip
    expected = sum(abs(f) >= abs(sum(differences)) for f in flips) / len(flips)
    values = with_weight(differences)
    assert exchange_p(values, with_weight([0] * len(differences)), seed=0) == pytest.approx(expected)


def test_the_sampled_p_is_close_to_scipy() -> None:
    generator = np.random.default_rng(5)
    first, second = generator.normal(0.35, 1, 40), generator.normal(0, 1, 40)
    ours = exchange_p(with_weight(first), with_weight(second), seed=0)
    theirs = scipy.stats.permutation_test(
        (first, second), lambda a, b, axis: np.mean(a - b, axis=axis), permutation_type="samples", vectorized=True,
        n_resamples=9999, rng=6,
    )  # fmt: skip
    assert ours == pytest.approx(theirs.pvalue, abs=0.02)


def test_the_sampled_p_is_never_0() -> None:
    assert exchange_p(with_weight([1] * 60), with_weight([0] * 60), seed=0, permutations=999) == pytest.approx(1e-3)


def test_p_is_uniform_where_there_is_no_difference() -> None:
    generator = np.random.default_rng(7)
    found = [
        exchange_p(
            with_weight(generator.normal(size=20)), with_weight(generator.normal(size=20)), seed=s, permutations=199
        )
        for s in range(300)
    ]
    assert scipy.stats.kstest(found, "uniform").pvalue > 0.01


def test_where_less_is_better_a_smaller_error_is_a_positive_effect() -> None:
    found = paired(with_weight([1, 2, 1, 2]), with_weight([3, 4, 4, 3]), direction="less", seed=0)
    assert found.effect == pytest.approx(2.0)
    assert found.low is not None
    assert found.low > 0


def test_the_interval_of_the_effect_is_close_to_scipy() -> None:
    generator = np.random.default_rng(8)
    first, second = generator.normal(1, 1, 70), generator.normal(0, 1, 70)
    ours = paired(with_weight(first), with_weight(second), direction="more", seed=0, resamples=10_000, permutations=9)
    theirs = scipy.stats.bootstrap((first - second,), np.mean, n_resamples=10_000, method="percentile", rng=9)
    assert (ours.low, ours.high) == pytest.approx(tuple(theirs.confidence_interval), abs=0.02)


def test_units_that_only_one_model_has_are_weighed() -> None:
    generator = np.random.default_rng(11)
    first, second = (np.stack([generator.normal(size=6), generator.integers(1, 9, 6)], axis=1) for _ in range(2))
    differences = []
    for exchanged in itertools.product((False, True), repeat=6):
        swap = np.array(exchanged)[:, None]
        one, other = np.where(swap, second, first).sum(axis=0), np.where(swap, first, second).sum(axis=0)
        differences.append(one[0] / one[1] - other[0] / other[1])
    found = paired(first, second, direction="more", seed=0)
    assert found.effect == pytest.approx(differences[0])
    assert found.p == pytest.approx(np.mean(np.abs(differences) >= abs(differences[0]) - 1e-12))


def test_without_any_weight_there_is_no_effect() -> None:
    nothing = np.zeros((2, 2))
    assert paired(nothing, with_weight([1, 1]), direction="more", seed=0).effect is None


def test_holm_by_hand() -> None:
    # Sorted .01 .02 .03 .04, times 4 3 2 1: .04 .06 .06 .04, never falling: .04 .06 .06 .06.
    assert holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])


def test_holm_stops_at_1_and_leaves_missing_ones_out_of_the_family() -> None:
    assert holm([0.9, None, 0.4]) == [pytest.approx(0.9), None, pytest.approx(0.8)]
    assert holm([0.7, 0.6]) == [1.0, 1.0]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=20))
def test_holm_never_lowers_a_p_and_keeps_the_order(p_values: list[float]) -> None:
    adjusted = [p for p in holm(p_values) if p is not None]
    assert all(a >= p for a, p in zip(adjusted, p_values, strict=True))
    order = np.argsort(p_values, kind="stable")
    assert (np.diff(np.array(adjusted)[order]) >= 0).all()
