"""Where the waves of a 12-lead ECG begin and end: what the delineator finds and every fact is read from."""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]

UNSEEN = -1
"""Stands for the onset and the offset of a wave that is not seen."""


@dataclasses.dataclass(frozen=True, slots=True)
class Waves:
    """One kind of wave, P, QRS or T, of every beat. Places are sample indices: the first and the last sample."""

    per_lead: Places
    """(beats, leads, 2): onset and offset in each lead; `UNSEEN` where the wave is not seen there."""
    joint: Places
    """(beats, 2): those of all leads together, the median over the leads that show it; `UNSEEN` without."""
    sure: Floats
    """(beats,): confidence 0 to 1 that the wave is there and lies where it is said to lie."""


@dataclasses.dataclass(frozen=True, slots=True)
class Boundaries:
    """The waves of a record. Axes `beats` and `leads` are the same in every part."""

    rate_hz: float
    leads: tuple[str, ...]
    usable: npt.NDArray[np.bool_]
    """(leads,): the lead carries a signal that can be measured."""
    peaks: Places
    """(beats,): the sample of each R peak, where the leads together are furthest from their level; in order."""
    kinds: Places
    """(beats,): 0 for the commonest shape of QRS complex, 1 for the next, and so on."""
    p: Waves
    qrs: Waves
    t: Waves
    lone_p: Places
    """(waves, 2): P waves that lead to no beat (blocked, or of atria that beat on their own)."""
    spikes: Places
    """Samples of pacing spikes."""
    atrial: Floats
    """(samples,): activity between the beats with QRS complexes and T waves taken out, in mV, at `rate_hz`; what
    fibrillation, flutter and lone P waves are told from."""
