"""That the parts of the harness bench run, on a tiny size and without Inspect; speed is measured there, not here."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import polars as pl
import pytest

from overread.runs.folder import Run

BENCH = Path(__file__).parents[2] / "bench"


@pytest.fixture
def part(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A file of the bench as a module, by name."""
    monkeypatch.syspath_prepend(str(BENCH))
    loaded: list[str] = []

    def load(name: str) -> ModuleType:
        spec = importlib.util.spec_from_file_location(f"bench_{name}", BENCH / f"{name}.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        loaded.append(spec.name)
        spec.loader.exec_module(module)
        return module

    yield load
    for name in loaded:
        sys.modules.pop(name, None)


def share_right(part: Any, dialogues: int) -> float:
    """What a model that always says `normal` gets right."""
    keys = [turn.answer for n in range(dialogues) for turn in part("chain").turns_of(n)]
    return keys.count("normal") / len(keys)


def test_our_side_plays_all_turns_of_the_exam_that_both_sides_share(part: Any, tmp_path: Path) -> None:
    part("harness").write_data(tmp_path / "data", {"many": 8})
    side = part("our_side")
    side.sit(side.settings(tmp_path / "data" / "many", tmp_path / "run", 0.0))
    run = Run(tmp_path / "run")
    assert run.table("verdicts").height == 8 * 15
    assert run.table("receipts").height == 1, "all dialogues share one picture"
    assert side.accuracy(tmp_path / "run") == pytest.approx(share_right(part, 8))


def test_a_resumed_run_asks_what_was_taken_away_and_nothing_else(part: Any, tmp_path: Path) -> None:
    part("harness").write_data(tmp_path / "data", {"some": 8})
    side = part("our_side")
    wanted = side.settings(tmp_path / "data" / "some", tmp_path / "run", 0.0)
    before = side.sit(wanted)
    assert side.take_away(tmp_path / "run", 10, 1) == 110
    assert side.sit(wanted).equals(before)
    assert Run(tmp_path / "run").table("replies").height == 120


def test_a_synthetic_run_is_judged_and_scored_whole(part: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synthetic = part("synthetic")
    monkeypatch.setattr(synthetic, "PART", 200)
    monkeypatch.setattr(synthetic, "REPLIES_A_FILE", 150)
    run = synthetic.write_run(tmp_path / "run", 1000, str(BENCH / "toys" / "chain_exam.py"))
    assert len(run.parts) == 5
    assert part("our_side").measure_stream(tmp_path / "run")["peak_bytes"] > 0
    assert run.table("verdicts").group_by("model").len().sort("model").rows() == [("chooser", 1000), ("prior", 1000)]
    scores = run.table("scores").filter((pl.col("metric") == "accuracy") & (pl.col("slice") == "all"))
    found = {row["model"]: (row["n"], row["coverage"], row["value"]) for row in scores.iter_rows(named=True)}
    assert found["chooser"][:2] == found["prior"][:2] == (1000, 1.0)
    assert found["chooser"][2] == pytest.approx(0.6 + 0.4 / 5, abs=0.05)
    assert found["prior"][2] == pytest.approx(0.2, abs=0.05)


def test_the_table_says_which_targets_are_met(part: Any) -> None:
    harness = part("harness")
    ours, theirs = {"wall": 1.0, "cpu": 1.0}, {"wall": 60.0, "cpu": 40.0}
    lines = [
        harness.ratio_line("first", harness.one_in(ours, theirs), 50),
        harness.ratio_line("second", harness.one_in(ours, theirs), 30),
    ]
    _, first, second = harness.table(lines).splitlines()
    assert first.split() == ["first", "<", "1/50", "1/60", "1/40", "NOT", "MET"]
    assert second.split() == ["second", "<", "1/30", "1/60", "1/40", "met"]
