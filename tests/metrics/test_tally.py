from __future__ import annotations

import types
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from overread.errors import BadInput
from overread.metrics import accuracy, completion, coverage, depth, mean_error, mean_error_read, sums, unreadable
from overread.metrics.clean import Evidence
from overread.metrics.statistics import draws
from overread.metrics.tally import Tally
from overread.tables import Score, schema

Rows = list[dict[str, Any]]
METRICS = {
    "accuracy": accuracy, "completion": completion, "coverage": coverage, "depth": depth,
    "mean_error": mean_error, "mean_error_read": mean_error_read, "unreadable": unreadable,
}  # fmt: skip
SAME = {"rel_tol": 0.0, "abs_tol": 1e-8}


def scores(
    marks: pl.DataFrame | list[pl.DataFrame], metrics: Any = None, *, clean: bool = False, **more: Any
) -> pl.DataFrame:
    batches = marks if isinstance(marks, list) else [marks]
    evidence = Evidence() if clean else None
    if evidence is not None:
        for batch in batches:
            evidence.add(batch)
    tally = Tally(metrics or METRICS, benchmark="b", seed=1, resamples=100, clean=evidence, **more)
    for batch in batches:
        tally.add(batch)
    return tally.scores()


def one(found: pl.DataFrame, metric: str, **where: str) -> dict[str, Any]:
    wanted = {"metric": metric, "condition": "plain", "model": "m", "slice": "all"} | where
    rows = found.filter(*(pl.col(name) == value for name, value in wanted.items()))
    assert rows.height == 1, wanted
    return rows.row(0, named=True)


def items(condition: str, *credits: float, **more: Any) -> Rows:
    """One question a patient under one condition."""
    return [
        {"condition": condition, "item": f"i{k}", "patient": f"p{k}", "dialogue": f"{condition}{k}", "credit": c} | more
        for k, c in enumerate(credits)
    ]


def exam(patients: int = 12, seed: int = 0) -> Rows:
    """A small exam with every trouble in it."""
    generator = np.random.default_rng(seed)
    rows: Rows = []
    models = [(m, c) for m in ("m", "n[x=1]") for c in ("plain", "text", "blank", "swap", "guess", "order", "mirror")]
    for model, condition in [*models, ("chance", "plain"), ("prior:deep", "plain")]:
        for place in range(patients * 3):
            status = str(
                generator.choice(["read", "read", "read", "expected", "unreadable", "refused", "failed", "missing"])
            )
            credit = 0.0
            if status == "read":
                credit = float(generator.integers(0, 2))
            elif status == "expected":
                credit = float(generator.choice([0.25, 1 / 3, 0.5]))
            number = place % 3 == 2
            rows.append({
                "model": model, "condition": condition, "item": f"i{place}", "patient": f"p{place // 3:02d}",
                "dialogue": f"{condition}{place // 3}", "place": place, "kind": "number" if number else "choice",
                "status": status, "credit": credit, "slices": [f"sex={place // 3 % 2}", f"stage={place % 3}"],
                "error": float(generator.integers(0, 9)) if number and status in ("read", "expected") else None,
                "chance_error": 4.0 if number else None,
            })  # fmt: skip
    return rows


def test_scores_have_exactly_the_columns_of_their_table(make_marks: Any) -> None:
    found = scores(make_marks(exam()), clean=True, base={"m": "n[x=1]"})
    assert dict(found.schema) == schema(Score)
    required = set(schema(Score)) - {"value", "low", "high"}
    assert found.select(required).null_count().sum_horizontal().item() == 0
    assert (found["low"] <= found["high"]).all()
    assert dict(scores(make_marks([])).schema) == schema(Score)


def test_a_score_by_hand(make_marks: Any) -> None:
    rows = items("plain", 1, 0, 0.5, 1, 1)
    rows[0]["status"], rows[4]["status"] = "unreadable", "missing"
    found = one(scores(make_marks(rows)), "accuracy")
    assert (found["value"], found["n"], found["patients"]) == (pytest.approx(0.3), 5, 5)
    assert (found["coverage"], found["unreadable"]) == (pytest.approx(0.8), pytest.approx(0.2))
    assert (found["unit"], found["direction"], found["benchmark"], found["floor"]) == ("question", "more", "b", "")


def test_the_interval_is_that_of_resampled_patients(make_marks: Any) -> None:
    rows = [row | {"patient": f"p{k // 2}"} for k, row in enumerate(items("plain", 1, 1, 0, 1, 0, 0, 1))]
    counts = np.concatenate(list(draws(4, 1, 100)), axis=1)
    ratios = (np.array([2, 1, 0, 1]) @ counts) / (np.array([2, 2, 2, 1]) @ counts)
    found = one(scores(make_marks(rows)), "accuracy")
    assert (found["low"], found["high"]) == pytest.approx(tuple(np.quantile(ratios, [0.025, 0.975])))


def test_a_single_patient_has_no_interval(make_marks: Any) -> None:
    found = scores(make_marks([row | {"patient": "p"} for row in items("plain", 1, 0) + items("text", 0, 0)]))
    assert found["low"].is_null().all()
    assert found["high"].is_null().all()
    assert one(found, "accuracy")["value"] == 0.5


def test_a_slice_with_a_single_patient_has_no_interval(make_marks: Any) -> None:
    rows = items("plain", 1, 0, 1)
    rows[0]["slices"] = ["rare=yes"]
    found = one(scores(make_marks(rows)), "accuracy", slice="rare=yes")
    assert (found["value"], found["low"], found["patients"]) == (1.0, None, 1)


def test_slices_are_read_under_plain_only(make_marks: Any) -> None:
    found = scores(make_marks(exam()))
    plain = pl.col("condition") == "plain"
    values = ~pl.col("metric").str.contains("[:_](lift|gain|mirage|reliance|consistency|follow|sensitivity)")
    assert set(found.filter(~plain & values)["slice"]) == {"all"}
    assert set(found.filter(plain & values)["slice"]) == {"all", "sex=0", "sex=1", "stage=0", "stage=1", "stage=2"}


def test_a_label_given_twice_counts_once(make_marks: Any) -> None:
    rows = items("plain", 1, 0)
    rows[0]["slices"] = ["x=1", "x=1"]
    assert one(scores(make_marks(rows)), "accuracy", slice="x=1")["n"] == 1


def test_the_lift_is_over_the_best_floor(make_marks: Any) -> None:
    rows = items("plain", 1, 1, 1, 0) + items("text", 1, 0, 0, 0) + items("swap", 1, 1, 0, 0)
    rows += items("plain", *[0.25] * 4, model="chance", status="expected")
    found = scores(make_marks(rows))
    lift = one(found, "accuracy:lift")
    assert (lift["value"], lift["floor"], lift["n"], lift["direction"]) == (0.25, "swap", 4, "more")
    counts = np.concatenate(list(draws(4, 1, 100)), axis=1) / 4
    floors = np.maximum.reduce([np.array(f) @ counts for f in ([1, 0, 0, 0], [1, 1, 0, 0], [0.25] * 4)])
    expected = np.quantile(np.array([1, 1, 1, 0]) @ counts - floors, [0.025, 0.975])
    assert (lift["low"], lift["high"]) == pytest.approx(tuple(expected))


def test_the_lift_of_an_error_is_floor_minus_value(make_marks: Any) -> None:
    number = {"kind": "number", "chance_error": 9.0}
    rows = [row | number | {"error": 2.0} for row in items("plain", 0, 0)]
    rows += [row | number | {"error": e} for row, e in zip(items("blank", 0, 0), (4.0, 6.0), strict=True)]
    rows += [row | number | {"error": 7.0, "model": "prior"} for row in items("plain", 0, 0)]
    found = one(scores(make_marks(rows)), "mean_error:lift")
    assert (found["value"], found["floor"], found["direction"]) == (3.0, "blank", "more")


def test_floors_and_the_oracle_get_no_lift_but_others_get_one_from_every_variant(make_marks: Any) -> None:
    names = ("chance", "prior", "prior:deep", "prior[k=v]", "oracle", "m", "chancellor")
    found = scores(make_marks([row | {"model": name} for name in names for row in items("plain", 1, 0)]))
    lifts = found.filter(pl.col("metric") == "accuracy:lift")
    assert set(lifts["model"]) == {"m", "chancellor"}
    rows = items("plain", 1, 1) + items("plain", 1, 0, model="prior:deep") + items("plain", 0, 0, model="prior")
    assert one(scores(make_marks(rows)), "accuracy:lift")["floor"] == "prior:deep"


def test_a_slice_has_the_lift_over_its_own_floors(make_marks: Any) -> None:
    label = {"slices": ["sex=f"]}
    rows = items("plain", 1, 0, 1) + items("text", 0, 0, 1)
    rows = [row | (label if row["item"] != "i2" else {}) for row in rows]
    found = one(scores(make_marks(rows)), "accuracy:lift", slice="sex=f")
    assert (found["value"], found["n"], found["floor"]) == (0.5, 2, "text")


def test_a_model_without_floors_has_no_lift(make_marks: Any) -> None:
    found = scores(make_marks(items("plain", 1, 0) + items("order", 1, 0)))
    assert not found["metric"].str.contains(":lift").any()


@pytest.mark.parametrize("status", ["missing", "failed"])
def test_a_floor_that_did_not_get_its_replies_does_not_flatter(make_marks: Any, status: str) -> None:
    blank = items("blank", 1, 1, 0, 0)
    for row in blank[2:]:
        row["status"] = status
    found = scores(make_marks(items("plain", 1, 1, 1, 1) + blank))
    assert one(found, "accuracy", condition="blank")["value"] == 0.5
    assert one(found, "accuracy:lift")["value"] == 0.0
    assert one(found, "completion:lift")["value"] == 0.0


def test_a_floor_without_any_reply_is_no_floor(make_marks: Any) -> None:
    found = scores(make_marks(items("plain", 1, 0) + items("blank", 0, 0, status="missing")))
    assert not found["metric"].str.contains(":lift").any()


def test_a_refused_floor_is_a_floor_of_nothing(make_marks: Any) -> None:
    found = scores(make_marks(items("plain", 1, 0) + items("blank", 0, 0, status="refused")))
    assert one(found, "accuracy:lift")["value"] == 0.5


def test_coverage_and_unreadable_and_errors_of_what_was_read_have_no_lift(make_marks: Any) -> None:
    lifts = {m for m in scores(make_marks(exam()))["metric"] if m.endswith(":lift")}
    assert lifts == {"accuracy:lift", "completion:lift", "depth:lift", "mean_error:lift"}


def test_protocols_and_judges_are_kept_apart(make_marks: Any) -> None:
    rows = items("plain", 1, 1) + items("plain", 0, 1, protocol="chain") + items("plain", 0, 0, judge="x")
    found = scores(make_marks(rows), {"accuracy": accuracy})
    assert found.select("protocol", "judge", "value").rows() == [
        ("chain", "option", 0.5), ("single", "option", 1.0), ("single", "x", 0.0),
    ]  # fmt: skip


def test_the_order_of_the_rows_changes_nothing(make_marks: Any) -> None:
    marks = make_marks(exam())
    shuffled = marks.sample(fraction=1, shuffle=True, seed=3)
    assert_frame_equal(scores(marks, clean=True), scores(shuffled, clean=True), **SAME)


@pytest.mark.parametrize("size", [1, 5])
def test_batches_change_nothing(make_marks: Any, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    marks = make_marks(exam())
    whole = scores(marks, clean=True, base={"m": "n[x=1]"})
    monkeypatch.setattr(sums, "ROWS", 50)
    patients = sorted(set(marks["patient"]), reverse=True)
    batches = [marks.filter(pl.col("patient").is_in(patients[k : k + size])) for k in range(0, len(patients), size)]
    assert_frame_equal(whole, scores(batches, clean=True, base={"m": "n[x=1]"}), **SAME)


def test_twice_the_patients_have_the_same_values_and_narrower_intervals(make_marks: Any) -> None:
    rows = exam(40)
    again = [row | {n: f"again {row[n]}" for n in ("patient", "item", "dialogue")} for row in rows]
    metrics = {"accuracy": accuracy, "mean_error": mean_error, "depth": depth}
    single, double = scores(make_marks(rows), metrics), scores(make_marks(rows + again), metrics)
    assert_frame_equal(single.select("metric", "slice", "value"), double.select("metric", "slice", "value"))
    assert (double["n"] == 2 * single["n"]).all()
    assert (double["patients"] == 2 * single["patients"]).all()
    widths = [(found["high"] - found["low"]).mean() for found in (single, double)]
    assert widths[1] / widths[0] == pytest.approx(np.sqrt(0.5), abs=0.08)


def test_more_models_and_metrics_do_not_change_the_scores_of_the_others(make_marks: Any) -> None:
    rows = exam()
    few = [row for row in rows if row["model"] in ("m", "chance", "prior:deep")]
    both = scores(make_marks(rows)).filter(pl.col("model") == "m", pl.col("metric").str.starts_with("accuracy"))
    alone = scores(make_marks(few), {"accuracy": accuracy}).filter(
        pl.col("model") == "m", pl.col("metric").str.starts_with("accuracy")
    )
    assert_frame_equal(both, alone, **SAME)


def test_a_metric_may_weigh_its_units_and_leave_some_out(make_marks: Any) -> None:
    def values(marks: pl.DataFrame) -> pl.DataFrame:
        weight = pl.when(pl.col("item") == "i0").then(3).otherwise(1)
        value = pl.when(pl.col("item") != "i2").then(pl.col("credit"))
        return accuracy.values(marks).with_columns(marks.select(value=value, weight=weight))

    weighted = types.SimpleNamespace(UNIT="question", DIRECTION="more", values=values)
    found = one(scores(make_marks(items("plain", 1, 0, 1)), {"weighted": weighted}), "weighted")
    assert (found["value"], found["n"]) == (0.75, 2)


def test_a_metric_that_gives_nan_is_named(make_marks: Any) -> None:
    broken = types.SimpleNamespace(
        UNIT="question", DIRECTION="more", values=lambda m: accuracy.values(m).with_columns(value=pl.lit(float("nan")))
    )
    with pytest.raises(BadInput, match="the metric broken gave a value that is not a finite number"):
        scores(make_marks(items("plain", 1)), {"broken": broken})


def exam_metric(*columns: str) -> Any:
    """The share of right answers once more, but as an exam has it."""

    def score(marks: pl.DataFrame) -> float | None:
        assert set(columns) <= set(marks.columns)
        assert "parsed" not in marks.columns
        return None if marks.is_empty() else marks["credit"].sum() / marks.height

    return types.SimpleNamespace(UNIT="exam", DIRECTION="more", COLUMNS=columns, score=score)


def test_an_exam_metric_is_recomputed_on_the_same_resamples(make_marks: Any) -> None:
    rows = [row | {"kind": "choice"} for row in exam(6) if row["condition"] in ("plain", "text", "swap")]
    found = scores(make_marks(rows), {"accuracy": accuracy, "share": exam_metric("credit")})
    ours = found.filter(pl.col("metric").is_in(["share", "share:lift"]))
    theirs = found.filter(pl.col("metric").is_in(["accuracy", "accuracy:lift"]))
    assert set(ours["unit"]) == {"exam"}
    columns = ["condition", "model", "slice", "value", "low", "high", "n", "patients", "coverage", "floor"]
    assert_frame_equal(ours.select(columns), theirs.select(columns), **SAME)


def test_an_exam_metric_may_have_no_value(make_marks: Any) -> None:
    never = types.SimpleNamespace(UNIT="exam", DIRECTION="more", score=lambda marks: None)
    found = one(scores(make_marks(items("plain", 1, 0)), {"never": never}), "never")
    assert (found["value"], found["low"], found["n"]) == (None, None, 2)


def test_the_clean_slice_is_there_when_asked_for(make_marks: Any) -> None:
    # Under text all of template u is known without looking, and t is not.
    rows = [
        row | {"template": "ut"[k % 2], "patient": f"p{k}", "item": f"i{k}", "dialogue": f"{condition}{k}"}
        for condition in ("plain", "text")
        for k, row in enumerate(items(condition, *[1.0, float(condition == "plain")] * 40))
    ]
    rows += items("plain", *[0.5] * 80, model="chance", status="expected")
    rows = [row | {"template": row.get("template", "ut"[int(row["item"][1:]) % 2])} for row in rows]
    marks = make_marks(rows)
    assert "clean" not in set(scores(marks)["slice"])
    found = scores(marks, clean=True)
    assert (one(found, "accuracy", slice="clean")["value"], one(found, "accuracy", slice="clean")["n"]) == (1.0, 40)
    lift = one(found, "accuracy:lift", slice="clean")
    assert (lift["value"], lift["floor"]) == (pytest.approx(0.5), "chance")
    assert one(found, "accuracy:lift")["floor"] == "chance"
    assert one(found, "accuracy:gain", slice="clean", condition="text")["value"] == 1.0, (
        "what decided is scored on the same questions"
    )
