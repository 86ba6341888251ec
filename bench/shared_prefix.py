"""Questions per second of the shared prefix, beside the field's way and beside batched `generate`.

    python bench/shared_prefix.py --model smolvlm --json smolvlm.json      one H200, about 4 minutes
    python bench/shared_prefix.py --model qwen3vl --json qwen3vl.json      one H200, about 6 minutes
    python bench/shared_prefix.py --model smolvlm --only shared,parts      the field's way and these, about 2 minutes
    python bench/shared_prefix.py --model tiny                             anywhere: to see that it runs

True architectures at random weights: what is computed does not depend on what weights say. A dialogue is one picture
and 13 teacher-forced questions, and every reply is 24 new tokens long. All sides get finished tensors, so the time that
a processor takes for a picture (once a question in the field's way, once a dialogue here) is on no side.

    field      one question at a time: `generate` on its prompt, the picture encoded again
    batched    `generate` on many prompts at once; the picture encoded once a dialogue, its features used again; the
               best of several sizes, of prompts put together by dialogue or by their number
    shared     one pass over media and script of each dialogue, then all questions together (`hf_shared.py`), the model
               as hf_vlm loads it (`hf_patches.py`); the other two sides have it as it comes
    options    five options a question by log-probability, from one pass; beside a bare forward over the same tokens
    parts      where the time of `shared` goes, beside what its operations and bytes cost at this card's own rates,
               which are measured first
    agreement  replies of `shared` beside those of the field's way; `float32`: the same at that precision
    attention, kernels    which kernels the time goes to
    compiled   `parts` and `agreement` once more, with compile=layers

What is measured is written after each step, so that a run cut short leaves what it has. It needs torch and transformers
and nothing else of overread's environment, so that it runs where nothing can be installed.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import types
from collections import Counter
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
import transformers

SOURCE = Path(__file__).resolve().parents[1] / "src" / "overread"
if find_spec("polars") is None:  # the package itself would import it, and only a few of its files are needed here
    for name, folder in (("overread", SOURCE), ("overread.models", SOURCE / "models")):
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__path__ = [str(folder)]

import prefix_sides as sides  # noqa: E402
from overread.models.hf_attention import register  # noqa: E402
from overread.models.hf_compiling import compile_layers  # noqa: E402
from overread.models.hf_patches import as_products  # noqa: E402
from prefix_models import MODELS, NEW, QUESTIONS, Side  # noqa: E402

SIZES = {  # dialogues at once: for generate by number and by dialogue, for the shared prefix, for options
    "smolvlm": ([32, 128, 256], [8, 32], [32, 64, 128, 256], [64]),
    "qwen3vl": ([4, 16], [2, 8], [4, 8, 16, 32], [8]),
    "tiny": ([1, 2], [1], [2, 4], [4]),
    "tiny_qwen": ([1], [1], [2], [2]),
}
KINDS = {  # the first word found in a kernel's name tells what it does
    "attention": ("flash", "fmha", "attention", "sdpa"),
    "matrix products": ("gemm", "cutlass", "nvjet", "cublas", "splitk", "wgmma", "conv"),
    "copies": ("memcpy", "memset", "copy", "cat", "index", "gather", "scatter"),
}


STEPS = ("shared", "parts", "options", "agreement", "attention", "kernels", "batched", "float32", "compiled")


class Record:
    """What was measured, printed as it comes and written after each step."""

    def __init__(self, path: Path | None, found: dict[str, Any], only: frozenset[str]) -> None:
        self.path, self.found, self.began = path, found, time.perf_counter()
        self.only = only

    def step(self, name: str, measure: Callable[[], Any]) -> Any:
        """Measures one thing; what fails is written as its reason, and the others go on."""
        try:
            self.found[name] = measure()
        except Exception as error:  # noqa: BLE001 - one call on a lent machine: what fails must not take the rest along
            self.found[name] = {"failed": f"{type(error).__name__}: {str(error)[:500]}"}
            if torch.cuda.is_available():
                torch.cuda.empty_cache()
        self.found["seconds"] = round(time.perf_counter() - self.began, 1)
        print(f"[{self.found['seconds']:6.1f} s] {name}: {json.dumps(self.found[name])[:1500]}", flush=True)
        if self.path:
            self.path.write_text(json.dumps(self.found, indent=2) + "\n", encoding="utf-8")
        return self.found[name]


def ceilings(device: str, dtype: torch.dtype) -> dict[str, float]:
    """What this machine reaches: operations a second in a large product, bytes a second in a large copy."""
    size = 8192 if device == "cuda" else 512
    one, other = (torch.randn(size, size, device=device, dtype=dtype) for _ in range(2))
    product, _ = sides.clocked(lambda: [one @ other for _ in range(10)], device)
    source = torch.randn(2**30 if device == "cuda" else 2**22, device=device, dtype=dtype)
    target = torch.empty_like(source)
    copy, _ = sides.clocked(lambda: [target.copy_(source) for _ in range(10)], device)
    return {"FLOP/s": 20 * size**3 / product, "bytes/s": 20 * source.numel() * source.element_size() / copy}


def best(measure: Callable[[int], float], sizes: list[int]) -> dict[str, Any]:
    """The size at which most questions a second are answered; the sizes from the first that does not fit are left."""
    found: dict[int, float] = {}
    for size in sizes:
        try:
            found[size] = measure(size)
        except torch.OutOfMemoryError:
            torch.cuda.empty_cache()
            break
    top = max(found, key=found.__getitem__)
    return {"questions/s": found[top], "dialogues": top, "by dialogues": found}


def shared_speed(side: Side, device: str, dialogues: int) -> float:
    one = sides.Shared(side, device, dialogues)
    seconds, _ = sides.clocked(one.whole, device, 2)
    return dialogues * QUESTIONS / seconds


def parts(side: Side, device: str, dialogues: int, rates: dict[str, float]) -> dict[str, Any]:
    """Seconds a dialogue of each part, beside the seconds that its operations or bytes take at the card's own rates."""
    one = sides.Shared(side, device, dialogues)
    whole, said = sides.clocked(one.whole, device, 2)
    played, _ = sides.clocked(lambda: one.whole(record=False), device, 1)
    pictures, _ = sides.clocked(one.pictures, device, 2)
    first, _ = sides.clocked(one.first, device, 2)
    trunk = len(one.trees[0].trunk)
    need = {
        "pictures": side.picture_flops / rates["FLOP/s"],
        "scripts": (side.token_flops * trunk + side.attention_flops(trunk**2 / 2)) / rates["FLOP/s"],
        "replies": replies_need(side, one, rates),
    }
    took = {"pictures": pictures, "scripts": first - pictures, "replies": whole - first}
    table = {
        name: {"seconds": took[name] / dialogues, "least": need[name], "share": need[name] * dialogues / took[name]}
        for name in took
    }
    table["whole"] = {"seconds": whole / dialogues, "least": sum(need.values()),
                      "share": sum(need.values()) * dialogues / whole}  # fmt: skip
    return {"dialogues": dialogues, "recorded": said.recorded, "not recorded": played / dialogues, **table}


def replies_need(side: Side, one: sides.Shared, rates: dict[str, float]) -> float:
    """Seconds a dialogue that replies take at least: of each step the operations or the bytes, what is more."""
    sees = sum(branch.shared for branch in one.trees[0].branches) + QUESTIONS * NEW / 2
    flops = QUESTIONS * (side.token_flops + side.head_flops) + side.attention_flops(sees)
    read = (side.token_flops + side.head_flops) / 2 * side.model.dtype.itemsize / one.dialogues
    read += side.kv_bytes * (len(one.trees[0].trunk) + QUESTIONS * NEW / 2)
    return NEW * max(flops / rates["FLOP/s"], read / rates["bytes/s"])


def kernels(side: Side, device: str, dialogues: int) -> dict[str, Any]:
    """Where the accelerator's own time goes: the share of each kind of kernel, and how long it had nothing to do."""
    one = sides.Shared(side, device, dialogues)
    one.whole()
    kind = torch.profiler.ProfilerActivity
    torch.cuda.synchronize()
    start = time.perf_counter()
    with torch.profiler.profile(activities=[kind.CUDA]) as profile:
        one.whole()
        torch.cuda.synchronize()
    took = time.perf_counter() - start
    spent: Counter[str] = Counter()
    names: Counter[str] = Counter()
    for event in profile.key_averages():
        seconds = getattr(event, "self_device_time_total", 0) / 1e6
        named = event.key.lower()
        of = next((k for k, words in KINDS.items() if any(word in named for word in words)), "elementwise and others")
        spent[of] += seconds
        names[event.key[:120]] += seconds
    busy = sum(spent.values())
    return {"seconds": took, "busy": busy, "shares": {k: v / busy for k, v in spent.most_common()},
            "largest": dict(names.most_common(25))}  # fmt: skip


def as_loaded(side: Side) -> None:
    """The model as hf_vlm loads it."""
    side.model.set_attn_implementation({"text_config": register()})
    as_products(side.model)


def as_it_comes(side: Side) -> None:
    """The model as transformers has it."""
    side.model.set_attn_implementation({"text_config": "sdpa"})
    for module in side.model.modules():
        vars(module).pop("forward", None)


def exact(name: str, device: str) -> dict[str, float]:
    """In float32: replies of the shared prefix beside those of the field's way, of one dialogue."""
    side = MODELS[name](device, torch.float32)
    _, said = sides.field(side, device, 1)
    as_loaded(side)
    return compared(side, device, said)


def compared(side: Side, device: str, said: sides.Replied) -> dict[str, float]:
    ours = sides.Shared(side, device, 1).whole()
    replied = ours.tokens[0].tolist()
    return {**sides.agreement(replied, said[:QUESTIONS]), "exact ties": int(ours.ties.sum())}


def measure(name: str, record: Record, device: str, dtype: torch.dtype) -> None:
    """Everything that is wanted, in the order of what matters most."""
    sizes, (scored,) = SIZES[name][2:]
    side = MODELS[name](device, dtype)
    rates = record.step("ceilings", lambda: ceilings(device, dtype))
    speed, said = sides.field(side, device, 1)
    record.step("field", lambda: {"questions/s": speed})
    as_loaded(side)
    most = sizes[-1]
    if "shared" in record.only:
        ours = record.step("shared", lambda: best(lambda n: shared_speed(side, device, n), sizes))
        most = ours["dialogues"]
        record.step("shared / field", lambda: ours["questions/s"] / speed)
    if "parts" in record.only:
        record.step("parts", lambda: parts(side, device, most, rates))
    if "options" in record.only:
        record.step("options", lambda: sides.options(side, device, scored))
    if "agreement" in record.only:
        record.step("agreement", lambda: compared(side, device, said))
        record.step("agreement, histories alike", lambda: sides.forced(side, device, said))
    if "attention" in record.only and device == "cuda":
        record.step("attention, ms a layer", lambda: sides.attention_ways(side, device, most))
    if "kernels" in record.only and device == "cuda":
        record.step("kernels", lambda: kernels(side, device, min(most, 4 * sizes[0])))
    if "batched" in record.only:
        beside_batched(name, record, side, device)
    if "float32" in record.only:
        record.step("agreement in float32", lambda: exact(name, device))
    if "compiled" in record.only:
        as_loaded(side)
        record.step("layers compiled", lambda: compile_layers(side.model))
        whole = record.step("parts, layers compiled", lambda: parts(side, device, most, rates))
        record.step("shared / field, layers compiled", lambda: QUESTIONS / whole["whole"]["seconds"] / speed)
        record.step("agreement, layers compiled", lambda: compared(side, device, said))


def beside_batched(name: str, record: Record, side: Side, device: str) -> None:
    """Batched `generate` at its best, and how many times as fast the shared prefix was."""
    by_number, by_dialogue = SIZES[name][:2]
    as_it_comes(side)
    record.step("batched by number", lambda: best(lambda n: sides.batched(side, device, n, columns=True), by_number))
    record.step(
        "batched by dialogue", lambda: best(lambda n: sides.batched(side, device, n, columns=False), by_dialogue)
    )
    both = [record.found[f"batched by {how}"].get("questions/s", 0.0) for how in ("number", "dialogue")]
    if "shared" in record.only:
        record.step("shared / batched", lambda: record.found["shared"]["questions/s"] / max(both))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=sorted(MODELS), required=True)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything that was measured")
    parser.add_argument("--only", default=",".join(STEPS), metavar="LIST", help=f"some of {', '.join(STEPS)}")
    wanted = parser.parse_args()
    only = frozenset(wanted.only.split(","))
    if only - set(STEPS):
        parser.error(f"--only: {', '.join(sorted(only - set(STEPS)))} is not one of {', '.join(STEPS)}")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    dtype = torch.bfloat16 if device == "cuda" else torch.float32
    about = {"model": wanted.model, "device": device, "dtype": str(dtype), "torch": torch.__version__,
             "transformers": transformers.__version__, "python": sys.version.split()[0]}  # fmt: skip
    if device == "cuda":
        about["card"] = torch.cuda.get_device_name()
    measure(wanted.model, Record(wanted.json, about, only), device, dtype)


if __name__ == "__main__":
    main()
