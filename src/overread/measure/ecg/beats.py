"""Finds the beats of a recording, tells their kinds apart and averages each kind.

Beats are where the slopes of all leads are steep together. Intervals and shapes are read off the average of a kind, so
that noise and what is not of the beat drop out of it.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import sliding_window_view
from scipy import ndimage, signal

from overread.errors import BadInput
from overread.measure.ecg.boundaries import Floats, Places
from overread.measure.ecg.preparing import MS

REFRACTORY_MS = 240.0
FELLOW = 0.85
"""Beats whose shapes correlate better than this, in the mean over their leads, are of one kind."""
SPREADS_MS = (4.0, 8.0, 12.0)
"""How much slopes are smoothed to find beats by: more where there is noise between the beats."""
LOUD = 0.2
"""Share of the steepest slopes that what lies between beats must not reach."""
T_WAVE_MS, T_WAVE_SHARE = 420.0, 0.85
"""What comes so soon after a beat and is less steep than this share of it may be its T wave."""
T_WAVE_USUAL = 0.65
"""It is, where most beats are followed by something so steep in comparison at that distance."""

HERALD_MS, HERALD_SHARE = 300.0, 0.4
"""A complex so soon before another, with less than this share of its height, is a paced or a steep P wave."""

BEFORE_MS, AFTER_MS = 420.0, 640.0
"""What an average beat spans around the middle of its QRS complex."""
BEFORE, AFTER = round(BEFORE_MS * MS), round(AFTER_MS * MS)
HALF = round(70 * MS)
ROOM = round(30 * MS)


@dataclasses.dataclass(frozen=True, slots=True)
class Beats:
    """The beats of a recording, in working samples."""

    middles: Places
    """(beats,): where each beat lies, moved so that beats of a kind lie over each other."""
    kinds: Places
    """(beats,): 0 for the commonest kind."""
    likeness: Floats
    """(beats,): how well each beat correlates with its kind, 0 to 1."""


def find_beats(leads: Floats) -> Beats:
    """The beats of `leads` (usable leads, samples); raises `BadInput` below three."""
    for spread_ms in SPREADS_MS:
        slopes = ndimage.gaussian_filter1d(leads, spread_ms * MS, axis=1, order=1)
        steep = _steep(slopes)
        if float(np.quantile(steep, 0.3)) < LOUD * float(np.quantile(steep, 0.995)):
            break
    places = _places(steep)
    kinds, middles, likeness = _sorted_out(slopes, _centres(slopes, places))
    heralds = _heralds(leads, middles, kinds)
    if heralds.any() and len(places) - heralds.sum() >= 3:
        kinds, middles, likeness = _sorted_out(slopes, _centres(slopes, places[~heralds]))
    return Beats(middles, kinds, likeness)


def _steep(slopes: Floats) -> Floats:
    """How steep the leads are together; each counts by its own scale, so that none drowns the others."""
    size = np.abs(slopes)
    scale = np.maximum(np.quantile(size[:, ::4], 0.98, axis=1, keepdims=True), 1e-6)
    # The square root keeps leads of unequal height from counting wholly alike, and one with artefacts from ruling.
    weight = np.sqrt(np.minimum(scale, 4.0 * np.median(scale))) / scale
    together = (np.minimum(size * weight, 4.0 * scale * weight) ** 2).mean(axis=0)
    return np.asarray(ndimage.uniform_filter1d(np.sqrt(together), round(80 * MS) | 1))


def _places(steep: Floats) -> Places:
    apart = round(REFRACTORY_MS * MS)
    high, _ = signal.find_peaks(steep, distance=apart, height=0.25 * float(np.quantile(steep, 0.998)))
    if len(high):
        # Held against the steeper ones nearby: there may be as many T waves among them as beats.
        limit = 0.38 * np.array([np.quantile(steep[high[np.abs(high - at) < 5000 * MS]], 0.75) for at in high])
        high = _without_t_waves(high[steep[high] > limit], steep)
    edge = round(40 * MS)
    high = high[(high >= edge) & (high < len(steep) - edge)]
    if len(high) < 3:
        raise BadInput(f"{len(high)} beats were found, and three are needed", do="give a longer recording")
    return np.asarray(high, dtype=np.int64)


def _without_t_waves(places: Places, steep: Floats) -> Places:
    """A T wave follows every beat, a premature beat only some."""
    near = ndimage.maximum_filter1d(steep, round(50 * MS) | 1)
    soon = np.diff(places, prepend=-len(steep)) < T_WAVE_MS * MS
    weaker = steep[places] < T_WAVE_SHARE * steep[np.roll(places, 1)]
    leading = places[~(soon & weaker)]
    kept: list[int] = []
    delays: list[int] = []
    for at in places.tolist():
        behind = at - kept[-1] if kept else 0
        if kept and behind < T_WAVE_MS * MS and steep[at] < T_WAVE_SHARE * steep[kept[-1]]:
            others = leading[(leading != kept[-1]) & (leading + behind < len(steep))] + behind
            if len(others) and float(np.quantile(near[others], 0.3)) > T_WAVE_USUAL * steep[at]:
                delays.append(behind)
                continue
        kept.append(at)
    # The record may begin with the T wave of a beat that it does not hold.
    if len(delays) > 1 and kept[0] < np.median(delays) and steep[kept[0]] < T_WAVE_SHARE * np.median(steep[kept]):
        del kept[0]
    return np.array(kept, dtype=np.int64)


def _heralds(leads: Floats, middles: Places, kinds: Places) -> npt.NDArray[np.bool_]:
    """Which beats are none: low, unlike most, and so soon before a high one that they come from the atria."""
    cuts = windows(leads, middles, HALF, HALF)
    height = (np.fmax.reduce(cuts, axis=2) - np.fmin.reduce(cuts, axis=2)).mean(axis=1)
    low = np.minimum(np.append(height[1:], 0.0), float(np.median(height[kinds == 0]))) * HERALD_SHARE
    soon = np.append(np.diff(middles) < HERALD_MS * MS, False)
    return np.asarray(soon & (kinds > 0) & (height < low))


def _centres(slopes: Floats, places: Places) -> Places:
    """The middles of the complexes by the energy of their slopes: unlike a peak they do not jump from beat to beat."""
    reach = round(90 * MS)
    energy = np.pad((slopes**2).sum(axis=0), reach)
    cuts = energy[places[:, None] + np.arange(2 * reach + 1)]
    centres = (cuts * np.arange(-reach, reach + 1)).sum(axis=1) / np.maximum(cuts.sum(axis=1), 1e-12)
    return np.asarray(np.clip(places + np.rint(centres).astype(np.int64), 0, slopes.shape[1] - 1))


def windows(leads: Floats, middles: Places, before: int, after: int) -> Floats:
    """The stretches around middles, shape (beats, leads, before + after); NaN beyond the ends of the record."""
    padded = np.pad(leads, ((0, 0), (before, after)), constant_values=np.nan)
    return np.asarray(padded[:, middles[:, None] + np.arange(before + after)].transpose(1, 0, 2))


def _sorted_out(slopes: Floats, peaks: Places) -> tuple[Places, Places, Floats]:
    """Kinds, the beats moved onto each other within kinds, and how like its kind each is."""
    middles = peaks.copy()
    wide = HALF + ROOM
    views = np.nan_to_num(windows(slopes, peaks, wide, wide))
    kinds = np.full(len(peaks), -1, dtype=np.int64)
    likeness = np.ones(len(peaks))
    fits = _fits(views, _pattern_of(views, _first(views)))
    left = np.arange(len(peaks))
    kind = 0
    found: list[tuple[Places, Places, Floats]] = []
    while len(left):
        pattern = _pattern_of(views[left], _first(views[left]))
        for _ in range(2):
            fits = _fits(views[left], pattern)
            best, shift = fits.max(axis=1), fits.argmax(axis=1) - ROOM
            of = best > FELLOW
            if not of.any():
                of[int(best.argmax())] = True
            pattern = np.stack([_cut(views[i], s) for i, s in zip(left[of], shift[of], strict=True)]).mean(axis=0)
        found.append((left[of], shift[of], best[of]))
        left = left[~of]
        kind += 1
    for kind, (of_kind, shift, best) in enumerate(sorted(found, key=lambda one: -len(one[0]))):
        kinds[of_kind], middles[of_kind], likeness[of_kind] = kind, peaks[of_kind] + shift, np.clip(best, 0.0, 1.0)
    return kinds, middles, likeness


def _first(views: Floats) -> int:
    """The beat that most others are like."""
    middle = views[:, :, ROOM:-ROOM].reshape(len(views), -1)
    if len(middle) > 60:
        middle = middle[:: len(middle) // 60 + 1]
        step = len(views) // 60 + 1
    else:
        step = 1
    unit = middle / np.maximum(np.linalg.norm(middle, axis=1, keepdims=True), 1e-12)
    return int(((unit @ unit.T) > FELLOW - 0.15).sum(axis=1).argmax()) * step


def _pattern_of(views: Floats, first: int) -> Floats:
    return np.asarray(views[first][:, ROOM:-ROOM])


def _cut(view: Floats, shift: int) -> Floats:
    return view[:, ROOM + shift : view.shape[1] - ROOM + shift]


def _fits(views: Floats, pattern: Floats) -> Floats:
    """Correlations of each beat with a pattern at each shift, shape (beats, shifts)."""
    inner = pattern.shape[1]
    cuts = sliding_window_view(views, inner, axis=2)
    cross = np.einsum("blsw,lw->bs", cuts, pattern)
    energy = (views**2).sum(axis=1)
    sums = np.cumsum(np.pad(energy, ((0, 0), (1, 0))), axis=1)
    norms = np.sqrt((sums[:, inner:] - sums[:, :-inner]) * float((pattern**2).sum()))
    return np.asarray(cross / np.maximum(norms, 1e-12))
