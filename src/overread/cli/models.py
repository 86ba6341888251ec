"""Models: train, models."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from overread.cli.root import PARTIAL, as_json, data_option, main, print_json
from overread.commands import check_model, tracking
from overread.commands.terminal import show_table
from overread.errors import NotYet
from overread.report.texts import plain_table
from overread.settings import parse_pairs

TRAIN_ELSEWHERE = "train it with a program of your own, and examine it: overread run ... --model 'hf_vlm[path=FOLDER]'"


@main.group("train")
def train_group() -> None:
    """Train small models on lessons."""


@train_group.command("vlm")
@click.argument("recipe")
def train_vlm(recipe: str) -> None:
    """Fine-tune a vision-language model."""
    raise NotYet("training vision-language models is not in this version", do=TRAIN_ELSEWHERE)


@train_group.command("echo")
@click.argument("recipe")
def train_echo(recipe: str) -> None:
    """Train a contrastive echo model."""
    raise NotYet("training contrastive models is not in this version", do=TRAIN_ELSEWHERE)


@train_group.command("probe")
@click.argument("recipe")
def train_probe(recipe: str) -> None:
    """Train a small head on a frozen encoder."""
    raise NotYet("training probes is not in this version", do=TRAIN_ELSEWHERE)


@main.group("models", invoke_without_command=True)
@as_json
@click.pass_context
def models_group(ctx: click.Context, json_: bool) -> None:
    """Show the named models, and the evidence that each has run.

    A box is ticked by a record that `overread models check` wrote, in the repository or in your own cache.
    """
    if ctx.invoked_subcommand is not None:
        return
    if json_:
        print_json(tracking.documents())
        return
    show_table(plain_table("models", tracking.HEADS, map(tracking.cells, tracking.rows())))


@models_group.command("check")
@click.argument("name")
@click.option("--weights", default="", metavar="DIR", help="A folder that has the weights; else they are staged.")
@click.option("--on", default="", metavar="BENCHMARK", help="Ten originals of this exam, on real data, not phantoms.")
@data_option
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Where DIR/NAME goes; else your cache.")
@as_json
def models_check(name: str, weights: str, on: str, data: tuple[str, ...], out: Path | None, json_: bool) -> None:
    """Build a model's environment, stage its weights, load it and sit a sanity exam.

    Ten questions a medium, as they are, blank and swapped. What comes of it is written down: a record, the
    requirements, a launch script for a queue and a README. NAME may be a card, NAME:variant, NAME[key=value,...] or
    the path of a card of your own.
    """
    wish = check_model.Wish(name, weights, on, parse_pairs(data, "--data"), out, ("overread", *sys.argv[1:]))
    record, folder = check_model.check(wish)
    if json_:
        print_json({**record.told, "faults": list(record.faults), "folder": str(folder)})
    else:
        click.echo(check_model.told(record))
    click.echo(f"The record lies in {folder}", err=True)
    if record.faults:
        sys.exit(PARTIAL)
