from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pytest

from overread.errors import BadInput
from overread.judges.contract import FINDING
from overread.judges.rows import UNREADABLE, Finding, Row, by_row, constant, in_parts, only

Replies = Callable[..., pl.DataFrame]


def test_equal_rows_are_judged_once(replies: Replies) -> None:
    seen: list[Row] = []

    def find(row: Row) -> Finding:
        seen.append(row)
        return Finding("read", row.text, True, 1.0)

    texts = ["a", "b", "a", "a", "b"]
    found = by_row(replies(*({"text": text, "template": f"t{i}"} for i, text in enumerate(texts))), find)
    assert found["parsed"].to_list() == texts
    assert found["reply"].to_list() == ["r0", "r1", "r2", "r3", "r4"]
    assert [row.text for row in seen] == ["a", "b"]
    assert seen[0].options == ("Yes", "No")
    assert seen[0].template == "t0"


@pytest.mark.parametrize(
    "other",
    [
        {"answer": ["No"]},
        {"options": ["Yes", "Nay"]},
        {"many": True},
        {"tolerance": 1.0},
        {"unit": "ms"},
        {"choice": []},
    ],
)
def test_rows_that_differ_are_judged_apart(replies: Replies, other: dict[str, object]) -> None:
    seen: list[Row] = []
    by_row(replies({"text": "a"}, {"text": "a"} | other), lambda row: seen.append(row) or UNREADABLE)  # type: ignore[func-returns-value]
    assert len(seen) == 2


def test_failed_and_refused_replies_get_no_verdict_on_content(replies: Replies) -> None:
    def never(row: Row) -> Finding:
        raise AssertionError(row)

    found = by_row(replies({"status": "failed", "text": "Yes"}, {"status": "refused"}), never)
    assert found["status"].to_list() == ["failed", "refused"]
    assert found["correct"].to_list() == [None, None]
    assert found["credit"].to_list() == [0.0, 0.0]
    assert found["parsed"].to_list() == [None, None]


def test_findings_come_in_the_order_of_the_replies(replies: Replies) -> None:
    table = replies(*({"text": text} for text in "abcabc"), {"status": "failed"})
    parts = [
        (pl.col("text") == letter, lambda t, letter=letter: constant(t, Finding("read", letter))) for letter in "cb"
    ]
    found = in_parts(table, parts)
    assert dict(found.schema) == FINDING
    assert found["reply"].to_list() == table["reply"].to_list()
    assert found["parsed"].to_list() == [None, "b", "c", None, "b", "c", None]
    assert found["status"].to_list() == ["unreadable", "read", "read", "unreadable", "read", "read", "failed"]


def test_an_empty_table_gives_an_empty_finding(replies: Replies) -> None:
    found = by_row(replies(), lambda row: UNREADABLE)
    assert found.height == 0
    assert dict(found.schema) == FINDING


def test_a_foreign_question_kind_is_refused(replies: Replies) -> None:
    with pytest.raises(BadInput, match="mask"):
        only(replies({"kind": "mask"}), ("choice",), "option")
