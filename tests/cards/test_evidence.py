"""Boxes are ticked by what a check counted, and by nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from overread.cards.evidence import STATUS, configuration_of, read_status
from overread.cards.finding import cards
from overread.cards.writing import write_folder
from overread.commands import tracking
from overread.commands.tracking import NEVER
from overread.errors import BadInput

GOOD = {"asked": 10, "answered": 10, "refused": 0, "failed": 0, "inputs": 10}


def record(**changes: Any) -> dict[str, Any]:
    media = {"ecg": {"plain": GOOD, "blank": GOOD, "swap": GOOD}}
    made: dict[str, Any] = {
        "model": "ecg_solver",
        "configuration": configuration_of("ecg_solver", {}),
        "lock": "",
        "when": "2026-01-02",
        "where": "CPU",
        "seconds": {"load": 1.0},
        "memory": {"process": 0.5},
        "media": media,
        "changed": {"ecg": {"blank": 3}},
        "command": ["overread", "models", "check", "ecg_solver"],
        "adapter": "ecg_solver",
        "origin": {"overread": "1", "commit": ""},
        "environment": "",
        "quirks": ["odd"],
        "reasons": [],
        "notes": [],
    }
    return {**made, **changes}


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OVERREAD_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "envs"


def row(name: str) -> tracking.Row:
    return next(row for row in tracking.rows() if row.model == name)


def test_without_a_record_no_box_is_ticked() -> None:
    assert (row("smolvlm-256m").phantom, row("smolvlm-256m").real) == (False, False)
    assert row("smolvlm-256m").notes == NEVER
    assert set(cards()) <= {row.model for row in tracking.rows()}


def test_a_record_in_the_cache_ticks_its_box(places: Path) -> None:
    write_folder(places / "ecg_solver", "real", record(), None)
    found = row("ecg_solver")
    assert (found.real, found.where, found.when) == (True, "CPU", "2026-01-02")


@pytest.mark.parametrize(
    ("condition", "change", "said"),
    [
        ("plain", {"answered": 9, "failed": 1}, "9 of 10 questions were answered"),
        ("plain", {"answered": 9, "refused": 1}, "9 of 10 questions were answered"),
        ("plain", {"inputs": 1}, "did not reach it as different inputs"),
        ("plain", {"asked": 0}, "nothing was asked"),
        ("blank", {"failed": 2}, "2 of 10 questions failed under blank"),
        ("swap", {"asked": 0}, "not asked under swap"),
    ],
)
def test_a_check_that_went_wrong_ticks_nothing_and_says_why(
    places: Path, condition: str, change: dict[str, int], said: str
) -> None:
    media = {"ecg": {name: {**GOOD, **(change if name == condition else {})} for name in ("plain", "blank", "swap")}}
    made = write_folder(places / "echo_solver", "real", record(media=media), None)
    assert said in "; ".join(made.faults)
    other = configuration_of("echo_solver", {})
    write_folder(places / "echo_solver", "real", record(media=media, configuration=other), None)
    assert not row("echo_solver").real
    assert said in row("echo_solver").notes


def test_a_refusal_under_blank_is_no_fault(places: Path) -> None:
    media = {"ecg": {"plain": GOOD, "blank": {**GOOD, "answered": 0, "refused": 10, "inputs": 1}, "swap": GOOD}}
    assert write_folder(places / "x", "phantom", record(media=media), None).faults == ()


def test_a_record_of_another_configuration_or_lock_ticks_nothing(places: Path) -> None:
    card = cards()["smolvlm-256m"]
    same = configuration_of(card.adapter, card.options)
    write_folder(places / card.name, "phantom", record(configuration="other"), None)
    assert not row(card.name).phantom and "changed since" in row(card.name).notes
    write_folder(places / card.name, "phantom", record(configuration=same), None)
    assert row(card.name).phantom
    write_folder(places / card.name, "phantom", record(configuration=same, lock="old"), None)
    assert not row(card.name).phantom


def test_where_a_model_runs_is_not_part_of_its_configuration() -> None:
    assert configuration_of("a", {"path": "p", "device": "cuda"}) == configuration_of("a", {"path": "p"})
    assert configuration_of("a", {"path": "p"}) != configuration_of("a", {"path": "q"})


def test_writing_anything_but_counts_into_a_record_ticks_nothing(places: Path) -> None:
    write_folder(places / "echo_solver", "phantom", record(media={}), None)
    path = places / "echo_solver" / STATUS
    document = json.loads(path.read_text())
    document["phantom"]["passed"] = True
    path.write_text(json.dumps(document))
    assert read_status(path)["phantom"].faults != ()


def test_what_another_kind_of_data_left_stays(places: Path) -> None:
    write_folder(places / "x", "phantom", record(), None)
    write_folder(places / "x", "real", record(when="2026-02-03"), None)
    found = read_status(places / "x" / STATUS)
    assert {kind: one.when for kind, one in found.items()} == {"phantom": "2026-01-02", "real": "2026-02-03"}
    page = (places / "x" / "README.md").read_text()
    assert page.count("- [x]") == 2 and "quirk: odd" in page
    assert "overread run" in (places / "x" / "launch.sh").read_text()
    assert "numpy==" in (places / "x" / "requirements.txt").read_text()


@pytest.mark.parametrize("text", ["{}", "[]", '{"schema": 1, "phantom": {"media": []}}'])
def test_a_damaged_record_is_told_with_its_file(places: Path, text: str) -> None:
    path = places / "ecg_solver" / STATUS
    path.parent.mkdir(parents=True)
    path.write_text(text)
    with pytest.raises(BadInput, match="cannot be read") as caught:
        row("ecg_solver")
    assert caught.value.where == str(path)


def test_the_records_of_the_repository_hold() -> None:
    found = list((Path(__file__).parents[2] / "envs").glob(f"*/{STATUS}"))
    assert found
    for path in found:
        for one in read_status(path).values():
            assert one.model == path.parent.name
            assert one.faults == ()
            assert row(one.model).phantom
