"""The Python interface: one call, tables as data frames, the same errors as the command line."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import overread
from overread.tables import ROWS, schema

QUICK: dict[str, Any] = {"conditions": "none", "limit": 2, "set": {"score.resamples": 20}}


def test_one_call_sits_an_exam_and_its_tables_are_data_frames(phantom_data: dict[str, str], tmp_path: Path) -> None:
    run = overread.run("ecg_steps", ["chance", "oracle"], data=phantom_data, out=tmp_path / "run", **QUICK)
    assert isinstance(run, overread.Run) and run.notes == []
    for row in ROWS:
        table = run.table(row.TABLE)
        assert isinstance(table, pl.DataFrame) and dict(table.schema) == schema(row)
    assert set(run.table("scores")["model"]) == {"chance", "oracle"}
    assert (tmp_path / "run" / "report.html").exists()
    opened = overread.open(tmp_path / "run")
    assert opened.table("scores").equals(run.table("scores"))
    assert overread.open(str(tmp_path / "run")).exam == run.exam


def test_paths_lists_and_single_names_are_taken_as_they_are_meant(phantom_data: dict[str, str], tmp_path: Path) -> None:
    data = {alias: Path(folder) for alias, folder in phantom_data.items()}
    run = overread.run("ecg_steps", "oracle", data=data, out=tmp_path, judges=["option"], shard=[1, 1], **QUICK)
    assert [seat.model for seat in run.seats()] == ["oracle"]
    again = overread.run("ecg_steps", ("oracle",), data=data, out=str(tmp_path), judges="option", **QUICK)
    assert again.table("replies").height == run.table("replies").height


def test_notes_tell_what_the_command_line_tells(phantom_data: dict[str, str], tmp_path: Path) -> None:
    path = tmp_path / "broken.py"
    body = "class M:\n    def identity(self):\n        return {}\n"
    body += "    def answer(self, dialogues):\n        raise OSError('no')\n"
    path.write_text(f'"""B"""\nKINDS = ("choice",)\nFORMS = {{}}\n{body}def load(setting):\n    return M()\n')
    run = overread.run("ecg_steps", [str(path)], data=phantom_data, out=tmp_path / "run", **QUICK)
    assert len(run.notes) == 1 and "failed" in run.notes[0]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"benchmark": "ecg_stepz"}, "did you mean ecg_steps"),
        ({"models": ["chanse"]}, "did you mean chance"),
        ({"modes": 1}, "no setting named 'modes'"),
        ({"protocol": "x"}, "protocol of ecg_steps"),
        ({"limit": 0}, "at least 1"),
        ({"limit": "5"}, "limit must be a whole number or None, not '5'"),
        ({"limit": 2.0}, "limit must be a whole number"),
        ({"seed": None}, "seed must be a whole number"),
        ({"seeds": True}, "seeds must be a whole number"),
        ({"data": "phantoms"}, "data must be a mapping of texts, not 'phantoms'"),
        ({"data": {"phantoms": None}}, "data must be a mapping of texts"),
        ({"set": "score.resamples=5"}, "set must be a mapping of texts"),
        ({"set": {"score.resamples": [5]}}, "set must be a mapping of texts"),
        ({"models": 3}, "models must be names, not 3"),
        ({"models": ["chance", None]}, "models must be names"),
        ({"judges": {"option"}}, "judges must be names"),
        ({"benchmark": None}, "benchmark must be text"),
        ({"conditions": ["blank"]}, "conditions must be text"),
        ({"shard": "1/2"}, "shard must be a pair"),
        ({"shard": (3, 2)}, "shard must be a pair"),
        ({"out": 5}, "out must be text"),
        ({"benchmark": "x/" * 1500 + "x.py"}, "no such file"),
        ({"models": ["x/" * 1500 + "x.py"]}, "no such file"),
        ({"data": {"phantoms": "x" * 3000}}, "not there"),
        ({"out": "x" * 3000}, "cannot write"),
        ({"data": {}}, "phantoms"),
        ({"data": {"phantoms": "nowhere"}}, "not there"),
    ],
)
def test_errors_are_for_the_user(
    changes: dict[str, Any], said: str, phantom_data: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    values = {"benchmark": "ecg_steps", "models": ["chance"], "data": phantom_data, "out": tmp_path, **changes}
    with pytest.raises(overread.OverreadError) as error:
        overread.run(**values)
    assert said in str(error.value)


def test_a_folder_that_holds_no_run_is_told(tmp_path: Path) -> None:
    with pytest.raises(overread.BadRun, match="there is no run here"):
        overread.open(tmp_path)


def test_what_the_package_says_of_itself_is_there() -> None:
    assert all(hasattr(overread, name) for name in overread.__all__)
    example = "\n".join(line[4:] for line in (overread.__doc__ or "").splitlines() if line.startswith("    "))
    called = {ast.unparse(node.func) for node in ast.walk(ast.parse(example)) if isinstance(node, ast.Call)}
    assert called == {"overread.run", "run.table", "overread.open"}
