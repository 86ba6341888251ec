"""A drawn sheet, and where on it each lead stands."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from overread.errors import unknown_name
from overread.media.drawing import png
from overread.media.drawing.boxes import Box
from overread.media.drawing.settings import MM_PER_INCH, Paper, Sheet


@dataclasses.dataclass(frozen=True, slots=True)
class Drawn:
    """A sheet, and where on it each lead stands."""

    image: npt.NDArray[np.uint8]
    """(height, width, 3)."""
    boxes: tuple[Box, ...]
    sheet: Sheet
    samples: tuple[int, int]
    """The first sample that the sheet shows, and one past the last."""
    dpi: float
    """What the picture's size in millimetres follows from."""
    wear: Mapping[str, float] = dataclasses.field(default_factory=dict)
    """What was done to it afterwards, by effect; see `effects`."""

    def box(self, lead: str) -> Box:
        """The first box of a lead; a lead of the rhythm strip has a second one, further behind in `boxes`."""
        for box in self.boxes:
            if box.lead == lead:
                return box
        raise unknown_name("lead on the sheet", lead, {box.lead for box in self.boxes})

    def png(self) -> bytes:
        """The picture as PNG, written for speed; it says its resolution."""
        return png.encode(self.image, round(1000 * self.dpi / MM_PER_INCH))

    def facts(self) -> dict[str, Any]:
        """Boxes, scale and settings as plain JSON."""
        scale: dict[str, Any] = {}
        if isinstance(self.sheet, Paper):
            scale = {"speed_mm_s": self.sheet.speed_mm_s, "gain_mm_mv": self.sheet.gain_mm_mv}
        return {
            "dpi": self.dpi,
            **scale,
            "wear": dict(self.wear),
            "boxes": [box.as_json() for box in self.boxes],
            "settings": dataclasses.asdict(self.sheet),
        }
