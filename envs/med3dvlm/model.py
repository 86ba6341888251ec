"""Med3DVLM: a volume of 128 slices of 256 by 256, and one text.

Options: weights (a folder or a hub name), revision, source (a checkout, for its image encoder).
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import preparing

KINDS = ["choice", "text", "number"]
FORMS = {"volume": "tensor"}
INPUT = {"orientation": "as a file in LPS is read", "shape": "1 1 128 256 256", "axes": "batch, channel, z, y, x"}
SHAPE = (128, 256, 256)
PATCHES = 256
NEW_TOKENS = 512


def load(options):
    preparing.on_path(options.get("source", ""))
    import torch
    from huggingface_hub import snapshot_download
    from transformers import AutoModelForCausalLM, AutoTokenizer

    weights, revision = options["weights"], preparing.exact(options)
    if not Path(weights).is_dir():
        weights = snapshot_download(weights, revision=revision)
    tokenizer = AutoTokenizer.from_pretrained(weights, padding_side="right", use_fast=False, trust_remote_code=True)
    model = AutoModelForCausalLM.from_pretrained(
        weights, torch_dtype=torch.bfloat16, device_map=preparing.device(), trust_remote_code=True
    )
    tower = torch.load(str(Path(weights) / "vision_tower.bin"), map_location="cpu", weights_only=True)
    model.get_model().vision_tower.load_state_dict(tower)
    model.eval()
    return {"tokenizer": tokenizer, "model": model, **options}


def identity(model):
    told = {"weights": Path(model["weights"]).name, "revision": model.get("revision", "")}
    return {**told, "dtype": "bfloat16", "new_tokens": NEW_TOKENS, "preparing": preparing.version()}


def prepared(volume):
    """(1, 1, 128, 256, 256): least to greatest onto 0..1, the foreground, resized."""
    array = preparing.foreground(preparing.stretched(preparing.as_file(volume)))
    return preparing.resampled(array, SHAPE)[None, None]


def asked(question):
    """The prompt; options as the project writes them."""
    letters = " ".join("%s. %s" % (chr(65 + place), option) for place, option in enumerate(question.options))
    return preparing.words(question) + (" Choices: " + letters if question.options else "")


def answer(model, request):
    import torch

    network = model["model"]
    patches = getattr(network.get_model().config, "proj_out_num", PATCHES)
    for question in request.questions:
        name = preparing.only(preparing.shown(question))
        array = prepared(request.media[name])
        ids = model["tokenizer"]("<im_patch>" * patches + asked(question), return_tensors="pt")["input_ids"]
        images = torch.from_numpy(array).to(network.device, torch.bfloat16)
        with torch.inference_mode():
            made = network.generate(
                images=images, inputs=ids.to(network.device), max_new_tokens=NEW_TOKENS, do_sample=False
            )
        text = model["tokenizer"].batch_decode(made, skip_special_tokens=True)[0].strip()
        seen = [request.fed(name, array, indices=request.indices[name], tokens=patches)]
        yield question.answer(text=text, seen=seen)
