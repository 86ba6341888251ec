"""Loads a model and its processor from a local folder or the hub, onto what the machine has."""

from __future__ import annotations

import dataclasses
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForImageTextToText, AutoProcessor, BitsAndBytesConfig

from overread.errors import BadInput
from overread.models.hf_attention import register
from overread.models.hf_compiling import compile_layers
from overread.models.hf_options import Options
from overread.models.hf_patches import as_products

SAMPLED = 64
"""So many numbers of each weight stand for it in the fingerprint."""


@dataclasses.dataclass(frozen=True, slots=True)
class Loaded:
    """A model that is ready."""

    model: Any
    processor: Any
    device: torch.device
    media_tokens: frozenset[int]
    """Those that stand for media before the processor has seen them, and for each of their places afterwards."""
    alone: str
    """Why questions have to be asked one by one; empty where they can share their prefix."""
    products: int
    """Patch embeddings that run as matrix products."""
    compiled: int
    """Layers that are compiled."""


def load_weights(options: Options, where: str) -> Loaded:
    """Reads weights and processor; an error names what is missing and what to do."""
    _check_machine(options, where)
    source = {"revision": options.revision} if options.revision else {}
    try:
        processor = AutoProcessor.from_pretrained(options.path, **source)
        model = AutoModelForImageTextToText.from_pretrained(options.path, **source, **_placing(options))
    except (OSError, ValueError, ImportError, KeyError) as error:
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise BadInput(f"the model cannot be loaded: {first}", where=where, do=_way_out(options, first)) from error
    model.eval()
    if options.device != "auto" and options.bits == "16" and not options.tp:
        model.to(options.device or ("cuda" if torch.cuda.is_available() else "cpu"))
    tokens = frozenset(_media_tokens(processor, model))
    if not tokens:
        raise BadInput("the processor names no token for a picture", where=where, do="use a model that takes pictures")
    alone = why_alone(model)
    if not alone:
        model.set_attn_implementation({"text_config": register()})
    compiled = compile_layers(model) if options.compile == "layers" else 0
    if options.compile == "layers" and not compiled:
        what = f"compile=layers finds no layers that it knows in {type(model).__name__}"
        raise BadInput(what, where=where, do="leave out compile")
    device = next(model.parameters()).device
    return Loaded(model, processor, device, tokens, alone, as_products(model), compiled)


def _way_out(options: Options, first: str) -> str:
    """What to do when a model cannot be loaded."""
    if "torchvision" in first.lower():
        return "install torchvision, in the build that belongs to this torch (docs/hf_models.md)"
    kept = "" if Path(options.path).is_dir() else "; without a network, give a local folder"
    return f"check path={options.path}{kept}"


def fingerprint(model: Any) -> str:
    """A hash of some numbers of every weight: two folders of one name may hold different weights."""
    told = hashlib.blake2b(digest_size=12)
    for name, weight in model.named_parameters():
        flat = weight.detach().flatten()
        some = flat[:: max(1, len(flat) // SAMPLED)][:SAMPLED]
        told.update(name.encode() + str(tuple(weight.shape)).encode() + some.double().cpu().numpy().tobytes())
    return told.hexdigest()


def _media_tokens(processor: Any, model: Any) -> Iterator[int]:
    """The tokens of pictures and of videos, by the names that processors and settings give them."""
    for kind in ("image", "video"):
        names = (f"{kind}_token_id", f"{kind}_token_index")
        found = (getattr(part, name, None) for part in (processor, model.config) for name in names)
        token = next((one for one in found if isinstance(one, int)), None)
        if token is not None:
            yield token


def _check_machine(options: Options, where: str) -> None:
    """What the machine or the environment lacks for the options, told before gigabytes are read."""
    if options.device.startswith("cuda") and not torch.cuda.is_available():
        raise BadInput(f"device={options.device} and no accelerator is here", where=where, do="leave device out")
    if options.bits != "16" and not torch.cuda.is_available():
        what = f"bits={options.bits} needs an accelerator, and none is here"
        raise BadInput(what, where=where, do="leave out bits, or run it where there is one")
    if options.bits != "16" and not _installed("bitsandbytes"):
        what = f"bits={options.bits} needs the package bitsandbytes"
        raise BadInput(what, where=where, do="pip install bitsandbytes, or leave out bits")
    if options.device == "auto" and not _installed("accelerate"):
        raise BadInput("device=auto needs the package accelerate", where=where, do="pip install overread[hf]")
    started = int(os.environ.get("WORLD_SIZE", "1"))
    if options.tp and started != options.tp:
        what = f"tp={options.tp} needs as many processes, and this run has {started}"
        raise BadInput(what, where=where, do=f"start it by torchrun --nproc-per-node {options.tp} -m overread run ...")


def _installed(name: str) -> bool:
    from importlib.util import find_spec

    return find_spec(name) is not None


def _placing(options: Options) -> dict[str, Any]:
    given: dict[str, Any] = {"dtype": options.dtype if options.dtype == "auto" else getattr(torch, options.dtype)}
    if options.bits != "16":
        few = options.bits == "4"
        given["quantization_config"] = BitsAndBytesConfig(load_in_4bit=few, load_in_8bit=not few)
    if options.device == "auto":
        given["device_map"] = "auto"
    if options.tp:
        given["tp_plan"] = "auto"
    return given


def why_alone(model: Any) -> str:
    """Why an architecture cannot share a prefix, as far as its settings tell; empty where nothing speaks against it.

    Sharing needs one full attention in every layer of the text part and no state beside keys and values.
    """
    text = model.config.get_text_config()
    kinds = set(getattr(text, "layer_types", None) or ["full_attention"]) - {"full_attention"}
    if kinds:
        return f"its layers are not all of full attention: {', '.join(sorted(kinds))}"
    if getattr(text, "sliding_window", None) and getattr(text, "use_sliding_window", True):
        return f"its attention slides over {text.sliding_window} tokens"
    if not hasattr(model, "model") or model.get_output_embeddings() is None:
        return "it is not built of a body and a head"
    return _special(model)


def _special(model: Any) -> str:
    """Generation settings that ask for more than the next token by its probability."""
    settings = model.generation_config
    asked = {
        "num_beams": (settings.num_beams or 1) > 1,
        "repetition_penalty": (settings.repetition_penalty or 1.0) != 1.0,
        "no_repeat_ngram_size": bool(settings.no_repeat_ngram_size),
        "bad_words_ids": bool(settings.bad_words_ids),
        "suppress_tokens": bool(settings.suppress_tokens),
        "begin_suppress_tokens": bool(settings.begin_suppress_tokens),
        "forced_bos_token_id": settings.forced_bos_token_id is not None,
    }
    named = [name for name, is_set in asked.items() if is_set]
    return f"its generation settings ask for {', '.join(named)}" if named else ""
