"""What disturbs the ECG phantom: noise, wander, hum, and leads or amplifiers that fail.

All but the faults of single leads act on the eight drawn leads, before III and the augmented leads follow from them, so
that Einthoven's law stays exact. What is drawn for one disturbance does not depend on the others.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Literal, TypedDict

import numpy as np

from overread.errors import BadInput, unknown_name
from overread.phantoms.draws import generator
from overread.phantoms.ecg_waves import DRAWN, LEADS, Floats

Fault = Literal["flat", "detached", "step"]
FAULTS: tuple[Fault, ...] = ("flat", "detached", "step")


class Settings(TypedDict, total=False):
    """The fields of `Disturbance`."""

    noise_mv: float
    snr_db: float | None
    muscle_mv: float
    wander_mv: float
    hum_mv: float
    hum_hz: float
    faults: Mapping[str, Fault]
    limit_mv: float | None


@dataclasses.dataclass(frozen=True, slots=True)
class Disturbance:
    """How an ECG is disturbed; all heights in mV, 0 for none."""

    noise_mv: float = 0.01
    """Standard deviation of white noise in each drawn lead. Not looked at where `snr_db` is given."""
    snr_db: float | None = None
    """White noise by its power: so many dB below the mean square of the clean signal, taken over the eight drawn leads
    and all samples, the level between the beats being zero. All leads get noise of that same standard deviation; III
    then has sqrt(2) of it, aVR sqrt(1/2), aVL and aVF sqrt(5/4)."""
    muscle_mv: float = 0.0
    """Standard deviation of muscle noise: 20 Hz and above, swelling and fading."""
    wander_mv: float = 0.04
    """Greatest height of the slow movement of the baseline, 0.12 to 0.35 Hz."""
    hum_mv: float = 0.0
    """Height of mains hum in the lead that has most of it."""
    hum_hz: float = 50.0
    faults: Mapping[str, Fault] = dataclasses.field(default_factory=dict)
    """By lead: `flat` (zero throughout), `detached` (drifts and hums far out, without a heart in it), `step` (its level
    jumps once by 0.4 to 1 mV). Only that lead is concerned: Einthoven's law no longer holds for it."""
    limit_mv: float | None = None
    """The amplifier saturates: no value is further from zero than this."""

    def __post_init__(self) -> None:
        numbers = (self.noise_mv, self.muscle_mv, self.wander_mv, self.hum_mv)
        known = self.snr_db is None or np.isfinite(self.snr_db)
        if not all(0.0 <= number < np.inf for number in numbers) or not 0.0 < self.hum_hz < np.inf or not known:
            raise BadInput(f"an ECG cannot be disturbed like this: {self}", do="give heights in mV from 0 on")
        if self.limit_mv is not None and not self.limit_mv > 0:
            raise BadInput(f"an amplifier cannot saturate at {self.limit_mv} mV", do="give a limit above 0")
        for lead, fault in self.faults.items():
            if lead not in LEADS:
                raise unknown_name("lead", lead, LEADS)
            if fault not in FAULTS:
                raise unknown_name("fault", fault, FAULTS)

    def disturbed(self, clean: Floats, rate_hz: int, seed: int) -> Floats:
        """The drawn leads (8, samples) with everything but faults and saturation."""
        t = np.arange(clean.shape[1]) / rate_hz
        spread = self.noise_mv
        if self.snr_db is not None:
            spread = float(np.sqrt((clean**2).mean())) * 10.0 ** (-self.snr_db / 20.0)
        drawn = clean
        if spread:
            drawn = drawn + spread * generator("ecg noise", seed).standard_normal(clean.shape)
        if self.wander_mv:
            drawn = drawn + self._wander(t, seed)
        if self.muscle_mv:
            drawn = drawn + self._muscle(t, rate_hz, seed)
        if self.hum_mv:
            drawn = drawn + self._hum(t, seed)
        return drawn

    def failed(self, leads: Floats, rate_hz: int, seed: int) -> Floats:
        """All leads (12, samples) with faults and saturation."""
        leads = leads.copy()
        for lead, fault in self.faults.items():
            rng, row = generator(f"ecg {fault} {lead}", seed), LEADS.index(lead)
            if fault == "flat":
                leads[row] = 0.0
            elif fault == "step":
                at = int(rng.uniform(0.3, 0.7) * leads.shape[1])
                leads[row, at:] += rng.choice([-1.0, 1.0]) * rng.uniform(0.4, 1.0)
            else:
                leads[row] = _loose(rng, leads.shape[1], rate_hz)
        return leads if self.limit_mv is None else np.clip(leads, -self.limit_mv, self.limit_mv)

    def usable(self) -> Floats:
        """Which of the twelve leads still carry the heart."""
        return np.array([self.faults.get(lead) not in ("flat", "detached") for lead in LEADS], dtype=float)

    def _wander(self, t: Floats, seed: int) -> Floats:
        rng, shape = generator("ecg wander", seed), (len(DRAWN), 1)
        slow, start = rng.uniform(0.12, 0.35, shape), rng.uniform(0.0, 2 * np.pi, shape)
        return np.asarray(self.wander_mv * rng.uniform(0.4, 1.0, shape) * np.sin(2 * np.pi * slow * t + start))

    def _muscle(self, t: Floats, rate_hz: int, seed: int) -> Floats:
        rng = generator("ecg muscle", seed)
        spectrum = np.fft.rfft(rng.standard_normal((len(DRAWN), len(t))), axis=1)
        spectrum[:, np.fft.rfftfreq(len(t), 1.0 / rate_hz) < 20.0] = 0.0
        noise = np.fft.irfft(spectrum, len(t), axis=1)
        swell = 1.0 + 0.7 * np.sin(2 * np.pi * rng.uniform(0.15, 0.5) * t + rng.uniform(0.0, 2 * np.pi))
        noise = noise * swell
        return np.asarray(self.muscle_mv * noise / noise.std(axis=1, keepdims=True))

    def _hum(self, t: Floats, seed: int) -> Floats:
        rng, shape = generator("ecg hum", seed), (len(DRAWN), 1)
        share, start = rng.uniform(0.3, 1.0, shape), rng.uniform(0.0, 2 * np.pi)
        return np.asarray(self.hum_mv * share / share.max() * np.sin(2 * np.pi * self.hum_hz * t + start))


def _loose(rng: np.random.Generator, samples: int, rate_hz: int) -> Floats:
    """What a lead shows whose electrode has come off."""
    t = np.arange(samples) / rate_hz
    walk = np.cumsum(rng.standard_normal(samples)) * (0.9 / np.sqrt(rate_hz))
    hum = rng.uniform(0.2, 0.5) * np.sin(2 * np.pi * 50.0 * t)
    return np.asarray(np.clip(walk + hum + rng.uniform(-1.0, 1.0), -5.0, 5.0))
