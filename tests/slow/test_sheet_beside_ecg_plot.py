"""The sheet `upstream` beside the real ecg_plot 0.2.8, in an environment made from the bench's own lock."""

from __future__ import annotations

import importlib.util
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from overread.media import ecg, sheet
from overread.media.wfdb import write_record
from overread.phantoms.ecg import ecg_phantom

pytestmark = pytest.mark.slow

BENCH = Path(__file__).parents[2] / "bench"
MOST_APART = 0.05


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment with ecg_plot 0.2.8."""
    spec = importlib.util.spec_from_file_location("bench_environments", BENCH / "environments.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    try:
        return Path(module.python_of("ecg-plot", tmp_path_factory.mktemp("environment") / "ecg-plot"))
    except subprocess.CalledProcessError:
        pytest.skip("the environment of ecg_plot cannot be made here")


def grey_levels_apart(python: Path, record: Path, folder: Path) -> float:
    kept = folder / f"{record.name}.npy"
    command = [python, BENCH / "sheet_theirs.py", "raw", record, "0", "--keep", kept]
    subprocess.run([str(word) for word in command], check=True, capture_output=True)
    study = ecg.read(record)
    ours = sheet.draw(study.mv, study.rate_hz, study.leads, "upstream").image
    picture = np.load(kept)
    assert ours.shape == picture.shape
    return float(np.abs(ours.astype(int) - picture).mean())


@pytest.mark.parametrize(("seconds", "rate_hz"), [(10, 500), (10, 100), (12.25, 400), (5, 250)])
def test_phantoms_look_the_same(theirs: Path, tmp_path: Path, seconds: float, rate_hz: int) -> None:
    made = ecg_phantom(3, "normal", seconds=seconds, rate_hz=rate_hz)
    write_record(tmp_path, "phantom", made.mv.astype(np.float64), float(rate_hz), ecg.LEADS)
    assert grey_levels_apart(theirs, tmp_path / "phantom", tmp_path) <= MOST_APART


def test_flat_lines_gaps_and_huge_traces_look_the_same(theirs: Path, tmp_path: Path) -> None:
    mv = np.zeros((12, 5000))
    mv[1, 1000:2000] = np.nan
    mv[2, 100:200] = 25.0
    mv[7] = 3 * np.sin(np.arange(5000) / 20)
    write_record(tmp_path, "odd", mv, 500.0, ecg.LEADS)
    assert grey_levels_apart(theirs, tmp_path / "odd", tmp_path) <= MOST_APART


@pytest.mark.real
def test_real_records_look_the_same(theirs: Path, tmp_path: Path) -> None:
    real_data = Path(os.environ["OVERREAD_REAL_DATA"])
    headers = sorted((real_data / "ptbxl").rglob("*.hea")) + sorted((real_data / "ludb").rglob("*.hea"))[::25]
    assert len(headers) > 6
    for header in headers:
        assert grey_levels_apart(theirs, header.with_suffix(""), tmp_path) <= MOST_APART, header.name
