"""What a run is told, checked before anything is compiled or written: names, variants, options, numbers.

What only the exam or loaded weights can tell is left: whether a model takes the media, whether data are whole.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from overread.catalog import entries, load
from overread.engines.candidates import check_model
from overread.errors import BadInput, NotYet, unknown_name
from overread.exam.publishing import exam_of
from overread.judging import Panel
from overread.runs.folder import Run
from overread.settings import ASK, SCORE, Settings, bases_in, number_in, whole_in, yes_in

ENGINES = ("local", "slurm")
MOST_RESAMPLES = 50_000
"""More would fill the memory and say nothing more."""


def vetted(settings: Settings) -> Settings:
    """The settings, if a run can be made of them; a file of cases brings the folder that it lies in."""
    settings = settings.checked()
    check_engine(settings.engine)
    module = load("benchmarks", settings.benchmark)
    exam_of(settings, module)
    for name in module.METRICS:
        load("metrics", name)
    judges = Panel.of(settings.judges or module.JUDGES)
    for text in (*settings.models, *judges.models.values()):
        check_model(text)
    check_ask(settings)
    check_data(settings.data, module.ARCHIVES)
    there = [seat.model for seat in Run(settings.folder).seats()] if Run.exists(settings.folder) else []
    check_score(settings, [*settings.models, *there])
    return settings


def check_data(data: Mapping[str, str], archives: Collection[str]) -> None:
    """Refuses an alias that no archive has: data that nobody reads are a misspelt name."""
    known = {str(entry.constants.get("ALIAS", "")) for entry in entries("archives").values()}
    known |= {str(load("archives", name).ALIAS) for name in archives}
    for alias in data:
        if alias not in known:
            raise unknown_name("data alias", alias, known - {""}, where=f"--data {alias}=...")


def check_engine(engine: str) -> None:
    """Refuses an engine that is not there."""
    if engine not in ENGINES:
        raise unknown_name("engine", engine, ENGINES, where="--engine")
    if engine == "slurm":
        raise NotYet(
            "the engine slurm comes with the volumes", do="use --engine local and --shard i/n in your own jobs"
        )


def check_ask(settings: Settings) -> Mapping[str, str]:
    """The section `ask`, if its values can be used."""
    section = settings.section("ask", ASK)
    number_in(section, "seconds", "ask")
    if section["batch"]:
        whole_in(section, "batch", "ask")
    return section


def check_score(settings: Settings, models: Collection[str]) -> Mapping[str, str]:
    """The section `score`, if its values can be used on a run of these models."""
    section = settings.section("score", SCORE)
    if whole_in(section, "resamples", "score") > MOST_RESAMPLES:
        raise BadInput(
            f"score.resamples is at most {MOST_RESAMPLES:,}, not {section['resamples']}",
            where="--set score.resamples",
            do="1000 are enough for an interval, 10000 for a small p",
        )
    yes_in(section, "clean", "score")
    for pair in bases_in(section, "base", "score").items():
        for name in pair:
            if name not in models:
                raise unknown_name("model of the run", name, set(models), where="--set score.base")
    return section
