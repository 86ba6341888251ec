"""The progress bar: what it calls the models whose names others chose."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from overread.commands import terminal


def test_a_name_that_looks_like_markup_or_speaks_to_the_terminal_is_shown_as_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    console = Console(file=io.StringIO(), width=200, force_terminal=True, color_system=None)
    monkeypatch.setattr(terminal, "error_console", lambda: console)
    monkeypatch.setattr(terminal, "QUIET_SECONDS", -1.0)
    with terminal.progress_bar() as progress:
        for name in ("[/b] x", "my.py[how=text]", "\x1b[2Jx"):
            progress(name, 0, 2)
            progress(name, 1, 2)
    assert isinstance(console.file, io.StringIO)
    shown = console.file.getvalue()
    assert "[/b] x" in shown and "my.py[how=text]" in shown and "<U+001B>[2Jx" in shown
