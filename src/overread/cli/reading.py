"""Reading runs: report, view, plot, compare, audit."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from overread.cli.root import as_json, data_option, main, print_json
from overread.commands.audit import audit as audit_exam
from overread.commands.compare import compare_runs, comparison_table
from overread.commands.plot import Wish, plot
from overread.commands.terminal import progress_bar, show_table
from overread.errors import NotYet
from overread.report.curves import LAYOUTS
from overread.report.page import write_page
from overread.report.texts import clean
from overread.runs.folder import Run
from overread.settings import Settings, parse_pairs


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
@click.argument("sources", metavar="RUN...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--dx", "names", multiple=True, metavar="NAME", help="A diagnosis; total if not given.")
@click.option("--all-dx", is_flag=True, help="The total and every diagnosis, a figure each.")
@click.option("--model", "models", multiple=True, metavar="MODEL", help="Only these; all if not given.")
@click.option(
    "--layout",
    default="combined",
    show_default=True,
    type=click.Choice(LAYOUTS),
    help="One pair of axes, or one a model.",
)
@click.option(
    "--ylim", nargs=2, type=float, default=(0.0, 1.0), show_default=True, metavar="LOW HIGH", help="Of the accuracy."
)
@click.option("--judge", "judges", multiple=True, metavar="JUDGE", help="Instead of the benchmark's judges.")
@click.option(
    "--out",
    default=".",
    show_default=True,
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Where the figures go.",
)
def plot_command(figure: str, sources: tuple[Path, ...], out: Path, all_dx: bool, **wish: Any) -> None:
    """Draw a figure of a published kind, as PDF and PNG. FIGURE: forced_commit.

    RUN is a run of ecg_reasoning with the protocol forced-commit, or an upstream table (CSV), or a folder of them.
    """
    names = () if all_dx else wish["names"] or ("total",)
    wanted = Wish(names, wish["models"], wish["layout"], wish["ylim"], wish["judges"])
    for path in plot(figure, sources, wanted, out):
        click.echo(str(path))


@main.command("compare")
@click.argument("first", type=click.Path(path_type=Path))
@click.argument("second", type=click.Path(path_type=Path))
@click.option("--metric", help="The benchmark's first if not given.")
@click.option("--condition", default="plain", show_default=True, help="The condition compared.")
@click.option("--judge", "judges", multiple=True, metavar="JUDGE", help="Instead of the benchmark's judges.")
@as_json
def compare_command(
    first: Path, second: Path, metric: str | None, condition: str, judges: tuple[str, ...], json_: bool
) -> None:
    """Compare the models of two runs, or of one run named twice, on the same questions, as the same judges found them.

    Every pair of models gets the difference with its interval by patient and a permutation p, corrected by Holm.
    """
    rows = compare_runs(Run(first), Run(second), metric, condition, judges)
    if json_:
        print_json(rows)
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
        print_json(found.document)
    else:
        show_table(found.table())
        for sentence in found.sentences():
            click.echo(clean(sentence))
