from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from overread.metrics.statistics import Estimate, draws, headline, interval, ratios, resampled_sums


def estimate(value: float, *resampled: float) -> Estimate:
    return Estimate(value, np.array(resampled, dtype=float))


def test_every_resample_draws_as_many_patients_as_there_are() -> None:
    counts = np.concatenate(list(draws(7, 3, 50)), axis=1)
    assert counts.shape == (7, 50)
    assert (counts.sum(axis=0) == 7).all()


def test_draws_are_multinomial() -> None:
    counts = np.concatenate(list(draws(5, 0, 20_000)), axis=1)
    assert counts.mean(axis=1) == pytest.approx(np.ones(5), abs=0.03)
    assert counts.var(axis=1) == pytest.approx(np.full(5, 0.8), abs=0.04)
    assert np.cov(counts)[0, 1] == pytest.approx(-0.2, abs=0.03)


@given(patients=st.integers(1, 40), cells=st.integers(1, 500), seed=st.integers(0, 99))
def test_the_size_of_a_block_does_not_change_the_draws(patients: int, cells: int, seed: int) -> None:
    at_once = np.concatenate(list(draws(patients, seed, 9)), axis=1)
    in_blocks = np.concatenate(list(draws(patients, seed, 9, cells=cells)), axis=1)
    assert (at_once == in_blocks).all()


def test_another_seed_draws_otherwise() -> None:
    assert (next(draws(30, 1, 5)) != next(draws(30, 2, 5))).any()


def test_a_block_of_many_patients_stays_small() -> None:
    block = next(draws(100_000, 0, 1000))
    assert block.nbytes <= 16_000_000


def test_resampled_sums_are_the_same_for_dense_and_sparse_sums() -> None:
    sums = np.random.default_rng(0).random((3, 11))
    dense = resampled_sums(sums, 5, 40)
    assert dense == pytest.approx(resampled_sums(scipy.sparse.csr_matrix(sums), 5, 40, cells=30))
    assert dense == pytest.approx(sums @ np.concatenate(list(draws(11, 5, 40)), axis=1))


def test_the_interval_of_a_mean_is_close_to_scipy() -> None:
    values = np.random.default_rng(1).normal(3.0, 2.0, 80)
    sums = resampled_sums(np.stack([values, np.ones(80)]), 0, 20_000)
    ours = interval(ratios(sums[0], sums[1]))
    theirs = scipy.stats.bootstrap((values,), np.mean, n_resamples=20_000, method="percentile", rng=2)
    assert ours == pytest.approx(tuple(theirs.confidence_interval), abs=0.02)


def test_the_interval_of_a_ratio_over_patients_is_close_to_scipy() -> None:
    generator = np.random.default_rng(3)
    sizes = generator.integers(1, 9, 60).astype(float)
    hits = generator.binomial(sizes.astype(int), generator.beta(2, 2, 60)).astype(float)
    sums = resampled_sums(np.stack([hits, sizes]), 0, 20_000)
    theirs = scipy.stats.bootstrap(
        (hits, sizes), lambda a, b, axis: a.sum(axis) / b.sum(axis), paired=True, vectorized=True,
        n_resamples=20_000, method="percentile", rng=4,
    )  # fmt: skip
    assert interval(ratios(sums[0], sums[1])) == pytest.approx(tuple(theirs.confidence_interval), abs=0.005)


def test_patients_whose_questions_agree_widen_the_interval() -> None:
    by_patient = np.stack([np.repeat([10.0, 0.0], 10), np.full(20, 10.0)])
    by_question = np.stack([np.repeat([1.0, 0.0], 100), np.ones(200)])
    widths = []
    for sums in (by_patient, by_question):
        drawn = resampled_sums(sums, 0, 2000)
        low, high = interval(ratios(drawn[0], drawn[1])) or (0.0, 0.0)
        widths.append(high - low)
    assert widths[0] == pytest.approx(widths[1] * np.sqrt(10), rel=0.15)


def test_the_interval_leaves_out_undefined_resamples() -> None:
    assert interval(np.array([1.0, np.nan, 3.0]), level=1.0) == (1.0, 3.0)


def test_no_interval_where_most_resamples_are_undefined() -> None:
    assert interval(np.array([1.0, np.nan, np.nan])) is None
    assert interval(np.array([np.nan])) is None


def test_a_ratio_without_denominator_is_undefined() -> None:
    assert np.isnan(ratios(np.array([1.0]), np.array([0.0])))[0]


def test_the_headline_is_the_value_above_the_best_floor() -> None:
    found = headline(
        estimate(0.8, 0.8, 0.9), {"chance": estimate(0.25, 0.25, 0.25), "text": estimate(0.5, 0.4, 0.6)},
        direction="more",
    )  # fmt: skip
    assert found is not None
    assert (found.lift, found.floor) == (pytest.approx(0.3), "text")


def test_the_best_floor_is_found_anew_in_every_resample() -> None:
    floors = {"a": estimate(0.5, 0.7, 0.1), "b": estimate(0.4, 0.2, 0.6)}
    found = headline(estimate(0.8, 0.8, 0.8), floors, direction="more")
    assert found is not None
    assert found.resampled == pytest.approx([0.1, 0.2])


def test_where_less_is_better_the_best_floor_is_the_lowest_and_positive_is_still_better() -> None:
    floors = {"a": estimate(5.0, 5.0, 9.0), "b": estimate(4.0, 6.0, 4.0)}
    found = headline(estimate(3.0, 3.0, 3.0), floors, direction="less")
    assert found is not None
    assert (found.lift, found.floor) == (1.0, "b")
    assert found.resampled == pytest.approx([2.0, 1.0])


def test_a_floor_that_is_undefined_in_a_resample_sits_it_out() -> None:
    found = headline(
        estimate(1.0, 1.0, 1.0), {"a": estimate(0.5, np.nan, 0.5), "b": estimate(0.2, 0.2, 0.2)}, direction="more"
    )
    assert found is not None
    assert found.resampled == pytest.approx([0.8, 0.5])


def test_of_equal_floors_the_first_by_name_is_told_whatever_the_last_digits() -> None:
    floors = {"b": estimate(0.3, 0.3), "a": estimate(0.1 + 0.2 - 1e-16, 0.3)}
    found = headline(estimate(1.0, 1.0), floors, direction="more")
    assert found is not None
    assert found.floor == "a"


def test_without_a_floor_there_is_no_headline() -> None:
    assert headline(estimate(1.0, 1.0), {}, direction="more") is None
    assert headline(estimate(1.0, 1.0), {"a": estimate(np.nan, np.nan)}, direction="more") is None
