"""The metrics of one file each."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import polars as pl
import pytest

from overread.metrics import accuracy, completion, coverage, depth, mean_error, mean_error_read, unreadable
from overread.metrics.contract import GROUPS

Rows = list[dict[str, Any]]
ALL = (accuracy, completion, coverage, depth, mean_error, mean_error_read, unreadable)
NOT_READ = ("missing", "failed", "refused", "unreadable")


def value_list(metric: ModuleType, marks: pl.DataFrame) -> list[float | None]:
    return metric.values(marks)["value"].to_list()


@pytest.mark.parametrize("metric", ALL, ids=lambda m: m.__name__.rpartition(".")[2])
def test_a_metric_gives_the_columns_of_the_contract(make_marks: Any, metric: ModuleType) -> None:
    marks = make_marks([{"kind": "number", "slices": ["x=1"], "chance_error": 2.0}])
    for part in (marks, marks.clear()):
        found = metric.values(part.select(metric.COLUMNS))
        assert set(found.columns) == {*GROUPS, "slices", "value"}
        assert found.schema["slices"] == pl.List(pl.String)
    assert metric.UNIT in ("question", "dialogue")
    assert metric.DIRECTION in ("more", "less")


def test_accuracy_is_the_credit_of_what_was_read_or_expected(make_marks: Any) -> None:
    rows: Rows = [{"credit": 1.0}, {"credit": 0.0}, {"credit": 0.25, "status": "expected"}, {"credit": None}]
    assert value_list(accuracy, make_marks(rows)) == [1.0, 0.0, 0.25, 0.0]


@pytest.mark.parametrize("status", NOT_READ)
def test_accuracy_gives_nothing_for_what_was_not_read(make_marks: Any, status: str) -> None:
    assert value_list(accuracy, make_marks([{"status": status, "credit": 1.0}])) == [0.0]


def test_accuracy_leaves_out_masks_points_and_embeddings(make_marks: Any) -> None:
    kinds = ("choice", "number", "text", "mask", "points", "embedding")
    assert accuracy.values(make_marks([{"kind": kind} for kind in kinds])).height == 3


def test_mean_error_takes_the_error_of_a_guess_where_nothing_was_read(make_marks: Any) -> None:
    number = {"kind": "number", "chance_error": 20.0}
    rows: Rows = [number | {"error": 3.0}, number | {"error": None}]
    rows += [number | {"status": status} for status in NOT_READ]
    assert value_list(mean_error, make_marks(rows)) == [3.0, 20.0, 20.0, 20.0, 20.0, 20.0]


def test_mean_error_leaves_out_questions_without_a_range_for_everyone(make_marks: Any) -> None:
    rows: Rows = [{"kind": "number", "error": 3.0}, {"kind": "number", "status": "missing"}, {"kind": "choice"}]
    assert value_list(mean_error, make_marks(rows)) == []


def test_mean_error_read_has_only_what_was_read(make_marks: Any) -> None:
    rows: Rows = [{"kind": "number", "error": 3.0}, {"kind": "number", "status": "missing", "chance_error": 9.0}]
    assert value_list(mean_error_read, make_marks(rows)) == [3.0, None]


def test_coverage_counts_what_exists_and_did_not_fail(make_marks: Any) -> None:
    statuses = ("read", "expected", "unreadable", "refused", "failed", "missing")
    assert value_list(coverage, make_marks([{"status": s} for s in statuses])) == [1, 1, 1, 1, 0, 0]


def test_unreadable_counts_only_the_unreadable(make_marks: Any) -> None:
    statuses = ("read", "expected", "unreadable", "refused", "failed", "missing")
    assert value_list(unreadable, make_marks([{"status": s} for s in statuses])) == [0, 0, 1, 0, 0, 0]


def chain(*credits: float, **more: Any) -> Rows:
    return [{"place": k, "item": f"i{k}", "credit": c} | more for k, c in enumerate(credits)]


def test_completion_needs_every_question_right(make_marks: Any) -> None:
    assert value_list(completion, make_marks(chain(1, 1, 1))) == [1.0]
    assert value_list(completion, make_marks(chain(1, 0, 1))) == [0.0]


def test_completion_of_a_guess_is_its_probability(make_marks: Any) -> None:
    assert value_list(completion, make_marks(chain(0.5, 0.25, status="expected"))) == [pytest.approx(0.125)]


def test_a_missing_question_ends_completion(make_marks: Any) -> None:
    marks = make_marks([*chain(1, 1), {"place": 2, "item": "i2", "status": "missing"}])
    assert value_list(completion, marks) == [0.0]


def test_every_seed_sample_and_model_completes_for_itself(make_marks: Any) -> None:
    rows = chain(1, 1) + chain(1, 0, seed=1) + chain(1, 1, sample=1) + chain(0, 1, model="n")
    assert sorted(value_list(completion, make_marks(rows)), key=float) == [0.0, 0.0, 1.0, 1.0]


def test_depth_counts_the_leading_right_ones_by_place(make_marks: Any) -> None:
    marks = make_marks(chain(1, 1, 0, 1))
    assert value_list(depth, marks) == [2.0]
    assert value_list(depth, marks.reverse()) == [2.0]


def test_depth_of_a_guess_is_its_expectation(make_marks: Any) -> None:
    assert value_list(depth, make_marks(chain(0.5, 0.5, status="expected"))) == [pytest.approx(0.75)]


def test_a_dialogue_carries_the_slices_that_all_of_its_questions_carry(make_marks: Any) -> None:
    rows = chain(1, 1, 1)
    for row, own in zip(rows, ("stage=1", "stage=2", "stage=2"), strict=True):
        row["slices"] = ["sex=f", own, own]
    rows.append({"dialogue": "e", "item": "j", "slices": []})
    found = completion.values(make_marks(rows)).sort("value", descending=True)
    assert found["slices"].to_list() == [["sex=f"], []]
