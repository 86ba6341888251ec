"""Checks at load time that a processor hands everything it is given on to the network.

Published results were made with processors that accept pictures and never use them, or quietly drop most frames of a
clip. Each such fault has a name here and stops the model before the first question.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from PIL import Image

from overread.errors import BadInput

FRAMES = 9
"""Enough that a processor which takes two frames a second of 24, or every second one, leaves some out."""

Process = Callable[[list[Image.Image]], dict[str, torch.Tensor]]
"""What the processor makes of a prompt with these pictures."""


def picture(seed: int) -> Image.Image:
    """A picture of noise in large squares, which no resizing can wipe out."""
    squares = np.random.default_rng(seed).integers(0, 256, (8, 8, 3), dtype=np.uint8)
    return Image.fromarray(squares.repeat(28, axis=0).repeat(28, axis=1))


def check(process: Process, media_token: int, where: str, *, clips: bool) -> None:
    """BadInput where pictures do not reach the network; `clips` checks several pictures of one medium too."""
    one, other = process([picture(1)]), process([picture(2)])
    if not _pixels(one):
        _fail("the processor ignores its media: no pixel values come out", where)
    if not _tokens(one, media_token):
        _fail("the processor ignores its media: the prompt holds no media tokens", where)
    if _same(one, other):
        _fail("the processor ignores its media: two different pictures give the same input", where)
    if not _same(one, process([picture(1)])):
        _fail("the processor keeps a state: the same picture gives another input the second time", where)
    if clips:
        _check_clip(process, media_token, where)


def _check_clip(process: Process, media_token: int, where: str) -> None:
    frames = [picture(seed) for seed in range(FRAMES)]
    whole = process(frames)
    if _tokens(whole, media_token) <= _tokens(process(frames[:1]), media_token):
        _fail("the processor takes one picture of several: more of them give no more media tokens", where)
    lost = [n for n in range(FRAMES) if _same(whole, process([*frames[:n], picture(100 + n), *frames[n + 1 :]]))]
    if lost:
        kept = FRAMES - len(lost)
        _fail(f"the processor resamples frames: of {FRAMES} only {kept} reach the network", where)


def _fail(what: str, where: str) -> None:
    raise BadInput(what, where=where, do="see the quirks in its card: how frames are passed, resampling switched off")


def _pixels(made: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {name: value for name, value in made.items() if name.startswith("pixel_values")}


def _tokens(made: dict[str, torch.Tensor], media_token: int) -> int:
    return int((made["input_ids"] == media_token).sum())


def _same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    first, second = _pixels(one), _pixels(other)
    return first.keys() == second.keys() and all(
        first[name].shape == second[name].shape and torch.equal(first[name], second[name]) for name in first
    )
