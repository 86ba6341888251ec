"""Marks: one row for every reply that is expected, whether it is there or not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from overread import marking
from overread.exam import publishing
from overread.marking import marks_of
from overread.metrics.contract import MARKS
from overread.runs.folder import Run, Seat
from overread.settings import Settings

Sit = Callable[..., tuple[Run, list[str]]]


def marks(run: Run, panel: str = "option") -> pl.DataFrame:
    return pl.concat(marks_of(run, panel))


def test_marks_have_the_columns_of_the_contract_and_one_row_a_reply(sit: Sit, toy: Callable[[str], str]) -> None:
    run, _ = sit("ecg_steps", toy("steady"), conditions="blank,order", limit=4)
    found, replies = marks(run), run.table("replies")
    assert dict(found.schema) == MARKS
    assert found.height == replies.height
    found = found.filter(model=toy("steady"))
    assert found.height == run.table("questions").height
    assert found["judge"].unique().to_list() == ["option"]
    assert set(found["condition"]) == {"plain", "blank", "order"}


def test_models_that_do_not_look_are_expected_under_plain_alone(sit: Sit, toy: Callable[[str], str]) -> None:
    run, _ = sit("ecg_steps", toy("steady"), "chance", conditions="blank,text", limit=4)
    found = dict(marks(run).group_by("model").agg(pl.col("condition").unique().sort()).iter_rows())
    never = {name: ["plain"] for name in ("chance", "prior", "prior:chain")}
    assert found == {toy("steady"): ["blank", "plain", "text"], **never}
    assert "missing" not in set(marks(run)["status"])


def test_what_was_not_asked_yet_is_missing_and_gets_nothing(sit: Sit) -> None:
    run, _ = sit("ecg_steps", "oracle", shard=(1, 2))
    found = marks(run)
    assert found.height == run.table("questions").height
    missing = found.filter(status="missing")
    assert missing.height == found.height - run.table("replies").height > 0
    assert missing["credit"].sum() == 0 and missing["correct"].null_count() == missing.height


def test_questions_that_are_not_scored_are_marked_so(sit: Sit, toy: Callable[[str], str]) -> None:
    run, _ = sit("ecg_steps", toy("steady"), conditions="swap")
    unscored = run.table("key").filter(~pl.col("scored"))["question"]
    found = marks(run).filter(model=toy("steady"))
    assert unscored.len() > 0
    assert sorted(found.filter(~pl.col("scored"))["question"]) == sorted(unscored)
    assert found.height == run.table("questions").height


def test_every_seed_and_sample_is_expected_of_a_model_that_can_differ(sit: Sit) -> None:
    run, _ = sit("ecg_steps", "chance:draw", "prior", limit=2, seed=5, seeds=2, samples=2)
    slots = marks(run).select("model", "seed", "sample").unique().sort("model", "seed", "sample").rows()
    assert slots == [
        ("chance:draw", 5, 0), ("chance:draw", 5, 1), ("chance:draw", 6, 0), ("chance:draw", 6, 1), ("prior", 5, 0),
    ]  # fmt: skip
    fixed = Seat("m", "x", True, False, {})
    assert fixed.repeats(5, 9, 9) == [(5, 0)]


def test_two_identities_of_one_name_are_two_models(sit: Sit, tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    text = (Path(__file__).parent / "toys" / "steady.py").read_text(encoding="utf-8")
    for edition in ("", "# another edition\n"):
        path.write_text(text + edition)
        run, _ = sit("ecg_steps", str(path), limit=2)
    names = [seat.model for seat in run.seats()]
    assert len(set(names)) == 2 and all(name.startswith(f"{path}~") for name in names)
    counts = dict(marks(run).group_by("model").len().iter_rows())
    assert counts == dict.fromkeys(names, run.table("questions").height)
    assert "missing" not in set(marks(run)["status"])


def test_an_exam_in_several_parts_has_the_same_marks(sit: Sit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, _ = sit("ecg_steps", "oracle", "prior", out=str(tmp_path / "whole"))
    monkeypatch.setattr(publishing, "PART_SIZE", 20)
    cut, _ = sit("ecg_steps", "oracle", "prior", out=str(tmp_path / "cut"))
    assert len(whole.parts) == 1 < len(cut.parts)
    keys = ["model", "seed", "sample", "place"]
    assert marks(whole).sort(keys).equals(marks(cut).sort(keys))
    assert whole.table("scores").equals(cut.table("scores"))


def test_a_single_patient_is_scored_without_an_interval(sit: Sit) -> None:
    run, _ = sit("ecg_steps", "chance", "prior", "oracle", limit=1)
    scores = run.table("scores").filter(metric="accuracy", slice="all", model="oracle")
    assert scores.select("value", "low", "high", "patients").row(0) == (1.0, None, None, 1)


NUMBERS = [
    # low, high, whole, tolerance, key -> credit, error of a uniform guess
    (0, 9, True, None, 4, 1 / 10, 2.5),
    (0, 9, True, 1.0, 4, 3 / 10, 2.5),
    (0, 9, True, 1.9, 4, 3 / 10, 2.5),
    (0, 9, True, 2.0, 0, 3 / 10, 4.5),
    (0, 9, True, 99.0, 4, 1.0, 2.5),
    (0, 10, False, 1.0, 5, 2 / 10, 2.5),
    (0, 10, False, 1.0, 10, 1 / 10, 5.0),
    (0, 10, False, None, 5, 0.0, 2.5),
    (None, None, False, 1.0, 5, 0.0, None),
]


@pytest.mark.parametrize("case", NUMBERS, ids=str)
def test_the_chance_of_a_number_counts_what_lies_within_range_and_tolerance(case: tuple[Any, ...]) -> None:
    row = dict(zip(("low", "high", "whole", "tolerance", "number"), case[:5], strict=True))
    types = {"low": pl.Float64, "high": pl.Float64, "tolerance": pl.Float64, "number": pl.Float64}
    number = pl.DataFrame([row], schema_overrides=types).with_columns(
        kind=pl.lit("number"), many=False, options=pl.lit([], dtype=pl.List(pl.String))
    )
    found = number.select(c=marking._chance_credit(), e=marking._chance_error())
    credit, error = case[5:]
    assert found["c"][0] == pytest.approx(credit)
    assert found["e"][0] == (None if error is None else pytest.approx(error))


CHOICES = [(2, False, 0.5), (5, False, 0.2), (3, True, 0.125), (1, False, 1)]


@pytest.mark.parametrize(("count", "many", "credit"), CHOICES)
def test_the_chance_of_a_choice_counts_the_answers_that_could_be_given(count: int, many: bool, credit: float) -> None:
    row = {"kind": "choice", "options": [str(n) for n in range(count)], "many": many, "whole": False}
    nothing = {name: pl.Series([None], dtype=pl.Float64) for name in ("low", "high", "tolerance", "number")}
    found = pl.DataFrame([row]).with_columns(**nothing).select(c=marking._chance_credit(), e=marking._chance_error())
    assert found.row(0) == (credit, None)


def test_marks_under_settings_of_another_seed_are_another_exam(sit: Sit) -> None:
    run, _ = sit("heartbeat", "chance", seed=1, limit=2)
    assert marks(run, "number")["seed"].unique().to_list() == [1]
    assert Settings("heartbeat", seed=1).seed == run.exam["seed"]
