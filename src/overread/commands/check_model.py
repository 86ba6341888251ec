"""`overread models check`: builds, stages, loads, sits a sanity exam, and writes down what came of it."""

from __future__ import annotations

import dataclasses
import datetime
import json
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from overread.builders import phantoms
from overread.cards import evidence, inspecting
from overread.cards.card import Card
from overread.cards.environments import Environment, build, read_environment
from overread.cards.finding import find_card
from overread.cards.places import cache
from overread.cards.staging import stage
from overread.cards.writing import write_folder
from overread.catalog import load
from overread.engines.candidates import Candidate, check_model, parse_model, seat_candidate
from overread.engines.origin import origin
from overread.errors import BadInput
from overread.models.contract import ExamTables
from overread.runs.folder import safe_name
from overread.settings import Settings

PATIENTS = 24
REAL_ITEMS = 10


@dataclasses.dataclass(frozen=True, slots=True)
class Wish:
    """What is to be checked, and on what."""

    text: str
    """NAME, NAME:variant, NAME[key=value], or the path of a card."""
    weights: str = ""
    """A folder that has them."""
    on: str = ""
    """A benchmark on real data; empty: phantoms."""
    data: Mapping[str, str] = dataclasses.field(default_factory=dict)
    out: Path | None = None
    command: Sequence[str] = ()


def check(wish: Wish) -> tuple[evidence.Record, Path]:
    """The record of the check and the folder that it was written to; an error where the model cannot even be loaded."""
    seconds: dict[str, float] = {}
    named, bracket, rest = wish.text.partition("[")
    found = find_card(named)
    card = found[0].varied(found[1]) if found else None
    environment = read_environment(card.environment) if card is not None and card.environment else None
    text = wish.text
    given = _given(f"{bracket}{rest}")
    if wish.weights:
        _check_weights(wish, card, given)
    if card is not None:
        text = _prepare(card, environment, wish, given, seconds)
    check_model(text)
    started = time.monotonic()
    candidate = seat_candidate(text, _no_exam, ())
    seconds["load"] = time.monotonic() - started
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="overread-check-") as folder:
        settings = _settings(wish, text, candidate, card, Path(folder) / "run")
        sitting = inspecting.sit(settings, candidate)
    seconds["exam"] = time.monotonic() - started
    record = _document(wish, card, environment, candidate, sitting, given)
    record["seconds"] = {name: round(value, 2) for name, value in seconds.items()}
    out = (wish.out or cache() / "envs") / _name(named)
    made = write_folder(out, "real" if wish.on else "phantom", record, environment)
    return made, out


def _check_weights(wish: Wish, card: Card | None, given: Mapping[str, str]) -> None:
    """Refuses --weights that are not there, or that nobody would read; before an environment is built for them."""
    if not Path(wish.weights).expanduser().is_dir():
        raise BadInput("there is no such folder of weights", where=wish.weights, do="give --weights FOLDER")
    options = card.options if card is not None else {}
    if not any("{weights}" in value for key, value in options.items() if key not in given):
        what = f"{wish.text} is not told of weights by --weights"
        raise BadInput(what, where=wish.weights, do="leave it out, or name the folder in brackets: NAME[path=FOLDER]")


def _given(options: str) -> dict[str, str]:
    """The options that stand in brackets."""
    return dict(parse_model(f"chance{options}")[1].options) if options else {}


def _prepare(
    card: Card, environment: Environment | None, wish: Wish, given: Mapping[str, str], seconds: dict[str, float]
) -> str:
    """Builds the environment and stages the weights where the card's options ask for them; gives the model's name."""
    if not card.adapter:
        check_model(wish.text)
    asked = {key: value for key, value in card.options.items() if key not in given}
    text = wish.text
    if environment is not None and any("{python}" in value for value in asked.values()):
        started = time.monotonic()
        build(environment)
        seconds["environment"] = time.monotonic() - started
    weights = [key for key, value in asked.items() if "{weights}" in value]
    if weights and wish.weights:
        pairs = ",".join(f"{key}={Path(wish.weights).expanduser().absolute()}" for key in weights)
        text = f"{text[:-1]},{pairs}]" if text.endswith("]") else f"{text}[{pairs}]"
    elif weights:
        started = time.monotonic()
        stage(card)
        seconds["weights"] = time.monotonic() - started
    return text


def _settings(wish: Wish, text: str, candidate: Candidate, card: Card | None, run: Path) -> Settings:
    if wish.on:
        if tuple(load("benchmarks", wish.on).ARCHIVES) == ("phantoms",):
            raise BadInput("this exam is on phantoms, not on real data", where="--on", do="leave --on out")
        return Settings(wish.on, (text,), wish.data, conditions="blank,swap", limit=REAL_ITEMS, out=str(run))
    made = phantoms.build(cache() / "phantoms" / f"{phantoms.EDITION}-{PATIENTS}", patients=PATIENTS)
    media = card.media if card is not None else ()
    return inspecting.exam_on_phantoms(text, candidate, media, made, run)


def _no_exam() -> ExamTables:
    raise BadInput("this model reads the key, so it cannot be checked", do="check a model that does not")


def _document(
    wish: Wish,
    card: Card | None,
    environment: Environment | None,
    candidate: Candidate,
    sitting: inspecting.Found,
    given: Mapping[str, str],
) -> dict[str, Any]:
    adapter, setting = parse_model(wish.text if card is None else card.adapter)
    options = dict(setting.options) if card is None else {**card.options, **given}
    return {
        "model": _name(wish.text.partition("[")[0]),
        "command": list(wish.command),
        "configuration": evidence.configuration_of(adapter, options),
        "adapter": adapter,
        "options": options,
        "identity": candidate.seat.details,
        "provenance": dict(candidate.provenance),
        "origin": origin(),
        "environment": environment.name if environment else "",
        "lock": environment.lock_hash if environment and "python" not in given else "",
        "quirks": list(card.quirks) if card else [],
        "when": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "where": _device(),
        "memory": _memory(),
        "data": wish.on or f"phantoms, edition {phantoms.EDITION}",
        **inspecting.plain(sitting),
    }


def _name(text: str) -> str:
    """The name of a model as that of a folder; a card by path goes by its file's name."""
    return safe_name(Path(text).stem if "/" in text else text)


def _device() -> str:
    """The accelerators of this machine, or its processor; no names of hosts."""
    smi = shutil.which("nvidia-smi")
    if smi is not None:
        query = [smi, "--query-gpu=name", "--format=csv,noheader"]
        done = subprocess.run(query, capture_output=True, text=True, check=False, timeout=30)
        names = [line.strip() for line in done.stdout.splitlines() if line.strip()]
        if done.returncode == 0 and names:
            return f"{len(names)} x {names[0]}"
    return f"CPU, {platform.system()} {platform.machine()}"


def _memory() -> dict[str, float]:
    """The most memory held, in GB: by this process, by the workers it has ended, and on an accelerator where known."""
    unit = 1 if sys.platform == "darwin" else 1024
    found = {
        "process": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e9,
        "workers": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * unit / 1e9,
    }
    library: Any = sys.modules.get("torch")
    if library is not None and library.cuda.is_available():
        found["accelerator"] = library.cuda.max_memory_allocated() / 1e9
    return {name: round(value, 3) for name, value in found.items()}


def told(record: evidence.Record) -> str:
    """What a person wants to know of a check, as JSON would say it in words."""
    lines = []
    for medium, conditions in record.media.items():
        for condition, tally in conditions.items():
            counts = json.dumps(dataclasses.asdict(tally)).strip("{}").replace('"', "")
            lines.append(f"{medium}, {condition}: {counts}")
    lines.extend(f"fault: {fault}" for fault in record.faults)
    lines.append("passed" if not record.faults else "not passed")
    return "\n".join(lines)
