"""The facts of rhythm: what comes early, what is missing, how atria and ventricles go together, who sets the pace."""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt

from overread.measure.ecg.atria import STEP
from overread.measure.ecg.beats import BEFORE
from overread.measure.ecg.boundaries import UNSEEN, Floats, Places
from overread.measure.ecg.conduction import STEADY_RR
from overread.measure.ecg.delineate import Delineated
from overread.measure.ecg.preparing import MS, SPIKE_HZ, WORK_HZ

EARLY = 0.86
"""Share of the usual distance below which a beat comes early."""
MISSING = 1.5
"""Share of the usual distance above which a beat is missing."""
TOGETHER = 0.1
"""Distances within this share of each other are one."""
ORDERLY = 0.07
"""Standard deviation of distances, as a share of their mean, up to which a single one can be called early."""
APART = 0.1
"""Share of the usual distance that lies between those before early beats and all others."""
LEFT_OUT = 0.12
"""Share of the beats that a P wave may be overlooked of; half as many may be seen that are none."""
LOST_LEADS = 0.25
"""Share of the leads without which a P wave may be overlooked."""
STEADY_PR_MS = 25.0
"""PR intervals that spread less than this are steady."""
WIDER_MS = 20.0
WIDE_MS, FAST_BPM = 120.0, 100.0
F_WAVE_UV = 12.0
"""Least height of f waves, as root mean square in the lead that shows them best."""
F_WAVE_HZ = (4.0, 10.0)
PACED_SHARE = 0.5
SPIKE_BEFORE_MS = 80.0


@dataclasses.dataclass(frozen=True, slots=True)
class Rhythm:
    """The rhythm of a recording. Times are working samples; masks are over beats or gaps between them."""

    onsets: Places
    """(beats,): QRS onsets."""
    early: npt.NDArray[np.bool_]
    """(beats,): comes early."""
    whole: npt.NDArray[np.bool_]
    """(gaps,): recorded throughout by at least one lead, so that no beat can be hidden in it."""
    usual: npt.NDArray[np.bool_]
    """(gaps,): whole, and neither ends nor begins with an early beat."""
    pauses: npt.NDArray[np.bool_]
    """(gaps,): a beat is missing."""
    rr: float | None
    """Median of the usual gaps."""
    spread: float
    """Standard deviation of the usual gaps as a share of their mean."""
    regular: bool | None
    pr: Floats
    """PR intervals of the beats that are not early, in ms."""
    atrial_bpm: float | None
    blocked: Places
    """(waves, 2): P waves within pauses."""
    fibrillation: bool
    f_waves: float
    """Their height in the lead that shows them best, as root mean square in uV; 0 where P waves are seen."""
    one_to_one: bool
    paced: bool | None
    ordinary: int
    """The kind of beat that facts are about."""


def rhythm_of(found: Delineated) -> Rhythm:
    """The rhythm of what was delineated."""
    beats, kinds, atria = found.beats, found.kinds, found.atria
    spans = np.array([kind.qrs for kind in kinds])[beats.kinds]
    onsets = beats.middles - BEFORE + spans[:, 0]
    gaps = np.diff(onsets)
    holds = np.array([bool(((atria.lone[:, 0] > a) & (atria.lone[:, 1] < b)).any()) for a, b in _pairs(onsets)])
    whole = np.array([not found.lost[a:b].any() for a, b in _pairs(onsets.clip(0))])
    known = whole if whole.any() else ~whole
    usual_gap = _usual_gap(gaps[known], holds[known] & (not atria.dissociated))
    early = np.concatenate([[False], gaps < EARLY * usual_gap])
    if not (atria.seen and _stands_out(gaps, early, whole, usual_gap)):
        # Among beats without order, or without P waves, only one of another, wider kind can be called early.
        widths = (spans[:, 1] - spans[:, 0]) / MS
        early &= widths > (kinds[0].qrs[1] - kinds[0].qrs[0]) / MS + WIDER_MS
    usual = whole & ~(early[:-1] | early[1:])
    spread = _spread(gaps[usual])
    f_waves = 0.0 if atria.seen else _f_waves(found)
    rr = float(np.median(gaps[usual])) if usual.any() else None
    if usual.sum() < 2:
        # Every other beat comes early: what is left is the distance over two of them.
        ordinary = np.flatnonzero(~early)
        apart = np.diff(onsets[ordinary])[np.diff(ordinary) == 2]
        spread, rr = _spread(apart), float(np.median(apart)) / 2.0 if len(apart) else None
    fibrillation = not atria.seen and (f_waves > F_WAVE_UV or spread > ORDERLY)
    pauses = whole & (gaps > MISSING * usual_gap) & ~early[:-1] & (not fibrillation) & (not atria.dissociated)
    conducted = (atria.joint[:, 0] != UNSEEN) & ~early
    pr = (onsets - atria.joint[:, 0])[conducted] / MS
    blocked = np.array([lone for lone in atria.lone.tolist() if _within(lone, onsets, pauses)], dtype=np.int64)
    return Rhythm(
        onsets=onsets,
        early=early,
        whole=whole,
        usual=usual,
        pauses=pauses,
        rr=rr,
        spread=spread,
        regular=spread <= STEADY_RR if len(gaps) > 1 else None,
        pr=pr,
        atrial_bpm=_atrial_bpm(found),
        blocked=blocked.reshape(-1, 2),
        fibrillation=fibrillation,
        f_waves=f_waves,
        one_to_one=_one_to_one(found, early, onsets, pr),
        paced=_paced(found, onsets),
        ordinary=int(np.bincount(beats.kinds[~early], minlength=1).argmax()),
    )


def _pairs(onsets: Places) -> list[tuple[int, int]]:
    return list(zip(onsets[:-1].tolist(), onsets[1:].tolist(), strict=True))


def _spread(gaps: Places) -> float:
    """Standard deviation as a share of the mean; 0 for fewer than two."""
    return float(np.std(gaps) / np.mean(gaps)) if len(gaps) > 1 else 0.0


def _stands_out(gaps: Places, early: npt.NDArray[np.bool_], whole: npt.NDArray[np.bool_], usual_gap: float) -> bool:
    """Whether the gaps before early beats are set apart from the others, and those do not vary."""
    rest = gaps[whole & ~(early[:-1] | early[1:]) & (gaps < MISSING * usual_gap)]
    after = gaps[early[:-1] & ~early[1:]]
    if not early.any() or 2 * int(early.sum()) > len(early) or _spread(rest) > ORDERLY:
        return False
    others = np.concatenate([rest, after])
    return not len(others) or float(others.min() - gaps[early[1:]].max()) > APART * usual_gap


def _usual_gap(gaps: Places, holds_p: npt.NDArray[np.bool_]) -> float:
    """The distance that most gaps have, the longer of two that are as frequent; gaps with lone P waves do not count."""
    of = gaps[~holds_p] if (~holds_p).any() else gaps
    near = (np.abs(of[None] - of[:, None]) <= TOGETHER * of[:, None]).sum(axis=1)
    # A beat that comes early every other time makes as many short gaps as long ones.
    best = of[near >= 0.6 * near.max()]
    fellows = of[np.abs(of - best.max()) <= TOGETHER * best.max()]
    return float(np.median(fellows))


def _within(lone: list[int], onsets: Places, pauses: npt.NDArray[np.bool_]) -> bool:
    gap = int(np.searchsorted(onsets, lone[0])) - 1
    return 0 <= gap < len(pauses) and bool(pauses[gap])


def _atrial_bpm(found: Delineated) -> float | None:
    joint = found.atria.joint
    starts = np.sort(np.concatenate([joint[joint[:, 0] != UNSEEN, 0], found.atria.lone[:, 0]]))
    return 60.0 * WORK_HZ / float(np.median(np.diff(starts))) if len(starts) > 1 else None


def _one_to_one(found: Delineated, early: npt.NDArray[np.bool_], onsets: Places, pr: Floats) -> bool:
    """Every P wave leads to a beat and every beat follows one, at a steady distance."""
    atria = found.atria
    if not atria.seen or atria.dissociated:
        return False
    # The P wave of the first beat may lie before the record, and that of a beat after its end within.
    # P waves are small: they are also missed where only some leads were not recorded.
    lost = found.prepared.lost[found.rows].mean(axis=0) > LOST_LEADS
    before = np.array([lost[max(0, at - round(400 * MS)) : max(0, at)].any() for at in onsets.tolist()])
    inside = np.flatnonzero(~early & (onsets > 400 * MS) & ~before)
    without = int((atria.joint[inside, 0] == UNSEEN).sum())
    # What a P wave beside a stretch that was not recorded leads to may lie within.
    after = [not lost[first : last + round(400 * MS)].any() for first, last in atria.lone.tolist()]
    lone = int((atria.lone[after, 1] < onsets[-1]).sum()) if after else 0
    off = np.abs(pr - np.median(pr)) if len(pr) else pr
    steady = len(pr) < 2 or (float(np.median(off)) < STEADY_PR_MS and float(np.std(pr)) < 2 * STEADY_PR_MS)
    most = LEFT_OUT * len(inside)
    return steady and without <= most and lone <= 0.5 * most


def _f_waves(found: Delineated) -> float:
    """Height of what beats at 4 to 10 Hz between the complexes, above what noise alone would give, in uV."""
    left = found.left
    pieces = left.shape[1] // STEP
    means = left[:, : pieces * STEP].reshape(len(left), pieces, STEP).mean(axis=2)
    hz = np.fft.rfftfreq(pieces, STEP / WORK_HZ)
    power = np.abs(np.fft.rfft(means * np.hanning(pieces), axis=1)) ** 2 * (8.0 / 3.0) / pieces**2
    band = (hz >= F_WAVE_HZ[0]) & (hz <= F_WAVE_HZ[1])
    floor = np.median(power[:, hz > 20.0], axis=1) * band.sum() * 2.0
    return float(1000.0 * np.sqrt(np.maximum(2 * power[:, band].sum(axis=1) - floor, 0.0)).max())


def _paced(found: Delineated, onsets: Places) -> bool | None:
    if found.prepared.rate_hz < SPIKE_HZ:
        return None
    spikes = found.prepared.spikes * (WORK_HZ / found.prepared.rate_hz)
    before = np.array([bool(((at - spikes > -10 * MS) & (at - spikes < SPIKE_BEFORE_MS * MS)).any()) for at in onsets])
    return bool(before.mean() >= PACED_SHARE)
