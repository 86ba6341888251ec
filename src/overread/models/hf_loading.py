"""Loads a model and its processor from a local folder or the hub, onto what the machine has."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForImageTextToText, AutoProcessor, BitsAndBytesConfig

from overread.errors import BadInput
from overread.models.hf_attention import register
from overread.models.hf_options import Options


@dataclasses.dataclass(frozen=True, slots=True)
class Loaded:
    """A model that is ready."""

    model: Any
    processor: Any
    device: torch.device
    media_token: int
    """The token that stands for a picture before the processor has seen it, and for each of its places afterwards."""
    shares: bool
    """Whether its architecture lets many questions go on from one cache."""


def load_weights(options: Options, where: str) -> Loaded:
    """Reads weights and processor; an error names what is missing and what to do."""
    source = {"revision": options.revision} if options.revision else {}
    try:
        processor = AutoProcessor.from_pretrained(options.path, **source)
        model = AutoModelForImageTextToText.from_pretrained(options.path, **source, **_placing(options))
    except (OSError, ValueError, ImportError, KeyError) as error:
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        kept = "" if Path(options.path).is_dir() else "; without a network, give a local folder"
        raise BadInput(
            f"the model cannot be loaded: {first}", where=where, do=f"check path={options.path}{kept}"
        ) from error
    model.eval()
    if not hasattr(model, "hf_device_map") and options.bits == "16":
        model.to(_device(options))
    token = getattr(processor, "image_token_id", None) or getattr(model.config, "image_token_id", None)
    if token is None:
        raise BadInput("the processor names no token for a picture", where=where, do="use a model that takes pictures")
    shares = _shares(model)
    if shares:
        model.set_attn_implementation({"text_config": register()})
    return Loaded(model, processor, next(model.parameters()).device, int(token), shares)


def _device(options: Options) -> str:
    return options.device or ("cuda" if torch.cuda.is_available() else "cpu")


def _placing(options: Options) -> dict[str, Any]:
    given: dict[str, Any] = {"dtype": options.dtype if options.dtype == "auto" else getattr(torch, options.dtype)}
    if options.bits != "16":
        few = options.bits == "4"
        given["quantization_config"] = BitsAndBytesConfig(load_in_4bit=few, load_in_8bit=not few)
    if options.device == "auto":
        given["device_map"] = "auto"
    return given


def _shares(model: Any) -> bool:
    """One full attention in every layer of the text part, and no state beside keys and values."""
    text = model.config.get_text_config()
    kinds = set(getattr(text, "layer_types", None) or ["full_attention"])
    return kinds == {"full_attention"} and hasattr(model, "model") and model.get_output_embeddings() is not None
