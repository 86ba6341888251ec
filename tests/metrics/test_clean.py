from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from overread.metrics import accuracy
from overread.metrics.clean import ENOUGH, Evidence, side
from overread.metrics.tally import Tally

Rows = list[dict[str, Any]]
SIDES = [[f"p{k}" for k in range(4000) if side(f"p{k}") == which] for which in (0, 1)]
HERE, THERE = SIDES
"""Patients whose questions are decided on here, and those who decide."""

QUESTION = {"item": "i", "patient": HERE[0], "condition": "plain"}


def shown(credits: list[float], **more: Any) -> Rows:
    """Replies to questions about other patients, one each, under `text`."""
    return [
        {"condition": "text", "patient": THERE[k], "item": f"o{k}", "credit": c} | more for k, c in enumerate(credits)
    ]


def decide(make_marks: Any, rows: Rows, **question: Any) -> bool | None:
    marks = make_marks([QUESTION | question, *rows])
    evidence = Evidence()
    evidence.add(marks)
    found = evidence.decide(marks)
    assert found.columns == ["item", "clean"]
    assert sorted(found["item"]) == sorted(marks["item"].unique())
    return found.filter(pl.col("item") == "i")["clean"][0]


def test_about_half_of_the_patients_are_on_each_side() -> None:
    assert 450 < sum(side(f"ptbxl/{k}") for k in range(1000)) < 550


@pytest.mark.parametrize(
    ("hits", "asked", "guess", "clean"),
    [
        (1, 1, 1 / 2, True),  # .5 is not more than .5
        (1, 1, 1 / 3, False),  # .667 > .471
        (2, 2, 1 / 2, False),  # 1 > .707
        (3, 4, 1 / 2, True),  # 1 is not more than 1
        (4, 4, 1 / 2, False),
        (1, 4, 1 / 4, True),  # 0
        (2, 4, 1 / 4, False),  # 1 > .866
        (0, 3, 1 / 4, True),
        (70, 100, 1 / 2, False),
        (54, 100, 1 / 2, True),  # 4 is not more than 5
    ],
)
def test_better_than_chance_is_by_more_than_the_spread_of_guesses(
    make_marks: Any, hits: int, asked: int, guess: float, clean: bool
) -> None:
    rows = shown([1.0] * hits + [0.0] * (asked - hits), chance_credit=guess)
    assert decide(make_marks, rows, chance_credit=guess) is clean


def test_no_reply_about_the_same_side_decides(make_marks: Any) -> None:
    beside = [row | {"patient": HERE[k]} for k, row in enumerate(shown([1.0] * 50))]
    assert decide(make_marks, beside + shown([0.0, 1.0])) is True
    assert decide(make_marks, beside) is None, "nobody on the other side was asked"


def test_a_template_decides_by_itself_where_enough_of_it_was_asked(make_marks: Any) -> None:
    easy, hard = shown([1.0] * ENOUGH, template="easy"), shown([0.0] * 3 * ENOUGH, template="hard")
    assert decide(make_marks, easy + hard, template="easy") is False
    assert decide(make_marks, easy + hard, template="hard") is True
    assert decide(make_marks, easy + hard, template="never seen there") is True
    assert decide(make_marks, easy[1:] + hard, template="easy") is True, "too few of it: all together decide"


def test_questions_of_another_chance_do_not_decide(make_marks: Any) -> None:
    rows = shown([1.0] * 20) + [row | {"item": f"{row['item']}/4"} for row in shown([0.0] * 20, chance_credit=0.25)]
    assert decide(make_marks, rows, chance_credit=0.25, template="other") is True
    assert decide(make_marks, rows, template="other") is False


@pytest.mark.parametrize("condition", ["text", "guess", "blank"])
def test_one_candidate_is_enough_to_drop_a_question(make_marks: Any, condition: str) -> None:
    assert decide(make_marks, shown([0.0] * 20) + shown([1.0] * 20, model="n", condition=condition)) is False


@pytest.mark.parametrize("condition", ["plain", "swap", "order"])
def test_replies_that_are_not_of_a_candidate_do_not_decide(make_marks: Any, condition: str) -> None:
    assert decide(make_marks, shown([0.0] * 20) + shown([1.0] * 20, condition=condition)) is True


def test_the_prior_is_a_candidate_under_plain_and_by_expectation(make_marks: Any) -> None:
    prior = {"model": "prior:deep", "condition": "plain", "status": "expected"}
    assert decide(make_marks, shown([0.0]) + shown([0.6] * 20, **prior)) is False
    assert decide(make_marks, shown([0.0]) + shown([0.4] * 20, **prior)) is True
    assert decide(make_marks, shown([0.0]) + shown([0.5] * 20, **prior | {"model": "chance"})) is True


def test_a_question_that_no_model_was_asked_blind_is_not_decided(make_marks: Any) -> None:
    rows = shown([1.0] * 20, condition="plain") + shown([0.1] * 20, model="prior", condition="plain", status="expected")
    assert decide(make_marks, rows) is None
    for status in ("missing", "failed"):
        assert decide(make_marks, rows + shown([0.0] * 20, status=status)) is None


def test_batches_change_nothing(make_marks: Any) -> None:
    generator = np.random.default_rng(1)
    rows = [
        {"condition": "text", "item": f"i{k}", "patient": f"p{k}", "template": f"t{k % 5}", "credit": float(c)}
        for k, c in enumerate(generator.integers(0, 2, 300))
    ]
    whole, parts = Evidence(), Evidence()
    whole.add(make_marks(rows))
    for start in range(0, 300, 70):
        parts.add(make_marks(rows[start : start + 70]))
    assert whole.decide(make_marks(rows)).equals(parts.decide(make_marks(rows)))


def scored(marks: pl.DataFrame) -> dict[tuple[str, str], dict[str, Any]]:
    """The scores of the clean slice, by model and metric."""
    evidence = Evidence()
    evidence.add(marks)
    tally = Tally({"accuracy": accuracy}, benchmark="b", seed=0, resamples=200, clean=evidence)
    tally.add(marks)
    found = tally.scores().filter(pl.col("slice") == "clean").to_dicts()
    return {(row["model"], row["metric"]): row for row in found}


def test_the_choice_of_questions_does_not_flatter_a_model_that_tosses_coins(make_marks: Any) -> None:
    generator = np.random.default_rng(0)
    rows = [
        {"condition": condition, "item": f"i{k}", "patient": f"p{k}", "template": f"t{k % 40}", "credit": c, "place": k}
        for condition in ("plain", "text")
        for k in range(1500)
        for c in (float(generator.integers(0, 2)),)
    ]
    found = scored(make_marks(rows))
    assert found["m", "accuracy"]["n"] == pytest.approx(0.84 * 1500, abs=150)
    assert found["m", "accuracy"]["value"] == pytest.approx(0.5, abs=0.04)
    assert found["m", "accuracy:lift"]["value"] == pytest.approx(0, abs=0.04)
    assert found["m", "accuracy:gain"]["value"] == pytest.approx(0, abs=0.04)


def test_one_that_says_yes_to_all_has_no_lift_where_most_keys_are_yes(make_marks: Any) -> None:
    """The prior says yes to all too; on the questions that it misses it would be no floor."""
    generator = np.random.default_rng(0)
    rows: Rows = []
    for k in range(600):
        template = f"t{k % 3}"
        yes = float(generator.random() < (0.5, 0.7, 0.9)[k % 3])
        one = {"item": f"i{k}", "patient": f"p{k}", "template": template, "place": k}
        rows += [one | {"model": "yes", "condition": c, "credit": yes} for c in ("plain", "text")]
        rows.append(one | {"model": "prior", "credit": yes})
    found = scored(make_marks(rows))
    assert found["yes", "accuracy"]["n"] == pytest.approx(200, abs=1), "only where yes and no are as frequent"
    assert found["yes", "accuracy:lift"]["value"] == pytest.approx(0, abs=1e-9)
