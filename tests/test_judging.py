"""Panels of judges: who judges what, what is kept of it, and what a judge that breaks its contract brings about."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from overread import pipeline
from overread.errors import BadInput, BadRun
from overread.judging import Panel, judge_run, panels, parts_of, verdicts_of
from overread.runs.folder import Run
from overread.tables import Verdict, schema

Sit = Callable[..., tuple[Run, list[str]]]
JUDGE = '''"""J"""
import polars as pl
from overread.judges.rows import Finding, by_row
KINDS = {kinds}
def judge(table):
    found = by_row(table, lambda row: Finding("read", "x", True, 1.0))
    return {found}
'''


def judge_file(folder: Path, name: str, kinds: str = '("choice",)', found: str = "found") -> str:
    path = folder / f"{name}.py"
    path.write_text(JUDGE.format(kinds=kinds, found=found))
    return str(path)


@pytest.fixture
def sat(sit: Sit) -> Run:
    return sit("ecg_steps", "chance", "oracle", limit=4)[0]


def test_a_panel_has_one_judge_a_kind_and_the_first_that_takes_it_judges(tmp_path: Path) -> None:
    generous = judge_file(tmp_path, "generous")
    panel = Panel.of([generous, "option", "number"])
    assert panel.label == panel.folder == "generous+option+number"
    assert {kind: name for kind, (name, _) in panel.by_kind.items()} == {
        "choice": generous, "text": "option", "number": "number",
    }  # fmt: skip
    assert Panel.of(["option", "option"]).label == "option"
    with pytest.raises(BadInput, match="did you mean option"):
        Panel.of(["optoin"])


def test_every_reply_gets_one_verdict_under_the_name_of_its_model(sat: Run) -> None:
    assert panels(sat) == ["option"]
    verdicts = verdicts_of(sat, "option", 0)
    assert dict(verdicts.schema) == schema(Verdict)
    assert sorted(verdicts["reply"]) == sorted(sat.table("replies")["id"])
    assert verdicts["place"].is_sorted()
    assert verdicts.filter(model="oracle")["correct"].all()
    assert verdicts.filter(model="chance")["correct"].null_count() == verdicts.filter(model="chance").height
    assert [index for index, _ in parts_of(sat, "option")] == [0]


def test_two_panels_stand_beside_each_other_and_are_scored_each_for_itself(sat: Run, tmp_path: Path) -> None:
    pipeline.judge(sat, [judge_file(tmp_path, "generous")])
    assert panels(sat) == ["generous", "option"]
    scores = pipeline.score(sat, pipeline.Settings("ecg_steps", set={"score.resamples": "10"}))
    found = scores.filter(metric="accuracy", condition="plain", slice="all", model="chance")
    values = dict(found.select("judge", "value").iter_rows())
    assert values["generous"] == 1.0 and 0 < values["option"] < 1
    assert sat.table("verdicts").height == 2 * sat.table("replies").height


def test_judging_again_replaces_the_verdicts_of_that_panel_only(sat: Run) -> None:
    before = verdicts_of(sat, "option", 0)
    judge_run(sat, Panel.of(["option"]))
    assert verdicts_of(sat, "option", 0).equals(before)
    assert sat.table("verdicts").height == before.height


def test_a_run_that_nobody_answered_is_judged_to_an_empty_table(sat: Run) -> None:
    for path in (sat.folder / "replies").iterdir():
        path.unlink()
    judge_run(sat, Panel.of(["option"]))
    assert verdicts_of(sat, "option", 0).is_empty()
    assert dict(verdicts_of(sat, "option", 0).schema) == schema(Verdict)


def test_a_kind_that_no_judge_takes_is_named(sat: Run) -> None:
    with pytest.raises(BadInput, match="no judge of 'number' takes questions of kind choice"):
        judge_run(sat, Panel.of(["number"]))


@pytest.mark.parametrize(
    "found", ["found.reverse()", "found.head(1)", "found.drop('error')", "found.with_columns(credit=pl.lit('1'))"]
)
def test_a_judge_that_does_not_give_one_finding_a_reply_in_order_is_named(sat: Run, tmp_path: Path, found: str) -> None:
    path = judge_file(tmp_path, "sloppy", found=found)
    with pytest.raises(BadInput, match="one finding a reply, in order") as error:
        judge_run(sat, Panel.of([path]))
    assert path in str(error.value)
    assert panels(sat) == ["option"], "nothing was written"


def test_verdicts_that_are_missing_say_how_to_get_them(sat: Run) -> None:
    with pytest.raises(BadRun, match="not judged by 'rubric'") as error:
        verdicts_of(sat, "rubric", 0)
    assert "overread judge" in str(error.value)


def test_only_replies_that_count_are_judged(sat: Run) -> None:
    (path,) = (sat.folder / "replies").glob("*.parquet")
    twice = pl.read_parquet(path).with_columns(id=pl.col("id").str.replace("^.", "x"), at=pl.col("at") + 1)
    metadata = pl.read_parquet_metadata(path)
    twice.write_parquet(path.with_name("z-00000.parquet"), metadata={"overread_schema": metadata["overread_schema"]})
    before = verdicts_of(sat, "option", 0)
    judge_run(sat, Panel.of(["option"]))
    assert verdicts_of(sat, "option", 0).equals(before)
