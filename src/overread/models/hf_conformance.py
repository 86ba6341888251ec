"""Checks at load time that a processor hands everything it is given on to the network.

Published results were made with processors that accept pictures and never use them, or quietly drop most frames of a
clip. Each such fault has a name here and stops the model before the first question.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from PIL import Image

from overread.errors import BadInput
from overread.models.hf_processing import Inputs, Processing, pixels_of
from overread.models.hf_receipts import same_pixels

FRAMES = 9
"""Enough that a processor which takes two frames a second of 24, or every second one, leaves some out."""

Process = Callable[[list[Image.Image]], Inputs]
"""What the processor makes of a prompt that shows one medium of these pictures."""


def picture(seed: int) -> Image.Image:
    """A picture of noise in large squares, which no resizing can wipe out."""
    squares = np.random.default_rng(seed).integers(0, 256, (8, 8, 3), dtype=np.uint8)
    return Image.fromarray(squares.repeat(28, axis=0).repeat(28, axis=1))


def check(process: Process, processing: Processing, where: str) -> None:
    """BadInput where pictures do not reach the network."""
    try:
        fault = _of_single(process, processing) or _of_several(process, processing)
    except (ValueError, TypeError, LookupError, AttributeError, ImportError) as error:
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        fault = f"the processor does not take its media: {first}"
    if fault:
        raise BadInput(fault, where=where, do="see docs/hf_models.md: how frames are passed, resampling switched off")


def _of_single(process: Process, processing: Processing) -> str:
    """What is wrong with single pictures."""
    one, other = process([picture(1)]), process([picture(2)])
    if not pixels_of(one):
        return "the processor ignores its media: no pixel values come out"
    if not processing.places(one):
        return "the processor ignores its media: the prompt holds no media tokens"
    again, back = process([picture(2)]), process([picture(1)])
    if same_pixels(again, back) and not same_pixels(other, again):
        return "the processor uses the picture of the call before: it keeps a state"
    if same_pixels(one, other) and same_pixels(one, process([picture(3)])):
        return "the processor ignores its media: different pictures give the same input"
    if not same_pixels(other, again) or not same_pixels(one, back):
        return "the processor keeps a state: the same picture gives another input the second time"
    return ""


def _of_several(process: Process, processing: Processing) -> str:
    """What is wrong with several pictures of one medium."""
    frames = [picture(seed) for seed in range(FRAMES)]
    whole = process(frames)
    if not pixels_of(whole):
        return "the processor ignores its frames: no pixel values come out"
    kept = [n for n in range(FRAMES) if not same_pixels(whole, process(_but(frames, n)))]
    if len(kept) == FRAMES and processing.most_pictures(whole) >= FRAMES:
        return ""
    if kept == [0]:
        return f"the processor drops pictures beyond the first: of {FRAMES} one reaches the network"
    if kept == [FRAMES - 1]:
        return f"the processor uses the last picture for all: of {FRAMES} one reaches the network"
    return f"the processor resamples frames: of {FRAMES} only {len(kept)} reach the network"


def _but(frames: list[Image.Image], place: int) -> list[Image.Image]:
    return [*frames[:place], picture(100 + place), *frames[place + 1 :]]
