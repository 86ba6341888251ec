"""What makes one doubt what a file says of an ECG: leads that contradict each other, sizes that no heart has.

Nothing is put right here. A doubt is a sentence for a person; the signal stays as the file has it.
"""

from __future__ import annotations

import functools
import itertools

import numpy as np
import numpy.typing as npt

from overread.media.leads import LEADS

Floats = npt.NDArray[np.floating]

LEAST_MV, MOST_MV = 0.02, 20.0
"""Within these lies the median height of what is seen within two seconds, in any ECG of a person."""

_MOST_SECONDS = 600.0
_LEAST_HZ = 50.0
_WINDOW_S = 2.0
_SMOOTH_S, _STEP_S = 0.02, 0.04
"""The laws are tested on smoothed changes: wander and filters that differ between leads do not matter then."""
_BROKEN, _BROKEN_BADLY, _BETTER = 0.01, 0.35, 0.5
"""Shares of the limb leads' energy, found on 126 records and what became of them with names swapped or signs turned:
named otherwise, none of the true records fits the laws even a third better; swapped and turned ones mostly fit them
twice as well."""
_CUT_S, _CUT_LONG_S, _CUT_TIMES = 0.015, 0.1, 3
"""A lead is cut off that rests at its limit for so long several times, or once for very long."""
_LIMB = LEADS[:6]
_LAWS = np.array(
    [
        [1.0, -1.0, 1.0, 0.0, 0.0, 0.0],  # I + III = II
        [0.5, 0.5, 0.0, 1.0, 0.0, 0.0],  # aVR = -(I + II)/2
        [-0.5, 0.0, 0.5, 0.0, 1.0, 0.0],  # aVL = (I - III)/2
        [0.0, -0.5, -0.5, 0.0, 0.0, 1.0],  # aVF = (II + III)/2
    ]
)


def doubts_about(mv: npt.NDArray[np.float32], rate_hz: float, given: tuple[str, ...]) -> tuple[str, ...]:
    """Sentences about an ECG (12, samples) in mV of which the file holds the leads `given`; none where all is well."""
    mv = mv[:, : max(1, round(_MOST_SECONDS * rate_hz))]
    rows = [i for i, lead in enumerate(LEADS) if lead in given]
    low, high = np.fmin.reduce(mv, axis=1), np.fmax.reduce(mv, axis=1)
    empty = [i for i in rows if np.isnan(low[i])]
    flat = [i for i in rows if low[i] == high[i]]
    alive = [i for i in rows if i not in empty and i not in flat]
    cut = [i for i in alive if _cut(mv[i], float(low[i]), float(high[i]), rate_hz)]
    found: list[str] = []
    if rate_hz < _LEAST_HZ:
        found.append(f"{rate_hz:g} samples a second are too few for an ECG")
    found += _listed("holds no valid sample", "hold no valid sample", empty)
    found += _listed("is flat", "are flat", flat)
    found += _listed("is cut off at its limits", "are cut off at their limits", cut)
    if alive:
        height = height_mv(mv[alive], rate_hz)
        if not LEAST_MV <= height <= MOST_MV:
            found.append(f"the leads are {height:.3g} mV high, which no heart is: the units are probably wrong")
        found += _laws(mv, rate_hz, tuple(i for i in alive if i < len(_LIMB)))
    return tuple(found)


def height_mv(mv: npt.NDArray[np.float32], rate_hz: float) -> float:
    """The median over leads and stretches of two seconds of highest minus lowest value; 0 where nothing is valid."""
    width = max(1, min(mv.shape[1], round(_WINDOW_S * rate_hz)))
    cut = mv[:, : mv.shape[1] // width * width].reshape(len(mv), -1, width)
    heights = np.fmax.reduce(cut, axis=2) - np.fmin.reduce(cut, axis=2)
    valid = heights[~np.isnan(heights)]
    return float(np.median(valid)) if valid.size else 0.0


def _listed(one: str, many: str, places: list[int]) -> list[str]:
    if not places:
        return []
    names = ", ".join(LEADS[i] for i in places)
    return [f"lead {names} {one}" if len(places) == 1 else f"leads {names} {many}"]


def _cut(values: npt.NDArray[np.float32], low: float, high: float, rate_hz: float) -> bool:
    """Whether a lead stays at its highest or lowest value as an amplifier does that can go no further."""
    short, long = max(3, round(_CUT_S * rate_hz)), max(5, round(_CUT_LONG_S * rate_hz))
    for limit in (low, high):
        at = values == limit
        if np.count_nonzero(at) < min(long, _CUT_TIMES * short):
            continue
        # A lead whose baseline is its limit (waves to one side only) rests there and is not cut off.
        if abs(limit - np.nanmedian(values)) > 0.3 * (high - low):
            edges = np.flatnonzero(np.diff(np.concatenate([[0], at.view(np.int8), [0]])))
            rests = edges[1::2] - edges[::2]
            if np.count_nonzero(rests >= short) >= _CUT_TIMES or rests.max() >= long:
                return True
    return False


def _laws(mv: npt.NDArray[np.float32], rate_hz: float, places: tuple[int, ...]) -> list[str]:
    """Whether the limb leads fulfil the laws of Einthoven and Goldberger, and if not, what would."""
    smooth, step = max(1, round(_SMOOTH_S * rate_hz)), max(1, round(_STEP_S * rate_hz))
    laws, others = _readings(places)
    if not len(laws) or mv.shape[1] <= smooth + step:
        return []
    sums = np.cumsum(np.nan_to_num(mv[list(places)]), axis=1, dtype=np.float64)
    means = sums[:, smooth:] - sums[:, :-smooth]
    changes = means[:, step:] - means[:, :-step]
    energy = changes @ changes.T
    whole = float(np.trace(energy))
    if whole == 0.0:
        return []
    # How much energy is left over by the laws, for the names of the file and for every other reading of them.
    broken = np.einsum("rli,ij,rlj->r", laws, energy, laws) / whole
    best = int(np.argmin(broken[1:]))
    if broken[0] > _BROKEN and broken[1 + best] < _BETTER * broken[0]:
        guess = others[best] if len(places) == len(_LIMB) else "leads may be swapped or have the wrong sign"
        return [f"the limb leads contradict each other: {guess}"]
    return ["the limb leads contradict each other"] if broken[0] > _BROKEN_BADLY else []


@functools.lru_cache(maxsize=64)
def _readings(places: tuple[int, ...]) -> tuple[Floats, tuple[str, ...]]:
    """The laws that these limb leads allow to test (readings, laws, leads), and the readings in words.

    The first reading, without words, is that of the file; then every pair of leads swapped, every lead turned over.
    """
    known = [all(i in places for i in np.flatnonzero(law)) for law in _LAWS]
    laws = _LAWS[known][:, list(places)]
    names = [LEADS[i] for i in places]
    turns, words = [np.eye(len(places))], []
    for one, other in itertools.combinations(range(len(places)), 2):
        turn = np.eye(len(places))
        turn[[one, other]] = turn[[other, one]]
        turns.append(turn)
        words.append(f"{names[one]} and {names[other]} are probably swapped")
    for one in range(len(places)):
        turn = np.eye(len(places))
        turn[one, one] = -1.0
        turns.append(turn)
        words.append(f"{names[one]} probably has the wrong sign")
    return (laws @ np.stack(turns) if len(laws) else laws), tuple(words)
