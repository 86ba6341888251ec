"""The tables of a run for other programs."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from overread.columns import to_frame
from overread.commands.export import FORMATS, export_run
from overread.errors import BadInput, BadRun
from overread.runs.folder import Run
from overread.tables import ROWS, Case, Dialogue, Json, Media, Turn

Sit = Callable[..., tuple[Run, list[str]]]


@pytest.fixture
def sat(sit: Sit, toy: Callable[[str], str]) -> Run:
    return sit("ecg_steps", toy("steady"), limit=2)[0]


@pytest.mark.parametrize("format_", FORMATS)
def test_every_table_is_one_file_with_one_line_a_row(sat: Run, tmp_path: Path, format_: str) -> None:
    paths = list(export_run(sat, format_, tmp_path / "out"))
    assert [path.name for path in paths] == [f"{row.TABLE}.{format_}" for row in ROWS]
    for row, path in zip(ROWS, paths, strict=True):
        text = path.read_text(encoding="utf-8")
        if format_ == "jsonl":
            assert [json.loads(line) for line in text.splitlines()] == sat.table(row.TABLE).to_dicts()
        else:
            found = list(csv.DictReader(text.splitlines(keepends=True)))
            assert len(found) == sat.table(row.TABLE).height
            assert set(found[0] if found else sat.table(row.TABLE).columns) == set(sat.table(row.TABLE).columns)


def test_lists_and_structs_are_json_in_a_csv_and_null_stays_empty(sat: Run, tmp_path: Path) -> None:
    list(export_run(sat, "csv", tmp_path))
    with (tmp_path / "dialogues.csv").open(encoding="utf-8", newline="") as stream:
        turns = [json.loads(row["turns"]) for row in csv.DictReader(stream)]
    assert turns == sat.table("dialogues")["turns"].to_list()
    with (tmp_path / "replies.csv").open(encoding="utf-8", newline="") as stream:
        assert {row["choice"] for row in csv.DictReader(stream)} == {""}


def test_any_text_survives(sat: Run, tmp_path: Path) -> None:
    text = 'a,"b"\nc\t\u2028ü\x00;=1+1'
    media = (Media("m", "ecg", "x://1"),)
    turns = (Turn("user", text),)
    (path,) = (sat.folder / "dialogues").glob("*.parquet")
    metadata = {"overread_schema": pl.read_parquet_metadata(path)["overread_schema"]}
    one = Dialogue("d", "b", "p", "c", "x/p", text, "plain", "open", media, turns)
    to_frame([one], Dialogue).write_parquet(path, metadata=metadata)
    (cases,) = (sat.folder / "cases").glob("*.parquet")
    to_frame([Case("c", "x", "x/p", media, Json(said=text))], Case).write_parquet(cases, metadata=metadata)
    for format_ in FORMATS:
        list(export_run(sat, format_, tmp_path))
    line = json.loads((tmp_path / "dialogues.jsonl").read_text(encoding="utf-8"))
    assert line["item"] == text and line["turns"][0]["text"] == text
    with (tmp_path / "dialogues.csv").open(encoding="utf-8", newline="") as stream:
        (row,) = csv.DictReader(stream)
    assert row["item"] == text and json.loads(row["turns"])[0]["text"] == text
    assert json.loads(json.loads((tmp_path / "cases.jsonl").read_text(encoding="utf-8"))["facts"])["said"] == text


def test_an_unknown_format_is_told_and_writes_nothing(sat: Run, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="did you mean jsonl"):
        list(export_run(sat, "json", tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_written_is_told(sat: Run, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("in the way")
    with pytest.raises(BadRun, match="cannot write"):
        list(export_run(sat, "csv", tmp_path / "out"))
