"""Marks by hand: name only what matters, the rest is a plain choice question of one model, judged by `option`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import polars as pl
import pytest

from overread.metrics.contract import MARKS

Row = dict[str, Any]
Make = Callable[[Iterable[Row]], pl.DataFrame]

USUAL: Row = {
    "protocol": "single", "condition": "plain", "model": "m", "judge": "option", "patient": "p", "case": "c",
    "dialogue": "d", "question": "", "item": "i", "place": 0, "template": "t", "kind": "choice", "stage": "",
    "slices": [], "options": ["a", "b"], "answer": ["a"], "seed": 0, "sample": 0, "status": "read", "parsed": None,
    "scored": True, "correct": None, "credit": 0.0, "error": None, "probability": None,
    "chance_credit": 0.5, "chance_error": None,
}  # fmt: skip


def _complete(row: Row) -> Row:
    mark = USUAL | row
    mark["question"] = mark["question"] or f"{mark['condition']}/{mark['protocol']}/{mark['item']}"
    if mark["correct"] is None and mark["status"] == "read":
        mark["correct"] = mark["credit"] == 1
    if mark["parsed"] is None and mark["status"] == "read":
        mark["parsed"] = "a" if mark["credit"] == 1 else "b"
    return mark


@pytest.fixture
def make_marks() -> Make:
    return lambda rows: pl.DataFrame([_complete(row) for row in rows], schema=MARKS, orient="row")
