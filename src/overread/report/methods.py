"""Exactly what was run: settings, versions, models, and one command to do it again."""

from __future__ import annotations

import datetime
import shlex
from collections.abc import Iterator, Sequence
from typing import Any

from overread.catalog import describe
from overread.report.numbers import count
from overread.runs.folder import Run, read_json
from overread.tables import canonical

DIGITS = 12
"""Of a model's identity."""


def aliases_of(run: Run) -> list[str]:
    """The data aliases that the run's cases use."""
    media = run.table("cases")["media"].explode().drop_nulls()
    if not media.len():
        return []
    return sorted(media.struct.field("uri").str.split("://").list.first().unique().drop_nulls())


def repeat_command(run: Run, aliases: Sequence[str]) -> str:
    """The command that runs the same exam with the same models; data folders are to be filled in."""
    exam = run.exam
    name = describe("benchmarks", exam["benchmark"]).name
    conditions = ",".join(condition for condition in exam["conditions"] if condition != "plain")
    asked = "floors" if exam["blind"] == "a fifth" else conditions or "none"
    words = ["overread", "run", exam["benchmark"], "--protocol", exam["protocol"], "--conditions", asked]
    models = dict.fromkeys(str(seat["model"]) for worker in run.workers() for seat in worker.get("models", []))
    for model in models:
        words += ["--model", model]
    for alias in aliases:
        words += ["--data", f"{alias}=PATH"]
    for key, value in exam["options"].items():
        words += ["--set", f"{name}.{key}={value}"]
    words += ["--seed", str(exam["seed"]), "--seeds", str(exam["seeds"]), "--samples", str(exam["samples"])]
    if exam["limit"] is not None:
        words += ["--limit", str(exam["limit"])]
    return shlex.join(words)


def facts_of(run: Run, aliases: Sequence[str]) -> list[tuple[str, str]]:
    """What a reader needs in order to judge or repeat the run: name and value."""
    exam, counts = run.exam, run.manifest["counts"]
    entry = describe("benchmarks", exam["benchmark"])
    blind = f"{count(counts['blind_patients'])} patients ({exam['blind']} of the exam)"
    facts = [
        ("exam", f"{exam['benchmark']}, protocol {exam['protocol']}"),
        *((f"{name} of the exam", value) for name, value in entry.card.items()),
        ("fingerprint of the exam", run.fingerprint),
        ("conditions", ", ".join(exam["conditions"])),
        ("asked under the blind conditions", blind),
        ("originals without a swap partner", count(run.manifest.get("without_swap_partner", 0))),
        ("seeds", f"{exam['seeds']}, counted from {exam['seed']}; samples at each: {exam['samples']}"),
        ("limit", "none" if exam["limit"] is None else f"{exam['limit']} originals"),
        ("settings of the exam", ", ".join(f"{k} = {v}" for k, v in exam["options"].items()) or "none"),
        ("data", ", ".join(f"{alias}://" for alias in aliases) or "none"),
        ("compiled by", f"overread {run.manifest.get('overread', 'unknown')}"),
        ("command", shlex.join(run.manifest["command"]) or "given through the Python API"),
    ]
    facts += [("to be known", text) for text in run.manifest.get("remarks", ())]
    facts += [("left out, as it could not be read", text) for text in run.manifest.get("left_out", ())]
    return [*facts, *(("asked by", text) for text in dict.fromkeys(map(_worker, run.workers())))]


def _worker(worker: dict[str, Any]) -> str:
    day = datetime.datetime.fromtimestamp(float(worker.get("started", 0.0)), datetime.UTC).strftime("%Y-%m-%d")
    versions = [f"{name} {version}" for name, version in sorted(worker.get("versions", {}).items())]
    parts = [f"overread {worker.get('overread')}", f"Python {worker.get('python')}", *versions, worker.get("platform")]
    shard = worker.get("shard", [1, 1])
    if shard[1] > 1:
        parts.append(f"shard {shard[0]} of {shard[1]}")
    return f"{day}: {', '.join(str(part) for part in parts)}"


def identities(run: Run) -> Iterator[tuple[str, str, str]]:
    """Each model, the start of its identity, and what it is made of."""
    for seat in run.seats():
        yield seat.model, seat.identity[:DIGITS], canonical(seat.details)


def intervals(run: Run) -> str:
    """How the intervals were made."""
    path = run.folder / "scores" / "settings.json"
    resamples = read_json(path)["resamples"] if path.is_file() else "an unknown number of"
    return (
        f"Intervals are 95 % percentile intervals over resamples of whole patients ({resamples} resamples), so that "
        "what one patient's questions have in common does not pass for certainty. The best floor is found anew in "
        "every resample, and all scores of a run see the same resamples."
    )
