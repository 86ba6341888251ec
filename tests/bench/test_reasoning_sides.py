"""That both sides of the bench of ECG reasoning find the same; speed is measured there, not here."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

from overread.archives import phantoms as archive
from overread.builders import ecg_reasoning, phantoms
from overread.phantoms.ecg import recipes

BENCH = Path(__file__).parents[2] / "bench"


def part(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"bench_{name}", BENCH / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_loop_and_the_run_find_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCH))
    root = phantoms.build(tmp_path / "phantoms", patients=40, kinds=("ecg",), ecgs=tuple(recipes())[:40])
    exam = ecg_reasoning.build(list(archive.cases(root)), tmp_path / "exam", per=2)
    sides, bench = part("reasoning_sides"), part("ecg_reasoning")
    told = sides.write(exam, tmp_path / "results", 400)
    assert 350 < told["questions"] <= 400
    assert len(list((tmp_path / "results").rglob("*.json"))) == told["samples"]
    sides.bring(tmp_path / "results", tmp_path / "run")
    counts, found = sides.theirs(tmp_path / "results"), sides.ours(tmp_path / "run", "1")
    bench.agree(json.loads(json.dumps(counts)), found)
    with pytest.raises(SystemExit, match="disagree"):
        bench.agree({**counts, "hard": counts["hard"] + 1}, found)
    sys.modules.pop("sides", None)
