"""`--dry-run`: one whole prompt with its media, and what the run would cost; nothing is asked and nothing is kept."""

from __future__ import annotations

import dataclasses
import tempfile
from typing import Any

import polars as pl

from overread.catalog import describe, load
from overread.engines.candidates import parse_model
from overread.engines.loads import load_of
from overread.engines.posing import Poser, Wanted
from overread.pipeline import compile_exam
from overread.report.texts import clean, json_text
from overread.runs.folder import EXAM_TABLES, Run
from overread.settings import Settings
from overread.vetting import vetted

CHARACTERS_A_TOKEN = 4
"""A rough rule for Latin text."""
LONGEST = 1_000_000
"""Characters shown of a prompt."""


def dry_run(settings: Settings, *, json_: bool = False) -> str:
    """The text that `overread run --dry-run` prints."""
    with tempfile.TemporaryDirectory() as folder:
        made = compile_exam(dataclasses.replace(vetted(settings), out=f"{folder}/run"))
        document = {"prompt": _prompt(made), "cost": _cost(made, settings), "exam": made.exam}
    return json_text(document) if json_ else clean(_text(document), LONGEST)


def _prompt(made: Run) -> list[dict[str, Any]]:
    """The prompt of the last question of the first dialogue; a reply that is not there yet stands as its place."""
    tables = {table: made.part(table, 0) for table in EXAM_TABLES}
    dialogue = tables["dialogues"]["id"][0]
    asked = tables["questions"].filter(pl.col("dialogue") == dialogue)
    parents = {parent for parents in asked["parents"] for parent in parents}
    said = {(parent, "", 0, 0): "<the model's own reply>" for parent in parents}
    wanted = Wanted(dialogue, 0, 0, (asked["id"][-1],))
    posed = Poser.of_part(tables, [wanted]).pose(wanted, said, "", lambda media: _never())
    messages = posed.prompt(posed.questions[-1])
    return [
        {"role": m.role, "media": [dataclasses.asdict(medium) for medium in m.media], "text": m.text} for m in messages
    ]


def _never() -> Any:
    raise AssertionError("a dry run looks at nothing")


def _cost(made: Run, settings: Settings) -> dict[str, Any]:
    """Questions, media and text of each model, sent one question at a time."""
    repeats = settings.seeds * settings.samples
    questions = characters = media = 0
    for index in range(len(made.parts)):
        dialogues = made.part("dialogues", index, ["id", "cost", "media"])
        asked = made.part("questions", index, ["dialogue", "asked"])
        joined = asked.join(dialogues.rename({"id": "dialogue"}), on="dialogue")
        questions += asked.height
        characters += int(joined["asked"].str.len_chars().sum())
        media += int(joined["media"].list.len().sum())
    forms = {text: describe("models", parse_model(text)[0]).constants.get("FORMS") for text in settings.models}
    once_loaded = [text for text in settings.models if parse_model(text)[1].name == "foreign"]
    blind = [text for text, taken in forms.items() if taken == {} and text not in once_loaded]
    return {
        "questions a model": questions * repeats,
        "media sent a model, one question at a time": media * repeats,
        "tokens of the questions alone, about": characters * repeats // CHARACTERS_A_TOKEN,
        "models that are asked everything": [text for text in forms if text not in (*blind, *once_loaded)],
        "models that never look, asked under plain alone": blind,
        "models that say only once they are loaded whether they look": once_loaded,
        **_estimates(made, settings),
    }


def _estimates(made: Run, settings: Settings) -> dict[str, Any]:
    """What each model that can tell will cost, each question sent with all that precedes it."""
    found: dict[str, Any] = {}
    for text in settings.models:
        wanted, setting = parse_model(text)
        if "estimate" in describe("models", wanted).functions:
            told = load("models", wanted).estimate(setting, load_of(made, settings.seeds * settings.samples))
            found[f"estimate of {text}"] = [f"{name}: {value}" for name, value in told.items()]
    return found


def _text(document: dict[str, Any]) -> str:
    lines = []
    for message in document["prompt"]:
        lines.append(f"--- {message['role']}")
        for medium in message["media"]:
            positions = f", {len(medium['select'])} positions" if medium["select"] else ""
            lines.append(f"[{medium['kind']} {medium['name']}: {medium['uri']}{positions}]")
        lines.append(message["text"])
    lines.append("--- cost")
    lines.extend(
        f"{name}: {', '.join(v) or 'none' if isinstance(v, list) else v}" for name, v in document["cost"].items()
    )
    return "\n".join(lines)
