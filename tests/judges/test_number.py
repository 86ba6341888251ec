from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from overread.errors import BadInput
from overread.judges.contract import FINDING
from overread.judges.number import judge

Replies = Callable[..., pl.DataFrame]
MS = {"kind": "number", "options": [], "answer": ["120"], "key_number": 120.0, "tolerance": 10.0, "unit": "ms"}


def one(replies: Replies, row: dict[str, Any], **shared: Any) -> dict[str, Any]:
    found = judge(replies(row, **(MS | shared)))
    assert dict(found.schema) == FINDING
    return found.row(0, named=True)


@pytest.mark.parametrize(
    ("number", "parsed", "correct", "error"),
    [
        (120.0, "120", True, 0.0),
        (130.0, "130", True, 10.0),
        (109.9, "109.9", False, 10.1),
        (-0.0, "0", False, 120.0),
        (1e22, "1e+22", False, 1e22),
        (0.1 + 0.2, "0.30000000000000004", False, 119.7),
    ],
)
def test_a_number_is_right_within_the_tolerance(
    replies: Replies, number: float, parsed: str, correct: bool, error: float
) -> None:
    found = one(replies, {"number": number})
    assert (found["status"], found["parsed"], found["correct"]) == ("read", parsed, correct)
    assert found["credit"] == float(correct)
    assert found["error"] == pytest.approx(error)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_is_not_finite_is_unreadable(replies: Replies, number: float) -> None:
    found = one(replies, {"number": number, "text": "120"})
    assert (found["status"], found["correct"], found["credit"], found["error"]) == ("unreadable", False, 0.0, None)
    assert found["parsed"] is None


def test_without_a_tolerance_a_number_must_be_equal(replies: Replies) -> None:
    assert one(replies, {"number": 120.0}, tolerance=None)["correct"]
    assert not one(replies, {"number": 120.001}, tolerance=None)["correct"]
    assert one(replies, {"number": 0.1 + 0.2}, tolerance=None, key_number=0.3)["correct"]
    assert one(replies, {"number": 0.4}, tolerance=0.1, key_number=0.3)["correct"]


def test_a_number_out_of_range_is_read_but_wrong(replies: Replies) -> None:
    found = one(replies, {"number": 125.0}, low=0.0, high=124.0)
    assert (found["status"], found["correct"], found["error"]) == ("read", False, 5.0)
    assert one(replies, {"number": 124.0}, low=0.0, high=124.0)["correct"]
    assert not one(replies, {"number": 115.0}, low=116.0)["correct"]


def test_a_fraction_is_read_where_a_whole_number_was_asked(replies: Replies) -> None:
    found = one(replies, {"number": 12.4}, whole=True, key_number=12.0, tolerance=None)
    assert (found["status"], found["parsed"], found["correct"]) == ("read", "12.4", False)
    assert found["error"] == pytest.approx(0.4)


def test_a_spread_is_scored_by_expectation(replies: Replies) -> None:
    found = one(replies, {"spread": [120.0, 125.0, 140.0, 60.0]})
    assert (found["status"], found["correct"], found["parsed"]) == ("expected", None, None)
    assert found["credit"] == pytest.approx(0.5)
    assert found["error"] == pytest.approx((0 + 5 + 20 + 60) / 4)
    assert one(replies, {"spread": [120.0, 125.0]}, high=121.0)["credit"] == pytest.approx(0.5)


@pytest.mark.parametrize("spread", [[], [120.0, float("nan")], [120.0, None], [float("inf")]])
def test_a_spread_that_is_not_finite_is_unreadable(replies: Replies, spread: list[float]) -> None:
    found = one(replies, {"spread": spread})
    assert (found["status"], found["correct"], found["credit"], found["error"]) == ("unreadable", False, 0.0, None)


def test_a_text_is_read_in_the_unit_that_was_asked_for(replies: Replies) -> None:
    texts = ["0.125 s", "130-131 ms", "12/40", "1,200 ms", "Answer: 118"]
    found = judge(replies(*({"text": text} for text in texts), {}, {"status": "failed"}, **MS))
    assert found["parsed"].to_list() == ["125", "130.5", None, "1200", "118", None, None]
    assert found["correct"].to_list() == [True, False, False, False, True, False, None]
    assert found["error"].to_list() == [5.0, 10.5, None, 1080.0, 2.0, None, None]
    assert found["status"].to_list() == ["read", "read", "unreadable", "read", "read", "unreadable", "failed"]


def test_a_number_goes_before_a_text_and_a_text_before_a_spread(replies: Replies) -> None:
    found = judge(replies({"number": 1.0, "text": "2"}, {"text": "2", "spread": [3.0]}, **MS))
    assert found["parsed"].to_list() == ["1", "2"]


@pytest.mark.parametrize("key", [None, float("nan")])
def test_a_key_without_a_number_is_a_broken_exam(replies: Replies, key: float | None) -> None:
    with pytest.raises(BadInput) as caught:
        judge(replies({"number": 1.0}, **(MS | {"key_number": key})))
    assert "rhythm/1" in str(caught.value)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
def test_what_was_parsed_is_the_shortest_text_of_the_same_number(replies: Replies, numbers: list[float]) -> None:
    found = judge(replies(*({"number": number} for number in numbers), **MS))
    assert [float(text) for text in found["parsed"]] == numbers
    assert not any(text.endswith(".0") for text in found["parsed"])
