"""Every judge against its contract, on rows drawn at random: one finding a reply, in order, whatever was said."""

from __future__ import annotations

import typing
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from overread import catalog
from overread.judges.contract import COLUMNS, FINDING
from overread.tables import QUESTION_KINDS, VerdictStatus

EXAMPLE = str(Path(__file__).parent / "examples" / "judge.py")
NAMES = [*catalog.entries("judges"), EXAMPLE]
SPOKEN = ["Yes", "no.", "A", "(b)", "1", "12 ms", "-3,5", "1e400", "Yes and No", "I cannot say", "**Yes**", "None", ""]
TEXTS = st.sampled_from(SPOKEN) | st.text(max_size=30)
NUMBERS = st.floats(-1e6, 1e6, width=32)


@st.composite
def rows(draw: st.DrawFn, kinds: tuple[str, ...]) -> dict[str, Any]:
    """One reply to a question that a sound exam could hold; what is said may be anything that fits into a table."""
    kind = draw(st.sampled_from(kinds))
    options = draw(st.lists(TEXTS.filter(bool), min_size=1, max_size=5, unique=True)) if kind == "choice" else []
    many = kind == "choice" and draw(st.booleans())
    right = (
        draw(st.lists(st.sampled_from(options), min_size=1, max_size=5 if many else 1, unique=True)) if options else []
    )
    low = draw(NUMBERS)
    return {
        "kind": kind,
        "template": "t",
        "stage": "s",
        "asked": "?",
        "options": options,
        "many": many,
        "low": draw(st.sampled_from([None, low])),
        "high": draw(st.sampled_from([None, low + 10])),
        "whole": draw(st.booleans()),
        "unit": draw(st.sampled_from(["", "ms", "mm", "%", "years"])),
        "answer": right or [draw(TEXTS.filter(bool))],
        "key_number": low + 3 if kind == "number" else None,
        "tolerance": draw(st.sampled_from([None, 0.0, 2.5])),
        "status": draw(st.sampled_from(["answered", "answered", "answered", "refused", "failed"])),
        "text": draw(st.none() | TEXTS),
        "choice": draw(st.none() | st.lists(st.integers(-2, 6), max_size=4)),
        "option_scores": draw(st.none() | st.lists(st.floats(width=32), max_size=6)),
        "number": draw(st.none() | st.floats()),
        "spread": draw(st.none() | st.lists(st.floats(width=32), max_size=4)),
        "blob": None,
    }


def table_of(found: list[dict[str, Any]]) -> pl.DataFrame:
    filled = [{"reply": f"r{n}", **row} for n, row in enumerate(found)]
    return pl.DataFrame([[row[name] for name in COLUMNS] for row in filled], schema=COLUMNS, orient="row")


@pytest.mark.parametrize("name", NAMES)
def test_the_file_says_what_it_judges(name: str) -> None:
    module = catalog.load("judges", name)
    assert catalog.describe("judges", name).title
    assert module.KINDS and set(module.KINDS) <= set(QUESTION_KINDS)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_whatever_was_said_gets_one_finding_in_order(name: str, data: st.DataObject) -> None:
    module = catalog.load("judges", name)
    found = data.draw(st.lists(rows(tuple(module.KINDS)), max_size=6))
    table = table_of(found)
    findings = module.judge(table)
    assert dict(findings.schema) == FINDING
    assert findings["reply"].to_list() == table["reply"].to_list()
    assert set(findings["status"]) <= set(typing.get_args(VerdictStatus))
    for row, finding in zip(found, findings.iter_rows(named=True), strict=True):
        assert 0.0 <= finding["credit"] <= 1.0
        assert finding["error"] is None or finding["error"] >= 0
        assert finding["probability"] is None or 0.0 <= finding["probability"] <= 1.0
        if row["status"] != "answered":
            assert (finding["status"], finding["credit"], finding["correct"]) == (row["status"], 0.0, None)
        elif finding["status"] == "unreadable":
            assert (finding["credit"], finding["correct"], finding["error"]) == (0.0, False, None)
        elif finding["status"] == "read":
            assert finding["correct"] is (finding["credit"] == 1.0) or 0 < finding["credit"] < 1
            assert finding["parsed"] is not None
        else:
            assert (finding["status"], finding["correct"]) == ("expected", None)


@pytest.mark.parametrize("name", [name for name in NAMES if "whole table" not in catalog.describe("judges", name).card])
@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_a_reply_is_judged_alike_alone_and_among_others(name: str, data: st.DataObject) -> None:
    module = catalog.load("judges", name)
    table = table_of(data.draw(st.lists(rows(tuple(module.KINDS)), min_size=2, max_size=5)))
    together = module.judge(table)
    alone = pl.concat([module.judge(table[n : n + 1]) for n in range(table.height)])
    assert together.equals(alone)
    assert module.judge(table.reverse()).reverse().equals(together)


@pytest.mark.parametrize("name", NAMES)
def test_a_reply_that_is_silent_is_unreadable_and_never_dropped(name: str) -> None:
    module = catalog.load("judges", name)
    for kind in module.KINDS:
        row = {"kind": kind, "template": "t", "options": ["Yes", "No"], "answer": ["Yes"], "key_number": 1.0}
        blank = {column: row.get(column) for column in COLUMNS if column != "reply"}
        silent = {**blank, "many": False, "whole": False, "unit": "", "status": "answered", "text": "  "}
        (finding,) = module.judge(table_of([silent])).iter_rows(named=True)
        assert (finding["status"], finding["credit"]) == ("unreadable", 0.0)


@pytest.mark.parametrize("name", NAMES)
def test_a_uniform_guess_is_worth_its_expectation(name: str) -> None:
    """What `chance` says: a judge that called it unreadable would set the floor to nothing."""
    module = catalog.load("judges", name)
    if "choice" not in module.KINDS:
        return
    row = {"kind": "choice", "template": "t", "options": ["a", "b", "c", "d"], "answer": ["b"], "many": False}
    guess = {**row, "whole": False, "unit": "", "status": "answered", "option_scores": [0.25] * 4}
    (finding,) = module.judge(table_of([{name: guess.get(name) for name in COLUMNS}])).iter_rows(named=True)
    assert (finding["status"], finding["correct"], finding["credit"]) == ("expected", None, 0.25)
