"""The command line: reads options, calls `overread.pipeline`, prints. Data goes to stdout, everything else to stderr.

Exit codes: 0 all done, 2 wrong input (said without a traceback), 3 partial: some questions have no reply.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from overread import catalog, pipeline
from overread.archives import checking
from overread.commands import demo
from overread.commands.audit import audit as audit_exam
from overread.commands.compare import compare_runs, comparison_table
from overread.commands.dry_run import dry_run
from overread.commands.export import FORMATS, export_run
from overread.commands.terminal import error_console, listing_table, progress_bar, show_table
from overread.errors import BadInput, NotYet, OverreadError
from overread.report.page import write_page
from overread.report.table import headline_rows, headline_table
from overread.runs.folder import Run
from overread.settings import Settings, parse_pairs, parse_shard, read_run_file
from overread.version import __version__

PARTIAL = 3
as_json = click.option("--json", "json_", is_flag=True, help="Print JSON to stdout instead of a table.")
data_option = click.option(
    "--data", multiple=True, metavar="ALIAS=PATH", help="Where the data of an alias lies on this machine."
)


class Overread(click.Group):
    """A group whose errors are told, not thrown."""

    def invoke(self, ctx: click.Context) -> Any:
        """Runs a command; an error meant for the user is printed without a traceback and ends with code 2."""
        try:
            return super().invoke(ctx)
        except OverreadError as error:
            click.echo(f"overread: {error}", err=True)
            ctx.exit(2)
        except KeyboardInterrupt:
            click.echo("overread: stopped; what was asked is kept, the same command goes on from there", err=True)
            ctx.exit(130)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order of the flow."""
        return list(self.commands)


@click.group(cls=Overread, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="overread")
def main() -> None:
    """Examine medical vision-language models, and show whether they looked."""


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
        _json(found)
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
        made, notes = pipeline.run(settings, progress)
    for note in notes:
        click.echo(f"note: {note}", err=True)
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
def judge_command(run: Path, judges: tuple[str, ...]) -> None:
    """Judge the replies of a run (again), beside the verdicts that it has."""
    made = Run(run)
    label = pipeline.judge(made, judges)
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
        _json(scores.to_dicts())
    else:
        show_table(headline_table(made))
    _end(made)


@main.command("report")
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--out", metavar="DIR", type=click.Path(path_type=Path), help="A folder for the page; else in the run.")
def report_command(runs: tuple[Path, ...], out: Path | None) -> None:
    """Write one page about one or several runs."""
    page = write_page([Run(run) for run in runs], (out or runs[0]) / "report.html")
    click.echo(f"The report lies in {page}", err=True)


@main.command("view")
@click.argument("runs", nargs=-1)
def view_command(runs: tuple[str, ...]) -> None:
    """See runs in the browser, case by case."""
    raise NotYet("the viewer is not in this version", do="`overread report RUN` writes a page that any browser opens")


@main.command("plot")
@click.argument("figure")
@click.argument("runs", nargs=-1)
def plot_command(figure: str, runs: tuple[str, ...]) -> None:
    """Draw a figure of a published kind from runs."""
    raise NotYet(f"the figure {figure!r} is not in this version", do="overread report RUN writes a page with figures")


@main.command("compare")
@click.argument("first", type=click.Path(path_type=Path))
@click.argument("second", type=click.Path(path_type=Path))
@click.option("--metric", help="The benchmark's first if not given.")
@click.option("--condition", default="plain", show_default=True, help="The condition compared.")
@as_json
def compare_command(first: Path, second: Path, metric: str | None, condition: str, json_: bool) -> None:
    """Compare the models of two runs, or of one run named twice, on the same questions.

    Every pair of models gets the difference with its interval by patient and a permutation p, corrected by Holm.
    """
    rows = compare_runs(Run(first), Run(second), metric, condition)
    if json_:
        _json(rows)
        return
    show_table(comparison_table(rows, condition))


@main.command("audit")
@click.argument("benchmark")
@data_option
@click.option("--protocol", help="How the exam is sat; the benchmark's first if not given.")
@click.option("--set", "sets", multiple=True, metavar="K=V", help="BENCHMARK.key=value.")
@click.option("--out", metavar="RUN", help="The run folder; runs/audit-BENCHMARK if not given.")
@as_json
def audit_command(
    benchmark: str, data: tuple[str, ...], protocol: str | None, sets: tuple[str, ...], out: str | None, json_: bool
) -> None:
    """How far does one get in an exam without looking? Chance and the prior, stage by stage."""
    settings = Settings(
        benchmark,
        data=parse_pairs(data, "--data"),
        protocol=protocol or "",
        set=parse_pairs(sets, "--set"),
        out=out or "",
        command=("overread", *sys.argv[1:]),
    )
    with progress_bar() as progress:
        found = audit_exam(settings, progress)
    if json_:
        _json(found.document)
    else:
        show_table(found.table())
        for sentence in found.sentences():
            click.echo(sentence)


@main.command("import")
@click.argument("format_", metavar="FORMAT")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--out", required=True, metavar="RUN", help="The run folder.")
def import_command(format_: str, path: Path, out: str) -> None:
    """Read results made elsewhere into a run; their receipts are of level `none`."""
    raise NotYet(f"the import format {format_!r} is not in this version")


@main.command("export")
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--format", "format_", default="jsonl", show_default=True, help=f"One of: {', '.join(FORMATS)}.")
@click.option("--out", required=True, metavar="DIR", type=click.Path(path_type=Path), help="The folder written to.")
def export_command(run: Path, format_: str, out: Path) -> None:
    """Write the tables of a run in another format."""
    for path in export_run(Run(run), format_, out):
        click.echo(str(path))


@main.group("build")
def build_group() -> None:
    """Build exams, lessons or phantoms from archives."""


@build_group.command("phantoms")
@click.option("--out", required=True, metavar="DIR", type=click.Path(path_type=Path), help="The folder written to.")
@click.option("--patients", default=24, show_default=True, help="How many patients.")
@click.option("--seed", default=0, show_default=True, help="Another seed gives other patients.")
@click.option("--kind", "kinds", multiple=True, help="ecg, echo or volume; all if not given.")
def build_phantoms(out: Path, patients: int, seed: int, kinds: tuple[str, ...]) -> None:
    """Write made-up patients with known truth in the formats that archives use."""
    builder = catalog.load("builders", "phantoms")
    built = builder.build(out, patients=patients, seed=seed, **({"kinds": kinds} if kinds else {}))
    click.echo(f"Use them with --data phantoms={built}", err=True)


@main.command("lint")
@click.argument("format_", metavar="FORMAT")
@click.argument("path", type=click.Path(path_type=Path))
def lint_command(format_: str, path: Path) -> None:
    """List what is wrong in a file of an exam."""
    raise NotYet(f"checking files of the format {format_!r} is not in this version")


@main.group("data", invoke_without_command=True)
@click.pass_context
def data_group(ctx: click.Context) -> None:
    """Where data lie on this machine, what is missing, and where to ask for it."""
    if ctx.invoked_subcommand is None:
        show_table(checking.overview(pipeline.find_roots({})))


@data_group.command("check")
@click.argument("alias")
@data_option
@as_json
def data_check(alias: str, data: tuple[str, ...], json_: bool) -> None:
    """Say which files of an archive are here, which are missing, under which terms, and where to ask for them."""
    found = checking.check_alias(alias, pipeline.find_roots(parse_pairs(data, "--data")))
    if json_:
        _json(checking.as_document(found))
    else:
        show_table(checking.as_table(found))
    if found.missing:
        sys.exit(PARTIAL)


@data_group.command("get")
@click.argument("alias")
def data_get(alias: str) -> None:
    """Say how to get an archive."""
    click.echo(checking.how_to_get(alias))


@main.group("train")
def train_group() -> None:
    """Train small models on lessons."""


@train_group.command("vlm")
@click.argument("recipe")
def train_vlm(recipe: str) -> None:
    """Fine-tune a vision-language model."""
    raise NotYet("training vision-language models is not in this version")


@train_group.command("echo")
@click.argument("recipe")
def train_echo(recipe: str) -> None:
    """Train a contrastive echo model."""
    raise NotYet("training contrastive models is not in this version")


@train_group.command("probe")
@click.argument("recipe")
def train_probe(recipe: str) -> None:
    """Train a small head on a frozen encoder."""
    raise NotYet("training probes is not in this version")


@main.group("models", invoke_without_command=True)
@click.pass_context
def models_group(ctx: click.Context) -> None:
    """List the models."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_command, what="models", json_=False)


@models_group.command("check")
@click.argument("name")
def models_check(name: str) -> None:
    """Build a model's environment and sit a sanity exam."""
    catalog.describe("models", name)
    raise NotYet("checking models is not in this version", do=f"overread run ecg_steps --model {name} --limit 10")


@main.command("ecg")
@click.argument("file", type=click.Path(path_type=Path))
@as_json
def ecg_command(file: Path, json_: bool) -> None:
    """Measure one ECG."""
    raise NotYet("measuring a single ECG is not in this version", do="overread run ecg_steps --model ecg_solver")


def _headlines(runs: list[Run], json_: bool) -> None:
    if json_:
        _json([row for run in runs for row in headline_rows(run)])
        return
    for run in runs:
        show_table(headline_table(run))


def _json(document: Any) -> None:
    click.echo(json.dumps(document, indent=2, ensure_ascii=False, default=str))


def _end(made: Run) -> None:
    """Ends with the code for partial results where replies are missing."""
    scores = made.table("scores")
    if scores.height and float(str(scores["coverage"].min())) < 1.0:
        error_console().print("Some questions have no reply: the scores are partial.")
        sys.exit(PARTIAL)
