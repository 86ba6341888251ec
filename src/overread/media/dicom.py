"""DICOM images and loops to RGB frames, by pydicom; `clip` is what calls this."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pydicom
from pydicom.multival import MultiValue
from pydicom.pixels.processing import apply_color_lut, apply_modality_lut
from pydicom.pixels.utils import pixel_array

from overread.errors import BadInput
from overread.media.deliver import MOST_BYTES

Frames = npt.NDArray[np.uint8]

_ADVICE = "fetch or export the file again"


def read_frames(path: Path) -> tuple[Frames, tuple[float, ...]]:
    """Frames as uint8 (frames, height, width, 3) and their times in ms, none where the file does not tell them."""
    dataset = pydicom.dcmread(path, force=path.suffix.lower() == ".dcm")
    if "PixelData" not in dataset:
        raise BadInput("the DICOM file has no pixels", where=str(path), do="give an image or a loop")
    told = dataset.get("NumberOfFrames")
    count = 1 if told is None else int(told)
    if count < 1:
        raise BadInput("the DICOM file has no frames", where=str(path), do=_ADVICE)
    rows, columns = int(dataset.Rows), int(dataset.Columns)
    if 3 * rows * columns * count > MOST_BYTES:
        raise BadInput("the loop is too large to be decoded at once", where=str(path), do="cut or shrink it")
    # Turns YBR into RGB by itself; one frame comes without the axis of frames.
    pixels = pixel_array(dataset)
    if pixels.size == 0 or pixels.shape[: pixels.ndim - (dataset.SamplesPerPixel > 1)][-2:] != (rows, columns):
        raise BadInput("the pixels do not have the size that the header tells", where=str(path), do=_ADVICE)
    pixels = pixels.reshape(count, rows, columns, -1)
    return _rgb(pixels, dataset, path), _times(dataset, count)


def _rgb(pixels: npt.NDArray[Any], dataset: Any, path: Path) -> Frames:
    photometric = str(dataset.PhotometricInterpretation)
    if photometric == "PALETTE COLOR":
        colours = apply_color_lut(pixels[..., 0], dataset)
        bits = int(dataset.RedPaletteColorLookupTableDescriptor[2])
        return _eight_bits(colours[..., :3], bits)
    if photometric.startswith("MONOCHROME"):
        grey = _grey(pixels[..., 0], dataset)
        if photometric == "MONOCHROME1":
            grey = 255 - grey
        return np.repeat(grey[..., None], 3, axis=-1)
    if photometric == "RGB" or photometric.startswith("YBR"):
        return _eight_bits(pixels, int(dataset.BitsStored))
    raise BadInput(f"DICOM colours {photometric!r} are not supported", where=str(path), do="export the loop as RGB")


def _eight_bits(pixels: npt.NDArray[Any], bits: int) -> Frames:
    if pixels.dtype == np.uint8:
        return np.ascontiguousarray(pixels)
    return np.asarray(pixels.astype(np.int64) >> max(bits - 8, 0), dtype=np.uint8)


def _grey(pixels: npt.NDArray[Any], dataset: Any) -> Frames:
    """Through the file's first window; without one, 8 bits as they are and more bits from darkest to brightest."""
    window = dataset.get("WindowWidth") is not None and dataset.get("WindowCenter") is not None
    if pixels.dtype == np.uint8 and not window:
        return np.asarray(pixels, dtype=np.uint8)
    values = apply_modality_lut(pixels, dataset).astype(np.float64)
    low, high = float(values.min()), float(values.max())
    if window:
        width, centre = (float(_first(dataset.get(name))) for name in ("WindowWidth", "WindowCenter"))
        low, high = centre - width / 2, centre + width / 2
    scaled = (values - low) * (255 / (high - low)) if high > low else np.zeros_like(values)
    return np.rint(np.clip(scaled, 0, 255)).astype(np.uint8)


def _first(value: Any) -> Any:
    return value[0] if isinstance(value, MultiValue) else value


def _times(dataset: Any, count: int) -> tuple[float, ...]:
    if count == 1:
        return (0.0,)
    step = _positive(dataset.get("FrameTime"))
    if step is None:
        vector = dataset.get("FrameTimeVector")
        if vector is not None and len(vector) == count:
            # Increments; the first is that of the first frame, which starts the clock.
            return tuple(itertools.accumulate((float(v) for v in vector[1:]), initial=0.0))
        rate = _positive(dataset.get("CineRate")) or _positive(dataset.get("RecommendedDisplayFrameRate"))
        step = 1000.0 / rate if rate else None
    return () if step is None else tuple(round(i * step, 6) for i in range(count))


def _positive(value: Any) -> float | None:
    """Archives hold zeros where a time is unknown."""
    if value is None:
        return None
    number = float(value)
    return number if math.isfinite(number) and number > 0 else None
