"""Receipts taken from the tensors that enter the network, and a last look whether all pictures can be in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch

from overread.errors import ModelFault
from overread.media.contract import Delivered
from overread.media.deliver import digest
from overread.models.contract import Seen
from overread.models.hf_processing import Inputs, Processing, pixels_of
from overread.tables import Media


def receipts(
    shows: Sequence[Media], given: Mapping[Media, Delivered], inputs: Inputs, processing: Processing
) -> dict[Media, Seen]:
    """What of each medium stands in the tensors of a prompt.

    The tensors of a prompt hold all its media together; where there are several, the hash of each is over all of them
    and its place, and how many tokens it takes is not told.
    """
    media = list(dict.fromkeys(shows))
    if not media:
        return {}
    pixels = pixels_of(inputs)
    pictures = sum(_pictures(given[medium]) for medium in shows)
    check_all_there(pictures, inputs, processing)
    content = "|".join(digest(np.ascontiguousarray(value.float().numpy())) for value in pixels.values())
    shape = tuple(int(n) for n in next(iter(pixels.values())).shape)
    alone = len(media) == 1
    return {
        medium: Seen(
            "tensor",
            medium,
            given[medium].form,
            given[medium].indices,
            shape,
            digest(content if alone else f"{content}|{place}"),
            processing.places(inputs) if alone else None,
        )
        for place, medium in enumerate(media)
    }


def check_all_there(pictures: int, inputs: Inputs, processing: Processing) -> None:
    """ModelFault where so many pictures cannot be in the tensors."""
    if not pixels_of(inputs):
        raise ModelFault("the processor ignores its media: no pixel values come out")
    if not processing.places(inputs):
        raise ModelFault("the processor ignores its media: the prompt holds no media tokens")
    most = processing.most_pictures(inputs)
    if most < pictures:
        raise ModelFault(f"the processor drops pictures: of {pictures} at most {most} are in its tensors")


def _pictures(delivered: Delivered) -> int:
    if isinstance(delivered.data, bytes):
        return 1
    array = np.asarray(delivered.data)
    return len(array) if array.ndim == 4 else 1


def same_pixels(one: Inputs, other: Inputs) -> bool:
    """Whether the same media are in both."""
    first, second = pixels_of(one), pixels_of(other)
    return first.keys() == second.keys() and all(
        first[name].shape == second[name].shape and torch.equal(first[name], second[name]) for name in first
    )
