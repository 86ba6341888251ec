"""How far one gets without looking: the numbers of an audit, and what it says of them."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import polars as pl
import pytest

from overread import pipeline
from overread.commands import audit as auditing
from overread.commands.audit import MODELS, Audit, audit
from overread.runs.folder import Run
from overread.settings import Settings


def quiet(what: str, done: int, whole: int) -> None:
    """No progress is shown."""


@pytest.fixture
def audited(phantom_data: dict[str, str], tmp_path: Path) -> Audit:
    return audit(Settings("heartbeat", data=phantom_data, out=str(tmp_path / "audit")), quiet)


def test_only_models_that_do_not_look_are_asked_and_only_under_plain(audited: Audit, tmp_path: Path) -> None:
    run = Run(tmp_path / "audit")
    assert {seat.model for seat in run.seats()} == set(MODELS)
    assert run.exam["conditions"] == ["plain"] and run.table("receipts").is_empty()


def test_every_stage_and_metric_has_chance_the_best_prior_and_its_policy(audited: Audit) -> None:
    found = audited.document
    assert set(found["stages"]) == {"ed", "es"}
    assert {"mean_error", "accuracy"} <= set(found["metrics"])
    error = found["metrics"]["mean_error"]
    assert error["above_chance"] == pytest.approx(error["chance"] - error["prior"]), "less is better"
    accuracy = found["metrics"]["accuracy"]
    assert accuracy["above_chance"] == pytest.approx(accuracy["prior"] - accuracy["chance"])
    for line in (*found["stages"].values(), *found["metrics"].values()):
        assert line["policy"] in ("prior", "prior:chain") and line["n"] > 0
        assert line["low"] <= line["prior"] <= line["high"]
    assert audited.table().row_count == len(found["stages"]) + len(found["metrics"])


def scores(*rows: tuple[str, float | None], direction: str = "more") -> pl.DataFrame:
    same = {"metric": "m", "slice": "all", "direction": direction, "low": None, "high": None, "n": 3}
    return pl.DataFrame([{"model": model, "value": value, **same} for model, value in rows], schema_overrides={
        "value": pl.Float64, "low": pl.Float64, "high": pl.Float64})  # fmt: skip


@pytest.mark.parametrize(
    ("table", "wanted"),
    [
        (scores(("chance", 0.5), ("prior", 0.6), ("prior:chain", 0.7)), (0.5, 0.7, "prior:chain", 0.2)),
        (scores(("chance", 5.0), ("prior", 3.0), ("prior:chain", 4.0), direction="less"), (5.0, 3.0, "prior", 2.0)),
        (scores(("chance", 0.5), ("prior", None)), (0.5, None, None, None)),
        (scores(("chance", None), ("prior", 0.5)), (None, 0.5, "prior", None)),
        (scores(("chance", 0.5)).clear(), (None, None, None, None)),
    ],
)
def test_the_best_prior_is_the_best_in_the_direction_of_the_metric(
    table: pl.DataFrame, wanted: tuple[Any, ...]
) -> None:
    found = auditing._found(table, "m", "all")
    got = (found["chance"], found["prior"], found["policy"], found["above_chance"])
    assert got == tuple(pytest.approx(part) if isinstance(part, float) else part for part in wanted)


def test_what_can_be_passed_blind_is_said_in_words_and_nothing_else_is() -> None:
    line = {
        "metric": "accuracy",
        "chance": 0.5,
        "prior": 0.9,
        "low": 0.8,
        "high": 1.0,
        "n": 9,
        "above_chance": 0.4,
        "sure": True,
    }
    unsure = {**line, "prior": None, "low": None, "high": None, "above_chance": None, "sure": False}
    stages = {"leaky": line, "sound": {**line, "prior": 0.51, "sure": False}, "empty": unsure}
    found = Audit({"benchmark": "b", "protocol": "p", "stages": stages, "metrics": {"accuracy": line}})
    assert list(found.sentences()) == ["leaky: 0.9 without looking, where chance gives 0.5 (accuracy)."]
    assert found.table().row_count == 4


def test_a_benchmark_by_path_is_audited_into_a_folder_of_its_name(
    phantom_data: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []

    def stop(settings: Settings, progress: object) -> None:
        seen.append(settings.out)
        raise InterruptedError

    monkeypatch.setattr(pipeline, "run", stop)
    with pytest.raises(InterruptedError):
        audit(Settings("ecg_steps", data=phantom_data), quiet)
    assert seen == [str(Path("runs") / "audit-ecg_steps")]


def test_an_exam_that_names_its_measures_is_audited_whole_and_by_slice(trees: ModuleType, tmp_path: Path) -> None:
    samples = [
        trees.reasoning_sample(number, ecg=str(number + 1), label=number % 3 == 0, subject_id=str(10000 + number))
        for number in range(60)
    ]
    (tmp_path / "samples").mkdir()
    lines = "".join(f"{json.dumps(sample)}\n" for sample in samples)
    (tmp_path / "samples" / "ptbxl.jsonl").write_text(lines, encoding="utf-8")
    settings = Settings("ecg_reasoning", data={"ecg_reasoning": str(tmp_path / "samples")}, out=str(tmp_path / "audit"))
    found = audit(settings, quiet)
    document = found.document
    for name in ("completion_hard", "completion_soft", "depth", "gt_rda"):
        for line in (document[name], document["by_diagnosis"]["first_degree_av_block"][name]):
            assert line["chance"] < line["prior"] and line["interval"] == [line["low"], line["high"]]
    stages = document["stages"]
    assert (stages["criterion_selection"]["prior"], stages["diagnostic_decision"]["prior"]) == (1.0, 1.0)
    assert stages["criterion_selection"]["n"] == 120
    inner = document["by_diagnosis"]["first_degree_av_block"]["stages"]
    assert {name: line["prior"] for name, line in inner.items()} == pytest.approx(
        {name: line["prior"] for name, line in stages.items()}
    ), "there is one diagnosis"
    assert stages["criterion_selection"]["cues"][0]["cue"].startswith("text")
    assert any(line.startswith("criterion_selection: 1 ") and "gives it away" in line for line in found.sentences())
