"""Two models on the same items: effect, interval and p by exchanging them patient by patient; Holm; arrays only.

If the two were equally good, it would not matter which of the two a patient's replies are put down to. The test
exchanges them for every choice of patients and counts how often the difference is at least as large as the one found,
on either side. All choices are tried where few patients differ; otherwise random ones, with p = (k + 1) / (n + 1).
Where both answer every question, that is the sign-flip test of each patient's difference.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

import numpy as np

from overread.metrics.statistics import CELLS, Direction, Floats, interval, ratios, resampled_sums

EXACT_PATIENTS = 14
"""Up to so many patients that differ, all exchanges are tried."""


@dataclasses.dataclass(frozen=True, slots=True)
class Paired:
    """How much better the first is than the second: positive is better, whatever the direction."""

    effect: float | None
    low: float | None
    high: float | None
    p: float | None
    patients: int


def _exchanges(patients: int, seed: int, permutations: int) -> Iterator[Floats]:
    """Blocks (patients, exchanges) of 0 and 1; all of them, without random choice, where there are few."""
    if patients <= EXACT_PATIENTS:
        every = np.arange(2**patients)
        yield ((every[None, :] >> np.arange(patients)[:, None]) & 1).astype(np.float64)
        return
    generator = np.random.default_rng(seed)
    width = max(1, CELLS // patients)
    for start in range(0, permutations, width):
        count = min(width, permutations - start)
        yield generator.integers(0, 2, size=(count, patients), dtype=np.int8).T.astype(np.float64)


def exchange_p(first: Floats, second: Floats, *, seed: int, permutations: int = 9999) -> float | None:
    """Two-sided p for a difference of ratios of sums; `first` and `second` are (patients, 2): sum and weight."""
    totals = first.sum(axis=0), second.sum(axis=0)
    if min(totals[0][1], totals[1][1]) <= 0:
        return None
    observed = abs(totals[0][0] / totals[0][1] - totals[1][0] / totals[1][1])
    change = second - first
    change = change[np.any(change != 0, axis=1)]
    # Sums of the same numbers in another order differ in their last digits; those are ties.
    threshold = observed - 1e-9 * max(1.0, float(observed))
    reached = tried = 0
    for exchanged in _exchanges(len(change), seed, permutations):
        moved = change.T @ exchanged
        one = ratios(totals[0][0] + moved[0], totals[0][1] + moved[1])
        other = ratios(totals[1][0] - moved[0], totals[1][1] - moved[1])
        reached += int(np.count_nonzero(~(np.abs(one - other) < threshold)))
        tried += exchanged.shape[1]
    if len(change) <= EXACT_PATIENTS:
        return reached / tried
    return (reached + 1) / (tried + 1)


def paired(
    first: Floats, second: Floats, *, direction: Direction, seed: int, resamples: int = 1000, permutations: int = 9999
) -> Paired:
    """Compares two ratios of sums over the same patients; both are (patients, 2): sum of values, sum of weights.

    Of a single patient there is no interval. Effect and p are None where one of the two has no weight at all.
    """
    sign = 1.0 if direction == "more" else -1.0
    p = exchange_p(first, second, seed=seed, permutations=permutations)
    if p is None:
        return Paired(None, None, None, None, len(first))
    effect = sign * float(first[:, 0].sum() / first[:, 1].sum() - second[:, 0].sum() / second[:, 1].sum())
    bounds = None
    if len(first) > 1:
        sums = resampled_sums(np.concatenate([first.T, second.T]), seed, resamples)
        bounds = interval(sign * (ratios(sums[0], sums[1]) - ratios(sums[2], sums[3])))
    low, high = bounds if bounds else (None, None)
    return Paired(effect, low, high, p, len(first))


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """p values adjusted for a family of tests by Holm's step-down rule; a missing p stays out of the family."""
    known = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (p, place) in enumerate(known):
        largest = max(largest, min(1.0, (len(known) - rank) * p))
        adjusted[place] = largest
    return adjusted
