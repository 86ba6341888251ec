"""Writes docs/cli.md, the reference of every command, from the commands themselves.

python docs/make_cli.py            writes the page
python docs/make_cli.py --check    writes nothing; shows what differs and ends with status 1
"""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Iterator
from pathlib import Path

import click

PAGE = Path(__file__).with_name("cli.md")
WIDTH = 100
HEAD = """\
# The command line

<!-- Written by `python docs/make_cli.py` from the commands' own help: change the help, not this page. -->
"""


def commands(group: click.Command, name: str, parent: click.Context | None = None) -> Iterator[tuple[str, str]]:
    """The full name and the help of a command and of all below it, in the order of its listing, the hidden left out."""
    shape = {"terminal_width": WIDTH, "max_content_width": WIDTH, **group.context_settings}
    context = click.Context(group, info_name=name, parent=parent, **shape)
    yield context.command_path, click.unstyle(group.get_help(context))
    if isinstance(group, click.Group):
        for below in group.list_commands(context):
            command = group.get_command(context, below)
            if command is not None and not command.hidden:
                yield from commands(command, below, context)


def page(group: click.Command, name: str) -> str:
    """The whole page for one group, as Markdown; a section a command."""
    sections = [HEAD]
    for path, text in commands(group, name):
        lines = [line.rstrip() for line in text.strip().splitlines()]
        sections.append("\n".join([f"## {path}", "", "```text", *lines, "```", ""]))
    return "\n".join(sections)


@click.command()
@click.option("--check", is_flag=True, help="Write nothing; end with status 1 if the page is not what it should be.")
def main(check: bool) -> None:
    """Write docs/cli.md from the commands of overread."""
    wanted = page(importlib.import_module("overread.cli").main, "overread")
    if not check:
        PAGE.write_text(wanted, encoding="utf-8")
        return
    found = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    if found != wanted:
        lines = difflib.unified_diff(found.splitlines(), wanted.splitlines(), "docs/cli.md", "what it should be", n=1)
        click.echo("\n".join(line.rstrip() for line in lines))
        raise click.ClickException("docs/cli.md is out of date: run python docs/make_cli.py")


if __name__ == "__main__":
    main()
