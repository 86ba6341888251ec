"""From a medium as it is handed over to the pictures that a processor takes."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from PIL import Image

from overread.media.contract import Delivered


def pictures(delivered: Delivered) -> list[Image.Image]:
    """One picture, or one a frame or slice, in order."""
    if isinstance(delivered.data, bytes):
        return [Image.open(io.BytesIO(delivered.data)).convert("RGB")]
    array: Any = np.asarray(delivered.data)
    return [Image.fromarray(picture) for picture in (array if array.ndim == 4 else array[None])]
