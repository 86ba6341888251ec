"""Measures a 12-lead ECG: rate, regularity, QRS width, P waves and the PR interval.

Beats are where the slopes of all leads are steep together. Intervals are read off one average of the commonest kind of
beat, so that premature beats and noise drop out of it.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import sliding_window_view
from scipy import ndimage, signal

from overread.errors import BadInput

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]

LEADS = 12
SHORTEST_SECONDS = 2.5
SLOWEST_HZ = 90.0
"""Below this sampling rate, intervals cannot be timed well enough to be told apart."""

FLAT_MV = 0.02
"""A lead whose values all lie within this span carries no signal."""

REFRACTORY_MS = 240.0
IRREGULAR = 0.08
"""Mean change from one RR interval to the next, as a share of their median, above which a rhythm is irregular."""

FELLOW = 0.8
"""Beats whose shapes correlate better than this are of one kind."""

BEFORE_MS, AFTER_MS = 380.0, 260.0
"""What the average beat spans around the middle of its QRS complex."""

LONGEST_PR_MS = 330.0
STEADY_P = 0.3
"""Least mean correlation between the stretches before the QRS complexes, where there are P waves."""

P_MV = 0.025
"""Least height of a P wave, as root mean square over the leads."""


@dataclasses.dataclass(frozen=True, slots=True)
class EcgFacts:
    """What was measured. Intervals are those of the commonest kind of beat."""

    rate_bpm: float
    regular: bool
    qrs_ms: float
    pr_ms: float | None
    """From the start of the P wave to the start of the QRS complex; None without P waves."""
    p_waves: bool
    beats: tuple[int, ...]
    """Sample of each R peak, premature beats included."""


def measure_ecg(mv: npt.NDArray[np.float32], rate_hz: float) -> EcgFacts:
    """Measures `mv`, shape (12, samples), in mV.

    Leads that are flat or hold invalid samples are left out. Raises `BadInput` where nothing is left, where the
    signal is too short or too coarse, or where fewer than three beats are found.
    """
    ms = _samples_per_ms(mv, rate_hz)
    leads = _without_wander(_usable(mv), rate_hz)
    slopes = ndimage.gaussian_filter1d(leads, 6.0 * ms, axis=1, order=1)
    beats = _peaks(leads, slopes, ms)
    gaps = np.diff(beats)
    regular = bool(np.abs(np.diff(gaps)).mean() <= IRREGULAR * np.median(gaps))
    # A missed beat would spoil a mean; where RR intervals differ anyway, only the mean tells how many beats there are.
    gap = float(np.median(gaps) if regular else gaps.mean())
    middles = _aligned(slopes, _alike(leads, beats, ms), ms)
    cuts = _cut(leads, middles, ms)
    onset, offset = _qrs(np.median(cuts, axis=0), ms)
    pr = _pr(cuts, onset, ms)
    return EcgFacts(
        rate_bpm=60.0 * rate_hz / gap,
        regular=regular,
        qrs_ms=(offset - onset) / ms,
        pr_ms=None if pr is None else pr / ms,
        p_waves=pr is not None,
        beats=tuple(beats.tolist()),
    )


def _samples_per_ms(mv: npt.NDArray[np.float32], rate_hz: float) -> float:
    if mv.ndim != 2 or mv.shape[0] != LEADS:
        raise BadInput(f"an ECG of shape {mv.shape} is not one of {LEADS} leads", do=f"give ({LEADS}, samples)")
    if not SLOWEST_HZ <= rate_hz < np.inf:
        raise BadInput(f"an ECG at {rate_hz:g} Hz cannot be measured", do=f"give one of at least {SLOWEST_HZ:g} Hz")
    if mv.shape[1] < SHORTEST_SECONDS * rate_hz:
        seconds = mv.shape[1] / rate_hz
        raise BadInput(f"an ECG of {seconds:.3g} s is too short", do=f"give at least {SHORTEST_SECONDS:g} s")
    return rate_hz / 1000.0


def _usable(mv: npt.NDArray[np.float32]) -> Floats:
    valid = np.isfinite(mv).all(axis=1)
    if not valid.any():
        raise BadInput("every lead of the ECG holds invalid samples", do="give a stretch without gaps")
    leads = mv[valid].astype(np.float64)
    moving = np.ptp(leads, axis=1) > FLAT_MV
    if not moving.any():
        raise BadInput("the ECG is flat: no lead carries a signal", do="give a recording of a beating heart")
    return np.asarray(leads[moving])


def _without_wander(leads: Floats, rate_hz: float) -> Floats:
    sections = signal.butter(2, 0.4, "highpass", fs=rate_hz, output="sos")
    return np.asarray(signal.sosfiltfilt(sections, leads - np.median(leads, axis=1, keepdims=True), axis=1))


def _peaks(leads: Floats, slopes: Floats, ms: float) -> Places:
    """Samples of the R peaks; raises `BadInput` below three."""
    steep = ndimage.uniform_filter1d(np.sqrt((slopes**2).mean(axis=0)), round(90 * ms) | 1)
    apart = round(REFRACTORY_MS * ms)
    high, _ = signal.find_peaks(steep, distance=apart, height=0.3 * float(steep.max()))
    if len(high):
        # Held against the steeper ones: there may be as many T waves among them as beats.
        high = high[steep[high] > 0.4 * float(np.quantile(steep[high], 0.75))]
    # What the record's ends cut off is no whole beat.
    edge = round(60 * ms)
    high = high[(high >= edge) & (high < len(steep) - edge)]
    if len(high) < 3:
        raise BadInput(f"{len(high)} beats were found, and three are needed", do="give a longer recording")
    height = (leads**2).sum(axis=0)
    return np.array([at - edge + int(height[at - edge : at + edge].argmax()) for at in high], dtype=np.int64)


def _cut(leads: Floats, middles: Places, ms: float, before: float = BEFORE_MS, after: float = AFTER_MS) -> Floats:
    """The stretches around the middles that lie wholly within the record, shape (beats, leads, samples)."""
    first, last = round(before * ms), round(after * ms)
    whole = middles[(middles >= first) & (middles + last <= leads.shape[1])]
    if not len(whole):
        raise BadInput("no beat lies wholly within the ECG", do="give a longer recording")
    return np.stack([leads[:, at - first : at + last] for at in whole])


def _alike(leads: Floats, beats: Places, ms: float) -> Places:
    """The beats of the commonest kind."""
    inside = beats[(beats >= 90 * ms) & (beats + 90 * ms < leads.shape[1])]
    shapes = _cut(ndimage.gaussian_filter1d(leads, 8.0 * ms, axis=1), inside, ms, 80, 80).reshape(len(inside), -1)
    fellows = np.atleast_2d(np.asarray(np.corrcoef(shapes))) > FELLOW
    return np.asarray(inside[fellows[int(fellows.sum(axis=1).argmax())]])


def _aligned(slopes: Floats, beats: Places, ms: float) -> Places:
    """The beats moved by up to 30 ms so that their slopes match the average best."""
    half, room = round(70 * ms), round(30 * ms)
    wide = half + room
    padded = np.pad(slopes, ((0, 0), (wide, wide)))
    middles = beats
    for _ in range(2):
        pattern = np.mean([padded[:, at + room : at + room + 2 * half] for at in middles], axis=0)
        views = (sliding_window_view(padded[:, at : at + 2 * wide], 2 * half, axis=1) for at in middles)
        fits = np.stack([np.einsum("lsw,lw->s", view, pattern) for view in views])
        middles = middles + fits.argmax(axis=1) - room
    return middles


def _steepness(beat: Floats, spread: float) -> Floats:
    """Root mean square over the leads of the slope, in mV a sample, smoothed over `spread` samples."""
    return np.asarray(np.sqrt((ndimage.gaussian_filter1d(beat, spread, axis=1, order=1) ** 2).mean(axis=0)))


def _qrs(beat: Floats, ms: float) -> tuple[int, int]:
    """Onset and offset of the QRS complex within the average beat."""
    steep = _steepness(beat, 3.0 * ms)
    middle, reach = round(BEFORE_MS * ms), round(130 * ms)
    peak = float(steep[middle - reach // 2 : middle + reach // 2].max())
    loud = steep > 0.05 * peak + float(np.quantile(steep, 0.25))
    # Where all leads turn at once the slope is zero for a moment; that is no end.
    loud = ndimage.binary_closing(loud, np.ones(round(18 * ms) | 1))
    marks, _ = ndimage.label(loud)
    start = middle - reach // 2 + int(steep[middle - reach // 2 : middle + reach // 2].argmax())
    places = np.flatnonzero(marks == marks[start])
    onset, offset = int(places[0]), int(places[-1])
    if not loud[start] or onset < 40 * ms or offset == len(steep) - 1:
        raise BadInput("no QRS complex stands out in the average beat", do="give a recording with less noise")
    return onset, offset


def _pr(cuts: Floats, onset: int, ms: float) -> int | None:
    """Samples from the start of the P wave to the QRS onset; None where no P wave comes before the beats."""
    near, far = onset - round(10 * ms), max(0, onset - round(LONGEST_PR_MS * ms))
    level = cuts[:, :, near:onset].mean(axis=2, keepdims=True)
    before = ndimage.gaussian_filter1d((cuts - level)[:, :, far:onset], 4.0 * ms, axis=2)
    beat = np.median(before, axis=0)
    height = np.sqrt((beat**2).mean(axis=0))
    tops, _ = signal.find_peaks(height, height=P_MV, prominence=0.5 * P_MV)
    tops = tops[tops < len(height) - 25 * ms]
    if not len(tops):
        return None
    # Further away there may be the T wave before.
    top = int(tops[-1])
    foot = int(height[max(0, top - round(110 * ms)) : top].argmin()) + max(0, top - round(110 * ms))
    if _steadiness(before[:, :, foot:]) < STEADY_P:
        return None
    steep = _steepness(np.median(cuts, axis=0)[:, far:onset], 5.0 * ms)
    rise = steep[foot:top]
    steepest = int(rise.argmax())
    quiet = np.flatnonzero(rise[:steepest] < 0.3 * rise[steepest])
    return len(height) - (foot + (int(quiet[-1]) + 1 if len(quiet) else 0))


def _steadiness(stretches: Floats) -> float:
    """Mean correlation between the stretches (beats, leads, samples) of all pairs of beats, 1 for equal ones."""
    count = len(stretches)
    if count < 2:
        return 1.0
    flat = (stretches - stretches.mean(axis=2, keepdims=True)).reshape(count, -1)
    flat = flat / np.maximum(np.linalg.norm(flat, axis=1, keepdims=True), 1e-12)
    return float((np.linalg.norm(flat.sum(axis=0)) ** 2 - count) / (count * (count - 1)))
