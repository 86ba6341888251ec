"""A processor as everything else here uses it: texts and pictures in, tensors of one prompt out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from PIL import Image

from overread.models.hf_prompts import Prompts
from overread.models.hf_trees import Ids

Inputs = Mapping[str, torch.Tensor]
"""What a model takes for one prompt; `input_ids` (1, tokens)."""

PIXELS = ("pixel_values", "pixel_values_videos")


class Processing:
    """Makes tensors of prompts."""

    def __init__(self, processor: Any, prompts: Prompts, media_tokens: frozenset[int]) -> None:
        """`media_tokens` stand for media before the processor has seen them, and for their places afterwards."""
        self.processor, self.prompts, self.media_tokens = processor, prompts, media_tokens
        self.ends = [processor.tokenizer.eos_token_id]

    def process(self, text: str, shown: Sequence[Sequence[Image.Image]]) -> Inputs:
        """Tokens and media of one prompt; `shown` has the pictures of each medium, in the order of the text."""
        given: dict[str, Any] = {"text": [text], "return_tensors": "pt", **self.prompts.special(text)}
        clips = [frames for frames in shown if self.prompts.as_video(len(frames))]
        single = [frame for frames in shown if not self.prompts.as_video(len(frames)) for frame in frames]
        if single:
            given["images"] = [single]
        if clips:
            given["videos"] = [np.stack([np.asarray(frame) for frame in clip]) for clip in clips]
        made = self.processor(**given)
        return {name: value for name, value in made.items() if isinstance(value, torch.Tensor)}

    def cut(self, inputs: Inputs, ids: Ids) -> Inputs:
        """The same media with other tokens: what goes by token is cut, or filled up with zeros, which mean text."""
        length = len(ids)
        more = max(0, length - inputs["input_ids"].shape[1])
        going = by_token(inputs)
        cut = {
            name: torch.nn.functional.pad(value, (0, more))[:, :length] if name in going else value
            for name, value in inputs.items()
        }
        return {**cut, "input_ids": torch.from_numpy(ids)[None]}

    def places(self, inputs: Inputs) -> int:
        """How many tokens of the prompt stand for media."""
        return int(torch.isin(inputs["input_ids"], torch.tensor(sorted(self.media_tokens))).sum())

    def most_pictures(self, inputs: Inputs) -> int:
        """So many pictures at most can be in these tensors, by their shapes and grids."""
        found = 0
        videos = getattr(self.processor, "video_processor", None)
        frames = int(getattr(videos, "temporal_patch_size", None) or 1)
        for name in PIXELS:
            value = inputs.get(name)
            if value is None:
                continue
            grid = inputs.get("video_grid_thw" if "videos" in name else "image_grid_thw")
            if grid is not None:
                found += int(grid[:, 0].sum()) * frames if "videos" in name else len(grid)
            else:
                found += int(np.prod(value.shape[:-3])) if value.ndim > 3 else 1
        return found


def by_token(inputs: Inputs) -> set[str]:
    """The names of what has one entry a token."""
    length = inputs["input_ids"].shape[1]
    return {name for name, value in inputs.items() if value.ndim == 2 and tuple(value.shape) == (1, length)}


def pixels_of(inputs: Inputs) -> dict[str, torch.Tensor]:
    """What of the tensors is media."""
    return {name: inputs[name] for name in PIXELS if name in inputs}
