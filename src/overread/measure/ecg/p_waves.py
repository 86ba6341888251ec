"""Finds P waves, those that lead to beats and those that do not, by a pattern of the P wave over all leads.

The pattern comes from what stands before the beats, where that is alike from beat to beat; else from what is alike
anywhere between them. Then it is looked for everywhere in what is left of the recording without QRS and T.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import sliding_window_view
from scipy import ndimage, signal

from overread.measure.ecg.atria import COARSE_MS, STEP, Kind
from overread.measure.ecg.beats import BEFORE, Beats
from overread.measure.ecg.boundaries import Floats, Places
from overread.measure.ecg.preparing import MS

HALF_MS = 64.0
"""Half of the length of the pattern."""
LONGEST_PR_MS = 360.0
NEAREST_MS = 28.0
"""A P wave has its middle at least so far before its complex."""
LEAST_MV, LEAST_STEADY_MV = 0.016, 0.007
"""Least height of a pattern, as root mean square over the leads: anywhere, and steady before the beats."""
STEADY = 0.45
"""Least median likeness of what stands before the beats."""
FUSED_MS = 450.0
"""Where beats follow this fast and no T wave is told apart, no P wave can be either."""
ALIKE = 0.72
"""Likeness of waves between the beats that make a pattern of their own."""
USUAL, ELSEWHERE = 0.4, 0.66
"""Least likeness to the pattern at the usual distance before a beat, and anywhere else."""
USUAL_PART, ELSEWHERE_PART = (0.3, 2.6), (0.5, 1.9)
"""Heights that are accepted there, as shares of the pattern's."""
AS_LIKE = 0.84
"""How like the pattern a wave elsewhere has to be, as a share of what those before beats are."""
SOONEST = 0.45
"""No P wave elsewhere follows another sooner than this share of their usual distance."""
OTHER_PART = 0.6
"""What is so high beside the pattern is a P wave at the usual place, whatever it looks like."""
JITTER_MS = 44.0
"""How far from the usual distance a P wave still is a usual one."""
APART_MS = 110.0
FASTEST_MS = 280.0
"""Waves that come faster than this are no P waves: they flutter or fibrillate."""
MANY = 48


@dataclasses.dataclass(frozen=True, slots=True)
class Found:
    """P waves, by the coarse samples of their middles."""

    at: Places
    likeness: Floats
    height: Floats
    """Shares of the pattern's height."""
    pattern: Floats | None
    """(leads, samples), coarse."""
    steady: bool
    """They stand at one distance before the beats."""
    racing: bool
    """They come too fast to be P waves."""
    distance: float
    """For steady ones the usual distance from their middle to the middle of the beat, in coarse samples."""


NONE = Found(np.zeros(0, np.int64), np.zeros(0), np.zeros(0), None, False, False, 0.0)


def find_p(atrial: Floats, beats: Beats, kinds: Sequence[Kind]) -> Found:
    """The P waves in `atrial`, the coarse residual (leads, samples)."""
    half = round(HALF_MS / COARSE_MS)
    padded = np.pad(atrial, ((0, 0), (half, half)))
    views = sliding_window_view(padded, 2 * half + 1, axis=1)
    before = _before_beats(atrial, views, beats, kinds)
    pattern, distance = before if before is not None else (_recurring(atrial, views, beats, kinds), 0.0)
    if pattern is None:
        return NONE
    likeness, height = _matched(views, pattern)
    if before is not None:
        pattern = _renewed(views, pattern, likeness, beats, distance)
        likeness, height = _matched(views, pattern)
    usual = _usual_places(beats, distance, len(likeness)) if before is not None else np.zeros(len(likeness), bool)
    masked = _masked(beats, kinds, len(likeness))
    low, high = np.where(usual, USUAL_PART[0], ELSEWHERE_PART[0]), np.where(usual, USUAL_PART[1], ELSEWHERE_PART[1])
    wanted = np.where(usual, USUAL, ELSEWHERE)
    good = (likeness > wanted) & (height > low) & (height < high) & ~masked
    good &= usual | ~_tail(beats, kinds, len(likeness))
    score = np.where(good, likeness + 0.3 * usual, 0.0)
    at, _ = signal.find_peaks(np.pad(score, 1), height=0.01, distance=max(1, round(APART_MS / COARSE_MS)))
    at = at - 1
    if before is not None:
        at = _with_others(at, atrial, pattern, beats, usual & ~masked)
    racing = _races(np.diff(at) * COARSE_MS)
    if not racing and usual[at].any():
        at = _without_echoes(at, likeness, usual)
    return Found(at, likeness[at], height[at], pattern, before is not None, racing, distance)


def _with_others(at: Places, atrial: Floats, pattern: Floats, beats: Beats, usual: npt.NDArray[np.bool_]) -> Places:
    """P waves also where something as high stands at the usual place: of premature beats they look otherwise."""
    size = np.sqrt((atrial**2).mean(axis=0))
    least = OTHER_PART * float(np.sqrt((pattern**2).mean(axis=0)).max())
    marks, _ = ndimage.label(usual)
    found = list(at.tolist())
    for span in ndimage.find_objects(marks):
        if not ((at >= span[0].start) & (at < span[0].stop)).any():
            top = span[0].start + int(size[span[0]].argmax())
            if span[0].start < top < span[0].stop - 1 and size[top] > least:
                found.append(top)
    return np.array(sorted(found), dtype=np.int64)


def _without_echoes(at: Places, likeness: Floats, usual: npt.NDArray[np.bool_]) -> Places:
    """P waves without those that stand elsewhere than before beats and are less like the pattern, or come too soon."""
    expected = at[usual[at]]
    at = at[usual[at] | (likeness[at] > AS_LIKE * float(np.median(likeness[expected])))]
    gap = float(np.median(np.diff(expected if 2 * len(expected) > len(at) else at))) if len(at) > 1 else 0.0
    near = np.array([min((abs(int(one - other)) for other in at if other != one), default=10**6) for one in at])
    return np.asarray(at[usual[at] | (near > SOONEST * gap)])


def _races(gaps: Floats) -> bool:
    """Whether waves at these distances (ms) come too fast for P waves; some may be hidden by complexes."""
    short = gaps[gaps < FASTEST_MS]
    if len(short) < 3:
        return False
    if 2 * len(short) > len(gaps):
        return True
    turns = gaps / float(np.median(short))
    return bool((np.abs(turns - np.rint(turns)) < 0.15).mean() > 0.75)


def _ends(beats: Beats, kinds: Sequence[Kind]) -> tuple[Places, Places, Places]:
    """QRS onset, QRS offset and the end of T of every beat, in working samples."""
    spans = np.array([(*k.qrs, k.qrs[1] if k.t is None else k.t.joint[1]) for k in kinds])
    of_beats = beats.middles[:, None] - BEFORE + spans[beats.kinds]
    return of_beats[:, 0], of_beats[:, 1], of_beats[:, 2]


def _masked(beats: Beats, kinds: Sequence[Kind], samples: int) -> npt.NDArray[np.bool_]:
    """Where complexes stand: there the middle of no P wave can be seen."""
    onsets, offsets, _ = _ends(beats, kinds)
    masked = np.zeros(samples, dtype=bool)
    for first, last in zip((onsets - NEAREST_MS * MS) / STEP, (offsets + 20 * MS) / STEP, strict=True):
        masked[max(0, int(first)) : max(0, int(last) + 1)] = True
    masked[samples - round(60 / COARSE_MS) :] = True
    return masked


def _tail(beats: Beats, kinds: Sequence[Kind], samples: int) -> npt.NDArray[np.bool_]:
    """Where the record may begin with the T wave of a beat that it does not hold."""
    onsets, _, ends = _ends(beats, kinds)
    longest = float(np.median(ends - onsets))
    before = ends[0] - float(np.median(np.diff(beats.middles)))
    return np.asarray(np.arange(samples) < (min(before, longest) + 30 * MS) / STEP)


def _before_beats(atrial: Floats, views: Floats, beats: Beats, kinds: Sequence[Kind]) -> tuple[Floats, float] | None:
    """What stands before the beats of the commonest kind where it is steady, and how far before their middles."""
    _, _, ends = _ends(beats, kinds)
    middles = beats.middles[beats.kinds == 0] / STEP
    lead = (BEFORE - kinds[0].qrs[0]) / STEP
    gaps = np.diff(beats.middles)
    room = LONGEST_PR_MS * MS
    if len(gaps):
        # Not into the T wave before: it was taken out, but never without a trace.
        room = min(room, max(float(np.median(gaps)) - float(np.median(ends - beats.middles)), 120 * MS))
    if kinds[0].t is None and len(gaps) and float(np.median(gaps)) < FUSED_MS * MS:
        return None
    far, near = round((room - 20 * MS) / STEP + lead), round(NEAREST_MS / COARSE_MS + lead)
    here = middles[(middles - far >= 0) & (middles < atrial.shape[1])]
    if len(here) < 2 or far <= near:
        return None
    places = np.rint(here).astype(np.int64)[:, None] - np.arange(far, near, -1)
    mean = np.median(atrial[:, places], axis=1) if len(here) > 2 else atrial[:, places].mean(axis=1)
    size = np.sqrt((mean**2).mean(axis=0))
    tops, _ = signal.find_peaks(np.pad(size, 1), height=LEAST_STEADY_MV)
    for top in sorted((tops - 1).tolist(), key=lambda k: -size[k])[:2]:
        cuts = views[:, places[:, top]].transpose(1, 0, 2).reshape(len(here), -1)
        total = cuts.sum(axis=0)
        others = total - cuts
        fit = (cuts * others).sum(axis=1) / np.maximum(
            np.linalg.norm(cuts, axis=1) * np.linalg.norm(others, axis=1), 1e-12
        )
        if float(np.median(fit)) > STEADY:
            return (total / len(here)).reshape(len(atrial), -1), float(far - top)
    return None


def _recurring(atrial: Floats, views: Floats, beats: Beats, kinds: Sequence[Kind]) -> Floats | None:
    """A wave that comes again and again between the beats, whatever its distance from them."""
    onsets, _, ends = _ends(beats, kinds)
    size = np.sqrt((atrial**2).mean(axis=0))
    free = np.ones(len(size), dtype=bool)
    for first, last in zip(onsets / STEP - NEAREST_MS / COARSE_MS, ends / STEP, strict=True):
        free[max(0, int(first)) : max(0, int(last) + 1)] = False
    tops, _ = signal.find_peaks(np.where(free, size, 0.0), height=LEAST_MV, distance=round(80 / COARSE_MS))
    if len(tops) < 4:
        return None
    tops = tops[np.argsort(-size[tops])[:MANY]]
    cuts = views[:, tops].transpose(1, 0, 2)
    best: tuple[int, Floats] | None = None
    for first in range(min(12, len(tops))):
        likeness, height = _matched(cuts.transpose(1, 0, 2), cuts[first])
        fellows = (likeness > ALIKE) & (height > 0.4)
        if best is None or fellows.sum() > best[0]:
            best = int(fellows.sum()), cuts[fellows].mean(axis=0)
    if best is None or best[0] < max(4, 0.35 * len(tops)):
        return None
    return best[1]


def _matched(views: Floats, pattern: Floats) -> tuple[Floats, Floats]:
    """Likeness and height of every stretch (leads, stretches, samples) beside a pattern (leads, samples)."""
    cross = np.einsum("lts,ls->t", views, pattern)
    own = np.einsum("lts,lts->t", views, views)
    size = float((pattern**2).sum())
    return cross / np.maximum(np.sqrt(own * size), 1e-9), cross / max(size, 1e-12)


def _usual_places(beats: Beats, distance: float, samples: int) -> npt.NDArray[np.bool_]:
    usual = np.zeros(samples, dtype=bool)
    room = JITTER_MS / COARSE_MS
    for middle in (beats.middles / STEP - distance).tolist():
        usual[max(0, int(middle - room)) : max(0, int(middle + room) + 1)] = True
    return usual


def _renewed(views: Floats, pattern: Floats, likeness: Floats, beats: Beats, distance: float) -> Floats:
    """The pattern as the mean of the stretches that are most like it, each where it fits best."""
    room = round(JITTER_MS / COARSE_MS / 2)
    places = []
    for middle in np.rint(beats.middles / STEP - distance).astype(np.int64).tolist():
        start, stop = max(0, middle - room), min(len(likeness), middle + room + 1)
        if stop > start:
            at = start + int(likeness[start:stop].argmax())
            if likeness[at] > USUAL:
                places.append(at)
    return np.asarray(views[:, places].mean(axis=1)) if len(places) > 1 else pattern
