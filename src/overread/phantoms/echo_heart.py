"""The heart of the echo phantom: how large its left ventricle is at each moment, and which shape that volume has.

The left ventricle is a half ellipsoid, V = 2/3 pi R^2 L, whose apex stays in place while its base is pulled towards it.
Its wall keeps its own volume, so it thickens as the cavity shrinks. A cycle starts at end-diastole with the ejection.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

SHORTENING = 0.22
"""The length follows the volume to this power; the radius does the rest."""


@dataclasses.dataclass(frozen=True, slots=True)
class Heart:
    """One heart. Lengths in mm, volumes in ml, durations as fractions of a cycle."""

    heart_rate_bpm: float
    edv_ml: float
    esv_ml: float
    length: float
    """From apex to mitral valve at end-diastole."""
    wall: float
    """Thickness of the wall at end-diastole."""
    ejection: float
    e_wave: float
    a_wave: float
    e_share: float
    """The part of the filling that the E wave brings; diastasis brings `TRICKLE`, the A kick the rest."""
    tilt: float
    """Angle of the long axis with the midline of the fan, in radians; positive: the base lies further right."""
    apex: tuple[float, float]
    """Across and down from the probe."""

    @property
    def radius(self) -> float:
        """At the mitral valve, at end-diastole."""
        return float(np.sqrt(1500.0 * self.edv_ml / (np.pi * self.length)))


TRICKLE = 0.06
"""The part of the filling during diastasis: the volume never stands still, so end-diastole is one moment."""


def draw_heart(rng: np.random.Generator) -> Heart:
    """A heart at random: 50 to 110 beats a minute, ejection fraction 25 to 70 %."""
    rate, fraction = rng.uniform(50.0, 110.0), rng.uniform(0.25, 0.70)
    edv = rng.uniform(85.0, 140.0) + max(0.0, 0.5 - fraction) * rng.uniform(40.0, 160.0)
    roundness = rng.uniform(1.5, 1.75)
    seconds = 60.0 / rate
    ejection = 0.32 / np.sqrt(seconds) * rng.uniform(0.95, 1.05)
    rest = 1.0 - ejection
    pause = np.interp(rate, (50.0, 110.0), (0.35, 0.10))
    length = (6000.0 * roundness**2 * edv / np.pi) ** (1 / 3)
    wall = rng.uniform(8.0, 10.5)
    return Heart(
        heart_rate_bpm=float(rate),
        edv_ml=float(edv),
        esv_ml=float(edv * (1.0 - fraction)),
        length=float(length),
        wall=float(wall),
        ejection=float(ejection),
        e_wave=float(0.58 * (1.0 - pause) * rest),
        a_wave=float(0.42 * (1.0 - pause) * rest),
        e_share=float(rng.uniform(0.55, 0.74)),
        tilt=float(rng.uniform(0.02, 0.12)),
        apex=(float(rng.uniform(0.0, 4.0)), float(rng.uniform(19.0, 24.0) + wall)),
    )


def _ramp(x: Floats, start: float, stop: float) -> Floats:
    """From 0 to 1 along half a cosine."""
    return np.asarray(0.5 - 0.5 * np.cos(np.pi * np.clip((x - start) / (stop - start), 0.0, 1.0)))


def volume_at(heart: Heart, phase: Floats) -> Floats:
    """The left ventricle's volume in ml; the phase counts cycles from an end-diastole."""
    turn = phase % 1.0
    ed_of_filling = heart.ejection + heart.e_wave
    kick = 1.0 - heart.a_wave
    diastasis = np.clip((turn - ed_of_filling) / (kick - ed_of_filling), 0.0, 1.0)
    filled = (
        heart.e_share * _ramp(turn, heart.ejection, ed_of_filling)
        + TRICKLE * diastasis
        + (1.0 - heart.e_share - TRICKLE) * _ramp(turn, kick, 1.0)
    )
    stroke = heart.edv_ml - heart.esv_ml
    return heart.edv_ml - stroke * (_ramp(turn, 0.0, heart.ejection) - filled)


def valve_at(heart: Heart, phase: Floats) -> Floats:
    """How far the mitral valve is open, 0 to 1: it opens as blood flows in."""
    step = 0.004
    inflow = np.maximum(0.0, volume_at(heart, phase + step) - volume_at(heart, phase - step))
    peak = (heart.edv_ml - heart.esv_ml) * heart.e_share * np.pi * step / heart.e_wave
    return np.asarray(np.sqrt(np.clip(inflow / peak, 0.0, 1.0)))


def shape_at(heart: Heart, volume_ml: Floats) -> tuple[Floats, Floats, Floats]:
    """Radius, length and wall thickness in mm for each volume."""
    length = heart.length * (volume_ml / heart.edv_ml) ** SHORTENING
    radius = np.sqrt(1500.0 * volume_ml / (np.pi * length))
    ed_radius = heart.radius
    muscle = (ed_radius + heart.wall) ** 2 * (heart.length + heart.wall) - ed_radius**2 * heart.length
    wall = np.full_like(radius, heart.wall)
    for _ in range(8):  # Newton's method; the function is convex and increasing, so this converges from either side
        outer, long = radius + wall, length + wall
        wall = wall - (outer**2 * long - radius**2 * length - muscle) / (2 * outer * long + outer**2)
    return radius, length, wall


def extremes(volume_ml: Floats) -> tuple[list[int], list[int]]:
    """Frames of the local maxima and of the local minima; the first and the last frame are never among them."""
    v = volume_ml
    high = (v[1:-1] > v[:-2]) & (v[1:-1] >= v[2:])
    low = (v[1:-1] < v[:-2]) & (v[1:-1] <= v[2:])
    return (np.flatnonzero(high) + 1).tolist(), (np.flatnonzero(low) + 1).tolist()
