"""The run folder: what is in it, who asked, how it is cut into shards, and what is said when it is none."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overread.columns import to_frame
from overread.errors import BadRun
from overread.runs.folder import Run, part_name, read_json, safe_name, write_exam_part, write_json
from overread.runs.parts import write_part
from overread.tables import SCHEMA_VERSION, Dialogue, Score, schema


def dialogue(number: int, item: str, place: int, cost: int = 10) -> Dialogue:
    return Dialogue(f"d{number}", "b", "p", "c", "x/p", item, "plain", "open", (), (), place, cost)


def published(folder: Path, *parts: Sequence[Dialogue], questions: int = 2) -> Run:
    """A run of dialogues with two questions each."""
    places, start = [], 0
    for index, dialogues in enumerate(parts):
        write_exam_part(folder, index, {"dialogues": to_frame(dialogues, Dialogue)})
        places.append([start, start + questions * len(dialogues)])
        start = places[-1][1]
    return Run.publish(folder, {"exam": {"benchmark": "b", "seed": 0}, "parts": places, "fingerprint": "f"})


def test_a_run_exists_from_the_moment_its_manifest_does(tmp_path: Path) -> None:
    write_exam_part(tmp_path, 0, {"dialogues": to_frame([dialogue(0, "i", 0)], Dialogue)})
    assert not Run.exists(tmp_path)
    with pytest.raises(BadRun, match="there is no run here"):
        Run(tmp_path)
    run = published(tmp_path, [dialogue(0, "i", 0)])
    assert Run.exists(tmp_path) and run.parts == [(0, 2)] and run.fingerprint == "f"
    assert run.manifest["schema"] == SCHEMA_VERSION
    assert Run(tmp_path).exam == run.exam
    assert run.part("dialogues", 0, ["id"]).columns == ["id"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "damaged"),
        ("[1]", ""),
        ("{}", ""),
        ('{"schema": 1, "exam": 3, "parts": []}', "exam"),
        ('{"schema": 1, "exam": {}}', "parts"),
        ('{"schema": 99, "exam": {}, "parts": []}', "newer overread"),
        ('{"schema": "x", "exam": {}, "parts": []}', "not a part of a run"),
        (b"\xff\xfe", "damaged"),
    ],
)
def test_a_manifest_that_is_none_is_named(tmp_path: Path, text: str | bytes, said: str) -> None:
    (tmp_path / "run.json").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(BadRun) as error:
        Run(tmp_path)
    assert said in str(error.value) and str(tmp_path) in str(error.value)


def test_another_exam_is_told_apart_by_every_setting(tmp_path: Path) -> None:
    run = published(tmp_path, [dialogue(0, "i", 0)])
    run.check_same_exam({"benchmark": "b", "seed": 0})
    for other in ({"benchmark": "b", "seed": 1}, {"benchmark": "b"}, {"benchmark": "b", "seed": 0, "limit": 3}):
        with pytest.raises(BadRun, match="another exam"):
            run.check_same_exam(other)


def test_tables_are_read_by_name_and_empty_ones_have_their_columns(tmp_path: Path) -> None:
    run = published(tmp_path, [dialogue(0, "i", 0)], [dialogue(1, "j", 2)])
    assert run.table("dialogues")["id"].to_list() == ["d0", "d1"]
    assert run.table("scores").is_empty() and dict(run.table("scores").schema) == schema(Score)
    write_part(tmp_path / "verdicts" / "a" / part_name(0), to_frame([], Score))
    with pytest.raises(BadRun, match="no table 'turns'") as error:
        run.table("turns")
    assert "dialogues" in str(error.value)


def worker(folder: Path, name: str, started: float, *models: tuple[str, str]) -> None:
    seats = [{"model": m, "identity": i, "looks": True, "samples": True, "details": {}} for m, i in models]
    write_json(folder / "workers" / f"{name}.json", {"schema": 1, "started": started, "models": seats})


def test_seats_come_in_the_order_of_their_first_asking_and_each_once(tmp_path: Path) -> None:
    run = published(tmp_path, [dialogue(0, "i", 0)])
    assert run.seats() == []
    worker(tmp_path, "a", 2.0, ("late", "i2"), ("first", "i1"))
    worker(tmp_path, "z", 1.0, ("first", "i1"))
    assert [(seat.model, seat.identity) for seat in run.seats()] == [("first", "i1"), ("late", "i2")]


def test_two_identities_of_one_name_are_told_apart_by_their_identity(tmp_path: Path) -> None:
    run = published(tmp_path, [dialogue(0, "i", 0)])
    worker(tmp_path, "a", 1.0, ("m", "abcdefgh"), ("n", "x"))
    worker(tmp_path, "b", 2.0, ("m", "12345678"))
    assert [seat.model for seat in run.seats()] == ["m~abcdef", "n", "m~123456"]


@given(
    costs=st.lists(st.tuples(st.integers(1, 40), st.integers(1, 3)), min_size=1, max_size=12), count=st.integers(1, 5)
)
def test_shards_are_disjoint_cover_all_and_never_split_an_item(
    tmp_path_factory: pytest.TempPathFactory, costs: list[tuple[int, int]], count: int
) -> None:
    rows, first = [], 0
    for item, (cost, size) in enumerate(costs):
        for _ in range(size):
            rows.append(dialogue(len(rows), f"i{item}", first, cost))
            first += 2
    run = published(tmp_path_factory.mktemp("shards"), rows)
    shards = [run.shard((number, count)) for number in range(1, count + 1)]
    assert shards[0][0] == 0 and shards[-1][1] == first
    assert [stop for _, stop in shards[:-1]] == [start for start, _ in shards[1:]]
    cuts = {start for start, _ in shards} - {first}
    starts = {min(row.place for row in rows if row.item == item) for item in {row.item for row in rows}}
    assert cuts <= starts


def test_shards_have_about_equal_cost(tmp_path: Path) -> None:
    rows = [dialogue(n, f"i{n}", 2 * n, cost=100 if n < 10 else 1) for n in range(110)]
    run = published(tmp_path, rows[:50], rows[50:])
    spans = [run.shard((number, 2)) for number in (1, 2)]
    held = [sum(row.cost for row in rows if start <= row.place < stop) for start, stop in spans]
    assert abs(held[0] - held[1]) <= 110


@given(st.text(max_size=100))
def test_any_text_gives_a_file_name_that_stays_in_its_folder(text: str) -> None:
    name = safe_name(text)
    assert 1 <= len(name) <= 80 and not set(name) & set("/\\\0: ") and name not in (".", "..")


def test_json_is_written_whole_and_unknown_things_as_text(tmp_path: Path) -> None:
    document: dict[str, Any] = {"schema": 1, "path": tmp_path, "ü": 1.5}
    write_json(tmp_path / "a" / "b.json", document)
    assert read_json(tmp_path / "a" / "b.json") == {**document, "path": str(tmp_path)}
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["b.json"]
    assert json.loads((tmp_path / "a" / "b.json").read_text(encoding="utf-8"))["ü"] == 1.5
