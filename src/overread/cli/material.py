"""Files in and out: import, export, build, lint, data."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from overread import catalog, pipeline
from overread.archives import checking
from overread.cli.root import PARTIAL, as_json, data_option, main, print_json
from overread.commands.formats import ALL_EXPORTS, again_table, bring, take
from overread.commands.lint import as_table as lint_table
from overread.commands.lint import lint
from overread.commands.terminal import show_table, table_width
from overread.errors import NotYet
from overread.report.headline import headline_tables
from overread.report.texts import clean
from overread.runs.folder import Run
from overread.settings import Settings, parse_pairs


@main.command("import")
@click.argument("format_", metavar="FORMAT")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--out", required=True, metavar="RUN", help="The run folder.")
@click.option("--set", "sets", multiple=True, metavar="K=V", help="How the exam was sat: BENCHMARK.key=value.")
@click.option("--code", default="", metavar="RELEASE", help="Release of the code that made the results, if known.")
@as_json
def import_command(format_: str, path: Path, out: str, sets: tuple[str, ...], code: str, json_: bool) -> None:
    """Read results made elsewhere into a run; their receipts are of level `none`. FORMAT: ecg_reasoning.

    Says which results have to be made again, and ends with code 3 where replies are missing or files cannot be read.
    """
    brought = bring(format_, path, out, parse_pairs(sets, "--set"), code)
    if json_:
        print_json(brought.document)
    else:
        for table in headline_tables(brought.run, table_width()):
            show_table(table)
        if brought.document["again"]:
            show_table(again_table(brought.document))
    for fault in brought.document["faults"]:
        click.echo(clean(f"left out: {fault['sample']}: {fault['what']}"), err=True)
    for model, count in brought.document["missing"].items():
        click.echo(clean(f"missing: {count} replies of {model}"), err=True)
    click.echo(f"The run lies in {brought.run.folder}", err=True)
    if brought.partial:
        sys.exit(PARTIAL)


@main.command("export")
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--format", "format_", default="jsonl", show_default=True, help=f"One of: {', '.join(ALL_EXPORTS)}.")
@click.option("--out", required=True, metavar="DIR", type=click.Path(path_type=Path), help="The folder written to.")
def export_command(run: Path, format_: str, out: Path) -> None:
    """Write the tables of a run, or the results and tables of an upstream project, in another format."""
    for path in take(Run(run), format_, out):
        click.echo(str(path))


LATER = ("ecg_lessons", "echo_ground", "heartbeat", "spatial")


class Build(click.Group):
    """A group that knows what later versions will build."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """As every group does; what comes later says so."""
        if cmd_name in LATER:
            built = ", ".join(self.commands)
            raise NotYet(f"building {cmd_name} is not in this version", do=f"this version builds {built}")
        return super().get_command(ctx, cmd_name)


@main.group("build", cls=Build)
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


@build_group.command("ecg_reasoning")
@click.argument("archive")
@data_option
@click.option("--out", required=True, metavar="DIR", type=click.Path(path_type=Path), help="The folder written to.")
@click.option("--per", default=20, show_default=True, help="ECGs with each diagnosis at most, and as many without.")
@click.option("--seed", default=0, show_default=True, help="Another seed gives other chains.")
def build_ecg_reasoning(archive: str, data: tuple[str, ...], out: Path, per: int, seed: int) -> None:
    """Write chains of questions on 17 diagnoses, on the ECGs of an archive.

    Those of phantoms are keyed by their truth; recordings are measured, and asked about where that is sure.
    """
    builder = catalog.load("builders", "ecg_reasoning")
    given = parse_pairs(data, "--data")
    cases = list(pipeline.read_cases(Settings("", data=given), (archive,)))
    built = builder.build(cases, out, archive=archive, roots=pipeline.find_roots(given), per=per, seed=seed)
    click.echo(f"Use them with --data ecg_reasoning={built}", err=True)


@main.command("lint")
@click.argument("format_", metavar="FORMAT")
@click.argument("path", type=click.Path(path_type=Path))
@as_json
def lint_command(format_: str, path: Path, json_: bool) -> None:
    """List what is wrong in the files of an exam; ends with code 3 where something is. FORMAT: ecg_reasoning."""
    found = lint(format_, path)
    if json_:
        print_json(found)
    else:
        show_table(lint_table(found))
        for kind, count in found["counts"].items():
            click.echo(f"{kind}: {count}", err=True)
    if found["faults"]:
        sys.exit(PARTIAL)


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
        print_json(checking.as_document(found))
    else:
        show_table(checking.as_table(found))
    if found.root is None:
        click.echo(checking.how_to_set(alias), err=True)
    if found.missing:
        sys.exit(PARTIAL)


@data_group.command("get")
@click.argument("alias")
@click.option(
    "--out", metavar="DIR", type=click.Path(path_type=Path), help="Fetch it into this folder, where that can be done."
)
def data_get(alias: str, out: Path | None) -> None:
    """Say how to get an archive; with --out fetch it, where the archive can be fetched without signing for it."""
    if out is None:
        click.echo(checking.how_to_get(alias))
        return
    click.echo(f"Use it with --data {alias}={checking.fetch(alias, out)}", err=True)
