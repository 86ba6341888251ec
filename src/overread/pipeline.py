"""The flow of a run, top to bottom: compile, ask, judge, score, report.

    archive --> cases --compile--> dialogues + key --ask--> replies --judge--> verdicts --score--> scores --> page

Each stage reads what the one before wrote into the run folder, part by part, and can be run again on its own.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import polars as pl

from overread.catalog import load
from overread.engines import local
from overread.engines.candidates import Candidate, remote_of, seat_candidate
from overread.errors import BadRun
from overread.exam.publishing import check_same_data, exam_of, publish
from overread.judging import Panel, brought, judge_run, judges_of, panel_of, panels, split_judge
from overread.marking import marks_of
from overread.metrics.clean import DECIDING, Evidence
from overread.metrics.tally import Tally
from overread.models.contract import ExamTables
from overread.report.page import write_page
from overread.roots import Roots
from overread.ruling import Rulings
from overread.runs.folder import EXAM_TABLES, Run, part_name, write_json
from overread.runs.parts import write_part
from overread.runs.replies import being_asked, finished
from overread.settings import Settings, bases_in, number_in, whole_in, yes_in
from overread.tables import SCHEMA_VERSION, Case, Clean, schema
from overread.terms import allowed_here, check_terms
from overread.vetting import check_ask, check_engine, check_score, vetted

Progress = Callable[[str, int, int], None]
Tell = Callable[[str], None]


def run(
    settings: Settings, progress: Progress = lambda what, done, whole: None, tell: Tell = lambda text: None
) -> tuple[Run, list[str]]:
    """Everything: an exam compiled, sat, judged, scored and reported. Returns the run and what the user should know."""
    settings = vetted(settings)
    made = compile_exam(settings)
    check_kinds(made, settings.judges)
    check_judges(made, settings.judges, settings)
    notes = [*told_of(made), *ask(made, with_floors(made, settings), progress, tell)]
    return made, notes + conclude(made, settings)


def conclude(made: Run, settings: Settings) -> list[str]:
    """Replies -> verdicts, scores and page; again where another process finished asking meanwhile.

    Each process on a run does so after its last reply, and one that had looked before must not have the last word.
    Where somebody still asks, he will be the one.
    """
    while True:
        before, notes = finished(made.folder), list[str]()
        judge(made, settings.judges, settings, notes.append)
        score(made, settings)
        report(made)
        if being_asked(made.folder) or finished(made.folder) == before:
            return notes


def with_floors(made: Run, settings: Settings) -> Settings:
    """The settings with chance and the priors among the models, which cost nothing; not under `--conditions none`."""
    if settings.conditions == "none":
        return settings
    chained = any(
        questions["dialogue"].is_duplicated().any()
        for index in range(len(made.parts))
        for questions in [made.part("questions", index, ["dialogue"])]
    )
    floors = ("chance", "prior", *(("prior:chain",) if chained else ()))
    return dataclasses.replace(settings, models=(*settings.models, *floors))


def compile_exam(settings: Settings) -> Run:
    """Cases -> dialogues and key in the run folder; a run that is there already is gone on with, on the same data."""
    module = load("benchmarks", settings.benchmark)
    if not Run.exists(settings.folder):
        archives = _archives(module, exam_of(settings, module)[1]["options"])
        left_out = list(_left_out(settings, archives))
        return publish(settings, module, list(read_cases(settings, archives)), left_out)
    there = Run(settings.folder)
    there.check_same_exam(exam_of(settings, module)[1])
    archives = _archives(module, there.exam["options"])
    if _has_data(settings, archives):
        check_same_data(there, list(read_cases(settings, archives)))
    return there


def told_of(made: Run) -> Iterator[str]:
    """What whoever reads the scores of a run has to know of its exam, a sentence each."""
    yield from made.manifest.get("remarks", ())
    left_out = made.manifest.get("left_out", ())
    if left_out:
        more = f"; and {len(left_out) - 3} more, see run.json" if len(left_out) > 3 else ""
        yield f"{len(left_out)} originals could not be read and are left out: {'; '.join(left_out[:3])}{more}"


def _archives(module: ModuleType, options: Mapping[str, str]) -> Sequence[str]:
    """The archives whose cases a benchmark needs under some options."""
    found: Sequence[str] = module.archives(options) if hasattr(module, "archives") else module.ARCHIVES
    return found


def _left_out(settings: Settings, archives: Sequence[str]) -> Iterator[str]:
    """What of some archives makes no case."""
    roots = find_roots(settings.data)
    for archive in (load("archives", name) for name in archives):
        if hasattr(archive, "left_out"):
            yield from archive.left_out(roots.root(archive.ALIAS))


def _has_data(settings: Settings, archives: Sequence[str]) -> bool:
    """Whether this machine knows where the data lie; judging and models that never look do without them."""
    known = find_roots(settings.data).names()
    return all(load("archives", name).ALIAS in known for name in archives)


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

    shown = {medium["kind"] for index in range(len(made.parts)) for medium in _media(made, index)}
    return [seat_candidate(text, lambda: exam_tables(made), shown) for text in dict.fromkeys(settings.models)]


def exam_tables(made: Run) -> ExamTables:
    """The exam with its key, not read yet."""
    paths = ([made.part_path(table, index) for index in range(len(made.parts))] for table in EXAM_TABLES)
    return ExamTables(*(pl.scan_parquet(some, glob=False) for some in paths))


def _media(made: Run, index: int) -> list[dict[str, Any]]:
    media = made.part("dialogues", index, ["media"])["media"].explode().drop_nulls()
    return media.struct.field("kind").unique().to_frame().to_dicts() if media.len() else []


def _aliases(made: Run) -> list[str]:
    """Where the media of an exam lie."""
    found: set[str] = set()
    for index in range(len(made.parts)):
        media = made.part("dialogues", index, ["media"])["media"].explode().drop_nulls()
        if media.len():
            found.update(media.struct.field("uri").str.split("://").list.first().unique())
    return sorted(found)


def ask(
    made: Run,
    settings: Settings,
    progress: Progress = lambda what, done, whole: None,
    tell: Tell = lambda text: None,
) -> list[str]:
    """Dialogues -> replies, by every model of the settings; returns what the user should know."""
    check_engine(settings.engine)
    section = check_ask(settings)
    allowed = allowed_here(settings.allow_remote, Path.cwd())
    check_terms(made, _remote(settings.models), allowed)
    candidates = seat(made, settings)
    roots = find_roots(settings.data)
    if any(candidate.seat.looks for candidate in candidates):
        for alias in _aliases(made):
            roots.root(alias)  # an alias that is not set is told before anything is asked
    asking = local.Asking(
        roots=roots,
        seed=settings.seed,
        seeds=settings.seeds,
        samples=settings.samples,
        shard=settings.shard,
        seconds=number_in(section, "seconds", "ask"),
        batch=whole_in(section, "batch", "ask") if section["batch"] else 0,
        command=settings.command,
        progress=progress,
        tell=tell,
        allowed=allowed,
    )
    return local.ask(made, candidates, asking)


def _remote(models: Sequence[str]) -> dict[str, str]:
    """Those of some models that are on another machine, with its host."""
    hosts = {text: remote_of(text) for text in models}
    return {text: host for text, host in hosts.items() if host}


def check_kinds(made: Run, judges: Sequence[str] = ()) -> None:
    """Refuses judges that cannot judge all questions of the exam, before any is asked."""
    panel = Panel.of(judges or load("benchmarks", made.exam["benchmark"]).JUDGES)
    for index in range(len(made.parts)):
        for kind in made.part("questions", index, ["kind"])["kind"].unique().sort():
            panel.judge_of(kind)


def check_judges(made: Run, judges: Sequence[str], settings: Settings) -> None:
    """Refuses judges that would send what is not open to another machine, before anything is asked."""
    named = [*(judges or load("benchmarks", made.exam["benchmark"]).JUDGES), *_judged_by(made)]
    models = [model for name in named if (model := split_judge(name)[1])]
    check_terms(made, _remote(models), allowed_here(settings.allow_remote, Path.cwd()))


def _judged_by(made: Run) -> list[str]:
    return [name for folder in panels(made) for name in judges_of(made, folder)]


def judge(
    made: Run,
    judges: Sequence[str] = (),
    settings: Settings | None = None,
    tell: Tell = lambda text: None,
) -> str:
    """Replies -> verdicts, by the judges named or those of the benchmark; returns the folder of the panel.

    Panels that judged before judge again, so that all verdicts of a run are on the same replies. `settings` say how the
    models of judges are asked, where there are any.
    """
    settings = settings or Settings(made.exam["benchmark"])
    check_judges(made, judges, settings)
    section = check_ask(settings)
    asking = local.Asking(
        roots=Roots({}),
        seconds=number_in(section, "seconds", "ask"),
        command=settings.command,
        tell=tell,
        allowed=allowed_here(settings.allow_remote, Path.cwd()),
    )
    rulings = Rulings(made, asking, Path(section["rulings"]).absolute() if section["rulings"] else None)
    panel = Panel.of(judges or load("benchmarks", made.exam["benchmark"]).JUDGES)
    others = [other for other in panels(made) if other != panel.folder and not brought(made, other)]
    for one in (panel, *(panel_of(made, other) for other in others)):  # replies may have come since
        without = judge_run(made, one, rulings.of)
        if without:
            tell(f"{one.label}: {without} replies have no verdict, because the judge's model did not rule on them")
    for note in rulings.notes:
        tell(note)
    return panel.folder


def score(made: Run, settings: Settings) -> pl.DataFrame:
    """Verdicts -> scores, and which questions are clean, under every panel of judges that the run has."""
    module = load("benchmarks", made.exam["benchmark"])
    section = check_score(settings, [seat.model for seat in made.seats()])
    found = [_scored(made, module, section, panel) for panel in panels(made)]
    if not found:
        raise BadRun(
            "nothing of this run has been judged yet", where=str(made.folder), do=f"overread judge {made.folder}"
        )
    scores = pl.concat([scored for scored, _ in found])
    write_part(made.folder / Clean.TABLE / part_name(0), pl.concat([clean for _, clean in found]))
    write_part(made.folder / "scores" / part_name(0), scores)
    write_json(made.folder / "scores" / "settings.json", {"schema": SCHEMA_VERSION, **section})
    return scores


def _scored(made: Run, module: ModuleType, section: Mapping[str, str], panel: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The scores under one panel, and which questions it finds clean (none where that was not wanted)."""
    evidence = _evidence(made, panel) if yes_in(section, "clean", "score") else None
    tally = Tally(
        {name: load("metrics", name) for name in module.METRICS},
        benchmark=made.exam["benchmark"],
        seed=made.exam["seed"],
        resamples=whole_in(section, "resamples", "score"),
        base=bases_in(section, "base", "score"),
        clean=evidence,
    )
    decided = [pl.DataFrame(schema=schema(Clean))]
    for marks in marks_of(made, panel):
        tally.add(marks)
        if evidence is not None:
            decided.append(_clean(made, panel, evidence.decide(marks)))
    return tally.scores(), pl.concat(decided)


def _evidence(made: Run, panel: str) -> Evidence:
    """What blind candidates show on all questions, which has to be known before any question is clean."""
    evidence = Evidence()
    if any(seat.looks for seat in made.seats()) and set(DECIDING) & set(made.exam["conditions"]):
        for marks in marks_of(made, panel):
            evidence.add(marks)
    return evidence


def _clean(made: Run, panel: str, decided: pl.DataFrame) -> pl.DataFrame:
    about = {"benchmark": made.exam["benchmark"], "protocol": made.exam["protocol"], "judge": panel}
    return decided.with_columns(**{name: pl.lit(v) for name, v in about.items()}).select(
        [pl.col(name).cast(kind) for name, kind in schema(Clean).items()]
    )


def report(made: Run) -> Path:
    """Scores -> one page that needs no network."""
    return write_page([made], made.folder / "report.html")
