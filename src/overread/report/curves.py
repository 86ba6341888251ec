"""What the figure of forced commitment shows of a model, apart from the drawing, which is slow to import."""

from __future__ import annotations

import dataclasses
from typing import Literal

Layout = Literal["combined", "separate"]
LAYOUTS: tuple[Layout, ...] = ("combined", "separate")
"""All models on one pair of axes, or one pair a model."""


@dataclasses.dataclass(frozen=True, slots=True)
class Curve:
    """One model's line."""

    model: str
    first: float | None
    """Accuracy on the first question; None where it was not asked."""
    bins: tuple[tuple[float, float, float | None], ...]
    """Lower and upper end in per cent, and accuracy; None where nothing was decided."""
