"""Where the T wave of an average beat begins and ends: before and behind its two flanks, where they become level."""

from __future__ import annotations

import dataclasses

import numpy as np
from scipy import ndimage

from overread.measure.ecg.boundaries import Floats, Places
from overread.measure.ecg.complexes import around
from overread.measure.ecg.preparing import MS

SPREAD_MS = 10.0
ONSET_SHARE, OFFSET_SHARE = 0.4, 0.3
"""Shares of the steepest slope of a flank that the wave begins and ends with."""
FIRST_MS = 40.0
"""No T wave has its summit so soon after the QRS complex."""
LEAST_SHARE, MEDIAN_SHARE = 0.9, 0.75
"""Shares of the least and of the median distance to the next beat that lie before the end of the T wave."""
FAST_MS = 450.0
LONGEST_QT_MS = 560.0
"""QT at 60 beats a minute."""
LEAST_MV = 0.025
"""Least height, as root mean square over the leads."""
SEEN_MV = 0.025
"""Least height in one lead."""
FLANK_MS = 120.0


@dataclasses.dataclass(frozen=True, slots=True)
class Span:
    """A wave of an average beat, in samples of it."""

    joint: tuple[int, int]
    per_lead: Places
    top: int
    clear: float
    """0 to 1: how far it stands out."""


def t_of(beat: Floats, qrs: tuple[int, int], gaps: tuple[float, float]) -> Span | None:
    """The T wave of an average beat (leads, samples); `gaps` are the least and the median distance to the next beat.

    None where nothing stands out after the QRS complex.
    """
    onset, offset = qrs
    start = offset + round(FIRST_MS * MS)
    reach = LONGEST_QT_MS * MS * np.sqrt(gaps[1] / (1000 * MS)) + max(0.0, offset - onset - 100 * MS)
    # After a wide complex the T wave of a fast rhythm lasts nearly up to the next one.
    wide = max(0.0, offset - onset - 100 * MS) if gaps[1] < FAST_MS * MS else 0.0
    stop = min(beat.shape[1] - 2, int(onset + min(LEAST_SHARE * gaps[0], MEDIAN_SHARE * gaps[1] + 0.8 * wide, reach)))
    if stop - start < 60 * MS:
        return None
    smooth = ndimage.gaussian_filter1d(beat, SPREAD_MS * MS, axis=1)
    slopes = np.abs(ndimage.gaussian_filter1d(beat, SPREAD_MS * MS, axis=1, order=1))
    steep = np.sqrt((slopes**2).mean(axis=0))
    part = smooth[:, start:stop]
    line = part[:, :1] + (part[:, -1:] - part[:, :1]) * np.linspace(0.0, 1.0, part.shape[1])
    height = np.sqrt(((part - line) ** 2).mean(axis=0))
    top = start + int(height.argmax())
    if height.max() < LEAST_MV:
        return None
    first, last = _ends(steep, (offset + round(10 * MS), top, stop))
    per_lead = np.array([_ends(lead, (offset + round(10 * MS), top, stop)) for lead in slopes])
    near = np.abs(per_lead - np.array([first, last])).max(axis=1) < 80 * MS
    per_lead = np.where(near[:, None], per_lead, np.array([first, last]))
    inner = smooth[:, first : last + 1]
    seen = np.ptp(inner, axis=1) >= SEEN_MV
    clear = float(np.clip(height.max() / (4 * LEAST_MV), 0.0, 1.0))
    return Span((first, last), around(per_lead, seen, (first, last)), top, clear)


def _ends(steep: Floats, bounds: tuple[int, int, int]) -> tuple[int, int]:
    """Where a wave begins and ends by its slopes, given where it may begin, its summit, and where it may end."""
    start, top, stop = bounds
    fall = top + int(steep[top : stop + round(20 * MS)].argmax())
    low = np.flatnonzero(steep[fall : stop + round(40 * MS)] < OFFSET_SHARE * steep[fall])
    last = fall + int(low[0]) if len(low) else max(fall, stop)
    begin = max(start, top - round(FLANK_MS * MS))
    rise = begin + int(steep[begin : top + 1].argmax())
    low = np.flatnonzero(steep[start : rise + 1] < ONSET_SHARE * steep[rise])
    first = start + int(low[-1]) if len(low) else start
    return first, min(last, len(steep) - 1)
