"""Forest bars: where a value and its interval lie beside zero, as numbers that a template draws."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

WIDTH, HEIGHT = 150.0, 18.0
"""Of a bar, in CSS pixels."""
MARGIN = 6.0


@dataclasses.dataclass(frozen=True, slots=True)
class Bar:
    """Horizontal places in a drawing of `WIDTH` by `HEIGHT`; the side of zero is told by colour and by shape."""

    zero: float
    at: float
    low: float
    high: float
    side: str
    """`above` or `below` where the whole interval lies on that side of zero, else `unclear`."""


@dataclasses.dataclass(frozen=True, slots=True)
class Scale:
    """From values to places; the same for all bars of a table, and always holding zero."""

    low: float
    high: float

    @classmethod
    def of(cls, values: Iterable[float | None]) -> Scale:
        """The scale that holds zero and all values."""
        known = [0.0, *(value for value in values if value is not None)]
        low, high = min(known), max(known)
        return cls(low, high) if high > low else cls(-1.0, 1.0)

    def place(self, value: float) -> float:
        """Where a value lies, in CSS pixels from the left."""
        share = (value - self.low) / (self.high - self.low)
        return round(MARGIN + share * (WIDTH - 2 * MARGIN), 1)

    def bar(self, value: float, low: float | None, high: float | None) -> Bar:
        """One bar; without an interval it is a mark alone, and nothing is sure."""
        ends = (value, value) if low is None or high is None else (low, high)
        side = "unclear"
        if low is not None and high is not None:
            side = "above" if low > 0 else "below" if high < 0 else "unclear"
        return Bar(self.place(0.0), self.place(value), self.place(ends[0]), self.place(ends[1]), side)
