"""Models: train, models."""

from __future__ import annotations

import click

from overread import catalog
from overread.cli.root import main
from overread.cli.running import list_command
from overread.errors import NotYet


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
