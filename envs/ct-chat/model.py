"""CT-CHAT: a chest CT, encoded by the encoder of CT-CLIP, and a conversation.

Options: weights (a folder; a LoRA's name must begin with llava-lora-), base (the language model below a LoRA), encoder
(clip_visual_encoder.pth of CT-CLIP, whose package `transformer_maskgit` has to be installed), source (a checkout), tag.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import preparing

KINDS = ["choice", "text", "number"]
FORMS = {"volume": "tensor"}
INPUT = {
    "orientation": "as a file in LPS is read",
    "spacing_mm": "0.75 0.75 1.5",
    "window_hu": "-1000 1000",
    "shape": "480 480 240",
    "axes": "batch, channel, z, x, y into the encoder",
}
SPACING_MM = (0.75, 0.75, 1.5)
SHAPE = (480, 480, 240)
NEW_TOKENS = 512
TAGS = ("short_answer", "long_answer", "multiple_choice", "report_generation")


def load(options):
    preparing.on_path(options.get("source", ""))
    if options.get("tag", "short_answer") not in TAGS:
        raise ValueError("tag is one of " + ", ".join(TAGS))
    for name in ("weights", "encoder"):
        if not options.get(name):
            raise ValueError("name the folder or file: option.%s=PATH" % name)
    import torch
    from llava.mm_utils import get_model_name_from_path
    from llava.model.builder import load_pretrained_model
    from transformer_maskgit import CTViT

    torch.set_grad_enabled(False)
    encoder = CTViT(
        dim=512, codebook_size=8192, image_size=480, patch_size=20, temporal_patch_size=10,
        spatial_depth=4, temporal_depth=4, dim_head=32, heads=8,
    ).to(preparing.device()).eval()  # fmt: skip
    encoder.load(options["encoder"])
    name = get_model_name_from_path(options["weights"])
    tokenizer, model, _, _ = load_pretrained_model(options["weights"], options.get("base"), name)
    return {"encoder_": encoder, "tokenizer": tokenizer, "model": model, **options}


def identity(model):
    names = {name: Path(model.get(name) or "none").name for name in ("weights", "base", "encoder")}
    tag = model.get("tag", "short_answer")
    return {**names, "tag": tag, "new_tokens": NEW_TOKENS, "preparing": preparing.version()}


def prepared(volume, spacing_mm):
    """(1, 1, 240, 480, 480): the axes of the plane as in a file in LPS, HU / 1000 within -1..1, padded with -1."""
    array = preparing.spaced(volume[::-1, ::-1, :].clip(-1000, 1000), spacing_mm, SPACING_MM) / 1000.0
    return preparing.fitted(array.astype("float32"), SHAPE, -1.0).transpose(2, 0, 1)[None, None].copy()


def asked(question, tag):
    """The question with all that the model was trained to see around it; without `<image>` the volume is not used."""
    turns = [m for m in question.messages if m["role"] != "system"]
    first, later = turns[0], turns[1:]
    image = "<image>\n<provided>\n"
    texts = [(first["role"], image + first["text"])] + [(m["role"], m["text"]) for m in later]
    texts[-1] = (texts[-1][0], texts[-1][1] + "<%s>" % tag)
    return texts


def answer(model, request):
    import torch
    from llava.constants import IMAGE_TOKEN_INDEX
    from llava.conversation import conv_templates
    from llava.mm_utils import tokenizer_image_token

    for question in request.questions:
        name = preparing.only(preparing.shown(question))
        array = prepared(request.media[name], request.facts[name]["spacing_mm"])
        tokens = model["encoder_"](torch.from_numpy(array).to(preparing.device()), return_encoded_tokens=True)
        talk = conv_templates["llama3"].copy()
        for role, text in asked(question, model.get("tag", "short_answer")):
            talk.append_message(talk.roles[0 if role == "user" else 1], text)
        talk.append_message(talk.roles[1], None)
        ids = tokenizer_image_token(talk.get_prompt(), model["tokenizer"], IMAGE_TOKEN_INDEX, return_tensors="pt")
        device = model["model"].device
        made = model["model"].generate(
            ids[None].to(device),
            images=tokens.to(device, torch.float16),
            image_sizes=[tokens.numel()],
            do_sample=False,
            max_new_tokens=NEW_TOKENS,
            use_cache=True,
        )
        text = model["tokenizer"].decode(made[0], skip_special_tokens=True).strip()
        seen = [request.fed(name, array, indices=request.indices[name], tokens=int(tokens[0].numel() // 512))]
        yield question.answer(text=text, seen=seen)
