"""Two runs side by side, every model of the one against every model of the other."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from overread import pipeline
from overread.commands.compare import compare_runs, comparison_table
from overread.errors import BadInput
from overread.runs.folder import Run

Sit = Callable[..., tuple[Run, list[str]]]


def pairs(rows: list[dict[str, object]]) -> list[tuple[object, object]]:
    return [(row["first"], row["second"]) for row in rows]


def test_the_models_of_one_run_are_compared_each_pair_once(sit: Sit) -> None:
    run, _ = sit("ecg_steps", "chance", "oracle", "prior")
    rows = compare_runs(run, Run(run.folder))
    assert sorted(pairs(rows)) == [("chance", "oracle"), ("chance", "prior"), ("oracle", "prior")]
    by_pair = dict(zip(pairs(rows), rows, strict=True))
    assert by_pair["chance", "oracle"]["effect"] < 0 < by_pair["oracle", "prior"]["effect"]
    for row in rows:
        assert row["metric"] == "accuracy" and row["low"] <= row["effect"] <= row["high"]
        assert row["p"] <= row["p_holm"] <= 1


def test_two_runs_are_compared_across_and_never_within(sit: Sit, tmp_path: Path) -> None:
    one, _ = sit("ecg_steps", "chance", "oracle", out=str(tmp_path / "a"))
    other, _ = sit("ecg_steps", "oracle", out=str(tmp_path / "b"))
    rows = compare_runs(one, other)
    assert pairs(rows) == [("chance", "oracle"), ("oracle", "oracle")]
    assert rows[1]["effect"] == 0 and rows[1]["p"] == 1
    assert compare_runs(other, one)[0]["effect"] == pytest.approx(-rows[0]["effect"])


def test_where_less_is_better_positive_still_means_that_the_first_is_better(sit: Sit) -> None:
    run, _ = sit("heartbeat", "chance", "oracle")
    (row,) = compare_runs(run, run, "mean_error")
    assert (row["first"], row["second"]) == ("chance", "oracle") and row["effect"] < 0


def test_any_metric_and_condition_of_the_run_can_be_named(sit: Sit, toy: Callable[[str], str]) -> None:
    run, _ = sit("ecg_steps", toy("steady"), "chance", conditions="blank", limit=6)
    rows = compare_runs(run, run, "completion")
    assert rows[0]["metric"] == "completion"
    with pytest.raises(BadInput, match="no two models"):
        compare_runs(run, run, condition="blank")
    with pytest.raises(BadInput, match="nothing under the condition 'swap'"):
        compare_runs(run, run, condition="swap")
    with pytest.raises(BadInput, match="did you mean accuracy"):
        compare_runs(run, run, "acuracy")


LENIENT = '''"""Everything is right."""

from overread.judges.rows import Finding, by_row

KINDS = ("choice",)


def judge(table):
    return by_row(table, lambda row: Finding("read", "x", True, 1.0))
'''


def test_the_judges_of_the_benchmark_decide_whatever_other_panels_are_called(sit: Sit, tmp_path: Path) -> None:
    run, _ = sit("ecg_steps", "oracle", "chance:draw", limit=6)
    before = compare_runs(run, run)
    (tmp_path / "all_right.py").write_text(LENIENT)
    pipeline.judge(run, [str(tmp_path / "all_right.py")])
    assert before[0]["effect"] != 0 and compare_runs(run, run) == before
    assert before[0]["judge"] == "option"
    (row,) = compare_runs(run, run, judges=[str(tmp_path / "all_right.py")])
    assert (row["judge"], row["effect"]) == ("all_right", 0)
    assert compare_runs(run, run, judges=["all_right"]) == [row], "by the name of its verdicts as well"
    assert "judge" in [str(column.header) for column in comparison_table([row], "plain").columns]


def test_runs_that_were_not_judged_alike_are_not_compared(sit: Sit, tmp_path: Path) -> None:
    one, _ = sit("ecg_steps", "oracle", limit=2, out=str(tmp_path / "a"))
    other, _ = sit("ecg_steps", "chance", limit=2, out=str(tmp_path / "b"))
    (tmp_path / "mine.py").write_text(LENIENT)
    pipeline.judge(one, [str(tmp_path / "mine.py")])
    with pytest.raises(BadInput, match="not judged by 'mine'") as error:
        compare_runs(one, other, judges=["mine"])
    assert str(other.folder) in str(error.value) and "--judge option" in str(error.value)
    (tmp_path / "else").mkdir()
    (tmp_path / "else" / "mine.py").write_text(LENIENT)
    pipeline.judge(other, [str(tmp_path / "else" / "mine.py")])
    with pytest.raises(BadInput, match="not judged alike"):
        compare_runs(one, other, judges=["mine"])
    assert compare_runs(one, other)[0]["judge"] == "option"


def test_a_single_model_has_nobody_to_be_compared_with(sit: Sit) -> None:
    run, _ = sit("ecg_steps", "chance", limit=2)
    with pytest.raises(BadInput, match="no two models"):
        compare_runs(run, run)


def test_runs_of_different_exams_are_refused(sit: Sit, tmp_path: Path) -> None:
    one, _ = sit("ecg_steps", "chance", limit=2, out=str(tmp_path / "a"))
    other, _ = sit("heartbeat", "chance", limit=2, out=str(tmp_path / "b"))
    with pytest.raises(BadInput, match="different exams: ecg_steps and heartbeat"):
        compare_runs(one, other)


def test_a_run_that_was_not_judged_says_how_to_judge_it(sit: Sit) -> None:
    run, _ = sit("ecg_steps", "chance", limit=2)
    for path in (run.folder / "verdicts" / "option").iterdir():
        path.unlink()
    (run.folder / "verdicts" / "option").rmdir()
    with pytest.raises(BadInput, match="was not judged") as error:
        compare_runs(run, run)
    assert "overread judge" in str(error.value)
    pipeline.judge(run)
    with pytest.raises(BadInput, match="no two models"):
        compare_runs(run, run)
