"""OpenTSLM: twelve leads as time series with their mean and deviation in words, and a chain of thought.

Options: weights, revision, source (a checkout's src folder). The answer is what stands behind the last `Answer:`.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import preparing

KINDS = ["choice", "text", "number"]
FORMS = {"ecg": "signal"}
INPUT = {"form": "signal", "shape": "12 leads of 1000 samples"}
SAMPLES = 1000
NEW_TOKENS = 500
LEADS = ("I", "II", "III", "aVR", "aVL", "aVF", "V1", "V2", "V3", "V4", "V5", "V6")
BEFORE = (
    "You interpret electrocardiograms. Below are the twelve leads of one recording.\n\n"
    "{history}Question: {question}\n\n"
    "Reason step by step from what the leads show, in one paragraph, and do not name the answer before the end."
)
AFTER = "Now give the answer to the question above. End your reply with: Answer: <answer>"


def load(options):
    preparing.on_path(options.get("source", ""))
    from opentslm.model.llm.OpenTSLM import OpenTSLM

    weights = options["weights"]
    model = OpenTSLM.load_pretrained(weights, enable_lora="-sp" in weights, device=preparing.device())
    model.eval()
    return {"model": model, **options}


def identity(model):
    told = {"weights": Path(model["weights"]).name, "revision": model.get("revision", "")}
    return {**told, "new_tokens": NEW_TOKENS, "samples": SAMPLES, "words": [BEFORE, AFTER]}


def prepared(signal):
    """(12, 1000) with mean 0 and deviation 1 a lead, and what they were: every n-th sample, cut or padded with 0."""
    import numpy as np

    stride = max(1, signal.shape[1] // SAMPLES)
    leads = signal[:, ::stride][:, :SAMPLES].astype(np.float32)
    leads = np.pad(leads, ((0, 0), (0, SAMPLES - leads.shape[1])))
    mean, deviation = leads.mean(axis=1, keepdims=True), leads.std(axis=1, keepdims=True)
    scaled = (leads - mean) / np.where(deviation < 1e-6, 1, deviation)
    return scaled, mean[:, 0], deviation[:, 0]


def history(question):
    """What was said before, as context."""
    before = [m["text"] for m in question.messages[:-1] if m["role"] != "system"]
    return "Earlier in this examination:\n" + "\n".join(before) + "\n\n" if before else ""


def ending(text):
    """What stands behind the last `Answer:`, its first line, without one mark at its end; empty without one."""
    _, found, answer = text.rpartition("Answer:")
    line = answer.strip().split("\n")[0].strip() if found else ""
    return line[:-1].strip() if line[-1:] in (".", "!", "?") else line


def answer(model, request):
    from opentslm.prompt.full_prompt import FullPrompt
    from opentslm.prompt.text_prompt import TextPrompt
    from opentslm.prompt.text_time_series_prompt import TextTimeSeriesPrompt

    for question in request.questions:
        name = preparing.only(preparing.shown(question))
        leads, means, deviations = prepared(request.media[name])
        series = [
            TextTimeSeriesPrompt("Lead %s, mean %.4f, deviation %.4f:" % (lead, mean, deviation), values.tolist())
            for lead, values, mean, deviation in zip(LEADS, leads, means, deviations)
        ]
        before = BEFORE.format(history=history(question), question=question.text)
        whole = FullPrompt(TextPrompt(before), series, TextPrompt(AFTER))
        said = model["model"].eval_prompt(whole, max_new_tokens=NEW_TOKENS)
        seen = [request.fed(name, leads, indices=request.indices[name])]
        found = ending(said)
        if found:
            yield question.answer(text=found, seen=seen)
        else:
            yield question.answer(text=said, seen=seen)
