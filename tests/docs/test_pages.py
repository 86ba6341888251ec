"""What the pages show works as it is shown."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click.testing
import pytest

from overread.cli import main

ROOT = Path(__file__).parents[2]


def blocks(page: str, language: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


@pytest.fixture
def place(phantom_data: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which the phantoms lie where the pages have them."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "phantoms").symlink_to(phantom_data["phantoms"])
    return tmp_path


def test_the_python_interface_does_what_its_page_shows(place: Path) -> None:
    (code,) = blocks("docs/api.md", "python")
    shown: dict[str, object] = {"print": lambda *_: None}
    exec(code, shown)
    assert (place / "runs" / "mine" / "report.html").is_file()
    assert shown["scores"].height > 0  # type: ignore[attr-defined]


def test_the_commands_of_the_readme_end_well(place: Path) -> None:
    (listing,) = (text for text in blocks("README.md", "") if text.startswith("overread list"))
    commands = [line.partition("#")[0].strip() for line in listing.splitlines() if "foreign[" not in line]
    for command in commands:
        words = [word for word in shlex.split(command)[1:] if word]
        if words[:2] == ["build", "phantoms"]:
            continue  # they lie there already
        result = click.testing.CliRunner().invoke(main, words)
        assert result.exit_code in (0, 3) and "Traceback" not in result.output, (command, result.output)


def test_the_run_file_of_the_readme_runs(place: Path) -> None:
    (text,) = blocks("README.md", "toml")
    (place / "first.toml").write_text(text, encoding="utf-8")
    result = click.testing.CliRunner().invoke(main, ["run", "--file", "first.toml"])
    assert result.exit_code == 0, result.output


def test_the_page_on_ecgs_shows_python_that_works_and_pictures_that_are_there() -> None:
    (code,) = blocks("docs/ecg.md", "python")
    shown: dict[str, object] = {"print": lambda *_: None}
    exec(code, shown)
    assert shown["found"].holds is True  # type: ignore[attr-defined]
    text = (ROOT / "docs" / "ecg.md").read_text(encoding="utf-8")
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", text)
    assert len(pictures) == 5 and all((ROOT / "docs" / name).is_file() for name in pictures)
