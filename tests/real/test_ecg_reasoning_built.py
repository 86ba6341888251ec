"""An exam built on recordings of LUDB: it lints clean, and what is asked about the recording cannot be guessed."""

from __future__ import annotations

import json
from pathlib import Path

import click.testing
import pytest

from overread.archives.reasoning_lint import lint
from overread.cli import main

pytestmark = pytest.mark.real
STAGES = ("lead_grounding", "wave_grounding", "measurement_grounding")


def test_an_exam_on_recordings_lints_clean_and_stays_at_chance(real_data: Path, tmp_path: Path) -> None:
    data, exam = f"ludb={real_data / 'ludb'}", tmp_path / "exam"
    words = ["build", "ecg_reasoning", "ludb", "--data", data, "--per", "100", "--out", str(exam)]
    built = click.testing.CliRunner().invoke(main, words)
    assert built.exit_code == 0, built.output
    count, faults = lint(exam)
    assert count >= 60 and faults == []
    words = [
        "audit",
        "ecg_reasoning",
        "--data",
        f"ecg_reasoning={exam}",
        "--data",
        data,
        "--out",
        str(tmp_path / "run"),
    ]
    told = click.testing.CliRunner().invoke(main, [*words, "--json"])
    assert told.exit_code == 0, told.output
    stages = json.loads(told.stdout)["stages"]
    for stage in STAGES:
        # With so few questions a prior may do worse than chance on other patients; it must not do better.
        assert stages[stage]["interval"][0] <= stages[stage]["chance"]
