"""Results of ECG-Reasoning-Benchmark -> a run: its questions compiled, its replies with receipts of level `none`."""

from __future__ import annotations

import dataclasses
import platform
import secrets
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from overread import pipeline
from overread.archives.ecg_reasoning import case_of
from overread.archives.reasoning_releases import RELEASES, again
from overread.archives.reasoning_samples import Sample
from overread.catalog import load
from overread.compat.reasoning_results import COMMIT_MODE, Result, Results, read_results
from overread.engines.origin import origin
from overread.errors import BadInput, BadRun, unknown_name
from overread.exam.publishing import publish
from overread.metrics.floors import FLOOR_MODELS, NO_HEADLINE, family
from overread.runs.folder import Run, Seat, write_json
from overread.runs.replies import ReplyWriter
from overread.runs.standing import shown_text
from overread.settings import Settings
from overread.tables import SCHEMA_VERSION, Case, Receipt, Reply, canonical, content_id

BENCHMARK = "ecg_reasoning"
LAST = RELEASES[-1]


@dataclasses.dataclass(frozen=True, slots=True)
class Brought:
    """An import: the run, and what whoever asked for it should know."""

    run: Run
    document: dict[str, Any]

    @property
    def partial(self) -> bool:
        """Whether anything is missing or could not be read."""
        return bool(self.document["missing"] or self.document["faults"])


def import_results(path: Path, out: str, settings: Mapping[str, str], code: str = "") -> Brought:
    """Reads results below a path into a new run, judges and scores them.

    `settings` are those of the benchmark (`ecg_reasoning.history`, ...); `code` is the release of the upstream code
    that made the results, which no file tells.
    """
    if code and code not in RELEASES:
        raise unknown_name("release", code, RELEASES, where="--code")
    results = read_results(path)
    mode, told = results.check()
    chosen = {**_settings_of(results), **settings}
    given = chosen.get(f"{BENCHMARK}.release", "")
    told = {source: release or given for source, release in told.items()}
    asked = Settings(BENCHMARK, (), {}, mode, "none", chosen, out=out, command=("overread", "import")).checked()
    if Run.exists(asked.folder):
        raise BadRun("there is a run already", where=str(asked.folder), do="choose another folder with --out")
    cases = _cases(results.found, told)
    left_out = [str(fault) for fault in results.faults if fault.fatal]
    made = publish(asked, load("benchmarks", BENCHMARK), list(cases.values()), left_out)
    _write(made, results.found, cases)
    pipeline.judge(made)
    pipeline.score(made, asked)
    pipeline.report(made)
    return Brought(made, _document(results, told, mode, code))


def _settings_of(results: Results) -> dict[str, str]:
    """The settings that exported results have beside them, as `--set` takes them."""
    options = results.settings.get("options", {})
    if not isinstance(options, dict):
        return {}
    kept = {key: str(value) for key, value in options.items() if value}
    if kept.get("media") == "phantoms":
        kept["media"] = "archive"  # each sample tells which made-up ECG stood in for its own
    return {f"{BENCHMARK}.{key}": value for key, value in kept.items()}


def _cases(found: Iterable[Result], told: Mapping[str, str]) -> dict[str, Case]:
    """One case a sample, whichever models answered it."""
    samples: dict[str, Sample] = {}
    first_missing: set[str] = set()
    for result in found:
        samples.setdefault(result.sample.name, result.sample)
        if result.said[0] is None and any(said is not None for said in result.said):
            first_missing.add(result.sample.name)
    return {
        name: case_of(sample, told[sample.source], **({"first_is_missing": True} if name in first_missing else {}))
        for name, sample in samples.items()
    }


def _write(made: Run, found: Sequence[Result], cases: Mapping[str, Case]) -> None:
    """The replies of all results, under one seat a model."""
    by_case: dict[str, list[Result]] = {}
    for result in found:
        by_case.setdefault(cases[result.sample.name].id, []).append(result)
    worker = f"import-{platform.node() or 'host'}-{secrets.token_hex(3)}"
    seats = {model: _seat(model) for model in dict.fromkeys(result.model for result in found)}
    document = {"schema": SCHEMA_VERSION, "worker": worker, "engine": "import", "started": time.time(), **origin()}
    models = [dataclasses.asdict(seat) for seat in seats.values()]
    write_json(made.folder / "workers" / f"{worker}.json", {**document, "shard": [1, 1], "models": models})
    with ReplyWriter(made.folder, worker) as writer:
        for index in range(len(made.parts)):
            dialogues = made.part("dialogues", index, ["id", "case", "media"]).rename({"id": "dialogue"})
            asked = made.part("questions", index).join(dialogues, on="dialogue", maintain_order="left").sort("place")
            for (case,), questions in asked.group_by("case", maintain_order=True):
                rows = questions.to_dicts()
                receipts = [_receipt(medium["uri"]) for medium in rows[0]["media"]]
                for result in by_case[str(case)]:
                    writer.add(_replies(rows, result, seats[result.model], writer, receipts), receipts)


def _seat(model: str) -> Seat:
    """A model of the results; one that is called like a floor is none here, as it was not fitted on this exam."""
    details = {"name": model, "imported": BENCHMARK}
    name = f"imported-{model}" if family(model) in (*FLOOR_MODELS, *NO_HEADLINE) else model
    return Seat(name, content_id(canonical(details)), looks=True, samples=False, details=details)


def _receipt(uri: str) -> Receipt:
    return Receipt(content_id("none", uri), "none", uri, form="")


def _replies(
    questions: Sequence[Mapping[str, Any]], result: Result, seat: Seat, writer: ReplyWriter, receipts: Sequence[Receipt]
) -> list[Reply]:
    if len(questions) != len(result.said):
        raise BadInput(
            f"{len(result.said)} replies to {len(questions)} questions", where=result.where, do="check the file"
        )
    said: dict[str, str] = {}
    replies = []
    for question, reply in zip(questions, result.said, strict=True):
        parents = [said.get(parent) for parent in question["parents"]]
        heard = [parent for parent in parents if parent is not None]
        if reply is None or len(heard) < len(parents):
            continue
        said[question["id"]] = shown_text({"text": None, "choice": None, "number": None, **reply}, question["options"])
        replies.append(
            Reply(
                id=writer.new_id(),
                question=question["id"],
                place=question["place"],
                model=seat.model,
                identity=seat.identity,
                seed=0,
                sample=0,
                prompt=content_id(question["prompt"], *heard) if heard else question["prompt"],
                receipts=tuple(receipt.id for receipt in receipts),
                at=time.time(),
                provenance=writer.worker,
                **{"status": "answered", **reply},
            )
        )
    return replies


def _document(results: Results, told: Mapping[str, str], mode: str, code: str) -> dict[str, Any]:
    faults = [{"kind": f.kind, "sample": f.sample, "what": f.what} for f in results.faults if f.fatal]
    return {
        "mode": mode,
        "releases": dict(told),
        "code": code,
        "models": sorted({result.model for result in results.found}),
        "results": len(results.found),
        "replies": sum(len(result.said) - result.said.count(None) for result in results.found),
        "missing": {model: count for model, count in sorted(results.missing.items()) if count},
        "claims": [fault["sample"] for fault in faults if fault["kind"] == "empty_file"],
        "faults": faults,
        "again": list(_again(results.found, told, mode, code)),
    }


def _again(found: Sequence[Result], told: Mapping[str, str], mode: str, code: str) -> Iterable[dict[str, Any]]:
    """Which results are to be made again to stand beside those of the last release."""
    for result in found:
        sample = result.sample
        how, why = again(sample.source, sample.diagnosis, sample.number) if told[sample.source] != LAST else ("", "")
        if code == RELEASES[0] and mode != COMMIT_MODE:
            how, why = "must", "the code of 0.0.1 put the key of the first question into the history"
        if how and (told[sample.source] or code):
            place = {"source": sample.source, "diagnosis": sample.diagnosis, "id": sample.number}
            yield {"model": result.model, **place, "how": how, "why": why}
