"""Results of ECG-Reasoning-Benchmark in and out: nothing is lost on the way, nothing broken passes unnamed."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import click.testing
import polars as pl
import pytest

from overread import pipeline
from overread.cli import main
from overread.compat.reasoning_export import export_results
from overread.compat.reasoning_import import import_results
from overread.errors import BadInput, BadRun
from overread.judges.ecg_heuristic import verdict
from overread.runs.folder import Run
from overread.settings import Settings

DX = "first_degree_av_block"
SCORES = ["protocol", "condition", "judge", "metric", "slice", "value", "low", "high", "n", "patients", "unreadable"]
Sit = Callable[..., Run]
Results = Callable[..., Path]


@pytest.fixture
def sit_samples(trees: ModuleType, toy: Callable[[str], str], tmp_path: Path) -> Sit:
    """A run of a toy that says the first option, with the key's own replies beside it."""
    data = {"ecg_reasoning": str(trees.ecg_reasoning(tmp_path / "samples"))}
    witness = f"{toy('witness')}[out={tmp_path / 'sent'}]"

    def run(protocol: str = "default", *more: str, **chosen: str) -> Run:
        set_ = {"score.resamples": "20", **{f"ecg_reasoning.{key}": value for key, value in chosen.items()}}
        settings = Settings("ecg_reasoning", (witness, *more), data, protocol, "none", set_, out=str(tmp_path / "run"))
        return pipeline.run(settings)[0]

    return run


@pytest.fixture
def results(trees: ModuleType, tmp_path: Path) -> Results:
    """Upstream's tree of one model that says the key, but for what `change` does to each sample."""

    def make(model: str = "gem", change: Callable[[dict[str, Any]], object] = bool, **metadata: Any) -> Path:
        for number, ecg in enumerate(("1", "2", "1001")):
            sample = trees.reasoning_sample(number, "ptbxl", ecg, label=number != 1, model=model, **metadata)
            first = sample["data"]["initial_diagnostic_question"]
            first["model_response"] = first["answer"]
            for loop in sample["data"]["reasoning"]:
                for key, step in loop.items():
                    for one in step if key == "ecg_grounding" else [step]:
                        right = one["answer"]
                        one["model_response"] = ", ".join(right) if isinstance(right, list) else right
            change(sample)
            file = tmp_path / "results" / model / "ptbxl" / DX / f"{number}.json"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(sample, indent=4), encoding="utf-8")
        return tmp_path / "results"

    return make


def walked(samples: list[dict[str, Any]], release: str) -> dict[str, float]:
    """The definitions of the measures, walked through file by file as upstream does; slow and plain."""
    found = dict.fromkeys(("idq", "gt", "self", "hard", "soft", "depth_sum", "depth_total"), 0.0)
    for sample in samples:
        label = "yes" if sample["metadata"]["dx_label"] else "no"
        first = sample["data"]["initial_diagnostic_question"]
        found["idq"] += verdict(first["question_type"], (label,), first["model_response"], release)[1]
        hard = soft = sound = True
        own: bool | None = None
        for loop in sample["data"]["reasoning"]:
            depth, alive, groundings = 0.0, True, len(loop["ecg_grounding"])
            for key, step in loop.items():
                for one in step if key == "ecg_grounding" else [step]:
                    answer = one["answer"] if isinstance(one["answer"], list) else [one["answer"]]
                    right = verdict(one["question_type"], tuple(answer), one["model_response"], release)[1]
                    further = answer[0].lower().startswith("further")
                    alive &= right
                    depth += alive / (groundings if key == "ecg_grounding" else 1)
                    hard &= right
                    soft &= right or further
                    if key != "diagnostic_decision":
                        sound &= right or own is not None
                    elif own is None and not sound:
                        own = False
                    elif own is None and not (right and further):
                        own = right or (further and verdict(key, (label,), one["model_response"], release)[1])
            found["depth_sum"] += depth if groundings else 0.0
            found["depth_total"] += groundings > 0
        found["gt"] += right
        found["self"] += bool(own)
        found["hard"] += hard
        found["soft"] += soft
    return found


def counted(table: Path, model: str) -> dict[str, float]:
    with table.open(encoding="utf-8", newline="") as stream:
        (row,) = [row for row in csv.DictReader(stream) if row["model"] == model]
    names = {
        "idq": "idq_correct", "gt": "gt_reasoning_based_diagnosis_correct", "hard": "completed_hard",
        "self": "self_reasoning_based_diagnosis_correct", "soft": "completed_soft",
        "depth_sum": "per_loop_depth_sum", "depth_total": "per_loop_depth_total",
    }  # fmt: skip
    return {short: float(row[name]) for short, name in names.items()}


def scores(run: Run, model: str) -> pl.DataFrame:
    return run.table("scores").filter(pl.col("model") == model).select(SCORES).sort("metric", "slice", "condition")


@pytest.mark.parametrize(
    ("protocol", "chosen"),
    [("default", {}), ("default", {"history": "B", "condensed": "true"}), ("forced-commit", {}), ("free", {})],
)
def test_a_run_exported_and_imported_again_is_the_same(
    protocol: str, chosen: dict[str, str], sit_samples: Sit, tmp_path: Path
) -> None:
    before = sit_samples(protocol, "oracle[anywhere=true]", "prior", **chosen)
    list(export_results(before, tmp_path / "out"))
    brought = import_results(tmp_path / "out", str(tmp_path / "again"), {"score.resamples": "20"})
    after = brought.run
    assert not brought.partial
    for table, columns in {
        "questions": ["id", "asked", "shown", "options", "prompt"], "key": ["question", "answer", "stage"],
    }.items():  # fmt: skip
        assert after.table(table).select(columns).equals(before.table(table).select(columns)), table
    models = {seat.model: seat.model for seat in before.seats()}
    for mine in models:
        other = {"oracle[anywhere=true]": "oracle-anywhere=true", "prior": "imported-prior"}.get(mine, "witness")
        columns = ["question", "status", "parsed", "correct", "credit"]
        heard = [
            run.table("verdicts").filter(pl.col("model") == name).select(columns)
            for run, name in ((before, mine), (after, other))
        ]
        assert heard[0].height and heard[1].equals(heard[0]), mine
    plain = [scores(run, name) for run, name in ((before, next(iter(models))), (after, "witness"))]
    lifts = ~pl.col("metric").str.contains(":")  # what floors there are differs: the floors of an exam are not brought
    assert plain[1].filter(lifts).equals(plain[0].filter(lifts))
    assert set(after.table("receipts")["level"]) == {"none"}


def test_the_tree_and_its_files_are_as_upstream_writes_them(sit_samples: Sit, tmp_path: Path) -> None:
    run = sit_samples("forced-commit")
    list(export_results(run, tmp_path / "out"))
    files = sorted(str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out" / "witness").rglob("*.json"))
    assert files == [
        f"witness/{source}/{DX}/{n}.json" for source, k in (("mimic_iv_ecg", 3), ("ptbxl", 4)) for n in range(k)
    ]
    text = (tmp_path / "out" / "witness" / "ptbxl" / DX / "0.json").read_text(encoding="utf-8")
    assert text.startswith('{\n    "metadata": {\n        "id": 0,')
    sample = json.loads(text)
    assert (sample["metadata"]["model"], sample["metadata"]["inference_mode"]) == ("witness", "forced-commit")
    loop = sample["data"]["reasoning"][1]
    assert list(loop) == ["criterion_selection", "finding_identification", "ecg_grounding", "diagnostic_decision"]
    assert "model_response" not in loop["criterion_selection"]
    assert loop["diagnostic_decision"]["options_restricted"] == ["Yes", "No"]
    assert loop["diagnostic_decision"]["model_response"] == "Yes"
    assert loop["ecg_grounding"][0]["answer"] == ["Lead II", "Lead V5"]
    header, row = (tmp_path / "out/evaluation/option/ptbxl/total.csv").read_text(encoding="utf-8").splitlines()
    assert header.startswith(
        "model,idq_total,idq_correct,idq_accuracy,bin1_lo,bin1_hi,bin1_total,bin1_correct,bin1_accuracy,"
    )
    assert row.startswith("witness,4,2,0.5,0,25,0,0,,25,50,4,2,0.5,50,75,0,0,,75,100,4,2,0.5")


@pytest.mark.parametrize("release", ["0.0.1", "0.0.2"])
def test_the_columns_are_those_of_the_release_in_their_order(release: str, results: Results, tmp_path: Path) -> None:
    run = import_results(results(), str(tmp_path / "run"), {"ecg_reasoning.release": release}).run
    list(export_results(run, tmp_path / "out"))
    header = (tmp_path / "out/evaluation/option/ptbxl/total.csv").read_text(encoding="utf-8").splitlines()[0].split(",")
    own = [f"self_reasoning_based_diagnosis_{n}" for n in ("total", "correct", "accuracy")]
    done = ["completed_hard", "completed_soft", "completion_hard", "completion_soft"]
    old = release == "0.0.1"
    assert header[:4] == ["model", "idq_total", "idq_correct", "idq_accuracy"]
    assert header[7:10] == (own if not old else ["reasoning_total", "completed", "completion"])
    assert (header[10:15] == ["reasoning_total", *done]) is not old
    steps = ["criterion_selection", "finding" if old else "finding_identification", "lead_grounding", "wave_grounding",
             "measurement_grounding", "decision" if old else "diagnostic_decision"]  # fmt: skip
    assert header[-18:] == [f"{step}_{n}_w_gt" for step in steps for n in ("total", "correct", "accuracy")]
    assert header[-22:-18] == ["per_loop_total", "per_loop_depth_total", "per_loop_depth_sum", "depth"]


def test_upstreams_results_of_several_models_are_pooled_into_one_row_a_model(results: Results, tmp_path: Path) -> None:
    def wrong(sample: dict[str, Any]) -> None:
        sample["data"]["reasoning"][0]["finding_identification"]["model_response"] = "No"

    results("gem")
    run = import_results(results("pulse", wrong), str(tmp_path / "run"), {}).run
    paths = list(export_results(run, tmp_path / "out"))
    assert {path.name for path in paths if path.suffix == ".csv"} == {"total.csv", f"{DX}.csv"}
    table = tmp_path / "out/evaluation/option/ptbxl/total.csv"
    assert counted(table, "gem")["hard"] == 3 and counted(table, "pulse")["hard"] == 0
    assert counted(table, "pulse") == {
        "idq": 3,
        "gt": 3,
        "self": 0,
        "hard": 0,
        "soft": 0,
        "depth_sum": 12,
        "depth_total": 3,
    }


def test_the_note_on_the_grid_is_no_other_question(results: Results, tmp_path: Path) -> None:
    def noted(sample: dict[str, Any]) -> None:
        sample["data"]["initial_diagnostic_question"]["question"] += " Mind the grid."

    results("gem")
    run = import_results(results("pulse", noted), str(tmp_path / "run"), {}).run
    assert run.manifest["counts"]["items"] == 3 and run.manifest["left_out"] == []


def test_claims_broken_files_and_missing_replies_are_named_and_the_rest_is_scored(
    results: Results, tmp_path: Path
) -> None:
    def half(sample: dict[str, Any]) -> None:
        if sample["metadata"]["id"] == 0:
            del sample["data"]["initial_diagnostic_question"]["model_response"]
            for loop in sample["data"]["reasoning"]:
                del loop["diagnostic_decision"]["model_response"]

    folder = results("gem", half) / "gem" / "ptbxl" / DX
    (folder / "7.json").write_bytes(b"")
    (folder / "8.json").write_bytes(b'{"metadata"')
    out = tmp_path / "run"
    arguments = ["import", "ecg_reasoning", str(tmp_path / "results"), "--out", str(out), "--json"]
    result = click.testing.CliRunner().invoke(main, arguments)
    document = json.loads(result.stdout)
    assert result.exit_code == 3
    assert document["missing"] == {"gem": 3} and document["replies"] == 10 + 9 + 10 - 3
    assert [fault["kind"] for fault in document["faults"]] == ["empty_file", "not_json"]
    assert len(document["claims"]) == 1 and "7.json" in document["claims"][0] and "8.json" in result.stderr
    table = Run(out).table("scores")
    (row,) = table.filter((pl.col("metric") == "accuracy") & (pl.col("slice") == "all")).to_dicts()
    assert row["value"] == pytest.approx(26 / 29) and row["coverage"] == pytest.approx(26 / 29)


def test_the_two_modes_refuse_each_others_files_by_name(results: Results, tmp_path: Path) -> None:
    results("gem")
    with pytest.raises(BadInput, match=r"forced-commit: .*pulse.*json"):
        import_results(results("pulse", inference_mode="forced-commit"), str(tmp_path / "run"), {})


def test_other_questions_under_one_id_are_not_pooled(results: Results, tmp_path: Path) -> None:
    def other(sample: dict[str, Any]) -> None:
        if sample["metadata"]["id"] == 2:
            sample["data"]["reasoning"][0]["criterion_selection"]["question"] = "What comes first?"

    results("gem")
    brought = import_results(results("pulse", other), str(tmp_path / "run"), {})
    assert [fault["sample"] for fault in brought.document["faults"]] == ["pulse: ptbxl/2"]
    assert brought.partial


def test_what_has_to_be_made_again_is_listed(results: Results, tmp_path: Path) -> None:
    def voltage(sample: dict[str, Any]) -> None:
        sample["metadata"]["target_dx"] = "left_ventricular_hypertrophy"

    given = {"ecg_reasoning.release": "0.0.1"}
    found = import_results(results("gem", voltage), str(tmp_path / "run"), given).document["again"]
    assert [(one["id"], one["how"]) for one in found] == [(0, "must"), (1, "must"), (2, "must")]
    newer = {"ecg_reasoning.release": "0.0.2"}
    assert import_results(tmp_path / "results", str(tmp_path / "newer"), newer).document["again"] == []
    leaked = import_results(tmp_path / "results", str(tmp_path / "leaked"), newer, "0.0.1").document["again"]
    assert {one["how"] for one in leaked} == {"must"} and "first question" in leaked[0]["why"]


def test_a_run_that_is_there_is_not_written_over(results: Results, tmp_path: Path) -> None:
    import_results(results(), str(tmp_path / "run"), {})
    with pytest.raises(BadRun):
        import_results(tmp_path / "results", str(tmp_path / "run"), {})
    with pytest.raises(BadInput, match="no results"):
        import_results(tmp_path / "run", str(tmp_path / "other"), {})


@pytest.mark.real
def test_the_tables_are_what_walking_through_the_files_gives(
    real_data: Path, toy: Callable[[str], str], tmp_path: Path
) -> None:
    data = {"ecg_reasoning": str(real_data / "ecg_reasoning")}
    models = (f"{toy('witness')}[out={tmp_path / 'sent'}]", "chance:draw", "oracle[anywhere=true]")
    run, _ = pipeline.run(Settings("ecg_reasoning", models, data, "", "none", out=str(tmp_path / "run")))
    for release in ("0.0.1", "0.0.2"):
        pipeline.judge(run, (f"ecg_heuristic:{release}",))
    list(export_results(run, tmp_path / "out"))
    for model in ("witness", "chance-draw", "oracle-anywhere=true"):
        files = sorted((tmp_path / "out" / model / "ptbxl").rglob("*.json"))
        samples = [json.loads(file.read_text(encoding="utf-8")) for file in files]
        wanted = walked(samples, "0.0.1")
        with (tmp_path / "out/evaluation/ecg_heuristic-0.0.1/ptbxl/total.csv").open(encoding="utf-8") as stream:
            (row,) = [row for row in csv.DictReader(stream) if row["model"] == model]
        got = {name: float(row[column]) for name, column in {
            "idq": "idq_correct", "gt": "gt_reasoning_based_diagnosis_correct", "hard": "completed",
            "depth_sum": "per_loop_depth_sum", "depth_total": "per_loop_depth_total",
        }.items()}  # fmt: skip
        assert got == pytest.approx({name: wanted[name] for name in got}), model
        slices = (pl.col("slice") == "source=ptbxl") & (pl.col("model").str.contains(model.split("-")[0]))
        pipeline.score(run, Settings("ecg_reasoning", set={"score.resamples": "10", "score.clean": "no"}))
        table = run.table("scores").filter(slices & (pl.col("judge") == "ecg_heuristic-0.0.1"))
        values = dict(table.select("metric", "value").iter_rows())
        for metric, name in {"completion_soft": "soft", "self_rda": "self"}.items():
            assert values[metric] * len(samples) == pytest.approx(wanted[name]), (model, metric)
