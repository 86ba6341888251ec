"""How far judges agree is counted by hand on a few replies."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import click.testing
import pytest

from overread import pipeline
from overread.cli import main
from overread.commands.agreement import agreement
from overread.settings import Settings

MODEL = '''"""Decorates: a bullet and bold letters around the first option."""
from overread.models.contract import Answer
KINDS, FORMS, SAMPLES = ("choice",), {}, False
class Model:
    def identity(self): return {}
    def answer(self, dialogues):
        for posed in dialogues:
            for one in posed.questions:
                yield Answer(one.question.id, one.seed, one.sample, text=f"- **{one.question.options[0]}**.")
def load(setting): return Model()
'''


def test_replies_that_judges_find_differently_are_counted(trees: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(MODEL, encoding="utf-8")
    samples = tmp_path / "samples"
    samples.mkdir()
    line = json.dumps(trees.reasoning_sample(0)) + "\n"
    (samples / "ptbxl.jsonl").write_text(line, encoding="utf-8")
    data, out = {"ecg_reasoning": str(samples)}, str(tmp_path / "run")
    run, _ = pipeline.run(Settings("ecg_reasoning", (str(tmp_path / "model.py"),), data, "", "none", out=out))
    assert agreement(run) == []
    result = click.testing.CliRunner().invoke(main, ["judge", out, "--judge", "ecg_heuristic:0.0.2", "--json"])
    rows = {row["stage"]: row for row in json.loads(result.stdout)}
    # First options: Yes (right), Conduction (right), Yes (right), Yes, Rhythm, Yes (right), leads, segment (right),
    # below 120 ms, Yes (right). `- **Yes**.` ends with **yes**, as the rules want it; the others are not word for word.
    assert {stage: (row["n"], row["only_one"] + row["only_other"]) for stage, row in rows.items()} == {
        "all": (10, 2), "criterion_selection": (2, 1), "diagnostic_decision": (2, 0), "finding_identification": (2, 0),
        "initial_diagnostic_question": (1, 0), "lead_grounding": (1, 0), "measurement_grounding": (1, 0),
        "wave_grounding": (1, 1),
    }  # fmt: skip
    assert rows["all"]["agreement"] == pytest.approx(0.8)
    assert rows["all"]["kappa"] == pytest.approx((0.8 - 0.6 * 0.4 - 0.4 * 0.6) / (1 - 0.48))


def test_one_panel_alone_has_nothing_to_agree_with(sit: Callable[..., tuple[object, object]]) -> None:
    run, _ = sit("ecg_steps", "oracle", limit=2)
    assert agreement(run) == []  # type: ignore[arg-type]
