"""The list of clean questions in a run: what it says, that scores and exports go by it, and when there is none."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from overread import pipeline
from overread.commands.export import export_run
from overread.runs.folder import Run
from overread.settings import Settings

Sit = Callable[..., tuple[Run, list[str]]]


@pytest.fixture
def sat(sit: Sit, toy: Callable[[str], str]) -> Run:
    return sit("ecg_steps", toy("steady"), "chance", "prior", conditions="floors", limit=6)[0]


def test_every_question_is_listed_once_and_the_clean_slice_holds_the_clean_ones(sat: Run) -> None:
    listed = sat.table("clean")
    items = sat.table("questions")["item"].unique().to_list()
    assert sorted(listed["item"]) == sorted(items)
    assert set(listed["judge"]) == {"option"} and set(listed["protocol"]) == {sat.exam["protocol"]}
    assert {True, False} <= set(listed["clean"])
    scores = sat.table("scores").filter(
        (pl.col("slice") == "clean") & (pl.col("metric") == "accuracy") & (pl.col("model") == "chance")
    )
    assert scores["n"].to_list() == [listed["clean"].sum()]


def test_every_panel_has_a_list_of_its_own(sat: Run, tmp_path: Path) -> None:
    path = tmp_path / "all_right.py"
    body = "def judge(table):\n    return by_row(table, lambda row: Finding('read', 'x', True, 1.0))\n"
    head = '"""Everything is right."""\nfrom overread.judges.rows import Finding, by_row\nKINDS = ("choice",)\n'
    path.write_text(head + body)
    pipeline.judge(sat, [str(path)])
    pipeline.score(sat, Settings("ecg_steps"))
    listed = sat.table("clean")
    assert set(listed["judge"]) == {"option", "all_right"}
    kept = {judge: rows["clean"].sum() for (judge,), rows in listed.group_by("judge")}
    assert kept["all_right"] < kept["option"], "where every blind reply is right, more can be passed blind"


def test_an_export_has_the_list(sat: Run, tmp_path: Path) -> None:
    list(export_run(sat, "jsonl", tmp_path / "out"))
    lines = [json.loads(line) for line in (tmp_path / "out" / "clean.jsonl").read_text().splitlines()]
    assert lines == sat.table("clean").to_dicts()


def test_without_the_clean_subset_there_is_no_list_and_no_slice(sat: Run) -> None:
    pipeline.score(sat, Settings("ecg_steps", set={"score.clean": "no"}))
    assert sat.table("clean").is_empty()
    assert "clean" not in sat.table("scores")["slice"].to_list()
