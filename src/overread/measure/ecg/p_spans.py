"""Where P waves begin and end: read off their average, laid over each other where they fit best."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy import ndimage

from overread.measure.ecg.atria import STEP
from overread.measure.ecg.boundaries import Floats, Places
from overread.measure.ecg.complexes import around
from overread.measure.ecg.p_waves import HALF_MS, MANY, Found
from overread.measure.ecg.preparing import MS

SPREADS_MS = (6.0, 10.0, 15.0)
"""How much slopes are smoothed: more where noise would hide the ends."""
LOUD = 0.15
ONSET_SHARE, OFFSET_SHARE = 0.3, 0.5
LEAD_SHARE = 0.35
SEEN_MV = 0.02
"""Least height of a P wave for it to be seen in a lead."""
CLOSED = np.ones(round(24 * MS) | 1)
"""Two humps of a P wave are no further apart."""


def boundaries_of(left: Floats, found: Found, room: Places) -> tuple[Places, tuple[int, int], Floats]:
    """Fine middles of the P waves, onset and offset from those, and their average (leads, samples).

    `left` is the residual in working samples; `room` for each P wave how many samples there are up to the next complex.
    """
    half, shift = round(120 * MS), round(12 * MS)
    wide = half + shift
    margin = wide + 3 * shift
    padded = np.pad(left, ((0, 0), (margin, margin)), mode="edge")
    around = np.arange(margin - wide, margin + wide)
    middles = found.at * STEP + STEP // 2
    good = np.argsort(-found.likeness)[:MANY]
    cuts = padded[:, middles[:, None] + around].transpose(1, 0, 2)
    cuts = cuts - cuts.mean(axis=2, keepdims=True)
    inner = slice(wide - round(HALF_MS * MS), wide + round(HALF_MS * MS))
    for _ in range(2):
        mean = cuts[good].mean(axis=0)
        pattern = mean[:, inner] - mean[:, inner].mean(axis=1, keepdims=True)
        lags = sliding_window_view(cuts[:, :, inner.start - shift : inner.stop + shift], pattern.shape[1], axis=2)
        moves = np.einsum("blsw,lw->bs", lags, pattern).argmax(axis=1) - shift
        middles = middles + moves
        cuts = padded[:, middles[:, None] + around].transpose(1, 0, 2)
        cuts = cuts - cuts.mean(axis=2, keepdims=True)
    beat = np.median(cuts[good], axis=0) if len(good) > 2 else cuts[good].mean(axis=0)
    span = p_span(beat, wide, int(np.median(room[good])))
    return middles, (span[0] - wide, span[1] - wide), beat


def p_span(beat: Floats, middle: int, room: int) -> tuple[int, int]:
    """Onset and offset of an average P wave (leads, samples) around `middle`."""
    for spread_ms in SPREADS_MS:
        steep = np.sqrt((ndimage.gaussian_filter1d(beat, spread_ms * MS, axis=1, order=1) ** 2).mean(axis=0))
        floor = float(np.quantile(steep, 0.1))
        if floor < LOUD * float(steep[middle - round(60 * MS) : middle + round(60 * MS)].max()):
            break
    reach, far = round(70 * MS), round(110 * MS)
    stop = min(len(steep), middle + min(far, room))
    left = middle - reach + int(steep[middle - reach : middle + 1].argmax())
    right_stop = max(middle + 2, min(middle + reach, stop - round(6 * MS)))
    right = middle + int(steep[middle:right_stop].argmax())
    first = _quiet(steep[middle - far : left + 1][::-1], floor, ONSET_SHARE)
    last = _quiet(steep[right:stop], floor, OFFSET_SHARE)
    return left - first, right + last


def p_per_lead(beat: Floats, joint: tuple[int, int]) -> Places:
    """Onset and offset of an average P wave in each lead, shape (leads, 2); `UNSEEN` where a lead shows none."""
    first, last = joint
    room = round(16 * MS)
    low, high = max(0, first - room), min(beat.shape[1], last + room + 1)
    slopes = np.abs(ndimage.gaussian_filter1d(beat, SPREADS_MS[0] * MS, axis=1, order=1))
    steep = slopes[:, low:high]
    loud = steep > LEAD_SHARE * steep.max(axis=1, keepdims=True)
    spans = np.stack([loud.argmax(axis=1), steep.shape[1] - 1 - loud[:, ::-1].argmax(axis=1)], axis=1) + low
    seen = np.ptp(beat[:, first : last + 1], axis=1) >= SEEN_MV
    return around(spans, seen, joint)


def _quiet(steep: Floats, floor: float, share: float) -> int:
    """After how many samples a flank that begins with its steepest is level, and stays so for a while."""
    loud = steep >= share * (steep[0] - floor) + floor
    calm = np.flatnonzero(~ndimage.binary_closing(np.pad(loud, (30, 0), constant_values=True), CLOSED)[30:])
    return int(calm[0]) if len(calm) else int(steep.argmin())
