"""Texts that others wrote, in a terminal: no markup, no control characters, nothing lost."""

from __future__ import annotations

import io
import json

import pytest
from rich.console import Console
from rich.table import Table

from overread.archives.checking import as_table
from overread.archives.contract import Check
from overread.commands.audit import Audit
from overread.commands.compare import comparison_table
from overread.commands.terminal import listing_table
from overread.report.texts import json_text, plain_table

EVIL = ("ext/evil.py[how=text]", "[/b] x", "[bold red]x", "\x1b[2J\x9b1mx", "a\u202eb", ":smile:", "\\[x]")


def printed(table: Table) -> str:
    console = Console(file=io.StringIO(), width=300, force_terminal=True, color_system=None)
    console.print(table)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().replace("\x1b[3m", "").replace("\x1b[1m", "").replace("\x1b[0m", "")


def as_shown(text: str) -> str:
    return text.replace("\x1b", "<U+001B>").replace("\x9b", "<U+009B>").replace("\u202e", "<U+202E>")


def tables(text: str) -> dict[str, Table]:
    line = {"metric": text, "chance": 0.5, "prior": 0.5, "low": None, "high": None, "n": 1}
    found = Check("a", None, {text: text}, {text: 0}, (text,), "open", text)  # type: ignore[arg-type]
    return {
        "any": plain_table(text, (text,), [(text,)]),
        "compare": comparison_table([{"first": text, "p": 0.5}], text),
        "audit": Audit({"benchmark": text, "protocol": "p", "stages": {text: line}, "metrics": {}}).table(),
        "list": listing_table("models", [{"name": text, "title": text, "variants": [text]}]),
        "data": as_table(found),
    }


@pytest.mark.parametrize("text", EVIL)
@pytest.mark.parametrize("name", tables(""))
def test_every_table_shows_a_text_as_it_is_and_lets_nothing_reach_the_terminal(name: str, text: str) -> None:
    shown = printed(tables(text)[name])
    assert as_shown(text) in shown
    assert not set(shown) & {"\x1b", "\x9b", "\u202e"}


@pytest.mark.parametrize("text", EVIL)
def test_json_says_the_same_and_holds_nothing_invisible(text: str) -> None:
    said = json_text({text: [text, "\U000e0001", "\ud800"]})
    assert json.loads(said) == {text: [text, "\U000e0001", "\ud800"]}
    assert said.isprintable() or not set(said) & {"\x1b", "\x9b", "\u202e"}
    said.encode()
