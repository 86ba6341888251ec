"""Where a lead stands on a sheet: from seconds and millivolts to pixels, and back.

Pixels are counted from the upper left corner of the picture, x to the right and y down; pixel `i` covers the range
from `i` to `i + 1`. Seconds count from the first sample that was handed to `draw`.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Affine = tuple[float, float, float, float, float, float]
"""(a, b, c, d, e, f): x = a u + b v + c and y = d u + e v + f."""

State = Literal["drawn", "missing", "empty"]


@dataclasses.dataclass(frozen=True, slots=True)
class Box:
    """The place of one lead, or of one stretch of it: a lead may have several (a column and the rhythm strip)."""

    lead: str
    seconds: tuple[float, float]
    """The first and last second that the box has room for."""
    mv: tuple[float, float]
    """The millivolts at the lower and the upper edge."""
    affine: Affine
    """From (seconds, mV) to (x, y) in pixels."""
    samples: tuple[int, int]
    """First sample drawn, and one past the last; equal where nothing is drawn."""
    state: State = "drawn"
    """`missing`: the record has no such lead; `empty`: the record has it, without a single number in this stretch."""

    @property
    def px_per_s(self) -> float:
        """Pixels that one second takes, along the trace."""
        return math.hypot(self.affine[0], self.affine[3])

    @property
    def px_per_mv(self) -> float:
        """Pixels that one millivolt takes, across the trace."""
        return math.hypot(self.affine[1], self.affine[4])

    @property
    def polygon(self) -> tuple[tuple[float, float], ...]:
        """The corners in pixels: upper left, upper right, lower right, lower left."""
        (first, last), (low, high) = self.seconds, self.mv
        x, y = self.to_px(np.array([first, last, last, first]), np.array([high, high, low, low]))
        return tuple((float(a), float(b)) for a, b in zip(x, y, strict=True))

    @property
    def rectangle(self) -> tuple[float, float, float, float]:
        """(left, top, right, bottom) in pixels: the smallest upright rectangle around the polygon."""
        x, y = zip(*self.polygon, strict=True)
        return min(x), min(y), max(x), max(y)

    def to_px(self, seconds: npt.ArrayLike, mv: npt.ArrayLike) -> tuple[Floats, Floats]:
        """The pixel position (x, y) of each moment and voltage."""
        return apply(self.affine, seconds, mv)

    def to_signal(self, x: npt.ArrayLike, y: npt.ArrayLike) -> tuple[Floats, Floats]:
        """The moment in seconds and the voltage in mV of each pixel position."""
        return apply(inverse(self.affine), x, y)

    def moved(self, by: Affine) -> Box:
        """The same place after the picture was moved: `by` goes from old pixels to new ones."""
        return dataclasses.replace(self, affine=compose(by, self.affine))

    def as_json(self) -> dict[str, Any]:
        """The box as plain JSON, pixels rounded to thousandths."""
        return {
            "lead": self.lead,
            "seconds": list(self.seconds),
            "mv": list(self.mv),
            "samples": list(self.samples),
            "state": self.state,
            "polygon": [[round(x, 3), round(y, 3)] for x, y in self.polygon],
            "px_per_s": round(self.px_per_s, 6),
            "px_per_mv": round(self.px_per_mv, 6),
            "affine": list(self.affine),
        }


def apply(affine: Affine, u: npt.ArrayLike, v: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Points through an affine map."""
    a, b, c, d, e, f = affine
    first, second = np.asarray(u, dtype=np.float64), np.asarray(v, dtype=np.float64)
    return a * first + b * second + c, d * first + e * second + f


def compose(after: Affine, before: Affine) -> Affine:
    """The map that does `before` and then `after`."""
    a, b, c, d, e, f = after
    p, q, r, s, t, u = before
    return (a * p + b * s, a * q + b * t, a * r + b * u + c, d * p + e * s, d * q + e * t, d * r + e * u + f)


def inverse(affine: Affine) -> Affine:
    """The map back."""
    a, b, c, d, e, f = affine
    area = a * e - b * d
    return (e / area, -b / area, (b * f - c * e) / area, -d / area, a / area, (c * d - a * f) / area)
