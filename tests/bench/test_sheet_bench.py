"""That the parts of the sheet bench run without ecg_plot; speed is measured there, not here."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from overread.media import ecg, sheet

BENCH = Path(__file__).parents[2] / "bench"


@pytest.fixture
def part(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Any]]:
    """A file of the bench as a module, by name."""
    monkeypatch.syspath_prepend(str(BENCH))
    before = set(sys.modules)

    def load(name: str) -> ModuleType:
        spec = importlib.util.spec_from_file_location(f"bench_{name}", BENCH / f"{name}.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        return module

    yield load
    for name in set(sys.modules) - before:
        if name in ("environments", "harness") or name.startswith("bench_"):
            sys.modules.pop(name)


def test_our_side_draws_the_record_and_keeps_its_picture(
    part: Callable[[str], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bench = part("sheet")
    record = bench.make_record(tmp_path, 1.5)
    for what in {way.what for way in bench.WAYS}:
        words = ["sheet_ours.py", what, str(record), "2", "--keep", str(tmp_path / "ours.npy")]
        monkeypatch.setattr(sys, "argv", words)
        part("sheet_ours").main()
        told = json.loads(capsys.readouterr().out)
        assert len(told["rounds"]) == 2 and all(one["cpu"] > 0 for one in told["rounds"])
        assert bench.middle(told["rounds"])["wall"] > 0
    study = ecg.read(record)
    drawn = sheet.draw(study.mv, study.rate_hz, study.leads, "upstream")
    assert np.array_equal(np.load(tmp_path / "ours.npy"), drawn.image)


def test_the_table_holds_targets_against_processor_time(part: Callable[[str], Any]) -> None:
    bench = part("sheet")
    way = bench.Way("fast", "draw", 80.0)
    found = {"ours": [{"wall": 1.0, "cpu": 1.0}] * 3, "theirs": [{"wall": 200.0, "cpu": 79.0}] * 3}
    *_, last = bench.compare(way, found)
    assert (last.target, last.wall, last.cpu, last.kept) == (">= 80 x", "200 x", "79 x", False)
    assert bench.compare(bench.Way("other", "raw"), found)[-1].kept is None


def test_pictures_are_compared_pixel_by_pixel(part: Callable[[str], Any], tmp_path: Path) -> None:
    bench = part("sheet")
    image = np.full((4, 5, 3), 250, dtype=np.uint8)
    other = image.copy()
    other[0, 0, 0] = 4
    for name, held in (("one", image), ("other", other), ("small", image[:3])):
        np.save(tmp_path / f"{name}.npy", held)
    assert bench.apart(tmp_path / "one.npy", tmp_path / "other.npy") == pytest.approx(246 / 60)
    assert bench.apart(tmp_path / "one.npy", tmp_path / "one.npy") == 0
    assert bench.apart(tmp_path / "one.npy", tmp_path / "small.npy") == float("inf")


def test_an_environment_that_is_there_is_not_made_again(part: Callable[[str], Any], tmp_path: Path) -> None:
    (tmp_path / "lock.txt").write_bytes((BENCH / "requirements-ecg-plot.txt").read_bytes())
    assert part("environments").python_of("ecg-plot", tmp_path) == tmp_path / "bin" / "python"
