"""A 12-lead ECG of a known rhythm, with every onset and offset known to the sample.

Waves are smooth lobes that are exactly zero outside their span, so an onset is the last sample before a wave and an
offset the first sample after it, in the lead where it is widest. Intervals keep clear of every diagnostic threshold.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt

from overread.errors import BadInput, unknown_name
from overread.phantoms import ecg_waves as waves
from overread.phantoms.draws import generator
from overread.phantoms.ecg_waves import LEADS, Floats

Range = tuple[float, float]


@dataclasses.dataclass(frozen=True, slots=True)
class Rhythm:
    """What is drawn at random for a rhythm: rates in beats a minute, intervals in ms."""

    rates: tuple[Range, ...] = ((62.0, 93.0),)
    """One of these bands is chosen."""
    pr: Range | None = (134.0, 181.0)
    """None: the atria do not beat, there is no P wave."""
    qrs: Range = (83.0, 102.0)
    spread: float = 0.02
    """Distances between beats lie within this fraction of their mean."""
    beat: waves.Morphology = waves.NARROW
    ectopic: bool = False


RHYTHMS: dict[str, Rhythm] = {
    "normal": Rhythm(),
    "sinus_bradycardia": Rhythm(rates=((41.0, 53.0),)),
    "sinus_tachycardia": Rhythm(rates=((107.0, 137.0),), pr=(132.0, 150.0)),
    "atrial_fibrillation": Rhythm(rates=((66.0, 88.0), (111.0, 130.0)), pr=None, spread=0.32),
    "first_degree_block": Rhythm(rates=((62.0, 86.0),), pr=(218.0, 277.0)),
    "left_bundle_branch_block": Rhythm(qrs=(133.0, 157.0), beat=waves.LEFT_BLOCK),
    "right_bundle_branch_block": Rhythm(qrs=(133.0, 157.0), beat=waves.RIGHT_BLOCK),
    "premature_ventricular": Rhythm(rates=((64.0, 88.0),), ectopic=True),
}


@dataclasses.dataclass(frozen=True, slots=True)
class EcgPhantom:
    """A made-up ECG and what is true of it."""

    mv: npt.NDArray[np.float32]
    """Shape (12, samples), leads in the order of `LEADS`; every value is a whole number of microvolts."""
    rate_hz: int
    truth: dict[str, Any]
    """`rhythm`, `rate_bpm`, `pr_ms`, `qrs_ms`, `qt_ms` (of the ordinary beats), `regular`, `p_waves`; `beats`, the
    samples of the R peaks (where lead II is furthest from zero), `beat_types` (N ordinary, V ventricular), and `waves`
    with `p`, `qrs`, `t`: `[onset, offset]` in samples for each beat, or null where it has none or it is cut off."""


@dataclasses.dataclass(frozen=True, slots=True)
class _Plan:
    """What was drawn: QRS onsets and the lengths of waves, all in samples."""

    onsets: npt.NDArray[np.int64]
    ectopic: npt.NDArray[np.bool_]
    pr: int | None
    p: int
    qrs: int
    qt: int
    t: int
    wide: int
    wide_qt: int


def ecg_phantom(
    seed: int,
    rhythm: str,
    *,
    seconds: float = 10.0,
    rate_hz: int = 500,
    noise_mv: float = 0.01,
    wander_mv: float = 0.04,
) -> EcgPhantom:
    """An ECG of `rhythm` (one of `RHYTHMS`).

    `noise_mv` is the standard deviation of the noise, `wander_mv` the height of the slow movement of the baseline; the
    beats below are the same whatever both are. Limb leads fulfil Einthoven's law exactly, in whole microvolts.
    """
    if rhythm not in RHYTHMS:
        raise unknown_name("rhythm", rhythm, RHYTHMS)
    if not (5.0 <= seconds <= 3600.0 and 50 <= rate_hz <= 10_000):
        raise BadInput(f"no ECG of {seconds:g} s at {rate_hz} Hz", do="give 5 to 3600 s and 50 to 10000 Hz")
    rng = generator(f"ecg {rhythm}", seed)
    samples = round(seconds * rate_hz)
    rule = RHYTHMS[rhythm]
    plan = _plan(rng, rule, samples, rate_hz)
    clean, truth = _draw(rng, rule, plan, samples)
    if rule.pr is None:
        clean = clean + _f_waves(rng, samples, rate_hz)
    drawn = clean + _disturbance(rng, samples, rate_hz, noise_mv, wander_mv)
    truth = {
        "rhythm": rhythm,
        **_measures(plan, truth, rate_hz, regular=rule.spread < 0.05 and not rule.ectopic),
        **truth,
        "rate_hz": rate_hz,
        "samples": samples,
        "leads": list(LEADS),
    }
    return EcgPhantom(_twelve(drawn), rate_hz, truth)


def _plan(rng: np.random.Generator, rule: Rhythm, samples: int, rate_hz: int) -> _Plan:
    band = rule.rates[int(rng.integers(len(rule.rates)))]
    mean = 60.0 / rng.uniform(*band)
    count = int(np.ceil(samples / rate_hz / mean)) + 3
    # Evenly spread factors in random order: every record shows the whole irregularity, and its mean rate is kept.
    gaps = mean * (1.0 + rule.spread * rng.permutation(np.linspace(-1.0, 1.0, count)))
    ectopic = np.zeros(count, dtype=bool)
    if rule.ectopic:
        first, step, early = int(rng.integers(2, 4)), int(rng.integers(3, 5)), float(rng.uniform(0.58, 0.68))
        ectopic[first : count - 1 : step] = True
        for beat in np.flatnonzero(ectopic):
            gaps[beat - 1], gaps[beat] = early * mean, (2.0 - early) * mean
    onsets = np.concatenate([[0.0], np.cumsum(gaps)[:-1]]) - rng.uniform(0.2, 0.9) * mean

    pr = None if rule.pr is None else rng.uniform(*rule.pr) / 1000
    qrs = rng.uniform(*rule.qrs) / 1000
    wish = rng.uniform(0.37, 0.425) * np.sqrt(mean) + max(0.0, qrs - 0.1)
    room = float(gaps.min()) - (0.045 if pr is None or rule.ectopic else pr + 0.022)
    qt = min(wish, room)
    p = rng.uniform(0.085, 0.105)
    wide = rng.uniform(0.145, 0.17)

    def whole(duration: float) -> int:
        return round(duration * rate_hz)

    return _Plan(
        onsets=np.rint(onsets * rate_hz).astype(np.int64),
        ectopic=ectopic,
        pr=None if pr is None else whole(pr),
        p=whole(min(p, (pr or 1.0) - 0.03)),
        qrs=whole(qrs),
        qt=whole(qt),
        t=whole(min(0.45 * qt, qt - qrs - 0.02)),
        wide=whole(wide),
        wide_qt=whole(qt + wide - qrs),
    )


def _draw(rng: np.random.Generator, rule: Rhythm, plan: _Plan, samples: int) -> tuple[Floats, dict[str, Any]]:
    """The eight drawn leads without noise in mV, and the truth of each beat."""
    gains = rng.uniform(0.85, 1.2) * rng.uniform(0.9, 1.1, len(waves.DRAWN))[:, None]
    shapes = {
        False: (gains * waves.draw(rule.beat.qrs, plan.qrs), gains * waves.draw(rule.beat.t, plan.t), plan.qt),
        True: (
            gains * waves.draw(waves.VENTRICULAR.qrs, plan.wide),
            gains * waves.draw(waves.VENTRICULAR.t, plan.t),
            plan.wide_qt,
        ),
    }
    p_wave = gains * waves.draw(waves.P_WAVE, plan.p)
    clean = np.zeros((len(waves.DRAWN), samples))
    beats, types = [], []
    spans: dict[str, list[list[int] | None]] = {"p": [], "qrs": [], "t": []}
    for onset, early in zip(plan.onsets.tolist(), plan.ectopic.tolist(), strict=True):
        qrs, t, qt = shapes[early]
        span = _place(clean, qrs, onset)
        t_span = _place(clean, t, onset + qt - (t.shape[1] - 1))
        p_span = None if early or plan.pr is None else _place(clean, p_wave, onset - plan.pr)
        if span is not None:
            beats.append(onset + int(np.abs(qrs[1]).argmax()))
            types.append("V" if early else "N")
            for name, value in (("p", p_span), ("qrs", span), ("t", t_span)):
                spans[name].append(value)
    return clean, {"beats": beats, "beat_types": types, "waves": spans}


def _place(leads: Floats, wave: Floats, onset: int) -> list[int] | None:
    """Adds a wave to the leads; its span, or None where the record cuts it off."""
    samples, length = leads.shape[1], wave.shape[1]
    start, stop = max(onset, 0), min(onset + length, samples)
    if start < stop:
        leads[:, start:stop] += wave[:, start - onset : stop - onset]
    return [onset, onset + length - 1] if onset >= 0 and onset + length <= samples else None


def _f_waves(rng: np.random.Generator, samples: int, rate_hz: int) -> Floats:
    """The fibrillating atria: 5 to 7.5 waves a second that drift in rate and height, shape (8, samples), in mV."""
    t = np.arange(samples) / rate_hz
    rate, drift, swell = rng.uniform(5.0, 7.5), rng.uniform(0.2, 0.5), rng.uniform(0.3, 0.7)
    start = rng.uniform(0.0, 2 * np.pi, 3)
    turn = 2 * np.pi * rate * t + 2.0 * np.sin(2 * np.pi * drift * t + start[0]) + start[1]
    height = rng.uniform(0.07, 0.11) * (1.0 + 0.3 * np.sin(2 * np.pi * swell * t + start[2]))
    wave: Floats = height * (np.sin(turn) + 0.3 * np.sin(2 * turn))
    return np.outer(waves.F_WAVES, wave)


def _disturbance(rng: np.random.Generator, samples: int, rate_hz: int, noise_mv: float, wander_mv: float) -> Floats:
    t = np.arange(samples) / rate_hz
    leads = len(waves.DRAWN)
    noise = noise_mv * rng.standard_normal((leads, samples))
    slow, start = rng.uniform(0.12, 0.35, (leads, 1)), rng.uniform(0.0, 2 * np.pi, (leads, 1))
    height = wander_mv * rng.uniform(0.4, 1.0, (leads, 1))
    return np.asarray(noise + height * np.sin(2 * np.pi * slow * t + start))


def _twelve(drawn: Floats) -> npt.NDArray[np.float32]:
    """All leads from the drawn eight. I and II are even numbers of microvolts, so that their halves are whole."""
    one, two = 2 * np.rint(drawn[:2] * 500)
    limb = np.stack([one, two, two - one, -(one + two) / 2, one - two / 2, two - one / 2])
    return (np.concatenate([limb, np.rint(drawn[2:] * 1000)]) / 1000).astype(np.float32)


def _measures(plan: _Plan, truth: dict[str, Any], rate_hz: int, *, regular: bool) -> dict[str, Any]:
    beats = truth["beats"]
    rate = 60.0 * rate_hz * (len(beats) - 1) / (beats[-1] - beats[0])

    def ms(count: int) -> float:
        return round(count * 1000 / rate_hz, 2)

    return {
        "rate_bpm": round(rate, 2),
        "pr_ms": None if plan.pr is None else ms(plan.pr),
        "qrs_ms": ms(plan.qrs),
        "qt_ms": ms(plan.qt),
        "regular": regular,
        "p_waves": plan.pr is not None,
    }
