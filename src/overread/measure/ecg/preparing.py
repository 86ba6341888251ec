"""Makes a recording ready to be measured: at one rate, without gaps, spikes and offsets, and says which leads carry it.

Everything after this works at `WORK_HZ`, whatever the recording's own rate, so that times in it are those of samples.
"""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from scipy import ndimage, signal

from overread.errors import BadInput
from overread.measure.ecg.boundaries import Floats, Places

WORK_HZ = 500.0
MS = WORK_HZ / 1000.0
"""Working samples in a millisecond."""

LEADS = 12
SHORTEST_SECONDS = 2.5
LONGEST_SECONDS = 7200.0
SLOWEST_HZ = 90.0
"""Below this sampling rate, intervals cannot be timed well enough to be told apart."""
FASTEST_HZ = 20_000.0

FLAT_MV = 0.02
"""A lead whose values nearly all lie within this span carries no signal."""
MOST_INVALID = 0.5
"""Share of invalid samples above which a lead is given up."""
MOST_MV = 30.0
"""Heights above which values are no millivolts."""
MOST_RESTING = 0.7
"""Share of samples at one value, for which a lead counts as cut off throughout."""

SPIKE_MV = 0.25
"""Least height of a pacing spike, as root mean square over the leads."""
SPIKE_HZ = 200.0
"""Below this rate a spike cannot be told from an R peak."""
MAINS_HZ = (50.0, 60.0)
HUM_TIMES, HUM_MV = 4.0, 0.008
"""A hum is that many times higher than what lies beside it in the spectrum, and at least so high."""
NOTCH = 25.0
LOST_MS = 60.0
"""Invalid samples for so long may have hidden a wave; what lies between is no measurement."""
COARSE_HZ = 50.0
"""The rate at which slow movements are followed."""


@dataclasses.dataclass(frozen=True, slots=True)
class Prepared:
    """A recording at `WORK_HZ`."""

    mv: Floats
    """(12, samples), the median of each lead taken off; leads that are not usable are zero."""
    usable: npt.NDArray[np.bool_]
    """(12,): the lead carries something."""
    valid: npt.NDArray[np.float64]
    """(12,): share of samples that are valid, neither missing nor cut off."""
    rate_hz: float
    """Of the recording itself."""
    samples: int
    """Of the recording itself."""
    spikes: Places
    """Pacing spikes, in samples of the recording itself."""
    lost: npt.NDArray[np.bool_]
    """(12, samples) as in `mv`: within stretches that the recording does not hold, bridged by straight lines."""

    def native(self, at: npt.ArrayLike) -> Places:
        """The recording's own samples nearest to working samples; negative ones stay as they are."""
        places = np.asarray(at)
        own = np.rint(places * (self.rate_hz / WORK_HZ)).astype(np.int64)
        return np.where(places < 0, -1, np.clip(own, 0, self.samples - 1))


def prepare(mv: npt.NDArray[np.floating], rate_hz: float) -> Prepared:
    """Readies `mv`, shape (12, samples), in mV. Raises `BadInput` where nothing can be measured."""
    _check(mv, rate_hz)
    samples = mv.shape[1]
    finite = np.isfinite(mv)
    valid = finite.mean(axis=1)
    leads = np.where(finite, mv, 0.0).astype(np.float64)
    for row in np.flatnonzero((valid < 1.0) & (valid > 0.0)):
        good = np.flatnonzero(finite[row])
        leads[row] = np.interp(np.arange(samples), good, leads[row, good])
    if not (valid >= 1.0 - MOST_INVALID).any():
        raise BadInput("every lead of the ECG holds invalid samples", do="give a stretch without gaps")
    if np.abs(leads).max() > 1e6:
        raise BadInput("the ECG holds values that are no millivolts", do="check gain and units")
    leads -= np.median(leads, axis=1, keepdims=True)
    spread = np.quantile(leads[:, :: max(1, samples // 20_000)], [0.002, 0.998], axis=1)
    resting = _resting(leads)
    moving = (spread[1] - spread[0] > FLAT_MV) & (resting < MOST_RESTING)
    usable = moving & (valid >= 1.0 - MOST_INVALID)
    if not usable.any():
        raise BadInput("the ECG is flat: no lead carries a signal", do="give a recording of a beating heart")
    if float(np.median((spread[1] - spread[0])[usable])) > MOST_MV:
        raise BadInput("the ECG is too high to be in millivolts", do="check gain and units")
    leads[~usable] = 0.0
    spikes = _spikes(leads[usable], rate_hz)
    if len(spikes):
        leads = _bridged(leads, spikes, rate_hz)
    work = _without_hum(_at_work(leads, rate_hz), usable)
    return Prepared(work, usable, valid * (1.0 - resting), rate_hz, samples, spikes, _lost(finite, work.shape[1]))


def _lost(finite: npt.NDArray[np.bool_], samples: int) -> npt.NDArray[np.bool_]:
    """Where at `WORK_HZ` so many samples in a row are not finite that a wave may be hidden."""
    lost = np.zeros((len(finite), samples), dtype=bool)
    at = np.minimum(np.arange(samples) * finite.shape[1] // samples, finite.shape[1] - 1)
    for row in np.flatnonzero(~finite.all(axis=1)):
        lost[row] = ndimage.binary_opening(~finite[row, at], np.ones(round(LOST_MS * MS)))
    return lost


def without_wander(leads: Floats, seconds: float) -> Floats:
    """The leads without what moves slower than `seconds`, by a moving average taken twice."""
    return leads - slow(leads, seconds)


def slow(leads: Floats, seconds: float) -> Floats:
    """What moves slower than `seconds` in each lead (leads, samples)."""
    step = round(WORK_HZ / COARSE_HZ)
    pieces = -(-leads.shape[1] // step)
    padded = np.pad(leads, ((0, 0), (0, pieces * step - leads.shape[1])), mode="edge")
    coarse = padded.reshape(len(leads), pieces, step).mean(axis=2)
    smooth = ndimage.gaussian_filter1d(coarse, seconds * COARSE_HZ, axis=1, mode="reflect")
    return _fine(smooth, step, leads.shape[1])


def _fine(coarse: Floats, step: int, samples: int) -> Floats:
    """Straight lines between coarse values, which stand for the middles of their steps."""
    at = (np.arange(samples) - (step - 1) / 2) / step
    left = np.clip(at.astype(np.int64), 0, max(0, coarse.shape[1] - 2))
    part = np.clip(at - left, 0.0, 1.0)
    right = np.minimum(left + 1, coarse.shape[1] - 1)
    return np.asarray(coarse[:, left] * (1.0 - part) + coarse[:, right] * part)


def _check(mv: npt.NDArray[np.floating], rate_hz: float) -> None:
    if mv.ndim != 2 or mv.shape[0] != LEADS:
        raise BadInput(f"an ECG of shape {mv.shape} is not one of {LEADS} leads", do=f"give ({LEADS}, samples)")
    if not SLOWEST_HZ <= rate_hz <= FASTEST_HZ:
        raise BadInput(
            f"an ECG at {rate_hz:g} Hz cannot be measured", do=f"give one of {SLOWEST_HZ:g} to {FASTEST_HZ:g} Hz"
        )
    seconds = mv.shape[1] / rate_hz
    if seconds < SHORTEST_SECONDS:
        raise BadInput(f"an ECG of {seconds:.3g} s is too short", do=f"give at least {SHORTEST_SECONDS:g} s")
    if seconds > LONGEST_SECONDS:
        raise BadInput(f"an ECG of {seconds:.6g} s is too long", do=f"give at most {LONGEST_SECONDS:g} s at a time")


def _resting(leads: Floats) -> Floats:
    """Share of the samples of each lead that rest at its highest or lowest value, where more than a few do."""
    least = 0.02
    ends = np.stack([leads.max(axis=1), leads.min(axis=1)])
    shares = (leads[None] == ends[:, :, None]).mean(axis=2)
    return np.asarray(np.where(shares > least, shares, 0.0).sum(axis=0))


def _spikes(leads: Floats, rate_hz: float) -> Places:
    """Samples at which all leads together jump and come back at once."""
    if rate_hz < SPIKE_HZ:
        return np.zeros(0, dtype=np.int64)
    reach = max(2, round(0.004 * rate_hz))
    # A sample is held against the lines through its surroundings to both sides, over which a spike is gone.
    away = leads[:, reach:-reach] - (leads[:, : -2 * reach] + leads[:, 2 * reach :]) / 2
    height = np.sqrt((away**2).mean(axis=0))
    near = np.flatnonzero(height > max(SPIKE_MV, 12.0 * float(np.median(height))))
    if not len(near):
        return np.zeros(0, dtype=np.int64)
    groups = np.split(near, np.flatnonzero(np.diff(near) > 0.01 * rate_hz) + 1)
    found = [int(group[height[group].argmax()]) + reach for group in groups]
    return np.array([at for at in found if _is_spike(leads, at, reach)], dtype=np.int64)


def _is_spike(leads: Floats, at: int, reach: int) -> bool:
    """Whether what stands out at `at` is as narrow as a spike, and no R peak."""
    wide = 3 * reach
    around = leads[:, max(0, at - wide) : at + wide + 1]
    lead = around[int(np.ptp(around, axis=1).argmax())]
    middle = at - max(0, at - wide)
    level = np.median(lead)
    high = np.abs(lead - level)
    return bool(high[middle] > 0.2 and np.count_nonzero(high > 0.4 * high[middle]) <= reach)


def _bridged(leads: Floats, spikes: Places, rate_hz: float) -> Floats:
    """The leads with straight lines in the place of spikes."""
    bridged, reach = leads.copy(), max(2, round(0.004 * rate_hz))
    for at in spikes.tolist():
        start, stop = max(0, at - reach), min(leads.shape[1] - 1, at + reach)
        share = np.linspace(0.0, 1.0, stop - start + 1)
        bridged[:, start : stop + 1] = leads[:, [start]] * (1.0 - share) + leads[:, [stop]] * share
    return bridged


def _without_hum(leads: Floats, usable: npt.NDArray[np.bool_]) -> Floats:
    """The leads without the hum of the mains, where there is any."""
    length = min(leads.shape[1], round(20 * WORK_HZ))
    spectrum = np.abs(np.fft.rfft(leads[usable, :length] * np.hanning(length), axis=1))
    bin_hz = WORK_HZ / length
    for hum in MAINS_HZ:
        at, near, far = round(hum / bin_hz), round(1.0 / bin_hz), round(6.0 / bin_hz)
        line = spectrum[:, at - near : at + near + 1].max(axis=1)
        beside = np.concatenate([spectrum[:, at - far : at - near], spectrum[:, at + near + 1 : at + far]], axis=1)
        # Twice the height over the sum of the window is the height of a sine, in mV.
        height = 2.0 * line / np.hanning(length).sum()
        rows = np.flatnonzero(usable)[(line > HUM_TIMES * np.quantile(beside, 0.9, axis=1)) & (height > HUM_MV)]
        if len(rows):
            b, a = signal.iirnotch(hum, NOTCH, WORK_HZ)
            leads[rows] = signal.filtfilt(b, a, leads[rows], axis=1)
    return leads


def _at_work(leads: Floats, rate_hz: float) -> Floats:
    if rate_hz == WORK_HZ:
        return leads
    ratio = Fraction(WORK_HZ / rate_hz).limit_denominator(1000)
    return np.asarray(signal.resample_poly(leads, ratio.numerator, ratio.denominator, axis=1, padtype="line"))
