"""A benchmark, a model, a judge and a metric are each one new file: by path, or in the folder, and no list to edit."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click.testing
import pytest

import overread
from overread import catalog
from overread.cli import main
from overread.runs.folder import Run

ROOT = Path(__file__).parents[2]
EXAMPLES = Path(__file__).parent / "examples"
FILES = ("benchmark", "model", "judge", "metric")


@pytest.fixture
def anew(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Forgets every file that was loaded by path, as a new process would."""

    def forget() -> None:
        monkeypatch.setattr(catalog, "_brought", {})
        for name in [name for name in sys.modules if name.startswith("overread_file_")]:
            monkeypatch.delitem(sys.modules, name)

    forget()
    return forget


@pytest.fixture
def mine(tmp_path: Path, anew: Callable[[], None]) -> Path:
    """A folder with the four example files, and a folder to call from that is another one."""
    folder = tmp_path / "mine"
    shutil.copytree(EXAMPLES, folder, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def call(*words: object) -> click.testing.Result:
    return click.testing.CliRunner().invoke(main, [str(word) for word in words])


def sit(folder: Path, data: dict[str, str], out: Path) -> click.testing.Result:
    return call(
        "run", folder / "benchmark.py", "--model", folder / "model.py", "--model", "chance",
        "--judge", folder / "judge.py",
        "--data", f"phantoms={data['phantoms']}", "--conditions", "blank,reverse", "--out", out, "--json",
    )  # fmt: skip


def test_four_files_by_path_are_a_whole_exam(
    mine: Path, phantom_data: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    result = sit(mine, phantom_data, tmp_path / "run")
    assert result.exit_code == 0, result.output
    assert {row["model"] for row in json.loads(result.stdout)} == {str(mine / "model.py"), "chance", "prior"}
    run = Run(tmp_path / "run")
    plain = run.table("scores").filter(condition="plain", slice="all", model=str(mine / "model.py"))
    assert {"accuracy", "metric"} <= set(plain["metric"]), "a metric by path goes by its own name"
    accuracy, above = (plain.filter(metric=name).row(0, named=True) for name in ("accuracy", "metric"))
    options = run.table("questions")["options"].list.len()[0]
    assert above["value"] == pytest.approx(accuracy["value"] - 1 / options)
    assert set(run.table("scores")["judge"]) == {"judge"}
    assert not any("/" in metric for metric in run.table("scores")["metric"])
    assert set(run.table("receipts")["level"]) == {"tensor"}


def test_later_commands_find_the_same_files_again(
    mine: Path, phantom_data: dict[str, str], tmp_path: Path, anew: Callable[[], None]
) -> None:
    assert sit(mine, phantom_data, tmp_path / "run").exit_code == 0
    for words in (
        ["judge", tmp_path / "run", "--judge", "option"],
        ["score", tmp_path / "run", "--json"],
        ["compare", tmp_path / "run", tmp_path / "run", "--metric", "metric", "--json"],
        ["report", tmp_path / "run", "--out", tmp_path / "page"],
    ):
        anew()
        result = call(*words)
        assert result.exit_code == 0, (words, result.output, result.exception)
    assert {row["judge"] for row in json.loads(call("score", tmp_path / "run", "--json").stdout)} == {"judge", "option"}


def test_a_file_put_into_the_folder_is_listed_and_run_without_another_edit(
    phantom_data: dict[str, str], tmp_path: Path
) -> None:
    package = tmp_path / "overread"
    shutil.copytree(Path(overread.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    for kind in FILES:
        shutil.copy(EXAMPLES / f"{kind}.py", package / f"{kind}s" / f"my_{kind}.py")
    text = (EXAMPLES / "benchmark.py").read_text().replace("./metric.py", "my_metric")
    (package / "benchmarks" / "my_benchmark.py").write_text(text)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "overread", *words]
        return subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False
        )

    found = json.loads(run("list", "--json").stdout)
    for kind in FILES:
        assert f"my_{kind}" in {entry["name"] for entry in found[f"{kind}s"]}
    done = run(
        "run", "my_benchmark", "--model", "my_model", "--judge", "my_judge", "--limit", "3", "--conditions", "none",
        "--data", f"phantoms={phantom_data['phantoms']}", "--out", "run", "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert [row["model"] for row in json.loads(done.stdout)] == ["my_model"]


@pytest.mark.parametrize("kind", FILES)
def test_each_example_is_short(kind: str) -> None:
    lines = (EXAMPLES / f"{kind}.py").read_text(encoding="utf-8").splitlines()
    assert 12 <= len(lines) <= 42


def code_blocks(text: str) -> list[str]:
    """The Python code fences of a page."""
    return re.findall(r"^```python\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)


def test_the_code_in_the_contributing_page_is_these_files() -> None:
    blocks = code_blocks((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    assert blocks == [(EXAMPLES / f"{kind}.py").read_text(encoding="utf-8") for kind in FILES]


def test_the_contributing_page_names_only_what_exists() -> None:
    text = re.sub(r"^```.*?^```", "", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), flags=re.M | re.S)
    places = re.findall(r"`((?:src|tests|docs)/[\w./-]+)`", text)
    assert places
    assert [place for place in places if not (ROOT / place).exists()] == []
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert [goal for goal in re.findall(r"`make ([\w-]+)`", text) if f"\n{goal}:" not in makefile] == []
