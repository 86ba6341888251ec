"""The delineator: from twelve leads to where P waves, QRS complexes and T waves begin and end, singly and jointly.

Beats are found and sorted into kinds; QRS and T boundaries are read off the average of each kind and carried back to
its beats; then P waves are looked for in what is left when those are taken out.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt

from overread.errors import BadInput
from overread.measure.ecg.atria import Kind, coarse, level_of, residual
from overread.measure.ecg.averages import average
from overread.measure.ecg.beats import BEFORE, Beats, find_beats, windows
from overread.measure.ecg.boundaries import UNSEEN, Boundaries, Floats, Places, Waves
from overread.measure.ecg.complexes import qrs_of, qrs_per_lead
from overread.measure.ecg.conduction import Atria, sort_out
from overread.measure.ecg.preparing import MS, WORK_HZ, Prepared, prepare, without_wander
from overread.measure.ecg.t_waves import t_of
from overread.media.leads import LEADS

WANDER_S = 0.35
STRANGE = ((0.35, 2.8), (0.7, 10.0))
"""A lead does not show the heart if its average complex has less than such a share of the energy of its single ones,
and what differs from beat to beat in it has more than so many times the energy that it has in other leads."""
ATRIAL = ("II", "V1")
"""The leads that show the atria best."""


@dataclasses.dataclass(frozen=True, slots=True)
class Delineated:
    """All that the delineator knows of a recording; times are working samples."""

    boundaries: Boundaries
    prepared: Prepared
    leads: Floats
    """(usable leads, samples), without wander."""
    rows: Places
    """Of which leads those are."""
    beats: Beats
    kinds: tuple[Kind, ...]
    atria: Atria
    left: Floats
    """(usable leads, samples): without QRS complexes and T waves."""

    @property
    def lost(self) -> npt.NDArray[np.bool_]:
        """(samples,): within stretches that no usable lead recorded."""
        return np.asarray(self.prepared.lost[self.rows].all(axis=0))


def delineate(mv: npt.NDArray[np.floating], rate_hz: float) -> Boundaries:
    """The boundaries of all waves of `mv`, shape (12, samples) in mV; `BadInput` where nothing can be measured."""
    return delineated(mv, rate_hz).boundaries


def delineated(mv: npt.NDArray[np.floating], rate_hz: float) -> Delineated:
    """The boundaries and all that they came from."""
    prepared = prepare(mv, rate_hz)
    level = without_wander(prepared.mv, WANDER_S)
    rows = np.flatnonzero(prepared.usable)
    beats = find_beats(level[rows])
    kept = _beating(level[rows], beats)
    if not kept.all():
        if not kept.any():
            raise BadInput("no lead of the ECG shows beats that are alike", do="give a recording of a beating heart")
        rows = rows[kept]
        beats = find_beats(level[rows])
    leads = level[rows]
    kinds = _kinds(leads, beats)
    left = residual(leads, beats, kinds)
    # Where nothing was recorded there was no beat to take out.
    left[prepared.lost[rows]] = 0.0
    atria = sort_out(left, coarse(left), beats, kinds)
    boundaries = _boundaries(prepared, rows, beats, kinds, atria, left)
    return Delineated(boundaries, prepared, leads, rows, beats, kinds, atria, left)


def _beating(leads: Floats, beats: Beats) -> npt.NDArray[np.bool_]:
    """Which leads show complexes that are alike from beat to beat."""
    half = round(60 * MS)
    middles = beats.middles[beats.kinds == 0][:40]
    cuts = np.nan_to_num(windows(leads, middles, half, half))
    cuts = cuts - cuts.mean(axis=2, keepdims=True)
    if len(cuts) < 2:
        return np.ones(len(leads), dtype=bool)
    usual = np.median(cuts, axis=0)
    single = np.median((cuts**2).sum(axis=2), axis=0)
    share = (usual**2).sum(axis=1) / np.maximum(single, 1e-12)
    rest = np.median(((cuts - usual) ** 2).sum(axis=2), axis=0)
    # Where nothing differs from beat to beat, a hundredth of the complexes counts as what may.
    times = rest / max(float(np.median(rest)), 0.01 * float(np.median(single)), 1e-12)
    strange = np.zeros(len(leads), dtype=bool)
    for least, most in STRANGE:
        strange |= (share < least) & (times > most)
    return np.asarray((single > 0.0) & ~strange)


def _kinds(leads: Floats, beats: Beats) -> tuple[Kind, ...]:
    """The average and the boundaries of each kind of beat."""
    gaps = np.diff(beats.middles)
    found = []
    for number in range(int(beats.kinds.max()) + 1):
        beat = average(leads, beats, number)
        complex_ = qrs_of(beat)
        qrs = complex_.span
        own = gaps[beats.kinds[:-1] == number]
        own = own if len(own) else gaps
        beat = beat - level_of(beat, qrs[0])
        t = t_of(beat, qrs, (float(own.min()), float(np.median(own))))
        found.append(Kind(beat, qrs, complex_.clear, t))
    return tuple(found)


def _boundaries(
    prepared: Prepared, rows: Places, beats: Beats, kinds: tuple[Kind, ...], atria: Atria, left: Floats
) -> Boundaries:
    usable = np.zeros(len(LEADS), dtype=bool)
    usable[rows] = True
    at = _Placed(prepared, rows, left.shape[1])
    starts = beats.middles - BEFORE
    qrs_marks = [qrs_per_lead(kind.beat, *kind.qrs) for kind in kinds]
    tops = np.array([_top(kind) for kind in kinds])
    qrs = np.array([kind.qrs for kind in kinds])[beats.kinds] + starts[:, None]
    sure = np.clip(beats.likeness * np.array([kind.clear for kind in kinds])[beats.kinds], 0.0, 1.0)
    t_joint = np.array([UNSEEN * np.ones(2, int) if k.t is None else np.array(k.t.joint) for k in kinds])
    t_marks = [np.full((len(rows), 2), UNSEEN) if k.t is None else k.t.per_lead for k in kinds]
    t_clear = np.array([0.0 if k.t is None else k.t.clear for k in kinds])
    nexts = np.append(qrs[1:, 0], left.shape[1] + BEFORE)
    t = np.where(t_joint[beats.kinds] < 0, UNSEEN, t_joint[beats.kinds] + starts[:, None])
    # A T wave that runs into the next complex has no end that could be seen.
    cut = (t[:, 1] >= nexts) | (t[:, 1] >= left.shape[1])
    t_sure = np.where(cut | (t[:, 0] < 0), 0.0, t_clear[beats.kinds] * sure)
    return Boundaries(
        rate_hz=prepared.rate_hz,
        leads=LEADS,
        usable=usable,
        peaks=at.samples(tops[beats.kinds] + starts),
        kinds=beats.kinds,
        p=at.waves(atria.joint, [atria.per_lead] * len(beats.middles), atria.starts, atria.sure),
        qrs=at.waves(qrs, [qrs_marks[k] for k in beats.kinds], starts, sure),
        t=at.waves(np.where(cut[:, None], UNSEEN, t), [t_marks[k] for k in beats.kinds], starts, t_sure),
        lone_p=prepared.native(atria.lone),
        spikes=prepared.spikes,
        atrial=_atrial(prepared, rows, left),
    )


def _top(kind: Kind) -> int:
    """Where within the complex the leads together are furthest from their level."""
    first, last = kind.qrs
    return first + int((kind.beat[:, first : last + 1] ** 2).sum(axis=0).argmax())


@dataclasses.dataclass(frozen=True, slots=True)
class _Placed:
    """Turns working samples of usable leads into samples of all leads of the recording."""

    prepared: Prepared
    rows: Places
    length: int

    def samples(self, at: Places) -> Places:
        return self.prepared.native(np.clip(at, 0, self.length - 1))

    def waves(self, joint: Places, marks: list[Places], starts: Places, sure: Floats) -> Waves:
        """Waves from their joint spans, their spans in each lead relative to starts, and how sure they are."""
        per_lead = np.full((len(joint), len(LEADS), 2), UNSEEN, dtype=np.int64)
        if len(joint):
            own = np.stack(marks)
            own = np.where(own == UNSEEN, UNSEEN, np.clip(own + starts[:, None, None], 0, self.length - 1))
            hidden = self.prepared.lost[self.rows, own.clip(0).mean(axis=2).astype(np.int64)]
            per_lead[:, self.rows] = np.where((joint[:, :1] < 0)[:, None] | hidden[:, :, None], UNSEEN, own)
        inside = np.where(joint[:, :1] == UNSEEN, UNSEEN, np.clip(joint, 0, self.length - 1))
        return Waves(self.prepared.native(per_lead), self.prepared.native(inside), sure)


def _atrial(prepared: Prepared, rows: Places, left: Floats) -> Floats:
    """What is left of the leads that show the atria best, at the recording's own rate."""
    names = [LEADS[row] for row in rows]
    best = [names.index(lead) for lead in ATRIAL if lead in names] or list(range(len(rows)))
    mean = left[best].mean(axis=0)
    if prepared.rate_hz == WORK_HZ:
        return np.asarray(mean)
    at = np.arange(prepared.samples) * (WORK_HZ / prepared.rate_hz)
    return np.asarray(np.interp(at, np.arange(len(mean)), mean))
