from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

from overread.errors import BadInput
from overread.judges.contract import FINDING
from overread.judges.option import judge

Replies = Callable[..., pl.DataFrame]
ABC = {"options": ["A1", "B1", "C1"], "answer": ["B1"]}
MANY = {"options": ["A1", "B1", "C1"], "answer": ["A1", "C1"], "many": True}


def one(replies: Replies, row: dict[str, Any], **shared: Any) -> dict[str, Any]:
    found = judge(replies(row, **shared))
    assert dict(found.schema) == FINDING
    assert found.height == 1
    return found.row(0, named=True)


@pytest.mark.parametrize(
    ("shared", "choice", "status", "parsed", "correct"),
    [
        (ABC, [1], "read", "B1", True),
        (ABC, [0], "read", "A1", False),
        (ABC, [1, 1], "read", "B1", True),
        (ABC, [0, 1], "unreadable", None, False),
        (ABC, [], "unreadable", None, False),
        (ABC, [3], "unreadable", None, False),
        (ABC, [-1], "unreadable", None, False),
        (ABC, [None], "unreadable", None, False),
        (MANY, [2, 0], "read", "A1\nC1", True),
        (MANY, [0, 2, 2], "read", "A1\nC1", True),
        (MANY, [0], "read", "A1", False),
        (MANY, [0, 1, 2], "read", "A1\nB1\nC1", False),
        (MANY, [], "read", "", False),
        (MANY | {"answer": []}, [], "read", "", True),
        (MANY, [0, 5], "unreadable", None, False),
        (MANY, [0, None], "unreadable", None, False),
        (ABC | {"answer": ["A1", "B1"]}, [0], "read", "A1", True),
        (ABC | {"options": ["A1", "B1", "B1"]}, [2], "read", "B1", True),
        (MANY | {"options": ["A1", "C1", "C1"]}, [0, 1, 2], "read", "A1\nC1", True),
    ],
)
def test_indices_are_read(
    replies: Replies, shared: dict[str, Any], choice: list[int], status: str, parsed: str | None, correct: bool
) -> None:
    found = one(replies, {"choice": choice}, **shared)
    assert (found["status"], found["parsed"], found["correct"]) == (status, parsed, correct)
    assert found["credit"] == float(correct)


@pytest.mark.parametrize(
    ("shared", "scores", "credit"),
    [
        (ABC, [0.2, 0.5, 0.3], 0.5),
        (ABC, [2.0, 5.0, 3.0], 0.5),
        (ABC | {"answer": ["A1", "B1"]}, [0.2, 0.5, 0.3], 0.7),
        (ABC, [0.5, 0.0, 0.5], 0.0),
        (MANY, [0.5, 0.5, 0.5], 0.125),
        (MANY, [1.0, 0.0, 1.0], 1.0),
        (MANY, [0.9, 0.2, 0.5], 0.9 * 0.8 * 0.5),
        (MANY | {"answer": []}, [0.5, 0.5, 0.5], 0.125),
    ],
)
def test_probabilities_without_a_choice_are_scored_by_expectation(
    replies: Replies, shared: dict[str, Any], scores: list[float], credit: float
) -> None:
    found = one(replies, {"option_scores": scores}, **shared)
    assert found["status"] == "expected"
    assert found["credit"] == pytest.approx(credit)
    assert found["probability"] == pytest.approx(credit)
    assert found["correct"] is None
    assert found["parsed"] is None


@pytest.mark.parametrize("shared", [ABC, MANY])
@pytest.mark.parametrize(
    "scores",
    [[], [0.5, 0.5], [0.1] * 4, [float("nan"), 0.5, 0.5], [-0.1, 0.6, 0.5], [float("inf"), 0.0, 0.0], [None, 0.5, 0.5]],
)
def test_scores_that_are_no_probabilities_are_unreadable(
    replies: Replies, shared: dict[str, Any], scores: list[float]
) -> None:
    found = one(replies, {"option_scores": scores}, **shared)
    assert (found["status"], found["correct"], found["credit"]) == ("unreadable", False, 0.0)
    assert found["probability"] is None


def test_scores_that_are_all_zero_or_above_one_are_unreadable(replies: Replies) -> None:
    assert one(replies, {"option_scores": [0.0, 0.0, 0.0]}, **ABC)["status"] == "unreadable"
    assert one(replies, {"option_scores": [1.5, 0.0, 1.0]}, **MANY)["status"] == "unreadable"


def test_a_choice_with_probabilities_tells_the_probability_of_the_right_option(replies: Replies) -> None:
    found = one(replies, {"choice": [0], "option_scores": [0.6, 0.3, 0.1]}, **ABC)
    assert (found["status"], found["parsed"], found["correct"]) == ("read", "A1", False)
    assert found["probability"] == pytest.approx(0.3)
    broken = one(replies, {"choice": [1], "option_scores": [0.6, float("nan"), 0.1]}, **ABC)
    assert (broken["status"], broken["correct"], broken["probability"]) == ("read", True, None)


def test_a_text_is_read_and_compared_as_a_set(replies: Replies) -> None:
    found = judge(replies({"text": "C1, A1"}, {"text": "A1"}, {"text": "A1 or C1"}, {"text": "c1 and a1."}, **MANY))
    assert found["parsed"].to_list() == ["A1\nC1", "A1", None, "A1\nC1"]
    assert found["correct"].to_list() == [True, False, False, True]
    assert found["status"].to_list() == ["read", "read", "unreadable", "read"]


def test_a_choice_goes_before_a_text_and_a_text_before_probabilities(replies: Replies) -> None:
    scores = [0.2, 0.5, 0.3]
    rows = [
        {"choice": [0], "text": "B1", "option_scores": scores},
        {"text": "B1", "option_scores": scores},
        {"text": "what?", "option_scores": scores},
        {},
    ]
    found = judge(replies(*rows, **ABC))
    assert found["parsed"].to_list() == ["A1", "B1", None, None]
    assert found["status"].to_list() == ["read", "read", "unreadable", "unreadable"]


@pytest.mark.parametrize(
    ("text", "status", "parsed", "correct"),
    [
        ("Sinus rhythm.", "read", "sinus rhythm", True),
        ("**sinus  rhythm**", "read", "sinus rhythm", True),
        ("Answer: SR", "read", "sr", True),
        ("atrial fibrillation", "read", "atrial fibrillation", False),
        ("not sinus rhythm", "read", "not sinus rhythm", False),
        (" ", "unreadable", None, False),
        ("<think>sinus rhythm", "unreadable", None, False),
        (None, "unreadable", None, False),
    ],
)
def test_an_open_text_is_compared_with_the_right_ones(
    replies: Replies, text: str | None, status: str, parsed: str | None, correct: bool
) -> None:
    found = one(replies, {"text": text}, kind="text", options=[], answer=["Sinus rhythm", "SR"])
    assert (found["status"], found["parsed"], found["correct"]) == (status, parsed, correct)
    assert found["credit"] == float(correct)


@pytest.mark.parametrize(
    "shared",
    [
        ABC | {"answer": ["D1"]},
        ABC | {"answer": ["b1"]},
        ABC | {"answer": []},
        ABC | {"answer": None},
        MANY | {"answer": ["A1", "D1"]},
        {"kind": "text", "options": [], "answer": []},
    ],
)
def test_a_key_that_nothing_could_match_is_a_broken_exam(replies: Replies, shared: dict[str, Any]) -> None:
    with pytest.raises(BadInput) as caught:
        judge(replies({"choice": [1]}, **shared))
    assert "rhythm/1" in str(caught.value)


def test_structured_answers_are_judged_by_the_thousand(replies: Replies) -> None:
    rows = replies(
        {"choice": [1]}, {"option_scores": [0.2, 0.5, 0.3]}, {"choice": [0], "option_scores": [0.2, 0.5, 0.3]}, **ABC
    )
    table = rows[list(range(3)) * 10_000]
    found = judge(table)
    assert found["credit"].to_list() == [1.0, 0.5, 0.0] * 10_000


def test_repeated_texts_are_judged_alike(replies: Replies) -> None:
    table = replies({"text": "The rhythm shows B1."}, {"text": "A1 or B1"}, **ABC)[[0, 1] * 10_000]
    found = judge(table)
    assert found["credit"].to_list() == [1.0, 0.0] * 10_000
