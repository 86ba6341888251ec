"""That the parts of the ECG bench run without neurokit2; speed is measured there, not here."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from overread.measure.ecg.agreement import Agreement
from overread.phantoms.ecg import ecg_phantom

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
        if name in ("environments", "harness", "sides") or name.startswith("bench_"):
            sys.modules.pop(name)


def ours(what: str, folder: Path) -> Any:
    words = [sys.executable, BENCH / "ecg_ours.py", what, folder, "1", "1"]
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_our_side_times_and_gives_boundaries(tmp_path: Path) -> None:
    made = ecg_phantom(1, "normal")
    np.save(tmp_path / "one.npy", made.mv)
    (timed,) = ours("speed", tmp_path)["rounds"][0]
    assert timed["delineate"]["cpu"] > 0 and timed["measure"]["wall"] > 0
    found = ours("waves", tmp_path)["one"]
    assert abs(len(found["joint"]["qrs"]) - len(made.boundaries.peaks)) <= 1
    assert set(found["lead"]) == {"p", "qrs", "t"}


def test_the_table_of_accuracy_has_a_row_for_each_wave_and_side(part: Callable[[str], Any]) -> None:
    bench = part("ecg")
    one = Agreement(9, 1, 0, (2.0, -2.0), (1.0, 3.0))
    found = {"agreement": {"a": dict.fromkeys(bench.KINDS, one)}, "records": 3, "failed": {"7": "ValueError"}}
    text = bench.accuracy_table(found)
    assert "| qrs | a | 0.9474 | +0.0 \u00b1 2.0 | +2.0 \u00b1 1.0 |" in text and "failed on 1" in text


def test_phantoms_are_decided_and_their_errors_counted(part: Callable[[str], Any]) -> None:
    bench = part("ecg_phantoms")
    phantom = ecg_phantom(1, "normal")
    errors = bench.errors_of(phantom.facts, phantom.facts)
    assert set(errors) >= {"pr_ms", "axis_deg", "heights_mv"} and max(max(one) for one in errors.values()) == 0.0
