"""Lines, text and traces on pixels.

matplotlib's Agg renderer without its figures: drawing 12 leads takes it some 10 ms, a figure more than a second. All
that would come from a user's settings of matplotlib is set here. Positions are pixels from the upper left corner, y
down; widths and sizes are pixels too.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.backend_bases import GraphicsContextBase
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.font_manager import FontProperties
from matplotlib.path import Path as Outline
from matplotlib.transforms import Affine2D, Bbox

from overread.media.drawing.boxes import Affine

Colour = tuple[float, float, float]
"""Red, green, blue from 0 to 1."""
Pixels = npt.NDArray[np.uint8]
Cap = Literal["butt", "projecting"]
"""How a line ends: at its last point, or half its width behind it."""

POINTS_PER_INCH = 72
SIMPLIFIED_PX = 1 / 9
"""matplotlib's own tolerance where a trace may be simplified."""
UNKNOWN = re.compile(r"[^\x20-\x7e\u00a0-\u024f\u0370-\u0373\u0376\u0377\u0384-\u038a\u038e-\u03a1\u03a3-\u03ff"
                     r"\u0400-\u045f\u2010-\u2015\u2018-\u201e\u2022\u2026\u2030\u20ac\u2212]")  # fmt: skip
"""What the font may lack; it is shown as a question mark."""


def colour_of(text: str) -> Colour:
    """The colour that `#rrggbb` names."""
    red, green, blue = (int(text[place : place + 2], 16) / 255 for place in (1, 3, 5))
    return red, green, blue


class Canvas:
    """A picture that is drawn on. Not for two threads at once."""

    def __init__(self, width: int, height: int, dpi: float = POINTS_PER_INCH) -> None:
        """`dpi` matters to the hinting of text alone."""
        self.width, self.height = width, height
        self._points = POINTS_PER_INCH / dpi
        agg: Any = RendererAgg  # its types are not told
        self._agg = agg(width, height, dpi)
        self.rgba: Pixels = np.asarray(self._agg.buffer_rgba())
        """(height, width, 4), the very memory that is drawn on."""
        self.touched: npt.NDArray[np.bool_] = np.zeros(height, dtype=np.bool_)
        """The rows on which anything was drawn."""

    def line(self, points: Sequence[tuple[float, float]], colour: Colour, width: float, *, cap: Cap = "butt") -> None:
        """A line through points; where it runs straight along the pixels, it is set exactly onto them."""
        outline = Outline(np.array(points, dtype=np.float64))
        outline.should_simplify = False
        self._touch(min(y for _, y in points) - width, max(y for _, y in points) + width)
        self._agg.draw_path(self._pen(colour, width, cap), outline, self._down(), None)

    def trace(
        self,
        points: npt.NDArray[np.float64],
        affine: Affine,
        pen: tuple[Colour, float],
        clip: tuple[float, float, float, float] | None = None,
        *,
        simplified: bool = False,
    ) -> None:
        """A curve through (n, 2) points that `affine` brings onto the canvas; NaN leaves a gap.

        `pen` is colour and width; `clip` is (left, top, right, bottom).
        """
        a, b, c, d, e, f = affine
        heights = e * points[:, 1] + (d * points[:, 0] + f if d else f)
        highest, lowest = float(np.fmin.reduce(heights)), float(np.fmax.reduce(heights))
        if math.isnan(highest):
            return
        top, bottom = (clip[1], clip[3]) if clip is not None else (0, self.height)
        self._touch(max(highest - pen[1], top), min(lowest + pen[1], bottom))
        outline = Outline(points)
        outline.should_simplify = simplified
        outline.simplify_threshold = SIMPLIFIED_PX
        graphics = self._pen(*pen, "projecting")
        if clip is not None:
            graphics.set_clip_rectangle(Bbox([[clip[0], self.height - bottom], [clip[2], self.height - top]]))
        place = Affine2D(np.array([[a, b, c], [-d, -e, self.height - f], [0.0, 0.0, 1.0]]))
        self._agg.draw_path(graphics, outline, place, None)

    def ticks(self, at: Sequence[tuple[float, float]], by: tuple[float, float], colour: Colour, width: float) -> None:
        """The same short line at many places, each set onto the pixels; `by` is its length in x and y."""
        mark = Outline(np.array([(0.0, 0.0), by]))
        graphics = self._pen(colour, width, "butt")
        places = Outline(np.array(at, dtype=np.float64))
        reach = abs(by[1]) + width
        self._touch(min(y for _, y in at) - reach, max(y for _, y in at) + reach)
        self._agg.draw_markers(graphics, mark, Affine2D().scale(1, -1), places, self._down())

    def fill(self, box: tuple[float, float, float, float], colour: Colour, alpha: float = 1.0) -> None:
        """Fills (left, top, right, bottom), to the nearest pixels."""
        left, top, right, bottom = (max(0, round(edge)) for edge in box)
        self.touched[top:bottom] = True
        part = self.rgba[top:bottom, left:right, :3]
        ink = np.array([255 * alpha * one for one in colour])
        part[:] = np.rint(part * (1 - alpha) + ink).astype(np.uint8)

    def stripes(
        self, box: tuple[float, float, float, float], every: tuple[float, float], look: tuple[Colour, float]
    ) -> None:
        """A grid over (left, top, right, bottom): upright and level lines from its upper left corner on.

        `every` is their distance in x and y, `look` their colour and width. A line that does not lie on whole pixels
        is shared out among them, so that the grid stays true to the millimetre at any resolution.
        """
        left, top, right, bottom = box
        colour, width = look
        half = width / 2
        x = _covered(np.arange(left, right + every[0] / 2, every[0]), width, self.width)
        y = _covered(np.arange(top, bottom + every[1] / 2, every[1]), width, self.height)
        ink = np.array([255 * one for one in colour], dtype=np.float32)
        self._touch(top - width, bottom + width)
        columns, rows = np.flatnonzero(x), np.flatnonzero(y)
        upright = np.outer(_span(top - half, bottom + half, self.height), x[columns]).astype(np.float32)
        level = np.outer(y[rows], _span(left - half, right + half, self.width)).astype(np.float32)
        for place, covered in (((slice(None), columns), upright), ((rows, slice(None)), level)):
            part = self.rgba[place][..., :3]
            self.rgba[(*place, slice(3))] = np.rint(part + (ink - part) * covered[..., None])

    def text(self, at: tuple[float, float], said: str, size: float, colour: Colour, *, bold: bool = False) -> None:
        """Text from a point on its baseline to the right; size in pixels."""
        if said := UNKNOWN.sub("?", said):
            font = _font(size * self._points, bold)
            self._touch(at[1] - 1.5 * size, at[1] + size)
            self._agg.draw_text(self._pen(colour, 1, "butt"), *at, said, font, 0)

    def text_width(self, said: str, size: float, *, bold: bool = False) -> float:
        """How wide a text is, in pixels."""
        if not said:
            return 0.0
        font = _font(size * self._points, bold)
        return float(self._agg.get_text_width_height_descent(UNKNOWN.sub("?", said), font, False)[0])

    def _touch(self, top: float, bottom: float) -> None:
        """Notes that something is drawn between two heights, and a pixel more for smooth edges."""
        self.touched[max(0, math.floor(top) - 1) : max(0, math.ceil(bottom) + 1)] = True

    def _down(self) -> Affine2D:
        return Affine2D().scale(1, -1).translate(0, self.height)

    def _pen(self, colour: Colour, width: float, cap: Cap) -> GraphicsContextBase:
        graphics: GraphicsContextBase = self._agg.new_gc()
        graphics.set_foreground((*colour, 1.0), isRGBA=True)
        graphics.set_linewidth(width * self._points)
        graphics.set_antialiased(True)
        graphics.set_capstyle(cap)
        graphics.set_joinstyle("round")
        return graphics


@functools.lru_cache(maxsize=64)
def _font(points: float, bold: bool) -> FontProperties:
    """DejaVu Sans as matplotlib ships it, so that no machine's own fonts matter."""
    name = "DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf"
    return FontProperties(fname=str(Path(mpl.get_data_path()) / "fonts" / "ttf" / name), size=points)


def _covered(centres: npt.NDArray[np.float64], width: float, size: int) -> npt.NDArray[np.float64]:
    """How much of each pixel lines at these places cover, 0 to 1."""
    found = np.zeros(size)
    for centre in centres:
        np.maximum(found, _span(centre - width / 2, centre + width / 2, size), out=found)
    return found


def _span(low: float, high: float, size: int) -> npt.NDArray[np.float64]:
    """How much of each pixel lies between two places, 0 to 1."""
    start = np.arange(size)
    covered: npt.NDArray[np.float64] = np.clip(np.minimum(high, start + 1) - np.maximum(low, start), 0.0, 1.0)
    return covered
