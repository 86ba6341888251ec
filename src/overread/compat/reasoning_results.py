"""Results of ECG-Reasoning-Benchmark as upstream keeps them: `<model>/<source>/<diagnosis>/<id>.json`.

Each file is a sample with `model_response` in every step that was asked. An empty file is a claim that a stopped run
has left behind.
"""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from overread.archives.reasoning_files import files_of, read_one, releases
from overread.archives.reasoning_samples import DECISION, GROUNDING, GROUNDINGS, MOST, Fault, Sample, Step
from overread.errors import BadInput
from overread.paths import is_file, is_folder

SETTINGS = "overread.json"
"""Written beside exported results: the settings of the exam that they answer."""
COMMIT_MODE = "forced-commit"
OF_RESULTS = ("model", "inference_mode", "parsing_error")
"""What results add to the metadata of a sample."""


Said = dict[str, Any]
"""What was said to a question, by the fields of `Reply`: text, or choice or option_scores; status and reason."""

_FIRST = ("id", "data_source", "ecg_id", "target_dx", "dx_label", "path_idx", "subject_id")
"""The order in which upstream writes the metadata of a sample."""
_FIELDS = ("choice", "option_scores", "status", "reason")


@dataclasses.dataclass(frozen=True, slots=True)
class Result:
    """What one model said to the questions of one sample."""

    model: str
    where: str
    mode: str
    """default, forced-commit, or a protocol of ours."""
    sample: Sample
    """Without what was said."""
    said: tuple[Said | None, ...]
    """To the questions in their order: first question and all steps; in forced-commit first question and decisions."""


@dataclasses.dataclass(slots=True)
class Results:
    """All results below a folder."""

    found: list[Result] = dataclasses.field(default_factory=list)
    faults: list[Fault] = dataclasses.field(default_factory=list)
    """What could not be read, by file; claims without a result are of the kind `empty_file`."""
    missing: Counter[str] = dataclasses.field(default_factory=Counter)
    """For each model how many questions of its files have no reply."""
    settings: dict[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def modes(self) -> dict[str, str]:
        """For each mode one file that is of it."""
        return {result.mode: result.where for result in reversed(self.found)}

    def check(self) -> tuple[str, dict[str, str]]:
        """The one mode of all results, and the release of each source; refused where they differ."""
        modes = self.modes
        if len(modes) > 1:
            told = "; ".join(f"{mode}: {where}" for mode, where in sorted(modes.items()))
            raise BadInput(
                f"the results are of different modes: {told}",
                where="results",
                do="read each mode into a run of its own",
            )
        return next(iter(modes)), releases([result.sample for result in self.found])


def read_results(path: Path) -> Results:
    """All results below a folder: one model's, or a folder with those of several."""
    if not is_folder(path):
        raise BadInput("there is no such folder", where=str(path), do="name a folder <model>/<source>/<diagnosis>/")
    results = Results(settings=_settings(path / SETTINGS))
    seen: dict[tuple[str, str], str] = {}
    whole: dict[str, tuple[Step, tuple[tuple[Step, ...], ...]]] = {}
    for file in _numbered(path):
        found = read_one(file)
        model = file.resolve().parts[-4] if len(file.resolve().parts) > 4 else "model"
        results.faults += [dataclasses.replace(fault, sample=f"{model}: {fault.sample}") for fault in found.faults]
        if found.sample is None:
            continue
        result = _result(model, found.where, found.sample)
        name = result.sample.name
        asked = (result.sample.first, result.sample.loops)
        if (model, name) in seen or whole.setdefault(name, asked) != asked:
            before = seen.get((model, name))
            what = f"the sample stands in {before} too" if before else "other results have other questions of this id"
            results.faults.append(Fault("duplicate_id", f"{model}: {name}", "", f"{what} ({found.where})", fatal=True))
            continue
        seen[model, name] = found.where
        results.found.append(result)
        results.missing[model] += result.said.count(None)
    if not results.found:
        why = f": {results.faults[0]}" if results.faults else ""
        raise BadInput(f"there are no results{why}", where=str(path), do="name <model>/<source>/<diagnosis>/<id>.json")
    return results


def _numbered(path: Path) -> Iterator[Path]:
    return (file for file in files_of(path) if file.suffix == ".json" and file.stem.isdecimal())


def _result(model: str, where: str, sample: Sample) -> Result:
    metadata = {key: value for key, value in sample.metadata.items() if key not in OF_RESULTS}
    mode = str(sample.metadata.get("inference_mode", "default"))
    steps = [step for _, step in sample.steps()]
    if mode == COMMIT_MODE:
        steps = [steps[0], *(step for step in steps[1:] if step.stage == DECISION)]
    silent = [tuple(dataclasses.replace(step, response=None, reply=None) for step in loop) for loop in sample.loops]
    bare = dataclasses.replace(sample, metadata=metadata, first=_without_note(sample.first), loops=tuple(silent))
    forced = 2 if mode == COMMIT_MODE else MOST
    return Result(model, where, mode, bare, tuple(_said(step, min(forced, len(step.offered))) for step in steps))


def _said(step: Step, options: int) -> Said | None:
    """The reply to a question; what overread wrote of it beside its text is checked before it is believed."""
    kept = {name: value for name, value in (step.reply or {}).items() if name in _FIELDS}
    choice, scores = kept.get("choice"), kept.get("option_scores")
    places = range(options)
    if isinstance(choice, list) and all(type(place) is int and place in places for place in choice):
        return {"choice": tuple(choice)}
    numbers = isinstance(scores, list) and all(isinstance(score, int | float) for score in scores)
    if numbers and len(scores or ()) == len(places):
        return {"option_scores": tuple(float(score) for score in scores or ())}
    if kept.get("status") == "refused":
        return {"status": "refused", "reason": str(kept.get("reason", ""))[:500]}
    return None if step.response is None else {"text": step.response}


def _without_note(first: Step) -> Step:
    """The first question without the note on the grid that models which see a picture were given."""
    question, mark, _ = first.question.partition("?")
    return dataclasses.replace(first, question=question + mark, response=None, reply=None)


def _settings(file: Path) -> dict[str, Any]:
    if not is_file(file):
        return {}
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput(
            f"the settings of the results cannot be read: {error}", where=str(file), do="remove it"
        ) from error
    return found if isinstance(found, dict) else {}


def as_sample(facts: dict[str, Any], said: Mapping[int, Mapping[str, Any]], **metadata: Any) -> dict[str, Any]:
    """A case's facts as upstream writes a sample; `said` is what replies add, by question (0: the first)."""
    numbers = iter(range(1 + sum(map(len, facts["loops"]))))
    told = {**facts["metadata"], "id": facts["sample"], "data_source": facts["source"]}
    first = {name: told.pop(name) for name in _FIRST if name in told}
    return {
        "metadata": {**first, **told, **metadata},
        "data": {
            facts["first"]["stage"]: _written(facts["first"], said.get(next(numbers))),
            "reasoning": [_loop(loop, [said.get(next(numbers)) for _ in loop]) for loop in facts["loops"]],
        },
    }


def _loop(steps: list[dict[str, Any]], said: list[Mapping[str, Any] | None]) -> dict[str, Any]:
    """The steps of a loop by their keys, in their order; grounding, which may be empty, before the decision."""
    loop: dict[str, Any] = {}
    for step, reply in zip(steps, said, strict=True):
        if step["stage"] == DECISION:
            loop.setdefault(GROUNDING, [])
        written = _written(step, reply)
        if step["stage"] in GROUNDINGS:
            loop.setdefault(GROUNDING, []).append(written)
        else:
            loop[step["stage"]] = written
    return loop


def _written(step: dict[str, Any], said: Mapping[str, Any] | None) -> dict[str, Any]:
    """A question as upstream writes it: grounding answers are lists, the others are not."""
    indices = [step["options"].index(text) for text in step["answer"]]
    listed = step["stage"] in GROUNDINGS
    written = {
        "question": step["question"],
        "options": step["options"],
        "answer": step["answer"] if listed else step["answer"][0],
        "answer_idx": indices if listed else indices[0],
        "question_type": step["stage"],
    }
    if step["stage"] == "initial_diagnostic_question":
        del written["answer_idx"]
    return {**written, **(said or {})}
