"""What `overread lint ecg_reasoning` finds, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import click.testing
import pytest

from overread.cli import main


def lint(path: Path, *more: str) -> click.testing.Result:
    return click.testing.CliRunner().invoke(main, ["lint", "ecg_reasoning", str(path), *more])


def write(root: Path, sample: dict[str, Any]) -> Path:
    (root / "ptbxl.jsonl").write_text(json.dumps(sample) + "\n", encoding="utf-8")
    return root


def test_sound_samples_lint_clean(trees: ModuleType, tmp_path: Path) -> None:
    result = lint(trees.ecg_reasoning(tmp_path), "--json")
    assert (result.exit_code, json.loads(result.stdout)["faults"]) == (0, [])
    assert json.loads(result.stdout)["samples"] == 7


@pytest.mark.parametrize(
    ("kind", "options", "answer"),
    [
        ("duplicate_option", ["[1.00s - 1.20s]", "[3.00s - 3.20s]", "[3.00s - 3.20s]"], "[1.00s - 1.20s]"),
        ("overlapping_segments", ["[1.00s - 1.20s]", "[1.10s - 1.40s]", "[3.00s - 3.20s]"], "[3.00s - 3.20s]"),
        ("segment", ["[1.00s - 1.20s]", "[9.90s - 10.20s]"], "[1.00s - 1.20s]"),
        ("answer_not_offered", ["[1.00s - 1.20s]", "[3.00s - 3.20s]"], "[5.00s - 5.20s]"),
        ("answer_index", ["[3.00s - 3.20s]", "[1.00s - 1.20s]"], "[1.00s - 1.20s]"),
    ],
)
def test_each_fault_is_found_with_its_place(
    kind: str, options: list[str], answer: str, trees: ModuleType, tmp_path: Path
) -> None:
    sample = trees.reasoning_sample()
    index = options.index(answer) if answer in options and kind != "answer_index" else 0
    question = sample["data"]["reasoning"][1]["ecg_grounding"][1]
    question.update(options=options, answer=[answer], answer_idx=[index])
    result = lint(write(tmp_path, sample), "--json")
    (fault,) = json.loads(result.stdout)["faults"]
    assert (fault["kind"], fault["sample"], result.exit_code) == (kind, "ptbxl/0", 3)
    assert fault["step"].startswith("loop 2 ")
    assert "ptbxl/0" in lint(tmp_path).stdout


def test_a_decision_that_comes_too_early_is_found(trees: ModuleType, tmp_path: Path) -> None:
    sample = trees.reasoning_sample()
    sample["data"]["reasoning"][0]["diagnostic_decision"].update(answer="Yes", answer_idx=0)
    faults = json.loads(lint(write(tmp_path, sample), "--json").stdout)["faults"]
    assert [(fault["kind"], fault["step"]) for fault in faults] == [("decision", "loop 1 diagnostic_decision")]


def test_a_path_that_is_not_there_is_told(tmp_path: Path) -> None:
    assert lint(tmp_path / "nowhere").exit_code == 2


@pytest.mark.real
def test_the_overlaps_of_the_real_samples_are_found(real_data: Path) -> None:
    found = json.loads(lint(real_data / "ecg_reasoning", "--json").stdout)
    assert (found["samples"], found["counts"]) == (408, {"overlapping_segments": 7})
