"""VILA-M3: one slice, without its experts.

Options: weights, revision, conversation, source (VILA's code), slice (`middle`, or a number from the feet). What the
experts would add in words is not added, so a volume is no more than the one slice that is shown; its receipt says
which, and a question about a whole volume fails by that receipt unless the exam shows the one slice alone.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import preparing

KINDS = ["choice", "text", "number"]
FORMS = {"volume": "tensor", "image": "image"}
INPUT = {"orientation": "RAS, turned as a radiologist looks at it", "window_hu": "-150 250"}
WINDOW_HU = (-150.0, 250.0)
NEW_TOKENS = 1024


def load(options):
    preparing.on_path(options.get("source", ""))
    import torch
    from huggingface_hub import snapshot_download
    from llava.mm_utils import get_model_name_from_path
    from llava.model.builder import load_pretrained_model

    torch.set_grad_enabled(False)
    weights = options["weights"]
    if not Path(weights).is_dir():
        weights = snapshot_download(weights, revision=options.get("revision"))
    tokenizer, model, processor, _ = load_pretrained_model(weights, get_model_name_from_path(weights))
    return {"tokenizer": tokenizer, "model": model, "processor": processor, **options}


def identity(model):
    told = {name: model.get(name, "") for name in ("revision", "conversation", "slice")}
    told["weights"] = Path(model["weights"]).name
    return {**told, "new_tokens": NEW_TOKENS, "preparing": preparing.version()}


def prepared(volume, chosen):
    """One slice in 0..1 as a radiologist looks at it, and its number."""
    number = volume.shape[2] // 2 if chosen == "middle" else int(chosen)
    return preparing.windowed(preparing.radiological(volume, number), *WINDOW_HU), number


def answer(model, request):
    import torch
    from llava.constants import IMAGE_TOKEN_INDEX
    from llava.conversation import conv_templates
    from llava.mm_utils import process_images, tokenizer_image_token
    from PIL import Image

    for question in request.questions:
        name = preparing.only(preparing.shown(question))
        given, indices = request.media[name], request.indices[name]
        if isinstance(given, str):
            image = Image.open(given).convert("RGB")
        else:
            grey, number = prepared(given, model.get("slice", "middle"))
            image, indices = preparing.picture(grey), [indices[number]]
        talk = conv_templates[model["conversation"]].copy()
        for message in question.messages:
            if message["role"] == "user":
                talk.append_message(talk.roles[0], ("<image>\n" if message["media"] else "") + message["text"])
            elif message["role"] == "assistant":
                talk.append_message(talk.roles[1], message["text"])
        talk.append_message(talk.roles[1], "")
        network = model["model"]
        pixels = process_images([image], model["processor"], network.config).to(network.device, torch.float16)
        ids = tokenizer_image_token(talk.get_prompt(), model["tokenizer"], IMAGE_TOKEN_INDEX, return_tensors="pt")
        made = network.generate(
            ids[None].to(network.device),
            images=[pixels],
            do_sample=False,
            max_new_tokens=NEW_TOKENS,
            min_new_tokens=2,
            use_cache=True,
            pad_token_id=model["tokenizer"].eos_token_id,
        )
        text = model["tokenizer"].batch_decode(made, skip_special_tokens=True)[0].strip()
        yield question.answer(text=text, seen=[request.fed(name, pixels.float().cpu().numpy(), indices=indices)])
