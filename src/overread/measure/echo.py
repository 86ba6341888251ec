"""Measures an echo clip: how large the cavity that beats most is in each frame, and when it is largest and smallest.

Blood is dark. What stays dark through the clip are the cores of the chambers; each core has the dark surroundings that
lie nearest to it, and of these chambers the one whose area changes most is taken for the left ventricle.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt
from scipy import ndimage

from overread.errors import BadInput

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

LARGEST = 128
"""Frames are shrunk by a whole factor until neither side is longer."""

FEWEST_FRAMES = 3
DARK_LEVEL = 8.0
"""What never gets lighter than this lies outside the sector."""

LEAFLET = 3
"""Bright lines thinner than this many pixels, such as valve leaflets, count as part of the cavity."""

CORE_SHARE = 0.004
"""Least area of a chamber's core, as a share of the sector."""

LEAST_CHANGE = 0.004
"""A cavity whose area changes by less than this share of its largest does not beat."""


@dataclasses.dataclass(frozen=True, slots=True)
class ClipFacts:
    """What was measured."""

    cavity_area: Doubles
    """Area of the cavity in each frame, in pixels of the frames as given, shape (frames,); smoothed over time."""
    ed_frame: int
    """End of diastole: the frame of the largest area."""
    es_frame: int
    """End of systole: the frame of the smallest area."""


def measure_clip(frames: npt.NDArray[np.uint8]) -> ClipFacts:
    """Measures `frames`, shape (frames, height, width, 3).

    A clip shorter than a beat is measured all the same: the frames are then those of the largest and the smallest area
    within it. Raises `BadInput` where there is no picture, no dark cavity, or nothing that beats.
    """
    grey, factor = _small_grey(frames)
    sector = _sector(grey)
    smooth = ndimage.gaussian_filter(grey, (0.0, 1.0, 1.0))
    smooth = ndimage.grey_opening(smooth, (1, LEAFLET, LEAFLET))
    darkness = _darkness(smooth, sector)
    chambers = _chambers(darkness, sector)
    areas = [_area(darkness, chamber) for chamber in chambers]
    area = max(areas, key=lambda one: float(np.ptp(one)))
    if np.ptp(area) <= LEAST_CHANGE * area.max():
        raise BadInput("nothing beats in the clip: no dark region changes its area", do="give a moving clip")
    area = area * factor**2
    return ClipFacts(area, int(area.argmax()), int(area.argmin()))


def _small_grey(frames: npt.NDArray[np.uint8]) -> tuple[Floats, int]:
    """Frames of at most `LARGEST` pixels a side, and by which factor they were shrunk; green stands for grey."""
    if frames.ndim != 4 or frames.shape[3] != 3 or min(frames.shape[1:3]) < 16:
        raise BadInput(f"frames of shape {frames.shape} are no clip", do="give (frames, height, width, 3)")
    if len(frames) < FEWEST_FRAMES:
        raise BadInput(f"{len(frames)} frames are too few to see a beat", do=f"give at least {FEWEST_FRAMES}")
    factor = -(-max(frames.shape[1:3]) // LARGEST)
    count, height, width = len(frames), frames.shape[1] // factor, frames.shape[2] // factor
    small = np.empty((count, height, width), dtype=np.float32)
    for frame, out in zip(frames, small, strict=True):
        grey = frame[: height * factor, : width * factor, 1].astype(np.float32)
        out[:] = grey.reshape(height, factor, width, factor).mean(axis=(1, 3))
    return small, factor


def _sector(grey: Floats) -> Mask:
    """Where there is a picture; dark chambers within it belong to it."""
    lit = ndimage.binary_opening(grey.max(axis=0) > DARK_LEVEL, iterations=1)
    marks, count = ndimage.label(lit)
    if not count:
        raise BadInput("the frames are dark throughout: there is no picture", do="give a clip with a picture")
    largest = int(np.bincount(marks.ravel())[1:].argmax()) + 1
    filled = ndimage.binary_fill_holes(marks == largest)
    return np.asarray(ndimage.binary_erosion(filled, iterations=2), dtype=bool)


def _darkness(smooth: Floats, sector: Mask) -> Floats:
    """How much each pixel is blood, 0 to 1: soft about the grey level that parts dark from light best."""
    inside = smooth[:, sector]
    if not inside.size or np.ptp(inside) < 1.0:
        raise BadInput("the frames show one level of grey: there is nothing to measure", do="give another clip")
    counts, edges = np.histogram(inside, bins=128)
    middles = (edges[:-1] + edges[1:]) / 2
    below = np.cumsum(counts) / inside.size
    sums = np.cumsum(counts * middles) / inside.size
    with np.errstate(divide="ignore", invalid="ignore"):
        apart = np.nan_to_num((sums[-1] * below - sums) ** 2 / (below * (1 - below)))
    at = int(apart[:-1].argmax())
    limit = edges[at + 1]
    dark, light = sums[at] / below[at], (sums[-1] - sums[at]) / (1 - below[at])
    ramp = np.float32(0.5 * (light - dark))
    return np.asarray(np.clip(0.5 + (np.float32(limit) - smooth) / ramp, 0, 1) * sector, dtype=np.float32)


def _chambers(darkness: Floats, sector: Mask) -> list[Mask]:
    """The region of each chamber: the pixels that are ever dark, given to the nearest core that is always dark."""
    steady = np.quantile(darkness, 0.1, axis=0) > 0.5
    cores, count = ndimage.label(ndimage.binary_erosion(steady, iterations=1))
    sizes = np.bincount(cores.ravel(), minlength=count + 1)
    sizes[0] = 0
    large = np.flatnonzero(sizes >= CORE_SHARE * sector.sum())
    if not len(large):
        raise BadInput("no region of the clip stays dark: no cavity can be told", do="give a clip that shows one")
    ever = darkness.max(axis=0) > 0.5
    seeds = np.where(np.isin(cores, large), cores, 0)
    nearest = ndimage.distance_transform_edt(seeds == 0, return_distances=False, return_indices=True)
    owner = seeds[tuple(nearest)]
    return [ever & (owner == core) for core in large]


def _area(darkness: Floats, chamber: Mask) -> Doubles:
    """The area of a chamber in each frame, smoothed over time."""
    return np.asarray(
        ndimage.gaussian_filter1d(darkness[:, chamber].sum(axis=1, dtype=np.float64), 1.0, mode="nearest")
    )
