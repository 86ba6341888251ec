"""The signal that goes onto a sheet, checked."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from overread.errors import BadInput, unknown_name
from overread.media.ecg import LEADS

MOST_MV = 1e4
"""Beyond this a sample is drawn at this value; no sheet reaches so far."""

RATES_HZ = (1.0, 1e6)

_NAMES = {lead.casefold(): lead for lead in LEADS}


@dataclasses.dataclass(frozen=True, slots=True)
class Strip:
    """Some of the twelve leads over the same stretch of time."""

    rows: Mapping[str, npt.NDArray[np.float32]]
    """By lead: (samples,) in mV, NaN where there is no number."""
    samples: int
    rate_hz: float

    @property
    def seconds(self) -> float:
        """How long it lasts."""
        return self.samples / self.rate_hz

    def place(self, seconds: float) -> int:
        """The sample at a moment, kept within the strip."""
        return min(max(round(seconds * self.rate_hz), 0), self.samples)


def lead_name(lead: str, where: str = "the sheet's leads") -> str:
    """One of the twelve names, whatever the case it was written in."""
    found = _NAMES.get(lead.strip().casefold()) if isinstance(lead, str) else None
    if found is None:
        raise unknown_name("lead", str(lead), LEADS, where=where)
    return found


def strip_of(mv: npt.ArrayLike, rate_hz: float, leads: Sequence[str]) -> Strip:
    """Checks (leads, samples) in mV and gives it by lead; infinities count as no number."""
    try:
        with np.errstate(over="ignore"):  # what single precision cannot hold is no number either
            signal = np.asarray(mv, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise BadInput(f"the signal is no array of numbers: {error}", do="give (leads, samples) in mV") from error
    if signal.ndim != 2:
        raise BadInput(f"the signal has {signal.ndim} dimensions", do="give (leads, samples) in mV")
    names = [lead_name(lead, "the leads of the signal") for lead in leads]
    if len(names) != signal.shape[0]:
        raise BadInput(
            f"there are {signal.shape[0]} signals and {len(names)} names of leads", do="give (leads, samples) in mV"
        )
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise BadInput(f"lead {twice[0]} appears twice", do="keep one of them")
    if not names or signal.shape[1] == 0:
        raise BadInput("there is no signal to draw: it has no samples", do="give at least one sample of one lead")
    if not (isinstance(rate_hz, int | float | np.number) and RATES_HZ[0] <= rate_hz <= RATES_HZ[1]):
        raise BadInput(f"the sampling rate is {rate_hz!r}", do="give it in Hz, {:g} to {:g}".format(*RATES_HZ))
    if not np.isfinite(signal).all() or max(signal.max(), -signal.min()) > MOST_MV:
        signal = np.where(np.isfinite(signal), np.clip(signal, -MOST_MV, MOST_MV), np.float32(np.nan))
    return Strip(dict(zip(names, signal, strict=True)), signal.shape[1], float(rate_hz))
