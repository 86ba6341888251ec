"""Intervals over patients and the headline; arrays only, no tables.

Patients are resampled, not replies: what one patient's questions have in common must not pass for certainty. A resample
draws as many patients as there are, with replacement, and is held as counts a patient. The draws are exact multinomial
ones (indices, then counted), made in blocks so that memory stays flat however many patients there are; the same seed
and number of patients give the same draws whatever the block, so every score of a run sees the same resamples and
differences between them are paired.

Intervals are percentile intervals (2.5 to 97.5 %). BCa was left out on purpose: it is not defined where every resample
gives the same value, nor for the best of several floors, and one rule for all scores is easier to trust. Where every
patient scores the same, the interval has no width; read it together with the number of patients.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Direction = Literal["more", "less"]

CELLS = 2_000_000
"""Patients times resamples of one block: about 32 MB while it is drawn."""

NOTHING = 1e-12
"""A denominator below this is an empty resample, not a number."""


@dataclasses.dataclass(frozen=True, slots=True)
class Estimate:
    """A value and the same value in every resample (NaN: undefined there)."""

    value: float
    resampled: Floats


@dataclasses.dataclass(frozen=True, slots=True)
class Headline:
    """How far a value is better than the best floor; positive is better, whatever the direction."""

    lift: float
    resampled: Floats
    floor: str


def draws(patients: int, seed: int, resamples: int, *, cells: int = CELLS) -> Iterator[Floats]:
    """Blocks of resamples, each (patients, resamples of the block): how often each patient was drawn."""
    generator = np.random.default_rng(seed)
    width = max(1, cells // max(1, patients))
    for start in range(0, resamples, width):
        count = min(width, resamples - start)
        drawn = generator.integers(0, patients, size=(count, patients)) + patients * np.arange(count)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=count * patients).reshape(count, patients)
        yield np.ascontiguousarray(counts.T, dtype=np.float64)


def resampled_sums(sums: Any, seed: int, resamples: int, *, cells: int = CELLS) -> Floats:
    """Sums over the patients of every resample: from (k, patients), dense or scipy sparse, to (k, resamples)."""
    rows, patients = sums.shape
    result = np.empty((rows, resamples))
    start = 0
    for counts in draws(patients, seed, resamples, cells=cells) if patients else ():
        result[:, start : start + counts.shape[1]] = sums @ counts
        start += counts.shape[1]
    result[:, start:] = 0.0
    return result


def ratios(numerators: Floats, denominators: Floats) -> Floats:
    """Element by element; NaN where there is nothing to divide by."""
    result = np.full(np.broadcast(numerators, denominators).shape, np.nan)
    np.divide(numerators, denominators, out=result, where=np.abs(denominators) > NOTHING)
    return result


def interval(resampled: Floats, *, level: float = 0.95) -> tuple[float, float] | None:
    """The percentile interval of one value's resamples (linear between ranks, undefined ones left out).

    None where fewer than half of the resamples are defined.
    """
    known = np.sort(resampled[~np.isnan(resampled)])
    if known.size == 0 or 2 * known.size < resampled.size:
        return None
    low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def headline(plain: Estimate, floors: Mapping[str, Estimate], *, direction: Direction) -> Headline | None:
    """The value against its best floor, that floor found anew in every resample.

    The best floor is the highest, or the lowest where less is better; among equals the first by name is told. None
    where there is no floor with a value. Floors that are undefined in a resample do not take part in it.
    """
    sign = 1.0 if direction == "more" else -1.0
    names = sorted(name for name, floor in floors.items() if not np.isnan(floor.value))
    if not names or np.isnan(plain.value):
        return None
    # Rounded, so that the order in which sums were added does not choose between equal floors.
    values = np.round([sign * floors[name].value for name in names], 10)
    best = names[int(np.argmax(values))]
    tops = np.fmax.reduce([sign * floors[name].resampled for name in names])
    return Headline(sign * (plain.value - floors[best].value), sign * plain.resampled - tops, best)
