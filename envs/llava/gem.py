"""GEM: LLaVA 1.6 with a signal tower, asked with picture and signal.

Options: weights, revision, conversation, source (a checkout of GEM with the ECG-CoCa checkpoint in its place). The form
is the signal, from which the picture is drawn by `ecg_plot` as the project does; both enter the network.
"""

import io
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import preparing
from model import NEW_TOKENS, load, prompt  # noqa: F401  (load is the script's own)

KINDS = ["choice", "text", "number"]
FORMS = {"ecg": "signal"}
INPUT = {"form": "one image, RGB, and the signal (12 leads)"}


def identity(model):
    told = {name: model.get(name, "") for name in ("revision", "conversation")}
    told["weights"] = Path(model["weights"]).name
    beside = Path(__file__).with_name("model.py").read_text()
    return {**told, "dtype": str(model["model"].dtype), "beside": hash_of(beside), "preparing": preparing.version()}


def hash_of(text):
    import hashlib

    return hashlib.sha256(text.encode()).hexdigest()[:16]


def answer(model, request):
    for question in request.questions:
        yield said(model, request, question)


def said(model, request, question):
    import numpy as np
    import torch
    from llava.constants import IMAGE_TOKEN_INDEX
    from llava.mm_utils import process_images, tokenizer_image_token

    name = preparing.only(preparing.shown(question))
    signal = request.media[name]
    image = drawn(signal, request.facts[name]["rate_hz"])
    network = model["model"]
    pixels = process_images([image], model["processor"], network.config)
    pixels = pixels if torch.is_tensor(pixels) else torch.stack(list(pixels))
    ids = tokenizer_image_token(prompt(model, question), model["tokenizer"], IMAGE_TOKEN_INDEX, return_tensors="pt")
    made = network.generate(
        inputs=ids[None].to(network.device),
        images=pixels.to(network.device, torch.float16),
        ecgs=torch.from_numpy(signal.copy())[None].to(network.device, torch.float16),
        do_sample=False,
        max_new_tokens=NEW_TOKENS,
        use_cache=True,
    )
    text = model["tokenizer"].batch_decode(made, skip_special_tokens=True)[0].strip()
    both = np.concatenate([pixels.float().cpu().numpy().ravel(), signal.ravel()])
    return question.answer(text=text, seen=[request.fed(name, both, indices=request.indices[name])])


def drawn(signal, rate_hz):
    """The picture as the project draws it."""
    import ecg_plot
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from PIL import Image

    ecg_plot.plot(signal, sample_rate=rate_hz, row_height=8)
    buffer = io.BytesIO()
    plt.gcf().savefig(buffer, format="png", bbox_inches="tight")
    plt.close("all")
    return Image.open(io.BytesIO(buffer.getvalue())).convert("RGB")
