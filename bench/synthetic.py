"""Writes a run folder of any size, part by part, as asking two models would have left it.

Dialogues of ten choice questions, twenty dialogues a patient; one model that chose, and one that gave probabilities,
as `prior` does.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from overread.runs.folder import Run, write_exam_part, write_json
from overread.runs.parts import write_part
from overread.tables import SCHEMA_VERSION, Dialogue, Key, Question, Reply, schema

QUESTIONS_A_DIALOGUE = 10
DIALOGUES_A_PATIENT = 20
PART = 16_380
REPLIES_A_FILE = 50_000
OPTIONS = [f"finding {number}" for number in range(5)]
MODELS = {"chooser": "1" * 24, "prior": "2" * 24}


def write_run(folder: Path, questions: int, benchmark: str) -> Run:
    """A run that was asked and not judged yet."""
    draw = np.random.default_rng(0)
    parts = [(start, min(start + PART, questions)) for start in range(0, questions, PART)]
    waiting: dict[str, pl.DataFrame] = {}
    files = dict.fromkeys(MODELS, 0)
    for index, (start, stop) in enumerate(parts):
        right = draw.integers(0, len(OPTIONS), stop - start)
        write_exam_part(folder, index, _exam_part(start, stop, right, benchmark))
        for model in MODELS:
            fresh = _replies(model, start, stop, right, draw)
            waiting[model] = pl.concat([waiting[model], fresh]) if model in waiting else fresh
            while waiting[model].height >= REPLIES_A_FILE or (stop == questions and waiting[model].height):
                name = f"{model}-{files[model]:05d}.parquet"
                write_part(folder / "replies" / name, waiting[model].head(REPLIES_A_FILE))
                waiting[model] = waiting[model].slice(REPLIES_A_FILE)
                files[model] += 1
    seats = [
        {"model": name, "identity": identity, "looks": name == "chooser", "samples": False, "details": {"name": name}}
        for name, identity in MODELS.items()
    ]
    worker = {"schema": SCHEMA_VERSION, "worker": "synthetic", "started": 0.0, "models": seats}
    write_json(folder / "workers" / "synthetic.json", worker)
    exam = {"benchmark": benchmark, "protocol": "chain", "conditions": ["plain"], "blind": "all", "options": {}}
    exam |= {"seed": 0, "seeds": 1, "samples": 1, "limit": None}
    return Run.publish(folder, {"exam": exam, "parts": parts, "counts": {}, "fingerprint": "synthetic"})


def _ids(start: int, stop: int) -> list[str]:
    ten = QUESTIONS_A_DIALOGUE
    return [f"{place // ten:024x}-{place % ten}" for place in range(start, stop)]


def _framed(columns: dict[str, object], row: type, height: int) -> pl.DataFrame:
    """Columns or single values in the order and the types of a table; what is not given is null."""
    made = {}
    for name, kind in schema(row).items():
        value = columns.get(name)
        if isinstance(value, pl.Series):
            made[name] = value.cast(kind)
        elif isinstance(value, list) and len(value) == height and kind != pl.List:
            made[name] = pl.Series(name, value, dtype=kind)
        else:
            made[name] = pl.Series(name, [value], dtype=kind).new_from_index(0, height)
    return pl.DataFrame(made)


def _exam_part(start: int, stop: int, right: np.ndarray, benchmark: str) -> dict[str, pl.DataFrame]:
    count, ten = stop - start, QUESTIONS_A_DIALOGUE
    first, last = start // ten, (stop + ten - 1) // ten
    ids = _ids(start, stop)
    names = [f"{n:024x}" for n in range(first, last)]
    patients = [f"records/p{n // DIALOGUES_A_PATIENT}" for n in range(first, last)]
    dialogues = {
        "id": names, "benchmark": benchmark, "protocol": "chain", "case": names, "patient": patients, "item": names,
        "condition": "plain", "terms": "open", "media": [], "turns": [],
        "place": [n * ten for n in range(first, last)], "cost": 1,
    }  # fmt: skip
    questions = {
        "id": ids, "dialogue": [one[:24] for one in ids], "place": list(range(start, stop)),
        "item": [one.replace("-", "/") for one in ids],
        "template": [f"step{place % ten}" for place in range(start, stop)],
        "kind": "choice", "asked": "How would you describe what the record shows at this step?",
        "shown": "How would you describe what the record shows at this step?", "shows": "key", "prompt": ids,
        "options": OPTIONS, "many": False, "whole": False, "unit": "", "wave": 0, "parents": [],
    }  # fmt: skip
    answers = pl.Series("answer", OPTIONS).gather(right).reshape((count, 1)).arr.to_list()
    key = {
        "question": ids, "place": list(range(start, stop)), "answer": answers, "stage": "", "scored": True,
        "slices": pl.Series([[f"third={n}"] for n in range(3)]).gather(np.arange(start, stop) % 3),
    }  # fmt: skip
    return {
        "dialogues": _framed(dialogues, Dialogue, last - first),
        "questions": _framed(questions, Question, count),
        "key": _framed(key, Key, count),
    }


def _replies(model: str, start: int, stop: int, right: np.ndarray, draw: np.random.Generator) -> pl.DataFrame:
    count, ids = stop - start, _ids(start, stop)
    columns = {
        "id": [f"{MODELS[model][0]}{place:023x}" for place in range(start, stop)], "question": ids,
        "place": list(range(start, stop)), "model": model, "identity": MODELS[model], "seed": 0, "sample": 0,
        "prompt": ids, "status": "answered", "reason": "", "receipts": [], "usage": "{}", "seconds": 0.1, "at": 1.0,
        "provenance": "synthetic",
    }  # fmt: skip
    if model == "chooser":
        said = np.where(draw.random(count) < 0.6, right, draw.integers(0, len(OPTIONS), count))
        columns["choice"] = pl.Series(said).reshape((count, 1)).arr.to_list()
    else:
        scores = draw.dirichlet(np.ones(len(OPTIONS)), count)
        columns["option_scores"] = pl.Series(scores).arr.to_list()
    return _framed(columns, Reply, count)
