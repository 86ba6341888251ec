"""The picture of the echo phantom: speckle that belongs to the tissue, seen through a fan-shaped sector.

Echo strength is painted on a polar grid (depth, scan line). The speckle is a fixed complex noise field that each point
of tissue takes along as the heart moves; blood gets new noise in every frame. Then come blur, log compression over
52 dB and scan conversion.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import ndimage

from overread.phantoms.echo_heart import Heart

Grid = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]

RANGE_DB = 52.0
TEXTURE = 512
"""Cells of the speckle field along each side; it repeats beyond."""
CELL_MM = 0.4
HALF_ANGLE = 0.64
ECHO = {"blood": 0.004, "far": 0.06, "atrium": 0.45, "right": 0.5, "muscle": 0.6, "rim": 1.8, "leaflet": 1.6}
"""Strength of the echo relative to the brightest grey."""


@dataclasses.dataclass(frozen=True, slots=True)
class Moment:
    """The heart in one frame; lengths in mm."""

    radius: float
    length: float
    wall: float
    emptied: float
    """0 at end-diastole, 1 with nothing left."""
    open: float
    """How far the valves of the filling are open, 0 to 1."""


@dataclasses.dataclass(frozen=True, slots=True)
class Sector:
    """Where the fan lies in the image and where the heart lies in the fan."""

    size: int
    depth: float
    spacing: float
    """mm a pixel, the same across and down."""
    top: float
    """Row of the probe."""

    def pixel(self, x: Any, z: Any) -> tuple[Any, Any]:
        """Column and row of a point `x` mm across and `z` mm below the probe; whole numbers are pixel centres."""
        return x / self.spacing + (self.size - 1) / 2, z / self.spacing + self.top

    def millimetres(self) -> tuple[Grid, Grid]:
        """Across and down from the probe, for every pixel."""
        rows, columns = np.mgrid[: self.size, : self.size].astype(np.float32)
        return (columns - (self.size - 1) / 2) * self.spacing, (rows - self.top) * self.spacing


def fit_sector(heart: Heart, size: int) -> Sector:
    """A fan deep enough for the atria, as large as the image allows."""
    depth = heart.apex[1] + heart.length + 54.0
    spacing = max(depth, 2 * depth * np.sin(HALF_ANGLE)) / (0.97 * size)
    return Sector(size, float(depth), float(spacing), float((size - 1 - depth / spacing) / 2))


def along(heart: Heart, x: Grid, z: Grid) -> tuple[Grid, Grid]:
    """Distance from the apex along the long axis, and distance from the axis (positive to the image right)."""
    down, across = np.float32(np.cos(heart.tilt)), np.float32(np.sin(heart.tilt))
    dx, dz = x - np.float32(heart.apex[0]), z - np.float32(heart.apex[1])
    return dz * down + dx * across, dx * down - dz * across


def cavity(moment: Moment, reach: Grid, off: Grid) -> Mask:
    """Where the left ventricle's cavity is, valve leaflets included."""
    up = moment.length - reach
    inside: Mask = (up >= 0) & ((off / moment.radius) ** 2 + (up / moment.length) ** 2 <= 1)
    return inside


class Painter:
    """Paints frames of one heart; everything that does not move is worked out once."""

    def __init__(self, heart: Heart, sector: Sector, rng: np.random.Generator) -> None:
        self.heart, self.sector, self.rng = heart, sector, rng
        depths, lines = 2 * sector.size, max(48, round(0.9 * sector.size))
        r = np.linspace(0.0, sector.depth, depths, dtype=np.float32)[:, None]
        angle = np.linspace(-HALF_ANGLE, HALF_ANGLE, lines, dtype=np.float32)
        self.reach, self.off = along(heart, r * np.sin(angle), r * np.cos(angle))
        noise = rng.standard_normal((2, TEXTURE, TEXTURE), dtype=np.float32)
        # Smoothed over about one cell, so that looking up the nearest cell does not flicker as tissue moves.
        soft = ndimage.gaussian_filter(noise, (0, 1.6, 1.6), mode="wrap")
        self.texture = (soft[0] + 1j * soft[1]).astype(np.complex64).ravel() / np.float32(soft.std())
        # How much of the base's movement each depth follows.
        self.follow = np.interp(self.reach, (0.0, heart.length, heart.length + 60), (0.0, 1.0, 0.2)).astype(np.float32)
        edges = 1.0 - 0.35 * (angle / HALF_ANGLE) ** 4
        self.gain = (10 ** (-0.2 * r / sector.depth) * edges).astype(np.float32)
        self.clutter = (0.25 * np.exp(-r / 5.0)).astype(np.float32) * np.ones_like(angle)
        self.pixels, self.corners, self.weights = _scan(sector, depths, lines)

    def frame(self, moment: Moment) -> npt.NDArray[np.uint8]:
        """One grey frame, shape (size, size)."""
        strength, muscle, deep, around = self._strength(moment)
        moved = self.reach + (self.heart.length - moment.length) * self.follow
        cells = self._cells(np.where(muscle, around, self.off), np.where(muscle, deep, moved))
        speckle = self.texture[cells]
        blood = strength == np.float32(ECHO["blood"])
        fresh = self.rng.integers(TEXTURE * TEXTURE, dtype=np.int64)
        speckle[blood] = self.texture[(cells[blood] + int(fresh)) % (TEXTURE * TEXTURE)]
        field = _blur(speckle * (strength * self.gain + self.clutter))
        level = 20 * np.log10(np.abs(field) + np.float32(1e-6))
        grey = np.clip((level + RANGE_DB) * (255 / RANGE_DB), 0, 255).ravel()
        image = np.zeros(self.sector.size**2, dtype=np.uint8)
        image[self.pixels] = np.rint((grey[self.corners] * self.weights).sum(axis=0))
        return image.reshape(self.sector.size, self.sector.size)

    def _cells(self, across: Grid, down: Grid) -> npt.NDArray[np.int64]:
        """The cell of the speckle field at a place in the tissue, in mm."""
        columns = (across * (1 / CELL_MM)).astype(np.int32) & (TEXTURE - 1)
        rows = (down * (1 / CELL_MM)).astype(np.int32) & (TEXTURE - 1)
        return (rows * TEXTURE + columns).astype(np.int64)

    def _strength(self, m: Moment) -> tuple[Grid, Mask, Grid, Grid]:
        """Echo strength; where the left ventricle's muscle is; its depth and its place around, in mm at rest."""
        heart, off = self.heart, self.off
        up = m.length - self.reach
        above = up >= 0
        rho, height = off / m.radius, up / m.length
        inner = np.sqrt(rho * rho + height * height)
        outer = np.sqrt((off / (m.radius + m.wall)) ** 2 + (up / (m.length + m.wall)) ** 2)
        muscle = above & (inner > 1) & (outer <= 1)
        strength = np.full(off.shape, ECHO["far"], dtype=np.float32)
        self._right_side(strength, m, up, above)
        for middle, scale in ((0.0, 1.0), (-(heart.radius + heart.wall) * 1.75, 0.9)):
            wide = scale * 0.8 * heart.radius * (1 + 0.25 * m.emptied)
            tall = 22.0 * (1 + 0.25 * m.emptied)
            # Cut off by the valve plane, so that the atrium opens into the ventricle.
            _chamber(strength, (off - middle, up + tall - 6.0), (wide, tall), 3.5, ECHO["atrium"], ~above)
        np.copyto(strength, np.float32(ECHO["muscle"]), where=muscle)
        np.copyto(strength, np.float32(ECHO["rim"]), where=above & (outer > 1) & (outer < 1.035) & (off > 0))
        np.copyto(strength, np.float32(ECHO["blood"]), where=above & (inner <= 1))
        for root in (1.0, -1.0):
            tip = (root * (0.02 + 0.6 * m.open) * m.radius, 2.5 + 0.3 * m.open * m.radius)
            near = _near(off, up, (root * m.radius, 0.0), tip)
            np.copyto(strength, np.float32(ECHO["leaflet"]), where=near)
        deep = (inner - 1) * (m.radius / m.wall * heart.wall)
        around = np.arctan2(rho, height) * np.float32((heart.radius + heart.length) / 2)
        return strength, muscle, deep, around

    def _right_side(self, strength: Grid, m: Moment, up: Grid, above: Mask) -> None:
        """The right ventricle: behind the septum, contracting along, its base following the left one."""
        middle = -(self.heart.radius + self.heart.wall)
        sizes = (0.95 * self.heart.radius * (1 - 0.3 * m.emptied), 0.78 * m.length)
        _chamber(strength, (self.off - middle, up), sizes, 4.0, ECHO["right"], above)
        for root, tip in ((0.0, 0.0), (-1.0, -0.9)):
            end = (1 - m.open) * -0.5 + m.open * tip, 2.0 + 0.3 * m.open * sizes[0]
            near = _near(self.off, up, (middle + root * sizes[0], 0.0), (middle + end[0] * sizes[0], end[1]))
            np.copyto(strength, np.float32(ECHO["right"]), where=near)


def _chamber(
    strength: Grid, place: tuple[Grid, Grid], sizes: tuple[float, float], wall: float, echo: float, where: Mask
) -> None:
    """An elliptic chamber of blood with its wall, around the origin of `place`."""
    across, along_axis = place
    outer = (across / (sizes[0] + wall)) ** 2 + (along_axis / (sizes[1] + wall)) ** 2 <= 1
    np.copyto(strength, np.float32(echo), where=outer & where)
    inner = (across / sizes[0]) ** 2 + (along_axis / sizes[1]) ** 2 <= 1
    np.copyto(strength, np.float32(ECHO["blood"]), where=inner & where)


def _near(off: Grid, up: Grid, root: tuple[float, float], tip: tuple[float, float]) -> Mask:
    """Points within 1.1 mm of the straight leaflet from root to tip."""
    a, b = tip[0] - root[0], tip[1] - root[1]
    x, y = off - root[0], up - root[1]
    share = np.clip((x * a + y * b) / (a * a + b * b), 0, 1)
    near: Mask = (x - share * a) ** 2 + (y - share * b) ** 2 < 1.1**2
    return near


def _blur(field: npt.NDArray[np.complex64]) -> npt.NDArray[np.complex64]:
    """The point spread function: three samples deep, five lines wide."""
    wide = np.pad(field, ((1, 1), (2, 2)))
    lines = 0.4 * wide[:, 2:-2] + 0.24 * (wide[:, 1:-3] + wide[:, 3:-1]) + 0.06 * (wide[:, :-4] + wide[:, 4:])
    return np.asarray(0.5 * lines[1:-1] + 0.25 * (lines[:-2] + lines[2:]))


def _scan(sector: Sector, depths: int, lines: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Grid]:
    """For each pixel of the fan: its index, and the four polar samples around it with their weights."""
    x, z = sector.millimetres()
    row = np.hypot(x, z) / sector.depth * (depths - 1)
    column = (np.arctan2(x, z) / HALF_ANGLE + 1) / 2 * (lines - 1)
    pixels = np.flatnonzero((row <= depths - 1) & (column >= 0) & (column <= lines - 1))
    row, column = row.ravel()[pixels], column.ravel()[pixels]
    i, j = np.minimum(row.astype(np.int64), depths - 2), np.minimum(column.astype(np.int64), lines - 2)
    down, right = row - i, column - j
    corners = np.stack([i * lines + j, i * lines + j + 1, (i + 1) * lines + j, (i + 1) * lines + j + 1])
    weights = np.stack([(1 - down) * (1 - right), (1 - down) * right, down * (1 - right), down * right])
    return pixels, corners, weights.astype(np.float32)
