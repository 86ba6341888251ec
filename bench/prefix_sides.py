"""The ways of asking that `shared_prefix.py` sets side by side, each as a function that is timed."""

from __future__ import annotations

import contextlib
import dataclasses
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

from overread.models.hf_replies import Replies, Said, Stop
from overread.models.hf_room import aligned
from overread.models.hf_scoring import Ending, option_logs, token_logs
from overread.models.hf_shared import Pass, Portion
from overread.models.hf_trees import Tree, grow
from prefix_models import NEW, OPTION, OPTIONS, QUESTIONS, Side, Tensors, inputs_of, prompts

PORTION = 32_768
"""Tokens of trunks that go through the model at once; as in `hf_running.py`."""

Replied = list[list[int]]


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
def field(side: Side, device: str, dialogues: int) -> tuple[float, Replied]:
    """One question at a time, the picture encoded again: questions a second, and the replies."""
    said: Replied = []
    media = side.media(dialogues)

    def work() -> None:
        said.clear()
        for row, each in enumerate(prompts(side, dialogues)):
            mine = side.of(media, slice(row, row + 1))
            for prompt in each:
                ids = torch.from_numpy(prompt)[None].to(device)
                given = inputs_of(side, ids, mine)
                out = side.model.generate(
                    **given, attention_mask=torch.ones_like(ids), max_new_tokens=NEW, do_sample=False
                )
                said.append(out[0, ids.shape[1] :].tolist())

    seconds, _ = clocked(work, device, 1)
    return dialogues * QUESTIONS / seconds, list(said)


@torch.inference_mode()
def batched(side: Side, device: str, dialogues: int, *, columns: bool) -> float:
    """`generate` on many prompts at once, each picture encoded once and its features used for all of its questions.

    With `columns` those prompts go together that have the same number (and here the same length, so that nothing is
    padded); else all prompts of all dialogues at once, padded before.
    """
    each = prompts(side, dialogues)
    media = side.media(dialogues)
    model = side.model.model
    original = model.get_image_features
    kept: list[Any] = []
    times = 1 if columns else QUESTIONS

    def features(pixel_values: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        if not kept:
            kept.append(side.repeat(original(**{**kwargs, **media, "return_dict": True}), times))
        return kept[0]

    def work() -> None:
        kept.clear()
        rows = zip(*each, strict=True) if columns else [[prompt for one in each for prompt in one]]
        for some in rows:
            ids, mask = padded(list(some), device)
            given = dict(media)
            if "image_grid_thw" in media:  # where the text counts its positions by
                given["image_grid_thw"] = media["image_grid_thw"].repeat_interleave(times, 0)
            side.model.generate(**inputs_of(side, ids, given), attention_mask=mask, max_new_tokens=NEW, do_sample=False)

    model.get_image_features = features
    try:
        seconds, _ = clocked(work, device, 1)
    finally:
        model.get_image_features = original
    return dialogues * QUESTIONS / seconds


def padded(some: list[np.ndarray], device: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Prompts and what of them is real, padded before."""
    longest = max(map(len, some))
    ids = np.full((len(some), longest), 2)
    mask = np.zeros_like(ids)
    for row, prompt in enumerate(some):
        ids[row, longest - len(prompt) :] = prompt
        mask[row, longest - len(prompt) :] = 1
    return torch.from_numpy(ids).to(device), torch.from_numpy(mask).to(device)


def trees_of(side: Side, dialogues: int, options: int = 0) -> list[Tree]:
    return [grow(each, frozenset([side.image_token]))[0] for each in prompts(side, dialogues, options)]


def portions_of(side: Side, trees: list[Tree], media: Tensors, device: str, tokens: int = PORTION) -> Iterator[Portion]:
    """Trees in portions, as the engine makes them."""
    size = max(1, tokens // max(len(tree.trunk) for tree in trees))
    for start in range(0, len(trees), size):
        some = trees[start : start + size]
        ids = torch.from_numpy(np.stack([tree.trunk for tree in some])).to(device)
        yield Portion(tuple(some), inputs_of(side, ids, side.of(media, slice(start, start + len(some)))))


@dataclasses.dataclass
class Shared:
    """The shared prefix on so many dialogues: as a whole, and its parts."""

    side: Side
    device: str
    dialogues: int
    tokens: int = PORTION

    def __post_init__(self) -> None:
        self.trees = trees_of(self.side, self.dialogues)
        media = self.side.media(self.dialogues)
        self.portions = list(portions_of(self.side, self.trees, media, self.device, self.tokens))
        self.stop = Stop(NEW, (), pad=2)

    @torch.inference_mode()
    def pictures(self) -> None:
        """Only the pictures."""
        for portion in self.portions:
            media = {n: v for n, v in portion.inputs.items() if n not in ("input_ids", "mm_token_type_ids")}
            self.side.model.model.get_image_features(**media)

    @torch.inference_mode()
    def first(self) -> Pass:
        """Pictures and scripts."""
        return Pass(self.side.model, self.portions, QUESTIONS * NEW)

    @torch.inference_mode()
    def whole(self, *, record: bool = True) -> Said:
        """Everything."""
        return Replies(self.first(), self.stop).write(record=record)


@torch.inference_mode()
def options(side: Side, device: str, dialogues: int) -> dict[str, float]:
    """Seconds of scoring five options a question, and of bare forward passes over as many tokens."""
    trees = trees_of(side, dialogues, OPTIONS)
    media = side.media(dialogues)
    portions = list(portions_of(side, trees, media, device))
    endings = [
        Ending(row, place, branch.shared + len(branch.own) - OPTION)
        for row, tree in enumerate(trees)
        for place, branch in enumerate(tree.branches)
    ]
    mine, _ = clocked(lambda: option_logs(Pass(side.model, portions, 0, keep=True), endings), device)
    own = sum(len(branch.own) for branch in trees[0].branches)
    bare: dict[int, float] = {}
    for size in sorted({len(portions[0].trees), dialogues}):
        calls = []
        for start in range(0, dialogues, size):
            some = slice(start, min(dialogues, start + size))
            ids = torch.from_numpy(np.stack([tree.trunk for tree in trees[some]])).to(device)
            more = torch.randint(10, 400, (len(ids), own), device=device)
            calls.append(inputs_of(side, torch.cat([ids, more], dim=1), side.of(media, some)))
        try:
            bare[size], _ = clocked(lambda calls=calls: _bare(side, calls), device)  # type: ignore[misc]
        except torch.OutOfMemoryError:
            torch.cuda.empty_cache()
    fastest = min(bare.values())
    return {"dialogues": dialogues, "seconds": mine, "bare": fastest, "bare / seconds": fastest / mine,
            "tokens a dialogue": len(trees[0].trunk) + own}  # fmt: skip


def _bare(side: Side, calls: list[Tensors]) -> None:
    for given in calls:
        side.model.model(**given, use_cache=False)


@torch.inference_mode()
def attention_ways(side: Side, device: str, dialogues: int) -> dict[str, dict[str, float]]:
    """Milliseconds of one layer's attention by each of torch's ways: of a script, and of a step of replies."""
    layers, heads, width = side.layer
    keys = side.kv_bytes // (2 * layers * width * side.model.dtype.itemsize)
    trunk = len(trees_of(side, 1)[0].trunk)
    size, places = max(1, PORTION // trunk), aligned(trunk + QUESTIONS * NEW)

    def some(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, width, device=device, dtype=side.model.dtype)

    mask = torch.zeros(dialogues, 1, heads // keys * QUESTIONS, places, device=device, dtype=side.model.dtype)
    mask[..., trunk:] = float("-inf")
    calls = {
        "script": (some(size, heads, trunk), some(size, heads, trunk), None),
        "step": (some(dialogues, keys, heads // keys * QUESTIONS), some(dialogues, keys, places), mask),
    }
    found: dict[str, dict[str, float]] = {}
    for name, (query, key, seen) in calls.items():
        found[name] = {}
        for way in (SDPBackend.FLASH_ATTENTION, SDPBackend.CUDNN_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, None):
            try:
                with sdpa_kernel(way) if way is not None else contextlib.nullcontext():
                    seconds, _ = clocked(
                        lambda q=query, k=key, m=seen: [
                            scaled_dot_product_attention(q, k, k, attn_mask=m, is_causal=m is None) for _ in range(10)
                        ],
                        device,
                    )
                found[name][way.name if way is not None else "its own choice"] = 100 * seconds
            except RuntimeError:
                continue  # this way does not take it
    return found


@torch.inference_mode()
def forced(side: Side, device: str, said: Replied) -> dict[str, float]:
    """The shared prefix over replies of the field's way: how often its likeliest token is theirs, at each place.

    Where it is another one, `behind` tells how far the field's token lies behind in the logarithm of its probability.
    """
    each = [np.concatenate([p, np.asarray(r)]) for p, r in zip(prompts(side, 1)[0], said[:QUESTIONS], strict=True)]
    (tree,) = grow(each, frozenset([side.image_token]))
    media = side.media(1)
    ids = torch.from_numpy(tree.trunk)[None].to(device)
    going = Pass(side.model, [Portion((tree,), inputs_of(side, ids, media))], 0, keep=True)
    endings = [Ending(0, n, branch.shared + len(branch.own) - NEW) for n, branch in enumerate(tree.branches)]
    theirs, _ = token_logs(going, endings)
    best, _ = token_logs(going, endings, likeliest=True)
    return {"tokens": float((theirs >= best).mean()), "furthest behind": float((best - theirs).max())}


def agreement(one: Replied, other: Replied) -> dict[str, float]:
    """The share of replies and of tokens that are the same, and how many tokens pass before the first that is not."""
    pairs = list(zip(one, other, strict=True))
    alike = [next((n for n, (x, y) in enumerate(zip(a, b, strict=True)) if x != y), len(a)) for a, b in pairs]
    tokens = [x == y for a, b in pairs for x, y in zip(a, b, strict=True)]
    return {
        "replies": sum(a == b for a, b in pairs) / len(pairs),
        "tokens": sum(tokens) / len(tokens),
        "tokens before the first other": statistics.mean(alike),
    }
