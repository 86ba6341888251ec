"""That all sides of the bench of the asking send the same bodies; speed is measured there, not here."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

BENCH = Path(__file__).parents[2] / "bench"


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCH))
    spec = importlib.util.spec_from_file_location("bench_api", BENCH / "api.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "bench_api", module)
    spec.loader.exec_module(module)
    return module


def test_all_sides_send_the_same_bodies(
    bench: ModuleType, chat_server: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = {}
    for side in ("bare", "lean", "ours"):
        server = chat_server()
        monkeypatch.setattr(bench, "PORT", server.port)
        folder = tmp_path / side
        folder.mkdir()
        told = getattr(bench, side)(bench.cases(folder, 30), 10)
        assert told["questions"] == 30 and told["seconds"] > 0
        sent[side] = server.stats()["answered"]
    assert len(sent["ours"]) == 30
    assert set(sent["bare"]) == set(sent["lean"]) == set(sent["ours"])
