"""The average beat of each kind, level with what lies just before its QRS complex."""

from __future__ import annotations

import numpy as np

from overread.measure.ecg.beats import AFTER, BEFORE, Beats, windows
from overread.measure.ecg.boundaries import Floats

MANY = 60
"""So many beats of a kind are enough for its average."""


def average(leads: Floats, beats: Beats, kind: int) -> Floats:
    """The average of the beats of a kind, shape (leads, BEFORE + AFTER), the middle of the complex at `BEFORE`.

    Beats that the record cuts off count only where there are no others.
    """
    of_kind = beats.middles[beats.kinds == kind]
    whole = of_kind[(of_kind >= BEFORE) & (of_kind + AFTER <= leads.shape[1])]
    if len(whole) < min(2, len(of_kind)):
        whole = of_kind
    if len(whole) > MANY:
        whole = whole[:: len(whole) // MANY + 1]
    cuts = windows(leads, whole, BEFORE, AFTER)
    if np.isnan(cuts).any():
        cuts = _filled(cuts)
    if len(cuts) < 3:
        return np.asarray(cuts.mean(axis=0))
    # Half of the way from mean to median: next to neither noise nor a beat that is disturbed.
    ordered = np.sort(cuts, axis=0)
    off = max(1, len(cuts) // 4)
    return np.asarray(ordered[off:-off].mean(axis=0))


def _filled(cuts: Floats) -> Floats:
    """The beats with what lies beyond the record as its last values."""
    known = ~np.isnan(cuts[:, 0])
    filled = cuts.copy()
    for beat, there in enumerate(known):
        inside = np.flatnonzero(there)
        filled[beat, :, : inside[0]] = cuts[beat, :, inside[0], None]
        filled[beat, :, inside[-1] + 1 :] = cuts[beat, :, inside[-1], None]
    return filled
