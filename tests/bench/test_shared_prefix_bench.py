"""The bench of the shared prefix runs, on tiny models, and writes what it measured."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

BENCH = Path(__file__).parents[2] / "bench" / "shared_prefix.py"


@pytest.mark.parametrize("model", ["tiny", "tiny_qwen"])
def test_everything_is_measured_and_replies_agree(model: str, tmp_path: Path) -> None:
    out = tmp_path / "found.json"
    wanted = "shared,parts,options,agreement,batched,float32"
    command = [sys.executable, str(BENCH), "--model", model, "--only", wanted, "--json", str(out)]
    subprocess.run(command, check=True, capture_output=True)
    found = json.loads(out.read_text(encoding="utf-8"))
    assert not [name for name, value in found.items() if isinstance(value, dict) and "failed" in value]
    assert found["agreement in float32"]["replies"] == 1.0
    assert {"shared / field", "shared / batched", "parts", "options"} <= found.keys()
    assert "kernels" not in found and "parts, layers compiled" not in found


def test_a_step_that_there_is_not_is_refused(tmp_path: Path) -> None:
    command = [sys.executable, str(BENCH), "--model", "tiny", "--only", "shared,everything"]
    ended = subprocess.run(command, check=False, capture_output=True, text=True)
    assert ended.returncode == 2 and "everything is not one of shared, parts" in ended.stderr
