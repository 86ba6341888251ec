"""The flow of a run, top to bottom: compile, ask, judge, score, report.

    archive --> cases --compile--> dialogues + key --ask--> replies --judge--> verdicts --score--> scores --> page

Each stage reads what the one before wrote into the run folder, part by part, and can be run again on its own.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import polars as pl

from overread.catalog import describe, load, split_variant
from overread.engines import local
from overread.engines.candidates import Candidate, seat_candidate
from overread.errors import BadInput, NotYet, unknown_name
from overread.exam.compiling import Exam, compile_parts
from overread.exam.framing import load_framings
from overread.exam.script import Options, Script
from overread.exam.survey import survey
from overread.judging import Panel, judge_run, panels
from overread.marking import marks_of
from overread.media.conditions import parse_conditions
from overread.metrics.tally import Tally
from overread.models.contract import ExamTables
from overread.report.page import write_page
from overread.roots import Roots
from overread.runs.folder import EXAM_TABLES, Run, part_name, write_exam_part, write_json
from overread.runs.parts import write_part
from overread.settings import ASK, SCORE, Settings, number_in
from overread.tables import SCHEMA_VERSION, Case, Dialogue, Key, Question, content_id, to_frame

PART_SIZE = 16_384
"""Questions a part: what is held in memory at once."""

Progress = Callable[[str, int, int], None]


def run(settings: Settings, progress: Progress = lambda what, done, whole: None) -> tuple[Run, list[str]]:
    """Everything: an exam compiled, sat, judged, scored and reported. Returns the run and what the user should know."""
    made = compile_exam(settings.checked())
    notes = ask(made, settings, progress)
    judge(made, settings.judges)
    score(made, settings)
    report(made)
    return made, notes


def compile_exam(settings: Settings) -> Run:
    """Cases -> dialogues and key in the run folder; a run that is there already is gone on with."""
    module = load("benchmarks", settings.benchmark)
    exam, wanted = _wanted(settings, module)
    if Run.exists(settings.folder):
        there = Run(settings.folder)
        there.check_same_exam(wanted)
        return there
    cases = list(read_cases(settings, module.ARCHIVES))
    options = Options(exam.protocol, split_variant(settings.benchmark)[1], wanted["options"])

    def scripts() -> Iterator[Script]:
        return iter(module.exam(cases, settings.seed, options))

    everyone = settings.conditions != "floors"
    found = survey(scripts(), settings.seed, settings.limit, everyone=everyone, swap="swap" in exam.conditions)
    if not found.questions:
        raise BadInput(
            f"the benchmark {settings.benchmark} finds nothing to ask in {len(cases)} cases",
            where=", ".join(module.ARCHIVES),
            do="check the data with `overread data check ALIAS`",
        )
    parts: list[tuple[int, int]] = []
    used: set[str] = set()
    digest = hashlib.blake2b(digest_size=12)
    for index, part in enumerate(compile_parts(exam, scripts(), found, PART_SIZE)):
        frames = {
            "dialogues": to_frame(part.dialogues, Dialogue),
            "questions": to_frame(part.questions, Question),
            "key": to_frame(part.key, Key),
        }
        write_exam_part(settings.folder, index, frames)
        parts.append((part.start, part.stop))
        used.update(dialogue.case for dialogue in part.dialogues)
        digest.update("".join(question.prompt for question in part.questions).encode())
    kept = to_frame((case for case in cases if case.id in used), Case)
    write_part(settings.folder / "cases" / part_name(0), kept)
    counts = {"cases": len(used), "items": found.items, "questions": parts[-1][1], "blind_patients": len(found.blind)}
    manifest = {
        "exam": wanted,
        "parts": parts,
        "counts": counts,
        "without_swap_partner": found.unpaired,
        "fingerprint": digest.hexdigest(),
        "data": _fingerprints(kept),
        "command": list(settings.command),
    }
    return Run.publish(settings.folder, manifest)


def _fingerprints(cases: pl.DataFrame) -> dict[str, str]:
    """For each archive a hash of the cases that were used, with all their facts."""
    by_archive = cases.sort("id").group_by("archive", maintain_order=True)
    return {str(archive): content_id(some.write_ndjson()) for (archive,), some in by_archive}


def _wanted(settings: Settings, module: ModuleType) -> tuple[Exam, dict[str, Any]]:
    """The exam as the settings mean it, and what tells it from others."""
    entry = describe("benchmarks", settings.benchmark)
    protocol = settings.protocol or module.PROTOCOLS[0]
    if protocol not in module.PROTOCOLS:
        raise unknown_name(f"protocol of {entry.name}", protocol, module.PROTOCOLS, where="--protocol")
    conditions = parse_conditions(settings.conditions, module.PROBES)
    options = settings.section(entry.name, getattr(module, "OPTIONS", {}))
    exam = Exam(settings.benchmark, protocol, conditions, settings.seed, load_framings())
    wanted = {
        "benchmark": settings.benchmark,
        "protocol": protocol,
        "conditions": list(conditions),
        "blind": "a fifth" if settings.conditions == "floors" else "all",
        "options": options,
        "seed": settings.seed,
        "seeds": settings.seeds,
        "samples": settings.samples,
        "limit": settings.limit,
    }
    return exam, wanted


def find_roots(data: Mapping[str, str]) -> Roots:
    """Where the data aliases lie: as given, from the environment, or from overread.toml in the current folder."""
    return Roots.find(data, Path.cwd(), os.environ)


def read_cases(settings: Settings, archives: Sequence[str]) -> Iterator[Case]:
    """The cases of some archives, in their order."""
    roots = find_roots(settings.data)
    for name in archives:
        archive = load("archives", name)
        yield from archive.cases(roots.root(archive.ALIAS))


def seat(made: Run, settings: Settings) -> list[Candidate]:
    """The models of the settings, loaded; `prior` and `oracle` are given the key."""

    def exam() -> ExamTables:
        return ExamTables(*(pl.scan_parquet(made.folder / table / "*.parquet", glob=True) for table in EXAM_TABLES))

    shown = {medium["kind"] for index in range(len(made.parts)) for medium in _media(made, index)}
    return [seat_candidate(text, exam, shown) for text in dict.fromkeys(settings.models)]


def _media(made: Run, index: int) -> list[dict[str, Any]]:
    media = made.part("dialogues", index, ["media"])["media"].explode().drop_nulls()
    return media.struct.field("kind").unique().to_frame().to_dicts() if media.len() else []


def ask(made: Run, settings: Settings, progress: Progress = lambda what, done, whole: None) -> list[str]:
    """Dialogues -> replies, by every model of the settings; returns what the user should know."""
    if settings.engine != "local":
        if settings.engine == "slurm":
            raise NotYet(
                "the engine slurm comes with the volumes", do="use --engine local and --shard i/n in your own jobs"
            )
        raise unknown_name("engine", settings.engine, ("local", "slurm"), where="--engine")
    section = settings.section("ask", ASK)
    asking = local.Asking(
        roots=find_roots(settings.data),
        seed=settings.seed,
        seeds=settings.seeds,
        samples=settings.samples,
        shard=settings.shard,
        seconds=number_in(section, "seconds", "ask"),
        batch=int(number_in(section, "batch", "ask")) if section["batch"] else 0,
        command=settings.command,
        progress=progress,
    )
    return local.ask(made, seat(made, settings), asking)


def judge(made: Run, judges: Sequence[str] = ()) -> str:
    """Replies -> verdicts, by the judges named or those of the benchmark; returns the label of the panel."""
    module = load("benchmarks", made.exam["benchmark"])
    panel = Panel.of(judges or module.JUDGES)
    judge_run(made, panel)
    return panel.folder


def score(made: Run, settings: Settings) -> pl.DataFrame:
    """Verdicts -> scores, under every panel of judges that the run has."""
    module = load("benchmarks", made.exam["benchmark"])
    section = settings.section("score", SCORE)
    found = [_scored(made, module, section, panel) for panel in panels(made)]
    scores = pl.concat(found)
    write_part(made.folder / "scores" / part_name(0), scores)
    write_json(made.folder / "scores" / "settings.json", {"schema": SCHEMA_VERSION, **section})
    return scores


def _scored(made: Run, module: ModuleType, section: Mapping[str, str], panel: str) -> pl.DataFrame:
    tally = Tally(
        {name: load("metrics", name) for name in module.METRICS},
        benchmark=made.exam["benchmark"],
        seed=made.exam["seed"],
        resamples=int(number_in(section, "resamples", "score")),
        base=dict(pair.split("=", 1) for pair in section["base"].split(";") if "=" in pair),
        clean=section["clean"] == "yes",
    )
    for marks in marks_of(made, panel):
        tally.add(marks)
    return tally.scores()


def report(made: Run) -> Path:
    """Scores -> one page that needs no network."""
    return write_page([made], made.folder / "report.html")
