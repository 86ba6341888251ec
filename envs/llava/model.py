"""PULSE and LLaVA-Med: the legacy LLaVA code of either, one picture and a conversation.

Options: weights, revision, conversation (the name of a template), source (the folder that holds the package `llava`).
Written from the published interface of both projects; the conversation goes into the template turn by turn.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import preparing

KINDS = ["choice", "text", "number"]
FORMS = {"ecg": "sheet", "image": "image"}
INPUT = {"form": "one image, RGB"}
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
    name = get_model_name_from_path(weights)
    if "llava" not in name.lower():
        name = "llava_" + name  # the loader knows its own kind by the name of the folder
    tokenizer, model, processor, _ = load_pretrained_model(weights, None, name)
    return {"tokenizer": tokenizer, "model": model, "processor": processor, **options}


def identity(model):
    told = {name: model.get(name, "") for name in ("weights", "revision", "conversation")}
    told["weights"] = Path(told["weights"]).name
    return {**told, "dtype": str(model["model"].dtype), "new_tokens": NEW_TOKENS, "preparing": preparing.version()}


def answer(model, request):
    for question in request.questions:
        yield said(model, request, question)


def said(model, request, question):
    import torch
    from llava.constants import IMAGE_TOKEN_INDEX
    from llava.mm_utils import process_images, tokenizer_image_token

    name = preparing.only(preparing.shown(question))
    image = opened(request, name)
    pixels = process_images([image], model["processor"], model["model"].config)
    pixels = pixels if torch.is_tensor(pixels) else torch.stack(list(pixels))
    text = prompt(model, question)
    device = model["model"].device
    ids = tokenizer_image_token(text, model["tokenizer"], IMAGE_TOKEN_INDEX, return_tensors="pt")[None].to(device)
    given = {"images": pixels.to(device, torch.float16), "do_sample": False, "max_new_tokens": NEW_TOKENS}
    if getattr(model["model"].config, "image_aspect_ratio", "") == "anyres":
        given["image_sizes"] = [image.size]
    made = model["model"].generate(ids, **given, use_cache=True)
    text = model["tokenizer"].batch_decode(made, skip_special_tokens=True)[0].strip()
    seen = [request.fed(name, pixels.float().cpu().numpy(), indices=request.indices[name])]
    return question.answer(text=text, seen=seen, usage={"tokens": int(made.shape[-1])})


def opened(request, name):
    """The picture; a sheet comes as an array, a file as its path."""
    from PIL import Image

    given = request.media[name]
    return Image.open(given).convert("RGB") if isinstance(given, str) else Image.fromarray(given)


def prompt(model, question):
    """The conversation in its template, the picture before the words of the turn that shows it."""
    from llava.constants import DEFAULT_IM_END_TOKEN, DEFAULT_IM_START_TOKEN, DEFAULT_IMAGE_TOKEN
    from llava.conversation import conv_templates

    image = DEFAULT_IMAGE_TOKEN
    if getattr(model["model"].config, "mm_use_im_start_end", False):
        image = DEFAULT_IM_START_TOKEN + image + DEFAULT_IM_END_TOKEN
    talk = conv_templates[model["conversation"]].copy()
    system = [message["text"] for message in question.messages if message["role"] == "system"]
    if system:
        talk.system = "\n\n".join(system)
    for message in question.messages:
        if message["role"] == "user":
            talk.append_message(talk.roles[0], (image + "\n" if message["media"] else "") + message["text"])
        elif message["role"] == "assistant":
            talk.append_message(talk.roles[1], message["text"])
    talk.append_message(talk.roles[1], None)
    return talk.get_prompt()
