"""What a wave of the ECG phantom is made of: polylines with rounded corners for QRS complexes, lobes for P and T.

Outside their span they are exactly zero, and they leave and reach the baseline in a small corner, so that an onset or
an offset is a place and not an opinion. How soon they rise from there is taken from the boundaries that cardiologists
drew in LUDB: 10 ms after a QRS onset a lead shows some hundredths of its height, and as much 10 ms before a T offset.

Only eight leads are drawn; III, aVR, aVL and aVF follow from I and II.
"""

from __future__ import annotations

import functools
import itertools

import numpy as np
import numpy.typing as npt

LEADS = ("I", "II", "III", "aVR", "aVL", "aVF", "V1", "V2", "V3", "V4", "V5", "V6")
DRAWN = ("I", "II", "V1", "V2", "V3", "V4", "V5", "V6")
CHEST = DRAWN[2:]

Floats = npt.NDArray[np.float64]

P_RISE, P_FALL = 1.6, 1.1
"""The powers of a sine that lobes of the P wave rise and fall with; 1 would be a straight line, 2 has no corner."""

T_CORNER = 0.25
"""Share of the T wave that reaches the baseline in a straight line."""

EASE_MS, EASE_LEAST = 20.0, 0.25
"""A complex takes so long to reach its full slope, and so much of it it has at once."""

ROUND = 0.42
"""How much of the shorter of two lines their rounded corner takes, at most one half."""

TO_AUGMENTED = 2.0 / np.sqrt(3.0)
"""An augmented lead is shorter than a limb lead by this factor."""


def twelve(drawn: Floats) -> Floats:
    """All leads (12, samples) from the drawn eight, by Einthoven's and Goldberger's laws."""
    one, two = drawn[:2]
    return np.concatenate([[one, two, two - one, -(one + two) / 2, one - two / 2, two - one / 2], drawn[2:]])


def rounded(at: tuple[float, ...], length: int) -> Floats:
    """What turns heights into a polyline with rounded corners, shape (len(at) + 1, length + 1).

    `at` are the places of the inner heights as fractions of the length, rising; the last height is that of the end,
    the start is zero. One sample is one ms. The line passes through every height; on its first and last ms it is eased.
    """
    knots = np.array([0.0, *at, 1.0]) * length
    steps = np.diff(knots)
    reach = ROUND * np.minimum(steps[:-1], steps[1:])
    # Between straight lines the corner of knot k is a parabola over `reach`, which takes (bend * reach / 4) off it.
    bends = np.zeros((len(at), len(knots)))
    for k, (left, right) in enumerate(itertools.pairwise(steps)):
        bends[k, k : k + 3] = 1 / left, -1 / left - 1 / right, 1 / right
    taken = np.eye(len(knots))
    taken[1:-1] += reach[:, None] / 4 * bends
    corners = np.linalg.inv(taken)
    x = np.arange(length + 1.0)
    lines = np.stack([np.interp(x, knots, one) for one in np.eye(len(knots))])
    near = np.maximum(reach[:, None] - np.abs(x - knots[1:-1, None]), 0.0) ** 2 / (4 * reach[:, None])
    table = np.asarray(corners.T @ (lines + bends.T @ near))[1:]
    table[:-1] *= _ease(x, length) / _ease(knots[1:-1, None], length)
    return table


def _ease(x: Floats, length: int) -> Floats:
    """How much of its height a complex has at `x`, for being close to its start or its end."""
    near = np.clip(np.minimum(x, length - x) / min(EASE_MS, 0.25 * length), 0.0, 1.0)
    return np.asarray(EASE_LEAST + (1.0 - EASE_LEAST) * near * near * (3.0 - 2.0 * near))


@functools.lru_cache(maxsize=512)
def p_lobes(length: int) -> Floats:
    """The right and the left atrium, shape (2, length + 1): the first starts the P wave, the second ends it."""
    x = np.arange(length + 1.0) / length
    spans = ((0.0, 0.72), (0.28, 1.0))
    lobes = np.stack([_arch((x - start) / (stop - start)) for start, stop in spans])
    lobes.flags.writeable = False
    return lobes


def _arch(x: Floats) -> Floats:
    inside = (x > 0.0) & (x < 1.0)
    power = np.where(x < 0.5, P_RISE, P_FALL)
    return np.where(inside, np.abs(np.sin(np.pi * np.where(inside, x, 0.0))) ** power, 0.0)


@functools.lru_cache(maxsize=512)
def st_t(st: int, t: int, peak: float) -> Floats:
    """What an ST segment of `st` and a T wave of `t` samples consist of, shape (3, st + t + 1).

    Rows: how the level at the QRS offset counts, how that at the T onset counts, and the T wave with its peak at the
    fraction `peak` of `t`. The T wave starts gently and arrives in a corner.
    """
    x = np.arange(st + t + 1.0)
    first = np.clip(1.0 - x / st, 0.0, 1.0)
    u = np.clip((x - st) / t, 0.0, 1.0)
    second = np.where(x <= st, x / st, 1.0 - u * u * (3.0 - 2.0 * u))
    rise = np.sin(np.pi / 2 * np.clip(u / peak, 0.0, 1.0)) ** 1.7
    slope = np.clip(np.cos(np.pi / 2 * np.clip((u - peak) / (1.0 - peak), 0.0, 1.0)), 0.0, 1.0)
    fall = T_CORNER * slope + (1.0 - T_CORNER) * slope**2
    fall[-1] = 0.0
    table = np.stack([first, second, np.where(u < peak, rise, fall)])
    table.flags.writeable = False
    return table
