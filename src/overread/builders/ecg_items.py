"""Questions whose wrong answers look like the right one: segments of one length, ranges of one width, leads in balance.

Every place among the options is equally likely to be the right one, whatever the ECG; what cannot be asked so is not
asked. Samples of the recording stand beside each answer as evidence.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

Span = tuple[int, int]
"""First and last sample of a wave."""

OPTIONS = 4
GRID_S = 0.01
"""Times are told to this; so is where a segment may begin."""
TRIES = 400
FEWEST, MOST = 3, 5
"""Ranges of a number."""
NARROW = 24
"""So many ranges would fit side by side into most of the numbers, so that few of them touch each other."""
CLEAR_MV = 0.1
"""Leads whose heights differ by less are not compared."""
APART = 0.15
"""Of the width of a range: no number lies nearer to an end."""


@dataclasses.dataclass(frozen=True, slots=True)
class Asked:
    """Options with the right ones, and the samples that the answer was read from."""

    options: list[str]
    answer: list[str]
    evidence: list[Span]


def segment(
    rng: np.random.Generator, right: Sequence[Span], wrong: Sequence[Span], seconds: float, size: tuple[int, float]
) -> Asked | None:
    """One segment that holds a wave of `right` whole, and others that hold none of it, all `seconds` long.

    The others are drawn around `wrong`: other waves of this ECG, or the same waves of other ECGs, so that times of
    right and wrong segments come alike. `size` is samples and samples a second. None where the recording has no room.
    """
    samples, rate = size
    length, step = round(seconds * rate), round(GRID_S * rate)
    inside = [span for span in right if span[1] - span[0] < length]
    if not inside or not wrong:
        return None
    for _ in range(TRIES):
        wave = inside[int(rng.integers(len(inside)))]
        chosen = [_around(rng, wave, length, step)]
        chosen += [_around(rng, wrong[int(rng.integers(len(wrong)))], length, step) for _ in range(OPTIONS - 1)]
        if _fair(chosen, right, length, samples):
            told = {start: f"[{start / rate:.2f}s - {(start + length) / rate:.2f}s]" for start in chosen}
            return Asked([told[start] for start in sorted(chosen)], [told[chosen[0]]], [wave])
    return None


def _around(rng: np.random.Generator, wave: Span, length: int, step: int) -> int:
    """Where a segment begins that holds a wave somewhere within it."""
    first, last = -((length - wave[1]) // step) if wave[1] > length else 0, wave[0] // step
    return step * int(rng.integers(min(first, last), last + 1))


def _fair(chosen: Sequence[int], right: Sequence[Span], length: int, samples: int) -> bool:
    """The first segment holds a whole wave; the others touch none, and no two of all touch each other."""
    if min(chosen) < 0 or max(chosen) + length > samples:
        return False
    if not any(chosen[0] <= first and last < chosen[0] + length for first, last in right):
        return False
    if any(start <= last and first < start + length for start in chosen[1:] for first, last in right):
        return False
    ordered = sorted(chosen)
    return all(after - before > length for before, after in itertools.pairwise(ordered))


def ranges(rng: np.random.Generator, value: float, others: Sequence[float], unit: Mapping[str, Any]) -> Asked | None:
    """Three to five ranges of equal width, one around the number and the others around numbers of other ECGs.

    `MOST` numbers are drawn, the right one among them, and taken in random order as long as their ranges touch none
    before. Nothing of that looks at which is right, so of those taken each is equally likely to be it, however the
    numbers are spread. Drawing again until they fit would favour common numbers. None where the right one was not
    taken, or too few were.
    """
    if len(others) < MOST - 1:
        return None
    spread = float(np.subtract(*np.quantile([*others, value], (0.9, 0.1))))
    width = min(float(unit["usual"]), max(float(unit["least"]), spread / NARROW))
    drawn = [value, *(others[int(i)] for i in rng.permutation(len(others))[: MOST - 1])]
    grid = 10 ** unit["decimals"]
    lows = [round((one - float(rng.uniform(APART, 1 - APART)) * width) * grid) / grid for one in drawn]
    taken: list[int] = []
    for one in rng.permutation(MOST).tolist():
        if all(abs(lows[one] - lows[other]) >= width for other in taken):
            taken.append(one)
    if 0 not in taken or len(taken) < FEWEST:
        return None
    told = {
        low: "[" + " - ".join(f"{end:.{unit['decimals']}f}{unit['unit']}" for end in (low, low + width)) + "]"
        for low in (lows[one] for one in taken)
    }
    return Asked([told[low] for low in sorted(told)], [told[lows[0]]], [])


def lead_offers(rng: np.random.Generator, truths: Sequence[Mapping[str, bool]]) -> list[dict[str, bool]]:
    """For each ECG the leads that it is asked about: each lead is offered as often where it is right as where not."""
    offers: list[dict[str, bool]] = [{} for _ in truths]
    for lead in sorted({lead for truth in truths for lead in truth}):
        sides = [[n for n, truth in enumerate(truths) if truth.get(lead) is holds] for holds in (True, False)]
        count = min(map(len, sides))
        for holds, side in zip((True, False), sides, strict=True):
            for number in rng.permutation(side)[:count].tolist():
                offers[number][lead] = holds
    usable = [len(offer) > 1 and any(offer.values()) for offer in offers]
    if all(usable) or not any(usable):
        return [offer if fine else {} for offer, fine in zip(offers, usable, strict=True)]
    # What cannot be asked takes its leads out of balance: begin again with the others.
    kept = [truth for truth, fine in zip(truths, usable, strict=True) if fine]
    again = iter(lead_offers(rng, kept))
    return [next(again) if fine else {} for fine in usable]


def lead_pairs(rng: np.random.Generator, heights: Sequence[Mapping[str, float]]) -> list[tuple[str, str] | None]:
    """For each ECG two leads, the one with the greater number first; None where none can be asked about in balance.

    Of each two leads either is the greater one in as many of the ECGs that are asked about them. `heights` leave out
    leads that are not known; differences below `CLEAR_MV` are not asked about.
    """
    names = sorted({lead for one in heights for lead in one})
    pairs: list[tuple[str, str] | None] = [None] * len(heights)
    for one, other in itertools.combinations(names, 2):
        sides: list[list[int]] = [[], []]
        for number, known in enumerate(heights):
            apart = known.get(one, math.nan) - known.get(other, math.nan)
            if pairs[number] is None and abs(apart) >= CLEAR_MV:
                sides[apart < 0].append(number)
        count = min(map(len, sides))
        for side, pair in zip(sides, ((one, other), (other, one)), strict=True):
            for number in rng.permutation(side)[:count].tolist():
                pairs[int(number)] = pair
    return pairs
