"""The headline in terminals of any width: nothing is folded inside a number or a word."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from overread.report.headline import headline_tables

HEADS = ("model", "above", "best", "accuracy", "chance", "prior", "blank", "swap", "text", "guess", "coverage",
         "unreadable", "receipts")  # fmt: skip


def printed(run: Any, width: int = 220) -> list[str]:
    shown = []
    for table in headline_tables(run, width):
        console = Console(file=io.StringIO(), width=width)
        console.print(table)
        assert isinstance(console.file, io.StringIO)
        shown.append(console.file.getvalue())
    return shown


def test_a_wide_terminal_has_one_table_and_keeps_brackets_of_names(usual: Any) -> None:
    usual.model("seer[bold]", lambda q: ("Yes", "read", True)).score("seer[bold]", "accuracy", 0.3)
    (text,) = printed(usual.run())
    assert "seer[bold]" in text
    assert "not asked" in text
    assert "+25.0 [+5.0, +45.0]" in text
    assert "accuracy, in per cent; more is better" in text


@pytest.mark.parametrize(
    "name", ["seer2", "a_model_of_a_long_name", "foreign[python=env/bin/python,script=my_model.py]"]
)
@pytest.mark.parametrize("width", [80, 100, 120, 140, 200])
def test_nothing_is_folded_inside_a_number_or_a_word_at_any_width(usual: Any, width: int, name: str) -> None:
    usual.model(name, lambda q: ("Yes", "read", True)).score(name, "accuracy", 0.123)
    usual.score(name, "accuracy:lift", -0.25, floor="prior", low=-0.333, high=-0.111)
    tables = printed(usual.run(), width)
    lines = [line for table in tables for line in table.splitlines()]
    assert max(map(len, lines)) <= width
    whole = "\n".join(lines)
    for said in ("+25.0 [+5.0, +45.0]", "\u221225.0 [\u221233.3, \u221211.1]", "80.0 [70.0, 90.0]", "100 %"):
        assert any(said in line for line in lines), said
    words = set(whole.replace("\u2503", " ").replace("\u2502", " ").split())
    assert words >= {*HEADS, "55.0", "40.0", "tensor", "never", "looks", "not", "asked"}
    assert (len(tables) == 1) == (width == 200)
    assert all("seer" in table for table in tables)


@pytest.mark.parametrize("width", [80, 100, 120, 140])
def test_a_narrow_terminal_has_what_matters_first_and_the_floors_below(usual: Any, width: int) -> None:
    first, *rest = printed(usual.run(), width)
    assert all(head in first for head in ("model", "above", "accuracy", "coverage"))
    assert not {"chance", "blank", "guess"} & set(first.splitlines()[1].split() + first.splitlines()[2].split())
    assert "guess" in rest[-1] and "seer" in rest[-1] and len(rest) == 1


def test_several_panels_are_told_apart_in_every_table(usual: Any) -> None:
    usual.score("seer", "accuracy", 0.9, judge="another")
    for width in (80, 200):
        for table in printed(usual.run(), width):
            assert "judge" in table and "another" in table


def test_an_absurdly_narrow_terminal_still_gets_every_number_on_one_line(usual: Any) -> None:
    assert any("[+5.0, +45.0]" in table for table in printed(usual.run(), 30))
