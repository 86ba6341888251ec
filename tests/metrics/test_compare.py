from __future__ import annotations

import types
from typing import Any

import numpy as np
import pytest

from overread.errors import BadInput
from overread.metrics import accuracy, completion, mean_error, mean_error_read
from overread.metrics.compare import compare

Rows = list[dict[str, Any]]


def items(model: str, *credits: float, **more: Any) -> Rows:
    return [
        {"model": model, "item": f"i{k}", "patient": f"p{k}", "dialogue": f"d{k}", "place": k, "credit": c} | more
        for k, c in enumerate(credits)
    ]


def test_two_models_on_the_same_questions(make_marks: Any) -> None:
    found = compare(make_marks(items("a", 1, 1, 1, 0)), make_marks(items("b", 0, 0, 0, 1)), accuracy)
    assert (found.first, found.second, found.n, found.patients) == ("a", "b", 4, 4)
    assert found.effect == 0.5
    assert (found.right_to_wrong, found.wrong_to_right, found.left_out) == (3, 1, 0)
    # Differences 1 1 1 -1: of 16 sign patterns, 1 + 4 sum to at least 2 and as many to at most -2.
    assert found.p == pytest.approx(10 / 16)
    assert found.low is not None
    assert found.low <= 0.5 <= (found.high or 0)


def test_exchanging_the_models_turns_the_result_round(make_marks: Any) -> None:
    generator = np.random.default_rng(0)
    a, b = (make_marks(items(m, *map(float, generator.integers(0, 2, 30)))) for m in "ab")
    one, other = compare(a, b, accuracy), compare(b, a, accuracy)
    assert one.effect == pytest.approx(-(other.effect or 0))
    assert one.p == pytest.approx(other.p)
    assert (one.right_to_wrong, one.wrong_to_right) == (other.wrong_to_right, other.right_to_wrong)


def test_only_questions_that_both_were_asked_count(make_marks: Any) -> None:
    a, b = items("a", 1, 1, 1, 1), items("b", 0, 0, 0)
    b[2]["status"] = "missing"
    found = compare(make_marks(a), make_marks(b), accuracy)
    assert (found.n, found.left_out) == (2, 3)


def test_failed_refused_and_unreadable_replies_are_wrong(make_marks: Any) -> None:
    b = [row | {"status": s} for row, s in zip(items("b", 1, 1, 1), ("failed", "refused", "unreadable"), strict=True)]
    found = compare(make_marks(items("a", 1, 1, 1)), make_marks(b), accuracy)
    assert (found.effect, found.n, found.right_to_wrong) == (1.0, 3, 3)


def test_questions_are_not_matched_across_conditions_protocols_judges_seeds_or_samples(make_marks: Any) -> None:
    a = make_marks(items("a", 1))
    for other in ({"condition": "text"}, {"protocol": "x"}, {"judge": "x"}, {"seed": 1}, {"sample": 1}):
        with pytest.raises(BadInput, match="no question in common"):
            compare(a, make_marks(items("b", 1, **other)), accuracy)


def test_a_smaller_error_is_a_positive_effect(make_marks: Any) -> None:
    number = {"kind": "number", "chance_error": 10.0}
    a = make_marks(items("a", 0, 0, **number, error=1.0))
    b = make_marks(items("b", 0, 0, **number, error=4.0))
    assert compare(a, b, mean_error).effect == 3.0


def test_complete_case_errors_are_compared_over_what_each_could_give(make_marks: Any) -> None:
    number = {"kind": "number"}
    b = items("b", 0, 0, **number, error=4.0)
    b[1] |= {"status": "unreadable", "error": None}
    found = compare(make_marks(items("a", 0, 0, **number, error=1.0)), make_marks(b), mean_error_read)
    assert (found.effect, found.n) == (3.0, 1)


def test_dialogues_are_compared_as_wholes(make_marks: Any) -> None:
    a, b = (
        make_marks([row | {"dialogue": f"d{row['place'] // 2}", "patient": f"p{row['place'] // 2}"} for row in rows])
        for rows in (items("a", 1, 1, 1, 1), items("b", 1, 0, 1, 1))
    )
    found = compare(a, b, completion)
    assert (found.effect, found.n, found.patients) == (0.5, 2, 2)


def test_marks_of_two_models_on_one_side_are_refused(make_marks: Any) -> None:
    a = make_marks(items("a", 1))
    with pytest.raises(BadInput, match="the second side of a comparison has 2 models: b, c"):
        compare(a, make_marks(items("b", 1) + items("c", 1)), accuracy)
    with pytest.raises(BadInput, match="the first side of a comparison has 0 models: none"):
        compare(a.clear(), a, accuracy)


def test_a_metric_of_the_whole_exam_is_refused(make_marks: Any) -> None:
    marks = make_marks(items("a", 1))
    with pytest.raises(BadInput, match="unit exam"):
        compare(marks, marks, types.SimpleNamespace(UNIT="exam", DIRECTION="more"))


def test_a_dialogue_with_a_question_that_is_not_scored_is_left_out_whole(make_marks: Any) -> None:
    def two(model: str, credit: float) -> Rows:
        rows = items(model, credit, 1) + items(model, 1, 1)
        for n, row in enumerate(rows):
            row |= {"place": n, "item": f"i{n}", "scored": n != 2}
        return rows

    found = compare(make_marks(two("a", 1)), make_marks(two("b", 0)), completion)
    assert (found.n, found.effect) == (1, 0.0), "d0 holds a question that is not scored; in d1 both are right"
    assert compare(make_marks(two("a", 1)), make_marks(two("b", 0)), accuracy).n == 3
