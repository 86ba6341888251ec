"""M3D-LaMed: a volume of 32 slices of 256 by 256, and one text.

Options: weights (a folder or a hub name), revision. The code comes with the weights.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import preparing

KINDS = ["choice", "text", "number"]
FORMS = {"volume": "tensor"}
INPUT = {"orientation": "as a file in LPS is read", "shape": "1 1 32 256 256", "axes": "batch, channel, z, y, x"}
SHAPE = (32, 256, 256)
PATCHES = 256
NEW_TOKENS = 256


def load(options):
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    source = {"trust_remote_code": True, "revision": preparing.exact(options) or "main"}
    tokenizer = AutoTokenizer.from_pretrained(
        options["weights"], model_max_length=1024, padding_side="right", use_fast=False, **source
    )
    model = AutoModelForCausalLM.from_pretrained(options["weights"], torch_dtype=torch.bfloat16, **source)
    return {"tokenizer": tokenizer, "model": model.to(preparing.device()).eval(), **options}


def identity(model):
    told = {"weights": Path(model["weights"]).name, "revision": model.get("revision", "")}
    return {**told, "dtype": "bfloat16", "new_tokens": NEW_TOKENS, "preparing": preparing.version()}


def prepared(volume):
    """(1, 1, 32, 256, 256): least to greatest onto 0..1, resized."""
    return preparing.resampled(preparing.stretched(preparing.as_file(volume)), SHAPE)[None, None]


def answer(model, request):
    import torch

    network = model["model"]
    for question in request.questions:
        name = preparing.only(preparing.shown(question))
        array = prepared(request.media[name])
        text = "<im_patch>" * PATCHES + preparing.words(question)
        ids = model["tokenizer"](text, return_tensors="pt")["input_ids"].to(network.device)
        images = torch.from_numpy(array).to(network.device, torch.bfloat16)
        with torch.inference_mode():
            made = network.generate(images, ids, max_new_tokens=NEW_TOKENS, do_sample=False)
        made = made[0] if isinstance(made, tuple) else made  # with segmentation it is a pair
        said = model["tokenizer"].batch_decode(made, skip_special_tokens=True)[0].strip()
        seen = [request.fed(name, array, indices=request.indices[name], tokens=PATCHES)]
        yield question.answer(text=said, seen=seen)
