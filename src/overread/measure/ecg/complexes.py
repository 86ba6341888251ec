"""Where the QRS complex of an average beat begins and ends: where the slopes of all leads together set in and cease."""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt
from scipy import ndimage

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
LOUD = 0.08
"""Share of the steepest slope that the noise beside a complex must not reach."""
LONGEST_MS, USUAL_MS = 260.0, 100.0
WAYS = ((SPREAD_MS, 1.0), (4.5, 1.5), (6.0, 2.2), (8.0, 3.0), (8.0, 5.0), (8.0, 8.0))
"""Smoothing of slopes in ms, and how many times the usual shares count: the next where noise leaves no boundaries."""


def slopes_of(beat: Floats, spread_ms: float) -> Floats:
    """The size of the smoothed slopes of each lead, in mV a working sample."""
    return np.asarray(np.abs(ndimage.gaussian_filter1d(beat, spread_ms * MS, axis=1, order=1)))


@dataclasses.dataclass(frozen=True, slots=True)
class Complex:
    """The complex of an average beat, in samples of it."""

    span: tuple[int, int]
    clear: float
    """0 to 1: how far it stands out of noise."""


def qrs_of(beat: Floats) -> Complex:
    """Onset and offset of the complex in an average beat (leads, samples), all leads taken together."""
    reach = round(MIDDLE_MS * MS)
    for spread_ms, part in WAYS:
        steep = np.sqrt((slopes_of(beat, spread_ms) ** 2).mean(axis=0))
        noise = _noise(steep) / float(steep[BEFORE - reach : BEFORE + reach].max())
        found = _span(steep, part)
        if found is not None and (noise < LOUD or spread_ms == WAYS[-1][0]):
            return Complex(found, float(np.clip(1.0 - 3.0 * noise, 0.05, 1.0)))
    # Nothing stands out: the complex is taken to be of usual width, and nobody should trust it.
    half = round(USUAL_MS * MS / 2)
    return Complex((BEFORE - half, BEFORE + half), 0.05)


def _span(steep: Floats, part: float) -> tuple[int, int] | None:
    """Where slopes are steep around the steepest; `part` is how many times the usual share of that counts."""
    reach = round(MIDDLE_MS * MS)
    start = BEFORE - reach + int(steep[BEFORE - reach : BEFORE + reach].argmax())
    share = np.where(np.arange(len(steep)) < start, ONSET_SHARE, OFFSET_SHARE)
    loud = steep > part * share * steep[start] + _noise(steep)
    loud = ndimage.binary_closing(loud, np.ones(round(TURN_MS * MS) | 1))
    marks, _ = ndimage.label(loud)
    places = np.flatnonzero(marks == marks[start])
    onset, offset = int(places[0]), int(places[-1])
    if not loud[start] or onset < 40 * MS or offset - onset > LONGEST_MS * MS:
        return None
    return onset, offset


def _noise(steep: Floats) -> float:
    """The slope that the level has from noise alone."""
    return float(np.quantile(steep, 0.25))


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
    """Spans (leads, 2) moved so that their median over the leads that are seen is the joint one.

    What ends before it begins then, as in noise, is not seen.
    """
    if not seen.any():
        return np.full_like(spans, UNSEEN)
    middle = np.rint(np.median(spans[seen], axis=0)).astype(np.int64)
    moved = spans - middle + np.array(joint)
    return np.where((seen & (moved[:, 0] < moved[:, 1]))[:, None], moved, UNSEEN).astype(np.int64)
