"""What all commands share: the group that tells errors, options that several have, exit codes."""

from __future__ import annotations

import io
import sys
from typing import Any

import click

from overread.errors import OverreadError
from overread.report.texts import clean, json_text
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
        for stream in (sys.stdout, sys.stderr):
            # A terminal that knows few characters gets question marks for the others, and no traceback.
            if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
                stream.reconfigure(errors="replace")
        try:
            return super().invoke(ctx)
        except OverreadError as error:
            click.echo(f"overread: {clean(str(error))}", err=True)
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


def print_json(document: Any) -> None:
    """Prints a document to standard output."""
    click.echo(json_text(document))
