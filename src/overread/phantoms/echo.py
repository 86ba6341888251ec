"""A beating apical four-chamber clip with a known volume curve."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt

from overread.errors import BadInput
from overread.phantoms.draws import generator
from overread.phantoms.echo_heart import Floats, Heart, draw_heart, extremes, shape_at, valve_at, volume_at
from overread.phantoms.echo_image import Moment, Painter, Sector, along, cavity, fit_sector

CHORDS = 20


@dataclasses.dataclass(frozen=True, slots=True)
class EchoPhantom:
    """A made-up clip and what is true of it."""

    frames: npt.NDArray[np.uint8]
    """Shape (frames, size, size, 3), three equal channels."""
    cavity: npt.NDArray[np.bool_]
    """Shape (frames, size, size): the left ventricle's cavity, valve leaflets included."""
    truth: dict[str, Any]
    """`volume_ml` of each frame; `ed_frames` and `es_frames`, its local maxima and minima (the first and the last frame
    are never among them); `ef_percent` from the largest and the smallest frame, `edv_ml` and `esv_ml` theirs;
    `heart_rate_bpm`, `fps`, `spacing_mm`, `frames`, `size`; `tracings`: for `ed` and `es` the `frame` and its `rows`
    `[x1, y1, x2, y2]` in pixels, first the long axis from apex to valve, then 20 chords in that order."""


def echo_phantom(seed: int, *, frames: int | None = None, size: int = 112, rate_hz: float | None = None) -> EchoPhantom:
    """A clip of `frames` frames of `size` by `size` pixels at `rate_hz` frames a second (by default 25 to 60), starting
    anywhere in the cycle. The heart is the same whatever these are.

    Without `frames` there are 32, 64 or 128, whichever first holds 1.25 beats (and then at most 2.5): few lengths, so
    that one clip can stand in for another.
    """
    _check(frames, size, rate_hz)
    rng = generator("echo", seed)
    heart = draw_heart(rng)
    drawn_rate, start = int(rng.integers(25, 61)), float(rng.uniform())
    fps = float(rate_hz or drawn_rate)
    count = frames or _count(fps * 60.0 / heart.heart_rate_bpm)
    phase = start + np.arange(count) / fps * heart.heart_rate_bpm / 60.0
    volume = volume_at(heart, phase)
    sector = fit_sector(heart, size)
    moments = _moments(heart, volume, valve_at(heart, phase))
    painter = Painter(heart, sector, rng)
    grey = np.stack([painter.frame(moment) for moment in moments])
    reach, off = along(heart, *sector.millimetres())
    masks = np.stack([cavity(moment, reach, off) for moment in moments])
    return EchoPhantom(np.repeat(grey[..., None], 3, axis=3), masks, _truth(heart, sector, volume, moments, fps))


def _check(frames: int | None, size: int, rate_hz: float | None) -> None:
    if frames is not None and not 1 <= frames <= 10_000:
        raise BadInput(f"no clip of {frames} frames", do="give 1 to 10000")
    if not 32 <= size <= 1024:
        raise BadInput(f"no frames of {size} pixels", do="give 32 to 1024")
    if rate_hz is not None and not 1 <= rate_hz <= 1000:
        raise BadInput(f"no clip at {rate_hz:g} frames a second", do="give 1 to 1000")


def _count(beat: float) -> int:
    """The least doubling of 32 frames that holds 1.25 beats of `beat` frames each."""
    count = 32
    while count < 1.25 * beat:
        count *= 2
    return count


def _moments(heart: Heart, volume: Floats, valve: Floats) -> list[Moment]:
    radius, length, wall = shape_at(heart, volume)
    emptied = 1.0 - volume / heart.edv_ml
    columns = (radius, length, wall, emptied, valve)
    return [Moment(*row) for row in np.stack(columns, axis=1).tolist()]


def _truth(heart: Heart, sector: Sector, volume: Floats, moments: list[Moment], fps: float) -> dict[str, Any]:
    ed_frames, es_frames = extremes(volume)
    largest = max(ed_frames or range(len(volume)), key=lambda i: float(volume[i]))
    smallest = min(es_frames or range(len(volume)), key=lambda i: float(volume[i]))
    return {
        "volume_ml": volume.round(3).tolist(),
        "ed_frames": ed_frames,
        "es_frames": es_frames,
        "ef_percent": round(100.0 * (1.0 - float(volume[smallest] / volume[largest])), 2),
        "edv_ml": round(float(volume[largest]), 3),
        "esv_ml": round(float(volume[smallest]), 3),
        "heart_rate_bpm": round(heart.heart_rate_bpm, 3),
        "fps": fps,
        "spacing_mm": round(sector.spacing, 6),
        "frames": len(volume),
        "size": sector.size,
        "tracings": {
            "ed": {"frame": largest, "rows": _tracing(heart, sector, moments[largest])},
            "es": {"frame": smallest, "rows": _tracing(heart, sector, moments[smallest])},
        },
    }


def _tracing(heart: Heart, sector: Sector, moment: Moment) -> list[list[float]]:
    """The long axis and the chords at the middle of 20 equal slices."""
    slices = (np.arange(CHORDS) + 0.5) / CHORDS
    half = np.concatenate([[0.0], moment.radius * np.sqrt(1.0 - (1.0 - slices) ** 2)])
    across, down = np.sin(heart.tilt), np.cos(heart.tilt)

    def point(reach: Floats, off: Floats) -> tuple[Floats, Floats]:
        x = heart.apex[0] + reach * across + off * down
        z = heart.apex[1] + reach * down - off * across
        column, row = sector.pixel(x, z)
        return np.asarray(column), np.asarray(row)

    first = point(np.concatenate([[0.0], slices]) * moment.length, -half)
    second = point(np.concatenate([[1.0], slices]) * moment.length, half)
    rows: list[list[float]] = np.stack([*first, *second], axis=1).round(3).tolist()
    return rows
