"""What is left of a recording when QRS complexes and T waves are taken out: the activity of the atria, and noise."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from scipy import ndimage

from overread.measure.ecg.beats import BEFORE, Beats
from overread.measure.ecg.boundaries import Floats
from overread.measure.ecg.preparing import MS
from overread.measure.ecg.t_waves import Span

STEP = 4
"""P waves are looked for at so many times fewer samples."""
COARSE_MS = STEP / MS
MARGIN_MS = 8.0
TAIL_MS = 30.0
SLOW_MS = 75.0
"""What moves more slowly than this is no P wave."""
LEVEL_MS = 20.0


@dataclasses.dataclass(frozen=True, slots=True)
class Kind:
    """The average beat of a kind and its waves, in samples of it."""

    beat: Floats
    """(leads, samples), without its level just before the QRS complex."""
    qrs: tuple[int, int]
    clear: float
    """0 to 1: how far the complex stands out of noise."""
    t: Span | None


def level_of(beat: Floats, onset: int) -> Floats:
    """The level of each lead just before a complex, shape (leads, 1)."""
    first = max(0, onset - round(LEVEL_MS * MS))
    return np.asarray(np.median(beat[:, first : onset + 1], axis=1, keepdims=True))


def residual(leads: Floats, beats: Beats, kinds: Sequence[Kind]) -> Floats:
    """The leads (leads, samples) without the QRS complexes and T waves of all beats."""
    left = leads.copy()
    samples = leads.shape[1]
    margin = round(MARGIN_MS * MS)
    for middle, number in zip(beats.middles.tolist(), beats.kinds.tolist(), strict=True):
        kind = kinds[number]
        first, last = kind.qrs[0] - margin, _last(kind)
        start, stop = middle - BEFORE + first, middle - BEFORE + last
        cut = slice(max(0, start), min(samples, stop))
        beat = kind.beat[:, first:last] * _taper(last - first)
        left[:, cut] -= beat[:, cut.start - start : cut.stop - start]
    for middle, number in zip(beats.middles.tolist(), beats.kinds.tolist(), strict=True):
        first, last = (middle - BEFORE + at for at in kinds[number].qrs)
        _bridge(left, max(0, first - margin), min(samples - 1, last + margin))
    return left


def _last(kind: Kind) -> int:
    end = kind.qrs[1] if kind.t is None else kind.t.joint[1]
    return int(min(kind.beat.shape[1], end + round(TAIL_MS * MS)))


def _taper(length: int) -> Floats:
    tail = min(length, round(TAIL_MS * MS))
    taper = np.ones(length)
    taper[-tail:] = 0.5 + 0.5 * np.cos(np.pi * np.arange(1, tail + 1) / tail)
    return taper


def _bridge(left: Floats, first: int, last: int) -> None:
    """A straight line in the place of a complex, whose height differs a little from beat to beat."""
    near = round(6 * MS)
    start = left[:, max(0, first - near) : first + 1].mean(axis=1, keepdims=True)
    end = left[:, last : last + near + 1].mean(axis=1, keepdims=True)
    left[:, first : last + 1] = start + (end - start) * np.linspace(0.0, 1.0, last - first + 1)


def coarse(left: Floats) -> Floats:
    """What may be P waves, at `WORK_HZ / STEP`, shape (leads, samples // STEP)."""
    pieces = left.shape[1] // STEP
    means = left[:, : pieces * STEP].reshape(len(left), pieces, STEP).mean(axis=2)
    smooth = ndimage.gaussian_filter1d(means, 1.0, axis=1)
    return np.asarray(smooth - ndimage.gaussian_filter1d(smooth, SLOW_MS / COARSE_MS, axis=1))
