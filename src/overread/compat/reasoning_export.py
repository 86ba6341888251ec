"""A run of `ecg_reasoning` -> results and tables as upstream keeps them.

<model>/<source>/<diagnosis>/<id>.json      replies to the plain questions, at the first seed and sample
evaluation/<judges>/<source>/<name>.csv     total and each diagnosis, columns of the release of the samples
overread.json                               the settings of the exam, by which the results can be imported again
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from overread.archives.reasoning_releases import RELEASES
from overread.archives.reasoning_samples import REPLY
from overread.catalog import is_path, split_variant
from overread.compat.reasoning_csv import Tables, forced_tables, tables, write_tables
from overread.compat.reasoning_results import COMMIT_MODE, SETTINGS, as_sample
from overread.errors import BadInput
from overread.judging import panels
from overread.marking import marks_of
from overread.runs.folder import Run, Seat, safe_name
from overread.runs.parts import write_atomically
from overread.runs.replies import ReplyReader
from overread.runs.standing import shown_text, standing
from overread.version import __version__

BENCHMARK = "ecg_reasoning"
EVALUATION = "evaluation"


def export_results(run: Run, out: Path) -> Iterator[Path]:
    """Writes results, tables and settings; yields the paths as they are written."""
    if split_variant(run.exam["benchmark"])[0] != BENCHMARK:
        raise BadInput(f"the run is of {run.exam['benchmark']}, and this form holds {BENCHMARK}", where=str(run.folder))
    folders = _folders(run)
    if not folders:
        raise BadInput("no model of the run has said anything", where=str(run.folder), do="ask one that answers")
    for index in range(len(run.parts)):
        yield from _part(run, index, folders, out)
    for panel in panels(run):
        yield from write_tables(_tables(run, panel, folders), out / EVALUATION / panel)
    settings = {"overread": __version__, "protocol": run.exam["protocol"], "options": run.exam["options"]}
    write_atomically(out / SETTINGS, (json.dumps(settings, indent=4) + "\n").encode())
    yield out / SETTINGS


def _folders(run: Run) -> dict[str, str]:
    """For each model that has said anything in words the name of its folder."""
    reader = ReplyReader(run.folder)
    reader.refresh()
    speaking: set[str] = set()
    for start, stop in run.parts:
        replies = reader.between(start, stop, ["id", "identity", "text", "choice"])
        speaking.update(replies.filter(pl.col("text").is_not_null() | pl.col("choice").is_not_null())["identity"])
    names = {seat.model: folder_of(seat.model) for seat in run.seats() if seat.identity in speaking}
    taken = list(names.values())
    return {
        seat.model: names[seat.model]
        if taken.count(names[seat.model]) == 1
        else f"{names[seat.model]}-{seat.identity[:6]}"
        for seat in run.seats()
        if seat.model in names
    }


def folder_of(model: str) -> str:
    """A model's name for a folder; of one that is a file, the file's."""
    file = model.partition("[")[0]
    return safe_name(Path(file).stem if is_path(file) else model)


def _tables(run: Run, panel: str, folders: Mapping[str, str]) -> Tables:
    def parts() -> Iterator[pl.DataFrame]:
        for marks in marks_of(run, panel):
            mine = marks.filter(pl.col("model").is_in(list(folders)))
            yield mine.with_columns(pl.col("model").replace_strict(folders, return_dtype=pl.String))

    if run.exam["protocol"] == COMMIT_MODE:
        return forced_tables(parts())
    told = set(run.table("dialogues")["item"].str.split("/").list.first())
    return tables(parts(), RELEASES[0] if told == {RELEASES[0]} else RELEASES[-1])


def _part(run: Run, index: int, folders: Mapping[str, str], out: Path) -> Iterator[Path]:
    """The results of one part, which holds whole samples."""
    start, stop = run.parts[index]
    reader = ReplyReader(run.folder)
    reader.refresh()
    counted = standing(run.part("questions", index), reader.between(start, stop)).replies
    dialogues = run.part("dialogues", index, ["id", "case", "condition", "media"]).rename({"id": "dialogue"})
    stages = run.part("key", index, ["place", "stage"])
    questions = run.part("questions", index, ["id", "dialogue", "place", "options"]).join(stages, on="place")
    plain = questions.join(dialogues.filter(pl.col("condition") == "plain"), on="dialogue").sort("place")
    replies = _said(counted, plain, run)
    cases = {
        case["id"]: case
        for case in run.table("cases").filter(pl.col("id").is_in(plain["case"].unique().implode())).to_dicts()
    }
    for (case_id,), asked in plain.group_by("case", maintain_order=True):
        facts = json.loads(cases[str(case_id)]["facts"])
        numbers = _numbers(asked["stage"].to_list(), facts)
        uri = next((medium["uri"] for medium in asked["media"][0]), "")
        for seat in run.seats():
            found = ((numbers[n], replies.get((id_, seat.identity))) for n, id_ in enumerate(asked["id"]))
            mine = {number: said for number, said in found if said is not None}
            if mine and seat.model in folders:
                path = out / folders[seat.model] / facts["source"] / facts["diagnosis"] / f"{facts['sample']}.json"
                sample = as_sample(facts, mine, **_metadata(run, seat, folders, uri, cases[str(case_id)]))
                if run.exam["protocol"] == COMMIT_MODE:
                    _restrict(sample)
                write_atomically(path, json.dumps(sample, indent=4).encode())
                yield path


def _said(counted: pl.DataFrame, plain: pl.DataFrame, run: Run) -> dict[tuple[str, str], dict[str, Any]]:
    """For question and identity what is written of the reply; a failed one is none."""
    first = counted.filter(
        (pl.col("status") != "failed") & (pl.col("seed") == run.exam["seed"]) & (pl.col("sample") == 0)
    )
    rows = first.join(plain.select("options", question="id"), on="question")
    return {(row["question"], row["identity"]): _written(row) for row in rows.iter_rows(named=True)}


def _written(row: Mapping[str, Any]) -> dict[str, Any]:
    """A reply as it stands in a step: in words, and what words cannot hold beside them."""
    if row["status"] == "refused":
        return {REPLY: {"status": "refused", "reason": row["reason"]}}
    if row["text"] is not None:
        return {"model_response": row["text"]}
    if row["choice"] is not None:
        return {"model_response": shown_text(row, row["options"]), REPLY: {"choice": row["choice"]}}
    return {REPLY: {"option_scores": row["option_scores"]}}


def _numbers(stages: list[str], facts: Mapping[str, Any]) -> list[int]:
    """For each question that was asked its number among all questions of the sample."""
    if "forced_commit" not in stages:
        return list(range(len(stages)))
    ends, at = [0], 0
    for loop in facts["loops"]:
        at += len(loop)
        ends.append(at)
    return ends


def _metadata(run: Run, seat: Seat, folders: Mapping[str, str], uri: str, case: Mapping[str, Any]) -> dict[str, Any]:
    """What results add to the metadata of a sample."""
    own = next((medium["uri"] for medium in case["media"]), "")
    protocol = run.exam["protocol"]
    return {
        "model": folders[seat.model],
        **({} if protocol == "default" else {"inference_mode": protocol}),
        **({"record": uri} if uri not in ("", own) else {}),
    }


def _restrict(sample: dict[str, Any]) -> None:
    """Says of forced decisions which options were offered."""
    for loop in sample["data"]["reasoning"]:
        decision = loop["diagnostic_decision"]
        if "model_response" in decision:
            decision["options_restricted"] = ["Yes", "No"]
