"""The wave shapes of the ECG phantom: what P, QRS and T look like in each lead, as sums of smooth lobes.

Only the eight independent leads are drawn; III, aVR, aVL and aVF follow from I and II.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import numpy.typing as npt

LEADS = ("I", "II", "III", "aVR", "aVL", "aVF", "V1", "V2", "V3", "V4", "V5", "V6")
DRAWN = ("I", "II", "V1", "V2", "V3", "V4", "V5", "V6")

Floats = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, slots=True)
class Lobe:
    """One bump of a wave: exactly zero outside its span, with a continuous slope everywhere."""

    start: float
    """As a fraction of the wave's duration, like `stop`."""
    stop: float
    mv: tuple[float, ...]
    """Height at the peak, one a drawn lead."""
    peak: float = 0.5
    """Where the peak lies within the span."""


@dataclasses.dataclass(frozen=True, slots=True)
class Morphology:
    """How one kind of beat looks."""

    qrs: tuple[Lobe, ...]
    t: tuple[Lobe, ...]


# Columns:                    I     II    V1    V2    V3    V4    V5    V6
P_WAVE = (
    Lobe(0.00, 0.70, mv=(0.07, 0.12, 0.07, 0.06, 0.05, 0.05, 0.05, 0.05)),
    Lobe(0.30, 1.00, mv=(0.06, 0.08, -0.06, 0.02, 0.04, 0.05, 0.05, 0.05)),
)

NARROW = Morphology(
    qrs=(
        Lobe(0.00, 0.30, mv=(-0.07, -0.07, 0.22, 0.30, 0.25, -0.05, -0.09, -0.10)),
        Lobe(0.20, 0.70, mv=(0.65, 1.15, -0.95, -1.20, 0.50, 1.30, 1.45, 1.15)),
        Lobe(0.60, 1.00, mv=(-0.12, -0.14, -0.08, -0.35, -0.65, -0.35, -0.20, -0.12)),
    ),
    t=(Lobe(0.00, 1.00, mv=(0.20, 0.30, 0.06, 0.32, 0.40, 0.40, 0.32, 0.25), peak=0.58),),
)

LEFT_BLOCK = Morphology(
    qrs=(
        Lobe(0.00, 0.62, mv=(0.60, 0.55, -1.00, -1.30, -1.10, -0.30, 0.70, 0.90), peak=0.55),
        Lobe(0.36, 1.00, mv=(0.62, 0.45, -1.05, -1.20, -0.80, 0.20, 0.80, 1.00), peak=0.45),
    ),
    t=(Lobe(0.00, 1.00, mv=(-0.20, -0.15, 0.40, 0.50, 0.40, 0.15, -0.22, -0.28), peak=0.58),),
)

RIGHT_BLOCK = Morphology(
    qrs=(
        Lobe(0.00, 0.22, mv=(-0.06, -0.07, 0.30, 0.32, 0.25, -0.05, -0.08, -0.08)),
        Lobe(0.14, 0.50, mv=(0.75, 1.05, -0.55, -0.70, 0.40, 1.20, 1.30, 1.10)),
        Lobe(0.42, 1.00, mv=(-0.35, -0.22, 0.95, 0.60, 0.10, -0.30, -0.38, -0.40)),
    ),
    t=(Lobe(0.00, 1.00, mv=(0.20, 0.28, -0.22, -0.15, 0.22, 0.32, 0.30, 0.25), peak=0.58),),
)

VENTRICULAR = Morphology(
    qrs=(
        Lobe(0.00, 0.66, mv=(-0.50, 1.20, 1.00, 1.30, 1.20, 0.60, -0.30, -0.60), peak=0.55),
        Lobe(0.38, 1.00, mv=(-0.40, 0.80, 0.70, 0.80, 0.60, 0.20, -0.40, -0.60), peak=0.45),
    ),
    t=(Lobe(0.00, 1.00, mv=(0.20, -0.50, -0.40, -0.50, -0.40, -0.20, 0.20, 0.30), peak=0.55),),
)

F_WAVES = (0.25, 0.70, 1.00, 0.60, 0.35, 0.25, 0.20, 0.20)
"""How strongly each drawn lead shows the waves of a fibrillating atrium."""


def draw(lobes: tuple[Lobe, ...], samples: int) -> Floats:
    """A wave of `samples` intervals in mV, shape (8, samples + 1); the first and the last sample are zero."""
    x = np.arange(samples + 1) / samples
    wave = np.zeros((len(DRAWN), samples + 1))
    for lobe in lobes:
        inside = np.clip((x - lobe.start) / (lobe.stop - lobe.start), 0.0, 1.0)
        bent = inside ** (math.log(0.5) / math.log(lobe.peak))
        # The power 1.5 leaves the baseline quickly enough to be seen, yet without a corner.
        wave += np.asarray(lobe.mv)[:, None] * np.clip(np.sin(np.pi * bent), 0.0, 1.0) ** 1.5
    return wave
