"""RadFM: volumes and pictures among the words, 32 tokens each.

Options: weights (a folder with Language_files and pytorch_model.bin), source (a checkout's Quick_demo folder). The demo
crops at random; here nothing is cropped, so that the same study is the same input.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import preparing

KINDS = ["choice", "text", "number"]
FORMS = {"volume": "tensor", "image": "image"}
INPUT = {
    "orientation": "as a file in LPS is read",
    "shape": "1 1 3 256 256 64",
    "axes": "batch, image, channel, height, width, depth",
}
VOLUME = (256, 256, 64)
FLAT = (512, 512, 4)
TOKENS = 32
MOST = 100
"""Studies that its vocabulary has tokens for."""


def load(options):
    preparing.on_path(options.get("source", ""))
    import torch
    from Model.RadFM.multimodality_model import MultiLLaMAForCausalLM
    from transformers import LlamaTokenizer

    folder = Path(options["weights"])
    if not folder.is_dir():
        raise ValueError("name a folder that holds Language_files and pytorch_model.bin: option.weights=FOLDER")
    tokenizer = LlamaTokenizer.from_pretrained(str(folder / "Language_files"))
    own = ["<image%d>" % number for number in range(MOST * TOKENS)]
    tokenizer.add_special_tokens({"additional_special_tokens": ["<image>", "</image>", *own]})
    tokenizer.pad_token_id, tokenizer.bos_token_id, tokenizer.eos_token_id = 0, 1, 2
    model = MultiLLaMAForCausalLM(lang_model_path=str(folder / "Language_files"))
    weights = torch.load(str(folder / "pytorch_model.bin"), map_location="cpu", weights_only=True)
    model.load_state_dict(weights)
    return {"tokenizer": tokenizer, "model": model.to(preparing.device()).eval(), **options}


def identity(model):
    return {"weights": Path(model["weights"]).name, "tokens": TOKENS, "preparing": preparing.version()}


def prepared(given):
    """(3, height, width, depth): a volume at 256, 256, 64; a picture at 512, 512, 4."""
    import numpy as np

    if isinstance(given, str):
        from PIL import Image

        flat = np.asarray(Image.open(given).convert("RGB").resize(FLAT[:2], Image.BICUBIC), dtype=np.float32) / 255
        return np.repeat(flat.transpose(2, 0, 1)[..., None], FLAT[2], axis=3)
    array = preparing.stretched(preparing.as_file(given).transpose(1, 2, 0))
    return np.repeat(preparing.resampled(array, VOLUME)[None], 3, axis=0)


def asked(question, names):
    """The words with the tokens of each study before the turn that shows it."""
    texts = []
    for message in question.messages:
        marks = ""
        for name in message["media"]:
            first = names.index(name) * TOKENS
            marks += "<image>" + "".join("<image%d>" % (first + n) for n in range(TOKENS)) + "</image>"
        texts.append(marks + message["text"])
    return "\n".join(texts)


def answer(model, request):
    import torch

    for question in request.questions:
        name = preparing.only(preparing.shown(question))
        array = prepared(request.media[name])
        text = asked(question, [name])
        ids = model["tokenizer"](text, max_length=2048, truncation=True, return_tensors="pt")["input_ids"].to(
            preparing.device()
        )
        vision = torch.from_numpy(array)[None, None].to(preparing.device())
        with torch.inference_mode():
            made = model["model"].generate(ids, vision)
        said = model["tokenizer"].batch_decode(made, skip_special_tokens=True)[0].strip()
        seen = [request.fed(name, array, indices=request.indices[name], tokens=TOKENS)]
        yield question.answer(text=said, seen=seen)
