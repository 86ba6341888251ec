"""Writes what a check leaves behind: requirements, a launch script for a queue, a README, and the record itself."""

from __future__ import annotations

import importlib.metadata
import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from overread.cards.environments import LOCK, Environment
from overread.cards.evidence import KINDS, SCHEMA, STATUS, Record, read_status
from overread.runs.parts import write_atomically
from overread.tables import content_id

LAUNCH = """#!/bin/bash
# Sits an exam with {model}; one task of the array asks one shard, all into the same run folder.
# sbatch --array=1-8 {file} BENCHMARK RUN [more options of overread run]
#SBATCH --job-name={model}
#SBATCH --cpus-per-task=4
#SBATCH --gres=gpu:1
#SBATCH --time=08:00:00
set -eu
benchmark=$1 run=$2
shift 2
export HF_HUB_OFFLINE=1 OMP_NUM_THREADS=1
shard=${{SLURM_ARRAY_TASK_ID:-1}}/${{SLURM_ARRAY_TASK_COUNT:-1}}
overread run "$benchmark" --model {quoted} --shard "$shard" --out "$run" "$@"
"""


def write_folder(out: Path, kind: str, record: dict[str, Any], environment: Environment | None) -> Record:
    """Writes the folder of a model and gives the record as it will be read; what another kind of data left stays."""
    out.mkdir(parents=True, exist_ok=True)
    lock = environment.lock if environment is not None else None
    requirements = lock.read_text(encoding="utf-8") if lock else _frozen()
    _write(out / LOCK, requirements)
    record = {**record, "requirements": content_id(requirements)}
    path = out / STATUS
    kept = json.loads(path.read_text(encoding="utf-8")) if path.is_file() and read_status(path) else {}
    document = {**{name: kept[name] for name in KINDS if name in kept}, kind: record, "schema": SCHEMA}
    _write(path, json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n")
    model = record["model"]
    text = str(record["command"][record["command"].index("check") + 1]) if "check" in record["command"] else model
    _write(out / "launch.sh", LAUNCH.format(model=model, file="launch.sh", quoted=shlex.quote(text)))
    made = read_status(path)
    _write(out / "README.md", _page(model, made))
    return made[kind]


def _write(path: Path, text: str) -> None:
    write_atomically(path, text.encode())


def _frozen() -> str:
    """What is installed beside overread, where a model runs in its environment."""
    pins = {f"{d.metadata['Name']}=={d.version}" for d in importlib.metadata.distributions() if d.metadata["Name"]}
    return "".join(f"{pin}\n" for pin in sorted(pins, key=str.lower))


def _page(model: str, made: Mapping[str, Record]) -> str:
    lines = [f"# {model}", ""]
    for kind in KINDS:
        record = made.get(kind)
        if record is None:
            lines += [f"- [ ] sanity exam on {_WORDS[kind]}: never sat"]
            continue
        box = " " if record.faults else "x"
        lines += [f"- [{box}] sanity exam on {_WORDS[kind]}: {record.when}, {record.where}"]
        lines += [f"    - {fault}" for fault in record.faults]
    for kind, record in made.items():
        told = record.told
        lines += ["", f"## On {_WORDS[kind]}", ""]
        lines += ["| medium | condition | asked | answered | refused | failed | different inputs | answers changed |"]
        lines += ["|---|---|---|---|---|---|---|---|"]
        for medium, conditions in record.media.items():
            for name, t in conditions.items():
                changed = told["changed"].get(medium, {}).get(name, "")
                counts = (t.asked, t.answered, t.refused, t.failed, t.inputs, changed)
                lines += [f"| {medium} | {name} | {' | '.join(map(str, counts))} |"]
        lines += ["", f"- command: `{shlex.join(told['command'])}`", f"- adapter: {told['adapter']}"]
        lines += [f"- overread {told['origin']['overread']}, commit {told['origin']['commit'] or 'not told'}"]
        lines += [f"- environment: {told['environment'] or 'overread’s own'}, lock {told['lock'] or 'none'}"]
        lines += [f"- seconds: {_pairs(record.seconds)}; most memory, GB: {_pairs(told['memory'])}"]
        lines += [f"- quirk: {quirk}" for quirk in told["quirks"]]
        lines += [f"- told: {reason}" for reason in (*told["reasons"], *told["notes"])]
    return "\n".join([*lines, "", FOOT])


FOOT = "Written by `overread models check`; `status.json` is the record, and the boxes follow from its counts.\n"
_WORDS = {"phantom": "phantoms", "real": "real data"}


def _pairs(numbers: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:g}" for name, value in numbers.items())
