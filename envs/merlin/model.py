"""Merlin's report decoder: a report of one organ system.

It was trained on one prompt and reads no question. The organ system is the one whose name stands in the question; where
none does, the question fails. Construct it once where there is a network: it downloads into its own folders.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import preparing

KINDS = ["text"]
FORMS = {"volume": "tensor"}
INPUT = {
    "orientation": "RAS",
    "spacing_mm": "1.5 1.5 3",
    "window_hu": "-1000 1000",
    "shape": "1 1 224 224 160",
    "axes": "batch, channel, x, y, z",
}
SPACING_MM = (1.5, 1.5, 3.0)
WINDOW_HU = (-1000.0, 1000.0)
SHAPE = (224, 224, 160)
STOP = 48134
NEW_TOKENS = 128
ORGANS = (
    "lower thorax", "liver", "gallbladder", "spleen", "pancreas", "adrenal glands", "kidneys", "bowel", "peritoneum",
    "pelvic", "circulatory", "lymph nodes", "musculoskeletal",
)  # fmt: skip
PROMPT = "Generate a radiology report for {organ}###\n"  # the only one that it was trained on


def load(options):
    from merlin import Merlin

    return {"model": Merlin(RadiologyReport=True).to(preparing.device()).eval(), **options}


def identity(model):
    return {"weights": "merlin-vlm 0.0.7", "new_tokens": NEW_TOKENS, "preparing": preparing.version()}


def prepared(volume, spacing_mm):
    """(1, 1, 224, 224, 160), x first: resampled, windowed, cropped and padded around the centre."""
    array = preparing.spaced(volume, spacing_mm, SPACING_MM)
    return preparing.fitted(preparing.windowed(array, *WINDOW_HU), SHAPE, 0.0)[None, None]


def organ_of(text):
    """The organ system that a question is about; the one named last where there are several."""
    found = [(text.lower().rfind(organ), organ) for organ in ORGANS]
    place, organ = max(found)
    return organ if place >= 0 else ""


def answer(model, request):
    import torch
    from transformers import StoppingCriteria

    class Stop(StoppingCriteria):
        def __call__(self, ids, scores, **named):
            return bool((ids[:, -1] == STOP).all())

    for question in request.questions:
        name = preparing.only(preparing.shown(question))
        organ = organ_of(question.text)
        if not organ:
            yield question.answer(status="refused", reason="the question names no organ system that Merlin reports on")
            continue
        array = prepared(request.media[name], request.facts[name]["spacing_mm"])
        with torch.inference_mode(), torch.autocast(preparing.device(), torch.float16):
            said = model["model"].generate(
                torch.from_numpy(array).to(preparing.device()),
                [PROMPT.format(organ=organ)],
                do_sample=False,
                num_beams=1,
                repetition_penalty=1.2,
                max_new_tokens=NEW_TOKENS,
                stopping_criteria=[Stop()],
            )
        seen = [request.fed(name, array, indices=request.indices[name])]
        yield question.answer(text=said[0].split("###")[0].strip(), seen=seen)
