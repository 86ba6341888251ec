from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import click
import pytest
from click.testing import CliRunner

SCRIPT = Path(__file__).parents[2] / "docs" / "make_cli.py"


@pytest.fixture
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_cli", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def toy() -> click.Group:
    @click.group()
    def zoo() -> None:
        """Keeps animals."""

    @zoo.command()
    @click.argument("name")
    @click.option("--legs", default=4, show_default=True, help=click.style("How many.", bold=True))
    def add(name: str, legs: int) -> None:
        """Take one in."""

    @zoo.group()
    def food() -> None:
        """Feeds them."""

    @food.command()
    def buy() -> None:
        """Go to market."""

    @zoo.command(hidden=True)
    def secret() -> None:
        """Not to be told."""

    return zoo


def test_every_command_has_a_section_with_its_whole_path(script: ModuleType, toy: click.Group) -> None:
    page = script.page(toy, "zoo")
    headings = [line for line in page.splitlines() if line.startswith("## ")]
    assert headings == ["## zoo", "## zoo add", "## zoo food", "## zoo food buy"]
    assert "Usage: zoo food buy [OPTIONS]" in page


def test_options_are_shown_with_their_help_and_default(script: ModuleType, toy: click.Group) -> None:
    assert any(
        line.split() == ["--legs", "INTEGER", "How", "many.", "[default:", "4]"]
        for line in script.page(toy, "zoo").splitlines()
    )


def test_hidden_commands_are_left_out(script: ModuleType, toy: click.Group) -> None:
    assert "secret" not in script.page(toy, "zoo")


def test_the_page_does_not_depend_on_the_terminal(
    script: ModuleType, toy: click.Group, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    narrow = script.page(toy, "zoo")
    monkeypatch.setenv("COLUMNS", "200")
    assert script.page(toy, "zoo") == narrow


def test_check_fails_on_a_stale_page_and_writes_nothing(
    script: ModuleType, toy: click.Group, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "cli.md"
    monkeypatch.setattr(script, "PAGE", page)
    monkeypatch.setattr(script.importlib, "import_module", lambda name: _Module(toy))
    assert CliRunner().invoke(script.main, []).exit_code == 0
    assert CliRunner().invoke(script.main, ["--check"]).exit_code == 0
    page.write_text(page.read_text().replace("Take one in.", "Take two in."))
    result = CliRunner().invoke(script.main, ["--check"])
    assert result.exit_code == 1
    assert "-  Take two in." in result.output and "+  Take one in." in result.output
    assert "Take two in." in page.read_text()


def test_check_names_a_page_that_is_missing(
    script: ModuleType, toy: click.Group, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(script, "PAGE", tmp_path / "cli.md")
    monkeypatch.setattr(script.importlib, "import_module", lambda name: _Module(toy))
    result = CliRunner().invoke(script.main, ["--check"])
    assert result.exit_code == 1 and "run python docs/make_cli.py" in result.output


class _Module:
    def __init__(self, group: click.Group) -> None:
        self.main = group
