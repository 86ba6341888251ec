"""Hulu-Med: pictures, and volumes and clips as the frames of a video.

Options: weights, revision, source (a checkout's src folder, with the package `hulumed`). Decoded greedily; only what
the model adds to its prompt is the answer.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import preparing

KINDS = ["choice", "text", "number"]
FORMS = {"ecg": "sheet", "clip": "frames", "volume": "slices", "image": "image"}
INPUT = {"form": "slices as frames of a video, or one image"}
NEW_TOKENS = 1024


def load(options):
    preparing.on_path(options.get("source", ""))
    import torch
    from hulumed.mm_utils import get_model_name_from_path
    from hulumed.model import load_pretrained_model
    from hulumed.model.processor import HulumedProcessor

    torch.set_grad_enabled(False)
    name = get_model_name_from_path(options["weights"])
    tokenizer, model, images, _ = load_pretrained_model(options["weights"], None, name, device_map="auto")
    return {"tokenizer": tokenizer, "model": model, "processor": HulumedProcessor(images, tokenizer), **options}


def identity(model):
    told = {"weights": Path(model["weights"]).name, "revision": model.get("revision", "")}
    return {**told, "dtype": str(model["model"].dtype), "new_tokens": NEW_TOKENS, "preparing": preparing.version()}


def opened(given):
    """The pictures of a medium: one, or one a frame or slice."""
    from PIL import Image

    if isinstance(given, str):
        return [Image.open(given).convert("RGB")]
    return [Image.fromarray(one) for one in (given if given.ndim == 4 else given[None])]


def answer(model, request):
    import torch

    for question in request.questions:
        name = preparing.only(preparing.shown(question))
        pictures = opened(request.media[name])
        video = len(pictures) > 1
        part = {"type": "video", "num_frames": len(pictures)} if video else {"type": "image"}
        talk = [
            {"role": m["role"], "content": ([part] if m["media"] else []) + [{"type": "text", "text": m["text"]}]}
            for m in question.messages
        ]
        given = model["processor"](images=[pictures], text=talk, merge_size=2 if video else 1, return_tensors="pt")
        device = model["model"].device
        given = {key: value.to(device) if torch.is_tensor(value) else value for key, value in given.items()}
        given["pixel_values"] = given["pixel_values"].to(torch.bfloat16)
        made = model["model"].generate(
            **given,
            modals=["video" if video else "image"],
            do_sample=False,
            max_new_tokens=NEW_TOKENS,
            use_cache=True,
            pad_token_id=model["tokenizer"].eos_token_id,
        )
        length = given["input_ids"].shape[1]
        new = made[0][length:] if made.shape[1] > length else made[0]
        text = model["tokenizer"].decode(new, skip_special_tokens=True).strip()
        pixels = given["pixel_values"].float().cpu().numpy()
        yield question.answer(text=text, seen=[request.fed(name, pixels, indices=request.indices[name])])
