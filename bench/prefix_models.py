"""What `shared_prefix.py` measures: true architectures at random weights, their pictures, and prompts of dialogues."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import transformers

QUESTIONS, NEW, OPTIONS = 13, 24, 5
ASK, ANSWER, SYSTEM, OPTION = 60, 10, 40, 8
"""Tokens of a question with its options, of its answer in the script, of the system message, of an option."""

Tensors = dict[str, torch.Tensor]


@dataclasses.dataclass
class Side:
    """A model with what its pictures are made of, and what running it must cost."""

    model: Any
    image_tokens: int
    image_token: int
    media: Callable[[int], Tensors]
    """The media tensors of so many dialogues."""
    of: Callable[[Tensors, slice], Tensors]
    """The media tensors of some of those dialogues."""
    repeat: Callable[[Any, int], Any]
    """What `get_image_features` gave for some pictures, so many times each."""
    picture_flops: float
    """Operations to encode a picture."""
    layer: tuple[int, int, int]
    """Layers, query heads and width of a head of the text part."""
    kv_bytes: int
    """Keys and values of one token."""

    @property
    def text(self) -> Any:
        """The settings of the text part."""
        return self.model.config.get_text_config()

    @property
    def token_flops(self) -> float:
        """Operations of one token in the text part, without attention and head."""
        part = getattr(self.model.model, "text_model", None) or self.model.model.language_model
        return 2.0 * weights(part)

    @property
    def head_flops(self) -> float:
        """Operations of the head for one token."""
        return 2.0 * self.text.vocab_size * self.text.hidden_size

    def attention_flops(self, pairs: float) -> float:
        """Operations of attention for so many pairs of a query and a key that it sees."""
        layers, heads, width = self.layer
        return 4.0 * layers * heads * width * pairs


def weights(part: torch.nn.Module) -> int:
    """Weights that every token meets: embeddings are looked up, not multiplied."""
    return sum(p.numel() for name, p in part.named_parameters() if "embed_tokens" not in name)


def made(kind: Any, config: Any, device: str, dtype: torch.dtype) -> Any:
    """A model at random weights whose replies do not end."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    torch.manual_seed(0)
    with torch.device(device):
        model = kind(config)
    torch.set_default_dtype(before)
    model.generation_config.eos_token_id = None
    model.generation_config.pad_token_id = 2
    return model.eval()


def smolvlm(device: str, dtype: torch.dtype, *, tiny: bool = False) -> Side:
    """SmolVLM-256M: 17 tiles of 512 pixels, 64 tokens each."""
    size, width, layers, heads = (64, 48, 2, 4) if tiny else (512, 768, 12, 12)
    text = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
            "intermediate_size": 96, "vocab_size": 512} if tiny else {
            "hidden_size": 576, "num_hidden_layers": 30, "num_attention_heads": 9, "num_key_value_heads": 3,
            "intermediate_size": 1536, "vocab_size": 49280}  # fmt: skip
    tiles, token = (3 if tiny else 17), (500 if tiny else 49190)
    config = transformers.Idefics3Config(
        text_config={"model_type": "llama", "max_position_embeddings": 8192, "pad_token_id": 2, **text},
        vision_config={"hidden_size": width, "num_hidden_layers": layers, "num_attention_heads": heads,
                       "intermediate_size": 4 * width, "image_size": size, "patch_size": 16},
        scale_factor=2 if tiny else 4, image_token_id=token, tie_word_embeddings=False,
    )  # fmt: skip
    model = made(transformers.Idefics3ForConditionalGeneration, config, device, dtype)
    patches = (size // 16) ** 2

    def media(count: int) -> Tensors:
        torch.manual_seed(0)
        return {"pixel_values": torch.randn(count, tiles, 3, size, size, device=device, dtype=dtype)}

    def repeat(found: Any, times: int) -> Any:
        features = found.pooler_output  # by version: one tensor of all tiles, or a list with one a dialogue
        joined = isinstance(features, torch.Tensor)
        more = [one for one in (features.split(tiles) if joined else features) for _ in range(times)]
        found.pooler_output = torch.cat(more) if joined else more
        return found

    picture = 2.0 * tiles * patches * (weights(model.model.vision_model) - patches * width)
    picture += 2.0 * tiles * patches * weights(model.model.connector) / (4 if tiny else 16)
    picture += 4.0 * tiles * layers * patches**2 * width
    head = text["hidden_size"] // text["num_attention_heads"]
    return Side(
        model, tiles * patches // (4 if tiny else 16), token, media,
        lambda all_media, some: {"pixel_values": all_media["pixel_values"][some]}, repeat, picture,
        (text["num_hidden_layers"], text["num_attention_heads"], head),
        2 * text["num_hidden_layers"] * text["num_key_value_heads"] * head * model.dtype.itemsize,
    )  # fmt: skip


def qwen3vl(device: str, dtype: torch.dtype, *, tiny: bool = False) -> Side:
    """Qwen3-VL 8B: a picture of 2080 x 992 pixels, 2015 tokens."""
    text = {"hidden_size": 4096, "num_hidden_layers": 36, "num_attention_heads": 32, "num_key_value_heads": 8,
            "head_dim": 128, "intermediate_size": 12288, "vocab_size": 151936}  # fmt: skip
    vision = {"depth": 27, "hidden_size": 1152, "intermediate_size": 4304, "num_heads": 16, "patch_size": 16,
              "out_hidden_size": 4096, "spatial_merge_size": 2, "temporal_patch_size": 2,
              "deepstack_visual_indexes": [8, 16, 24], "num_position_embeddings": 2304}  # fmt: skip
    special = {}
    if tiny:
        text |= {"hidden_size": 64, "num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 2,
                 "head_dim": 128, "intermediate_size": 96, "vocab_size": 600}  # fmt: skip
        vision |= {"depth": 3, "hidden_size": 32, "intermediate_size": 48, "num_heads": 2, "out_hidden_size": 64,
                   "deepstack_visual_indexes": [0, 1], "num_position_embeddings": 64}  # fmt: skip
        special = {"image_token_id": 590, "video_token_id": 591, "vision_start_token_id": 592,
                   "vision_end_token_id": 593}  # fmt: skip
    rope = {"rope_type": "default", "mrope_section": [24, 20, 20], "mrope_interleaved": True}
    config = transformers.Qwen3VLConfig(
        text_config={**text, "rope_scaling": rope, "max_position_embeddings": 262144}, vision_config=vision, **special
    )
    model = made(transformers.Qwen3VLForConditionalGeneration, config, device, dtype)
    high, wide = (4, 6) if tiny else (62, 130)
    patches, tokens = high * wide, high * wide // 4

    def media(count: int) -> Tensors:
        torch.manual_seed(0)
        pixels = torch.randn(count * patches, 3 * 2 * 16 * 16, device=device, dtype=dtype)
        return {"pixel_values": pixels, "image_grid_thw": torch.tensor([[1, high, wide]] * count, device=device)}

    def of(all_media: Tensors, some: slice) -> Tensors:
        pixels = all_media["pixel_values"][some.start * patches : some.stop * patches]
        return {"pixel_values": pixels, "image_grid_thw": all_media["image_grid_thw"][some]}

    def repeat(found: Any, times: int) -> Any:
        found.pooler_output = tuple(one for one in found.pooler_output for _ in range(times))
        split = [f if isinstance(f, tuple | list) else f.split(tokens) for f in found.deepstack_features]
        more = [tuple(one for one in each for _ in range(times)) for each in split]
        joined = isinstance(found.deepstack_features[0], torch.Tensor)
        found.deepstack_features = [torch.cat(each) for each in more] if joined else more
        return found

    visual = model.model.visual
    merging = weights(visual.merger) + weights(visual.deepstack_merger_list)
    each = weights(visual) - merging - weights(visual.pos_embed)
    picture = 2.0 * (each * patches + merging * tokens)
    picture += 4.0 * vision["depth"] * patches**2 * vision["hidden_size"]
    return Side(
        model, tokens, config.image_token_id, media, of, repeat, picture,
        (text["num_hidden_layers"], text["num_attention_heads"], text["head_dim"]),
        2 * text["num_hidden_layers"] * text["num_key_value_heads"] * text["head_dim"] * model.dtype.itemsize,
    )  # fmt: skip


def prompts(side: Side, dialogues: int, options: int = 0) -> list[list[np.ndarray]]:
    """For each dialogue the tokens of its 13 prompts, each the beginning of the next; or of prompts with options."""
    rng = np.random.default_rng(1)
    top = min(side.text.vocab_size, side.image_token) - 20
    found = []
    for _ in range(dialogues):
        script = [rng.integers(10, top, SYSTEM), np.full(side.image_tokens, side.image_token)]
        each = []
        for _ in range(QUESTIONS):
            script.append(rng.integers(10, top, ASK))
            prompt = np.concatenate(script).astype(np.int64)
            ends = [rng.integers(10, top, OPTION).astype(np.int64) for _ in range(options)]
            each += [np.concatenate([prompt, end]) for end in ends] or [prompt]
            script.append(ends[0] if options else rng.integers(10, top, ANSWER))
        found.append(each)
    return found


def inputs_of(side: Side, ids: torch.Tensor, media: Tensors) -> Tensors:
    """What the model takes for some prompts and their media."""
    given = {"input_ids": ids, **media}
    if "image_grid_thw" in media:
        given["mm_token_type_ids"] = (ids == side.image_token).long()
    return given


MODELS: dict[str, Callable[[str, torch.dtype], Side]] = {
    "smolvlm": smolvlm,
    "qwen3vl": qwen3vl,
    "tiny": lambda device, dtype: smolvlm(device, dtype, tiny=True),
    "tiny_qwen": lambda device, dtype: qwen3vl(device, dtype, tiny=True),
}
