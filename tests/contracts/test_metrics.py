"""Every metric against its contract, on marks drawn at random."""

from __future__ import annotations

import importlib.util
import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from overread import catalog
from overread.metrics.contract import GROUPS, MARKS

EXAMPLE = str(Path(__file__).parent / "examples" / "metric.py")
NAMES = [*catalog.entries("metrics"), EXAMPLE]
STATUSES = ["read", "read", "expected", "unreadable", "refused", "failed", "missing"]


@st.composite
def marks(draw: st.DrawFn) -> pl.DataFrame:
    """The marks of a few dialogues under two conditions, by two models at two seeds."""
    found: list[dict[str, Any]] = []
    for dialogue in range(draw(st.integers(0, 3))):
        questions = draw(st.integers(1, 3))
        patient = draw(st.sampled_from(["p1", "p2"]))
        for model in ("m", "chance"):
            for condition in ("plain", "blank"):
                for seed in range(draw(st.integers(1, 2))):
                    who = {"patient": patient, "model": model, "condition": condition, "seed": seed}
                    found += [{**who, **draw(mark(dialogue, place))} for place in range(questions)]
    return pl.DataFrame(found, schema=MARKS, orient="row")


@st.composite
def mark(draw: st.DrawFn, dialogue: int, place: int) -> dict[str, Any]:
    kind = ("choice", "number", "text")[place]
    status = draw(st.sampled_from(STATUSES))
    credit = draw(st.sampled_from([0.0, 0.25, 1.0])) if status in ("read", "expected") else 0.0
    number = kind == "number" and status in ("read", "expected")
    return {
        "protocol": "p", "judge": "j", "case": f"c{dialogue}", "dialogue": f"d{dialogue}", "place": place,
        "question": f"d{dialogue}-{place}", "item": f"i{dialogue}/{place}", "template": f"t{place}", "kind": kind,
        "stage": "s", "scored": True, "slices": draw(st.sampled_from([[], ["a=1"], ["a=1", "b=2"]])), "sample": 0,
        "options": ["a", "b"] if kind == "choice" else [], "answer": ["a"], "status": status, "parsed": None,
        "correct": credit == 1.0 if status == "read" else None, "credit": credit,
        "error": draw(st.sampled_from([0.0, 2.5])) if number else None, "probability": None,
        "chance_credit": 0.5 if kind == "choice" else 0.0, "chance_error": 1.5 if kind == "number" else None,
    }  # fmt: skip


def same(one: pl.DataFrame, other: pl.DataFrame) -> None:
    """Equal save for the order of rows and of the labels of a unit."""
    one, other = (frame.with_columns(pl.col("slices").list.sort()) for frame in (one, other))
    assert_frame_equal(one, other, check_row_order=False, check_column_order=False)


@pytest.mark.parametrize("name", NAMES)
def test_the_file_says_what_is_counted_and_which_is_better(name: str) -> None:
    module = catalog.load("metrics", name)
    assert catalog.describe("metrics", name).title
    assert module.UNIT in ("question", "dialogue", "exam")
    assert module.DIRECTION in ("more", "less")
    assert isinstance(module.LABEL, str) and module.LABEL
    assert hasattr(module, "score" if module.UNIT == "exam" else "values")
    assert set(getattr(module, "COLUMNS", ())) <= set(MARKS)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(table=marks(), data=st.data())
def test_the_order_of_the_marks_does_not_matter(name: str, table: pl.DataFrame, data: st.DataObject) -> None:
    module = catalog.load("metrics", name)
    mixed = table[data.draw(st.permutations(range(table.height)))] if table.height else table
    if module.UNIT == "exam":
        one, other = module.score(table), module.score(mixed)
        assert one is None or math.isfinite(one)
        assert one == other or one == pytest.approx(other)
        return
    one, other = module.values(table), module.values(mixed)
    assert set(one.columns) - {"weight"} == {*GROUPS, "slices", "value"}
    assert one.schema["slices"] == pl.List(pl.String)
    assert one["value"].drop_nulls().cast(pl.Float64).is_finite().all()
    same(one, other)
    units = ["dialogue"] if module.UNIT == "dialogue" else ["question"]
    assert one.height <= table.select("model", "condition", "seed", *units).unique().height


@pytest.mark.parametrize("name", NAMES)
def test_no_marks_are_no_error(name: str) -> None:
    module = catalog.load("metrics", name)
    empty = pl.DataFrame(schema=MARKS)
    if module.UNIT == "exam":
        assert module.score(empty) is None
    else:
        assert module.values(empty).is_empty()


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(table=marks())
def test_the_columns_that_a_metric_names_are_all_it_needs(name: str, table: pl.DataFrame) -> None:
    module = catalog.load("metrics", name)
    measure = module.score if module.UNIT == "exam" else module.values
    whole, part = measure(table), measure(table.select(getattr(module, "COLUMNS", tuple(MARKS))))
    if isinstance(whole, pl.DataFrame):
        same(whole, part)
    else:
        assert whole == part


def test_a_metric_that_hangs_on_the_order_would_be_seen(tmp_path: Path) -> None:
    path = tmp_path / "first.py"
    text = '"""T"""\nUNIT, DIRECTION = "question", "more"\ndef values(marks):\n    return marks.head(1)\n'
    path.write_text(text)
    spec = importlib.util.spec_from_file_location("first", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    table = pl.DataFrame({"value": [1.0, 2.0]})
    with pytest.raises(AssertionError):
        assert_frame_equal(module.values(table), module.values(table.reverse()), check_row_order=False)
