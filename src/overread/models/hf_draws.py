"""Tokens drawn instead of chosen: from numbers that belong to a question, a seed, a sample and a place in the reply.

So the same draw comes out whatever else is asked at the same time, in whatever order and by whichever engine.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import torch


@dataclasses.dataclass(frozen=True, slots=True)
class Draw:
    """How tokens are drawn."""

    temperature: float
    top_k: int = 0
    """Only so many of the likeliest; 0: all."""
    top_p: float = 1.0
    """Only the likeliest that together have this probability."""


def numbers_of(entropy: int, longest: int) -> torch.Tensor:
    """(longest,) uniform numbers in [0, 1) of one reply, float64; `entropy` tells the replies apart."""
    return torch.from_numpy(np.random.default_rng(entropy).random(longest))


def drawn(logits: torch.Tensor, draw: Draw, numbers: torch.Tensor) -> torch.Tensor:
    """(..) tokens from (.., vocabulary) logits by (..) uniform numbers: where the summed probabilities pass a number.

    Tokens are ordered by falling probability first; among equals the lower one comes first.
    """
    falling, order = (logits.double() / draw.temperature).sort(dim=-1, descending=True, stable=True)
    chances = falling.softmax(-1)
    before = chances.cumsum(-1) - chances
    kept = before < draw.top_p
    if draw.top_k:
        kept &= torch.arange(logits.shape[-1], device=logits.device) < draw.top_k
    kept[..., 0] = True
    chances = chances * kept
    passed = chances.cumsum(-1) / chances.sum(-1, keepdim=True)
    place = (passed <= numbers.to(passed.dtype)[..., None]).sum(-1, keepdim=True)
    place = torch.minimum(place, kept.sum(-1, keepdim=True) - 1)
    return order.gather(-1, place)[..., 0]
