from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from overread.metrics import accuracy
from overread.metrics.clean import clean_questions, side, with_clean_slice
from overread.metrics.tally import Tally

Rows = list[dict[str, Any]]
EVEN = next(f"p{k}" for k in range(99) if side(f"p{k}") == 0)
ODD = next(f"p{k}" for k in range(99) if side(f"p{k}") == 1)


def replies(*credits: float, **more: Any) -> Rows:
    """Repeated samples of one question under `text`."""
    return [{"condition": "text", "patient": EVEN, "sample": k, "credit": c} | more for k, c in enumerate(credits)]


def decide(make_marks: Any, rows: Rows) -> bool | None:
    found = clean_questions(make_marks(rows))
    assert found.columns == ["item", "clean"]
    assert found["item"].to_list() == ["i"]
    return found["clean"][0]


def test_about_half_of_the_patients_are_on_each_side() -> None:
    assert 450 < sum(side(f"ptbxl/{k}") for k in range(1000)) < 550


@pytest.mark.parametrize(
    ("hits", "asked", "guess", "clean"),
    [
        (1, 1, 1 / 2, True),  # .5 is not more than .5
        (1, 1, 1 / 3, False),  # .667 > .471
        (2, 2, 1 / 2, False),  # .5 > .354
        (3, 4, 1 / 2, True),  # .25 is not more than .25
        (4, 4, 1 / 2, False),
        (1, 4, 1 / 4, True),  # 0
        (2, 4, 1 / 4, False),  # .25 > .217
        (0, 3, 1 / 4, True),
    ],
)
def test_better_than_chance_is_by_more_than_the_spread_of_guesses(
    make_marks: Any, hits: int, asked: int, guess: float, clean: bool
) -> None:
    credits = [1.0] * hits + [0.0] * (asked - hits)
    # On the even side every second reply decides; those between must not matter.
    rows = [row for k, c in enumerate(credits) for row in replies(c, chance_credit=guess, seed=k)]
    between = [row for k in range(asked) for row in replies(1.0, chance_credit=guess, seed=k)]
    both = [r | {"sample": s} for pair in zip(rows, between, strict=True) for s, r in enumerate(pair)]
    assert decide(make_marks, both if asked > 1 else rows) is clean


def test_each_side_decides_with_its_own_half(make_marks: Any) -> None:
    credits = [1.0, 0.0, 1.0, 0.0]
    assert decide(make_marks, replies(*credits)) is False
    assert decide(make_marks, replies(*credits, patient=ODD)) is True


@pytest.mark.parametrize("condition", ["text", "guess", "blank"])
def test_one_candidate_is_enough_to_drop_a_question(make_marks: Any, condition: str) -> None:
    rows = replies(0, 0) + replies(1, model="n", condition=condition, chance_credit=0.25)
    assert decide(make_marks, [row | {"chance_credit": 0.25} for row in rows]) is False


@pytest.mark.parametrize("condition", ["plain", "swap", "order"])
def test_replies_that_are_not_of_a_candidate_do_not_decide(make_marks: Any, condition: str) -> None:
    rows = replies(0, chance_credit=0.25) + replies(1, condition=condition, chance_credit=0.25)
    assert decide(make_marks, rows) is True


def test_the_prior_is_a_candidate_under_plain_and_by_expectation(make_marks: Any) -> None:
    prior = {"model": "prior:deep", "condition": "plain", "status": "expected"}
    assert decide(make_marks, replies(0) + replies(0.6, **prior)) is False
    assert decide(make_marks, replies(0) + replies(0.4, **prior)) is True
    assert decide(make_marks, replies(0) + replies(0.5, **prior | {"model": "chance"})) is True


def test_a_question_that_no_model_was_asked_blind_is_not_decided(make_marks: Any) -> None:
    rows = replies(1, condition="plain") + replies(0.1, model="prior", condition="plain", status="expected")
    assert decide(make_marks, rows) is None
    for status in ("missing", "failed"):
        assert decide(make_marks, rows + replies(0, status=status)) is None


def test_replies_that_decided_are_not_scored_on_the_clean_slice(make_marks: Any) -> None:
    marks = with_clean_slice(make_marks(replies(0, 0, 0, 0) + replies(1, 1, condition="plain")))
    labelled = marks.filter(pl.col("slices").list.contains("clean")).select("condition", "sample").rows()
    assert sorted(labelled) == [("plain", 0), ("plain", 1), ("text", 1), ("text", 3)]


def test_the_choice_of_questions_does_not_flatter_the_floor(make_marks: Any) -> None:
    """A model that tosses coins in all conditions: its clean floor must stay at 1/2, and its gain at 0."""
    generator = np.random.default_rng(0)
    rows = [
        {"condition": condition, "item": f"i{k}", "patient": f"p{k}", "sample": sample, "credit": c, "place": k}
        for condition, samples in (("plain", 4), ("text", 4))
        for k in range(1500)
        for sample, c in enumerate(map(float, generator.integers(0, 2, samples)))
    ]
    marks = make_marks(rows)
    share = clean_questions(marks)["clean"].mean()
    assert share == pytest.approx(3 / 4, abs=0.04)
    tally = Tally({"accuracy": accuracy}, benchmark="b", seed=0, resamples=200, clean=True)
    tally.add(marks)
    found = {row["metric"]: row for row in tally.scores().filter(pl.col("slice") == "clean").to_dicts()}
    assert found["accuracy:lift"]["value"] == pytest.approx(0, abs=0.03)
    assert found["accuracy:lift"]["low"] < 0 < found["accuracy:lift"]["high"]
    assert found["accuracy:gain"]["value"] == pytest.approx(0, abs=0.03)
    used = with_clean_slice(marks).filter(pl.col("condition") == "text", pl.col("slices").list.contains("clean"))
    assert used["credit"].mean() == pytest.approx(0.5, abs=0.03)
