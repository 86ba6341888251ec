"""Making runs: demo, list, run, judge, score."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from overread import catalog, pipeline
from overread.cli.root import PARTIAL, as_json, data_option, main, print_json
from overread.commands import demo
from overread.commands.agreement import agreement
from overread.commands.agreement import as_table as agreement_table
from overread.commands.dry_run import dry_run
from overread.commands.terminal import error_console, listing_table, progress_bar, show_table, table_width
from overread.errors import BadInput
from overread.report.headline import headline_tables
from overread.report.table import headline_rows
from overread.report.texts import clean
from overread.runs.folder import Run
from overread.settings import Settings, parse_pairs, parse_shard, read_run_file

allow_remote_option = click.option(
    "--allow-remote",
    multiple=True,
    metavar="ARCHIVE",
    help="Your agreement on these data allows sending them to the models' servers.",
)


@main.command("demo")
@click.option("--out", default="runs/demo", show_default=True, metavar="DIR", help="Where the runs and the page go.")
@as_json
def demo_command(out: str, json_: bool) -> None:
    """Everything once, on made-up patients, with the built-in solvers."""
    with progress_bar() as progress:
        runs, page = demo.run(Path(out), progress)
    _headlines(runs, json_)
    click.echo(f"The report lies in {page}", err=True)


@main.command("list")
@click.argument("what", type=click.Choice(catalog.KINDS), required=False)
@as_json
def list_command(what: str | None, json_: bool) -> None:
    """List benchmarks, models, judges, metrics, archives and builders."""
    kinds = [what] if what else list(catalog.KINDS)
    found = {
        kind: [
            {"name": e.name, "title": e.title, "variants": list(e.variants), **e.card}
            for e in catalog.entries(kind).values()
        ]
        for kind in kinds
    }
    if json_:
        print_json(found)
        return
    for kind, entries in found.items():
        show_table(listing_table(kind, entries))


@main.command("run")
@click.argument("benchmark", required=False)
@click.option("--file", "run_file", metavar="TOML", help="A run file; options given beside it come first.")
@click.option("--model", "models", multiple=True, metavar="MODEL", help="NAME, NAME:variant or NAME[key=value,...].")
@data_option
@click.option("--protocol", help="How the exam is sat; the benchmark's first if not given.")
@click.option("--conditions", help="floors (default), full, none, or a list with commas.")
@click.option(
    "--set", "sets", multiple=True, metavar="K=V", help="BENCHMARK.key=value, ask.key=value, score.key=value."
)
@click.option("--judge", "judges", multiple=True, metavar="JUDGE", help="Instead of the benchmark's judges.")
@allow_remote_option
@click.option("--seed", type=int, help="The first seed; everything drawn comes from it.")
@click.option("--seeds", type=int, help="Seeds a question is asked at, counted up from the first.")
@click.option("--samples", type=int, help="Samples a question is asked for at each seed.")
@click.option("--limit", type=int, help="So many originals, drawn by the seed.")
@click.option("--engine", help="Where the asking happens: local.")
@click.option("--shard", metavar="I/N", help="Ask only the i-th of n parts of equal cost.")
@click.option("--out", metavar="RUN", help="The run folder; runs/BENCHMARK if not given.")
@click.option("--dry-run", "dry", is_flag=True, help="Print one whole prompt with its media and the cost; ask nothing.")
@as_json
def run_command(benchmark: str | None, run_file: str | None, dry: bool, json_: bool, **given: Any) -> None:
    """Sit an exam: compile, ask, judge, score, report. The same command again goes on where it stopped.

    BENCHMARK is a name, NAME:variant, the path of a .py file, or a file of your own cases (cases.jsonl).
    """
    settings = _settings(benchmark, run_file, given)
    if dry:
        click.echo(dry_run(settings, json_=json_))
        return
    if not settings.models:
        raise BadInput("no model was named", where="--model", do="name at least one, such as --model chance")
    with progress_bar() as progress:
        made, notes = pipeline.run(settings, progress, lambda text: click.echo(f"note: {clean(text)}", err=True))
    for note in notes:
        click.echo(f"note: {clean(note)}", err=True)
    _headlines([made], json_)
    click.echo(f"The report lies in {made.folder / 'report.html'}", err=True)
    _end(made)


def _settings(benchmark: str | None, run_file: str | None, given: dict[str, Any]) -> Settings:
    values: dict[str, Any] = read_run_file(Path(run_file)) if run_file else {}
    named = {"benchmark": benchmark, **given}
    for key in ("data", "sets"):
        pairs = parse_pairs(named.pop(key), f"--{key.rstrip('s')}")
        name = "set" if key == "sets" else key
        values[name] = {**values.get(name, {}), **pairs}
    shard = named.pop("shard")
    if shard is not None:
        values["shard"] = parse_shard(shard)
    values.update({key: value for key, value in named.items() if value not in (None, ())})
    if not values.get("benchmark"):
        raise BadInput(
            "no benchmark was named", do="overread run BENCHMARK --model MODEL (see overread list benchmarks)"
        )
    return Settings(**values, command=("overread", *sys.argv[1:]))


@main.command("judge")
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--judge", "judges", multiple=True, metavar="JUDGE", help="Instead of the benchmark's judges.")
@click.option("--set", "sets", multiple=True, metavar="K=V", help="ask.seconds, ask.batch, ask.rulings.")
@allow_remote_option
@as_json
def judge_command(
    run: Path, judges: tuple[str, ...], sets: tuple[str, ...], allow_remote: tuple[str, ...], json_: bool
) -> None:
    """Judge the replies of a run (again), and say how far its judges agree. A judge may be a model: NAME[MODEL]."""
    made = Run(run)
    command = ("overread", *sys.argv[1:])
    given = parse_pairs(sets, "--set")
    settings = Settings(made.exam["benchmark"], set=given, allow_remote=allow_remote, command=command)
    label = pipeline.judge(made, judges, settings, lambda text: click.echo(f"note: {clean(text)}", err=True))
    rows = agreement(made)
    if json_:
        print_json(rows)
    elif rows:
        show_table(agreement_table(rows))
    click.echo(f"The verdicts lie in {made.folder / 'verdicts' / label}; `overread score {run}` counts them", err=True)


@main.command("score")
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--set", "sets", multiple=True, metavar="K=V", help="score.resamples, score.clean, score.base.")
@as_json
def score_command(run: Path, sets: tuple[str, ...], json_: bool) -> None:
    """Score the verdicts of a run (again)."""
    made = Run(run)
    settings = Settings(made.exam["benchmark"], set=parse_pairs(sets, "--set")).checked()
    scores = pipeline.score(made, settings)
    if json_:
        print_json(scores.to_dicts())
    else:
        _headlines([made], json_)
    _end(made)


def _headlines(runs: list[Run], json_: bool) -> None:
    if json_:
        print_json([row for run in runs for row in headline_rows(run)])
        return
    for run in runs:
        for place, table in enumerate(headline_tables(run, table_width())):
            if place:
                click.echo()
            show_table(table)


def _end(made: Run) -> None:
    """Ends with the code for partial results where replies are missing."""
    scores = made.table("scores")
    if made.manifest.get("left_out") or (scores.height and float(str(scores["coverage"].min())) < 1.0):
        error_console().print(
            "Some questions have no reply, or some originals could not be read: the scores are partial."
        )
        sys.exit(PARTIAL)
