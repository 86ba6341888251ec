"""Questions per second of the shared prefix, beside the field's way and beside batched `generate`.

    python bench/shared_prefix.py --model smolvlm [--json FILE]      one H200, about 4 minutes
    python bench/shared_prefix.py --model qwen3vl [--json FILE]
    python bench/shared_prefix.py --model tiny                       anywhere: to see that it runs

True architectures at random weights: what is computed does not depend on what weights say. A dialogue is one picture
and 13 teacher-forced questions, and every reply is 24 new tokens long. All sides get finished tensors, so the time that
a processor takes for a picture (once a question in the field's way, once a dialogue here) is on no side.

    field      one question at a time: `generate` on its prompt, the picture encoded again
    batched    `generate` on many prompts at once; the picture encoded once a dialogue, its features used again
    shared     one pass over media and script of each dialogue, then all questions together (`hf_shared.py`)
    bare       one forward pass over the same tokens as option scoring, nothing read off
    options    five options a question by log-probability, from one pass

It needs torch and transformers and nothing else of overread's environment, so that it runs where nothing can be
installed.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import statistics
import sys
import time
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers

SOURCE = Path(__file__).resolve().parents[1] / "src" / "overread"
for name, folder in (("overread", SOURCE), ("overread.models", SOURCE / "models")):
    # The package itself would import polars; only a few of its files are needed here.
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [str(folder)]

from overread.models.hf_attention import register  # noqa: E402
from overread.models.hf_scoring import option_logs  # noqa: E402
from overread.models.hf_shared import Pass, Stop  # noqa: E402
from overread.models.hf_trees import Tree, grow  # noqa: E402

QUESTIONS, NEW, OPTIONS = 13, 24, 5
ASK, ANSWER, SYSTEM, OPTION = 60, 10, 40, 8
"""Tokens of a question with its options, of its answer in the script, of the system message, of an option."""


@dataclasses.dataclass
class Side:
    """A model with what its pictures are made of."""

    model: Any
    image_tokens: int
    image_token: int
    media: Callable[[int], dict[str, torch.Tensor]]
    """The media tensors of so many dialogues."""
    repeat: Callable[[Any, int], Any]
    """What `get_image_features` gave for some pictures, so many times each."""
    flops_a_picture: float
    flops_a_token: float

    @property
    def vocabulary(self) -> int:
        return int(self.model.config.get_text_config().vocab_size)


def smolvlm(device: str, dtype: torch.dtype, *, tiny: bool = False) -> Side:
    """SmolVLM-256M: 17 tiles of 512 pixels, 64 tokens each."""
    size, width, layers = (64, 48, 2) if tiny else (512, 768, 12)
    text = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
            "intermediate_size": 96, "vocab_size": 512} if tiny else {
            "hidden_size": 576, "num_hidden_layers": 30, "num_attention_heads": 9, "num_key_value_heads": 3,
            "intermediate_size": 1536, "vocab_size": 49280}  # fmt: skip
    tiles, token = (3 if tiny else 17), (500 if tiny else 49190)
    config = transformers.Idefics3Config(
        text_config={"model_type": "llama", "max_position_embeddings": 8192, "pad_token_id": 2, **text},
        vision_config={"hidden_size": width, "num_hidden_layers": layers, "num_attention_heads": 4 if tiny else 12,
                       "intermediate_size": 4 * width, "image_size": size, "patch_size": 16},
        scale_factor=2 if tiny else 4, image_token_id=token, tie_word_embeddings=False,
    )  # fmt: skip
    model = made(transformers.Idefics3ForConditionalGeneration, config, device, dtype)
    per_tile = (size // 16) ** 2 // (4 if tiny else 16)

    def media(count: int) -> dict[str, torch.Tensor]:
        torch.manual_seed(0)
        return {"pixel_values": torch.randn(count, tiles, 3, size, size, device=device, dtype=dtype)}

    def repeat(found: Any, times: int) -> Any:
        found.pooler_output = [one for one in per_dialogue(found.pooler_output, tiles) for _ in range(times)]
        return found

    patches = (size // 16) ** 2
    picture = tiles * (2 * weights(model.model.vision_model) * patches + 4 * layers * patches**2 * width)
    return Side(model, tiles * per_tile, token, media, repeat, picture, 2 * weights(model.model.text_model))


def per_dialogue(features: Any, tiles: int) -> list[torch.Tensor]:
    """Features as a list, one a dialogue; older versions give one tensor of all tiles."""
    if isinstance(features, torch.Tensor):
        return [part.reshape(-1, part.shape[-1]) for part in features.split(tiles)]
    return list(features)


def qwen3vl(device: str, dtype: torch.dtype) -> Side:
    """Qwen3-VL 8B: a picture of 2080 x 992 pixels, 2015 tokens."""
    config = transformers.Qwen3VLConfig(
        text_config={"hidden_size": 4096, "num_hidden_layers": 36, "num_attention_heads": 32, "num_key_value_heads": 8,
                     "head_dim": 128, "intermediate_size": 12288, "vocab_size": 151936,
                     "rope_scaling": {"rope_type": "default", "mrope_section": [24, 20, 20], "mrope_interleaved": True},
                     "max_position_embeddings": 262144},
        vision_config={"depth": 27, "hidden_size": 1152, "intermediate_size": 4304, "num_heads": 16, "patch_size": 16,
                       "out_hidden_size": 4096, "spatial_merge_size": 2, "temporal_patch_size": 2,
                       "deepstack_visual_indexes": [8, 16, 24], "num_position_embeddings": 2304},
    )  # fmt: skip
    model = made(transformers.Qwen3VLForConditionalGeneration, config, device, dtype)
    high, wide = 62, 130
    patches, tokens = high * wide, high * wide // 4

    def media(count: int) -> dict[str, torch.Tensor]:
        torch.manual_seed(0)
        pixels = torch.randn(count * patches, 3 * 2 * 16 * 16, device=device, dtype=dtype)
        return {"pixel_values": pixels, "image_grid_thw": torch.tensor([[1, high, wide]] * count, device=device)}

    def repeat(found: Any, times: int) -> Any:
        found.pooler_output = tuple(one for one in found.pooler_output for _ in range(times))
        found.deepstack_features = [
            tuple(one for one in (f if isinstance(f, tuple | list) else f.split(tokens)) for _ in range(times))
            for f in found.deepstack_features
        ]
        return found

    picture = 2 * weights(model.model.visual) * patches + 4 * 27 * patches**2 * 1152
    return Side(model, tokens, config.image_token_id, media, repeat, picture, 2 * weights(model.model.language_model))


def made(kind: Any, config: Any, device: str, dtype: torch.dtype) -> Any:
    """A model at random weights; the query heads that share keys are folded in the shared way only."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    torch.manual_seed(0)
    with torch.device(device):
        model = kind(config)
    torch.set_default_dtype(before)
    model.generation_config.eos_token_id = None
    model.generation_config.pad_token_id = 2
    return model.eval()


def weights(part: torch.nn.Module) -> int:
    """Weights that every token meets: embeddings are looked up, not multiplied."""
    return sum(p.numel() for name, p in part.named_parameters() if "embed_tokens" not in name)


def prompts(side: Side, dialogues: int, options: int = 0) -> list[list[np.ndarray]]:
    """For each dialogue the tokens of its 13 prompts, each the beginning of the next; or of prompts with options."""
    rng = np.random.default_rng(1)
    top = side.vocabulary - 20 if side.image_token >= side.vocabulary - 20 else min(side.image_token, side.vocabulary)
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


def inputs_of(side: Side, ids: torch.Tensor, media: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    given = {"input_ids": ids, **media}
    if "image_grid_thw" in media:
        given["mm_token_type_ids"] = (ids == side.image_token).long()
    return given


def clocked(work: Callable[[], Any], device: str, rounds: int = 3) -> tuple[float, Any]:
    """The median of some rounds after a first one, in seconds, and what the last gave."""
    found, seconds = work(), []
    for _ in range(rounds):
        if device == "cuda":
            torch.cuda.synchronize()
        start = time.perf_counter()
        found = work()
        if device == "cuda":
            torch.cuda.synchronize()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds), found


@torch.inference_mode()
def field(side: Side, device: str, dialogues: int) -> tuple[float, list[list[int]]]:
    """One question at a time; questions a second, and the replies."""
    said: list[list[int]] = []
    media = side.media(1)

    def work() -> None:
        said.clear()
        for each in prompts(side, dialogues):
            for prompt in each:
                ids = torch.from_numpy(prompt)[None].to(device)
                given = inputs_of(side, ids, media)
                out = side.model.generate(
                    **given, attention_mask=torch.ones_like(ids), max_new_tokens=NEW, do_sample=False
                )
                said.append(out[0, ids.shape[1] :].tolist())

    seconds, _ = clocked(work, device, 1)
    return dialogues * QUESTIONS / seconds, list(said)


@torch.inference_mode()
def batched(side: Side, device: str, dialogues: int) -> float:
    """Many prompts at once by `generate`; each picture is encoded once and its features serve all of its questions."""
    all_prompts = [prompt for each in prompts(side, dialogues) for prompt in each]
    longest = max(map(len, all_prompts))
    ids = torch.full((len(all_prompts), longest), 2, device=device)
    mask = torch.zeros_like(ids)
    for row, prompt in enumerate(all_prompts):
        ids[row, longest - len(prompt) :] = torch.from_numpy(prompt).to(device)
        mask[row, longest - len(prompt) :] = 1
    media = side.media(dialogues)
    model = side.model.model
    original = model.get_image_features

    def features(pixel_values: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        return side.repeat(original(**{**kwargs, **media, "return_dict": True}), QUESTIONS)

    given = dict(media)
    if "image_grid_thw" in media:  # where the text counts its positions by
        given["image_grid_thw"] = media["image_grid_thw"].repeat_interleave(QUESTIONS, 0)
    model.get_image_features = features
    try:
        work = lambda: side.model.generate(  # noqa: E731
            **inputs_of(side, ids, given), attention_mask=mask, max_new_tokens=NEW, do_sample=False
        )
        seconds, _ = clocked(work, device, 2)
    finally:
        model.get_image_features = original
    return len(all_prompts) / seconds


def trees_of(side: Side, dialogues: int, options: int = 0) -> list[Tree]:
    return [grow(each, frozenset([side.image_token]))[0] for each in prompts(side, dialogues, options)]


def trunks(side: Side, trees: list[Tree], device: str) -> dict[str, torch.Tensor]:
    ids = torch.from_numpy(np.stack([tree.trunk for tree in trees])).to(device)
    return inputs_of(side, ids, side.media(len(trees)))


@torch.inference_mode()
def shared(side: Side, device: str, dialogues: int) -> tuple[float, list[list[int]], dict[str, float]]:
    """Questions a second, the replies, and where the time goes."""
    trees = trees_of(side, dialogues)
    given = trunks(side, trees, device)

    def first() -> Pass:
        return Pass(side.model, trees, given, QUESTIONS * NEW)

    def work() -> torch.Tensor:
        return first().reply(Stop(NEW, (), pad=2))[0]

    before, _ = clocked(first, device)
    seconds, out = clocked(work, device)
    parts = {"first pass": before / seconds, "replies": 1 - before / seconds}
    return dialogues * QUESTIONS / seconds, out.flatten(0, 1).tolist(), parts


@dataclasses.dataclass
class Scored:
    """As much of a sheaf as scoring reads."""

    tree: Tree
    lines: list[Any]


@torch.inference_mode()
def options(side: Side, device: str, dialogues: int) -> tuple[float, float]:
    """Seconds of scoring all options, and of a bare forward pass over as many tokens."""
    trees = trees_of(side, dialogues, OPTIONS)
    given = trunks(side, trees, device)
    line = dataclasses.make_dataclass("Line", ["option", "length"])
    scored = []
    for tree in trees:
        ends = [b.shared + len(b.own) - OPTION for b in tree.branches]
        scored.append(Scored(tree, [line(n % OPTIONS, end) for n, end in enumerate(ends)]))
    mine, _ = clocked(lambda: option_logs(Pass(side.model, trees, given, 0), scored), device)  # type: ignore[arg-type]
    own = sum(len(b.own) for b in trees[0].branches)
    more = torch.randint(10, 400, (dialogues, own), device=device)
    whole = inputs_of(side, torch.cat([given["input_ids"], more], dim=1), {k: given[k] for k in side.media(1)})
    bare, _ = clocked(lambda: side.model.model(**whole, use_cache=False).last_hidden_state, device)
    return mine, bare


def best(measure: Callable[[int], float], sizes: list[int]) -> tuple[int, float, dict[int, float]]:
    """The size at which most questions a second are answered; sizes that do not fit are passed over."""
    found: dict[int, float] = {}
    for size in sizes:
        try:
            found[size] = measure(size)
        except torch.OutOfMemoryError:
            torch.cuda.empty_cache()
            break
    top = max(found, key=found.__getitem__)
    return top, found[top], found


def agreement(one: list[list[int]], other: list[list[int]]) -> dict[str, float]:
    same = [a == b for a, b in zip(one, other, strict=True)]
    tokens = [x == y for a, b in zip(one, other, strict=True) for x, y in zip(a, b, strict=True)]
    return {"replies": sum(same) / len(same), "tokens": sum(tokens) / len(tokens)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=("smolvlm", "qwen3vl", "tiny"), required=True)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything that was measured")
    wanted = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    dtype = torch.bfloat16 if device == "cuda" else torch.float32
    make: dict[str, Callable[..., Side]] = {
        "smolvlm": smolvlm, "qwen3vl": qwen3vl, "tiny": lambda d, t: smolvlm(d, t, tiny=True),
    }  # fmt: skip
    side = make[wanted.model](device, dtype)
    sizes = {"smolvlm": [1, 8, 16, 32, 64, 128, 256], "qwen3vl": [1, 2, 4, 8, 16, 24], "tiny": [1, 2]}[wanted.model]
    found: dict[str, Any] = {"model": wanted.model, "device": device, "dtype": str(dtype), "torch": torch.__version__,
                             "transformers": transformers.__version__}  # fmt: skip
    if device == "cuda":
        found["card"] = torch.cuda.get_device_name()
    found["field"], said = field(side, device, 1)
    report("field", found["field"])
    size, found["batched"], found["batched_by_dialogues"] = best(lambda n: batched(side, device, n), sizes)
    report(f"batched, {size} dialogues", found["batched"])
    side.model.set_attn_implementation({"text_config": register()})
    replies, parts = {}, {}

    def ours(n: int) -> float:
        speed, replies[n], parts[n] = shared(side, device, n)
        return speed

    size, found["shared"], found["shared_by_dialogues"] = best(ours, sizes)
    found["dialogues"], found["parts"] = size, parts[size]
    report(f"shared, {size} dialogues", found["shared"])
    found["agreement"] = agreement(replies[1][:QUESTIONS], said)
    found["shared / field"] = found["shared"] / found["field"]
    found["shared / batched"] = found["shared"] / found["batched"]
    trunk = len(trees_of(side, 1)[0].trunk)
    flops = side.flops_a_picture + side.flops_a_token * (trunk + QUESTIONS * NEW)
    found["TFLOP/s"] = found["shared"] / QUESTIONS * flops / 1e12
    mine, bare = options(side, device, min(size, sizes[-3] if len(sizes) > 3 else 1))
    found["options"], found["bare"], found["bare / options"] = mine, bare, bare / mine
    print(json.dumps({k: v for k, v in found.items() if not isinstance(v, dict)}, indent=2))
    print(json.dumps({k: v for k, v in found.items() if isinstance(v, dict)}))
    if wanted.json:
        wanted.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


def report(what: str, speed: float) -> None:
    print(f"{what}: {speed:.4g} questions a second", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
