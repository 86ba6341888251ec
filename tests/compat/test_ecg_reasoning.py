"""The commands of ECG-Reasoning-Benchmark under their own names: results, tables, figures, refusals."""

from __future__ import annotations

import csv
import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from overread.compat import ecg_reasoning

DX = "first_degree_av_block"


@pytest.fixture
def infer(trees: ModuleType, toy: Callable[[str], str], tmp_path: Path) -> Callable[..., int]:
    samples, ecgs = trees.ecg_reasoning(tmp_path / "samples"), trees.ptbxl(tmp_path / "ecgs")

    def run(*more: str, model: str = toy("steady")) -> int:
        words = [str(samples), "--dataset", "ptbxl", "--model", model, "--ecg-base-dir", str(ecgs)]
        return ecg_reasoning.inference([*words, "--output-dir", str(tmp_path / "results"), *more])

    return run


def test_the_commands_are_installed_under_upstreams_names() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for name, function in {
        "inference": "inference",
        "evaluate": "evaluate",
        "forced-commit-plot": "forced_commit_plot",
    }.items():
        assert project["scripts"][f"ecg-reasoning-benchmark-{name}"] == f"overread.compat.ecg_reasoning:{function}"
        assert callable(getattr(ecg_reasoning, function))


def test_results_are_written_evaluated_and_drawn(infer: Callable[..., int], tmp_path: Path) -> None:
    results, tables = tmp_path / "results", tmp_path / "eval"
    more = ("--inference-mode", "forced-commit", "--enable-condensed-chat", "--model-variant", "draw")
    assert infer(*more, model="chance") == 0
    files = sorted((results / "chance_draw" / "ptbxl" / DX).iterdir())
    assert [file.name for file in files] == ["0.json", "1.json", "2.json", "3.json"]
    assert json.loads(files[0].read_text(encoding="utf-8"))["metadata"]["inference_mode"] == "forced-commit"
    words = [str(results), "--model", "chance_draw", "--save-dir", str(tables), "--evaluator", "gemini-forced-commit"]
    assert ecg_reasoning.evaluate(words) == 0
    with (tables / "gemini-forced-commit" / "ptbxl" / "total.csv").open(encoding="utf-8") as stream:
        (row,) = csv.DictReader(stream)
    assert (row["model"], row["idq_total"], row["bin2_total"], row["bin1_accuracy"]) == ("chance_draw", "4", "4", "")
    drawing = ["--eval-dir", str(tables / "gemini-forced-commit"), "--dataset", "ptbxl"]
    assert ecg_reasoning.forced_commit_plot(drawing) == 0
    assert (tables / "gemini-forced-commit" / "ptbxl" / "total.pdf").read_bytes().startswith(b"%PDF")
    assert (
        ecg_reasoning.forced_commit_plot([*drawing, "--output", str(tmp_path / "mine.pdf"), "--layout", "separate"])
        == 0
    )
    assert (tmp_path / "mine.pdf").exists() and (tmp_path / "mine.png").exists()
    assert ecg_reasoning.forced_commit_plot([*drawing, "--models", "gem"]) == 2


def test_a_model_that_looks_gets_the_ecgs_and_the_rules_of_upstream_judge_it(
    infer: Callable[..., int], tmp_path: Path
) -> None:
    assert infer() == 0
    (model,) = [path.name for path in (tmp_path / "results").iterdir() if path.name != ".overread"]
    words = [str(tmp_path / "results"), "--model", model, "--save-dir", str(tmp_path / "eval")]
    assert ecg_reasoning.evaluate(words) == 0
    with (tmp_path / "eval" / "heuristic" / "ptbxl" / f"{DX}.csv").open(encoding="utf-8") as stream:
        (row,) = csv.DictReader(stream)
    assert (row["model"], row["reasoning_total"], row["criterion_selection_total_w_gt"]) == (model, "4", "8")


def test_each_evaluator_refuses_the_others_files_by_name(
    infer: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    infer(model="chance:draw")
    infer("--inference-mode", "forced-commit", "--output-dir", str(tmp_path / "other"), model="chance:draw")
    for folder, evaluator, mode in (
        ("results", "forced-commit_option", "default"),
        ("other", "option", "forced-commit"),
    ):
        words = [str(tmp_path / folder), "--model", "chance-draw", "--save-dir", str(tmp_path / "e")]
        words += ["--evaluator", evaluator]
        assert ecg_reasoning.evaluate(words) == 2
        told = capsys.readouterr().err
        assert f"the mode {mode}" in told and "0.json" in told
    assert ecg_reasoning.evaluate([str(tmp_path), "--model", "gem", "--save-dir", str(tmp_path / "e")]) == 2


def test_a_second_run_goes_on_and_rebase_begins_anew(infer: Callable[..., int], tmp_path: Path) -> None:
    infer(model="chance:draw")
    file = tmp_path / "results" / "chance-draw" / "ptbxl" / DX / "0.json"
    home = next((tmp_path / "results" / ".overread").iterdir())
    before = {path.name for path in (home / "workers").iterdir()}
    infer(model="chance:draw")
    assert before < {path.name for path in (home / "workers").iterdir()}
    file.unlink()
    infer("--rebase", model="chance:draw")
    assert file.exists() and len(list((home / "workers").iterdir())) == 1
