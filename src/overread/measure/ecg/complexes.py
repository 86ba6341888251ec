"""Where the QRS complex of an average beat begins and ends: where the slopes of all leads together set in and cease."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import ndimage

from overread.errors import BadInput
from overread.measure.ecg.beats import BEFORE
from overread.measure.ecg.boundaries import UNSEEN, Floats, Places
from overread.measure.ecg.preparing import MS

SPREAD_MS = 3.0
ONSET_SHARE, OFFSET_SHARE = 0.037, 0.045
"""Shares of the steepest slope that a complex begins and ends with."""
MIDDLE_MS = 65.0
"""The steepest slope lies no further from the middle than this."""
TURN_MS = 18.0
"""Where all leads turn at once the slope is zero for a moment; that is no end."""
ROOM_MS = 20.0
"""So far from the joint boundaries a lead's own may lie outside them."""
LEAST_MV = 0.03
"""Least height of a complex for it to be seen in a lead."""
OWN_SHARE = 0.04
LONGEST_MS = 260.0


def slopes_of(beat: Floats, spread_ms: float) -> Floats:
    """The size of the smoothed slopes of each lead, in mV a working sample."""
    return np.abs(ndimage.gaussian_filter1d(beat, spread_ms * MS, axis=1, order=1))


def qrs_of(beat: Floats) -> tuple[int, int]:
    """Onset and offset of the complex in an average beat (leads, samples), all leads taken together."""
    steep = np.sqrt((slopes_of(beat, SPREAD_MS) ** 2).mean(axis=0))
    reach = round(MIDDLE_MS * MS)
    start = BEFORE - reach + int(steep[BEFORE - reach : BEFORE + reach].argmax())
    share = np.where(np.arange(len(steep)) < start, ONSET_SHARE, OFFSET_SHARE)
    loud = steep > share * steep[start] + _noise(steep)
    loud = ndimage.binary_closing(loud, np.ones(round(TURN_MS * MS) | 1))
    marks, _ = ndimage.label(loud)
    places = np.flatnonzero(marks == marks[start])
    onset, offset = int(places[0]), int(places[-1])
    longest = round(LONGEST_MS * MS)
    if not loud[start] or onset < 40 * MS or offset - onset > longest:
        onset, offset = _tight(steep, start, longest)
    return onset, offset


def _noise(steep: Floats) -> float:
    """The slope that the level has from noise alone."""
    return float(np.quantile(steep, 0.25))


def _tight(steep: Floats, start: int, longest: int) -> tuple[int, int]:
    """The boundaries where noise or a steep ST segment leaves none at the usual share: at the least that parts them."""
    for share in (0.08, 0.12, 0.18, 0.25, 0.35, 0.5):
        loud = ndimage.binary_closing(steep > share * steep[start], np.ones(round(TURN_MS * MS) | 1))
        marks, _ = ndimage.label(loud)
        places = np.flatnonzero(marks == marks[start])
        if loud[start] and places[0] > 40 * MS and places[-1] - places[0] <= longest:
            return int(places[0]), int(places[-1])
    raise BadInput("no QRS complex stands out in the average beat", do="give a recording with less noise")


def qrs_per_lead(beat: Floats, onset: int, offset: int) -> Places:
    """Onset and offset in each lead, shape (leads, 2), near the joint ones; `UNSEEN` where a lead shows no complex."""
    room = round(ROOM_MS * MS)
    first, last = max(0, onset - room), min(beat.shape[1], offset + room + 1)
    steep = slopes_of(beat, SPREAD_MS)
    inner = steep[:, first:last]
    quiet = np.minimum(
        np.median(steep[:, max(0, first - 40) : first + 1], axis=1),
        np.median(steep[:, last - 1 : last + 40], axis=1),
    )
    limit = OWN_SHARE * inner.max(axis=1) + 1.5 * quiet
    # Over three samples, so that noise of one does not begin a complex.
    loud = ndimage.minimum_filter1d((inner > limit[:, None]).astype(np.int8), 3, axis=1) > 0
    spans = np.stack([loud.argmax(axis=1) - 1, loud.shape[1] - loud[:, ::-1].argmax(axis=1)], axis=1) + first
    low, high = beat[:, onset : offset + 1].min(axis=1), beat[:, onset : offset + 1].max(axis=1)
    seen = loud.any(axis=1) & (high - low >= LEAST_MV)
    return around(spans, seen, (onset, offset))


def around(spans: Places, seen: npt.NDArray[np.bool_], joint: tuple[int, int]) -> Places:
    """Spans (leads, 2) moved so that their median over the leads that are seen is the joint one."""
    if not seen.any():
        return np.full_like(spans, UNSEEN)
    middle = np.rint(np.median(spans[seen], axis=0)).astype(np.int64)
    return np.where(seen[:, None], spans - middle + np.array(joint), UNSEEN).astype(np.int64)
