"""A model judges ECG-Reasoning-Benchmark under both protocols from one cache: nothing is asked twice."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click.testing
import polars as pl
import pytest

from overread.cli import main
from overread.runs.folder import Run

Start = Callable[..., Any]
WORDY = """
'''Says the same in other words'''
from overread.models.contract import Answer
KINDS, FORMS, SAMPLES = ("choice",), {}, False

def load(setting):
    return Wordy()

class Wordy:
    def identity(self):
        return {"name": "wordy"}

    def answer(self, dialogues):
        for posed in dialogues:
            for p in posed.questions:
                yield Answer(p.question.id, p.seed, p.sample, text=f"I would say it is {p.question.options[0]}, indeed")
"""
FURTHER = "Further findings are required to confirm the diagnosis"


def step(stage: str, question: str, options: list[str], answer: str) -> dict[str, Any]:
    return {
        "question": question,
        "options": options,
        "answer": answer,
        "answer_idx": options.index(answer),
        "question_type": stage,
    }


def sample(number: int) -> dict[str, Any]:
    """One chain of two loops."""
    name = "first degree AV block"
    first = step("initial_diagnostic_question", f"Does this ECG suggest {name}?", ["Yes", "No"], "Yes")
    del first["answer_idx"]
    loops = []
    for loop, (label, decided) in enumerate((("Evidence of conduction", FURTHER), ("A long PR interval", "Yes"))):
        loops.append({
            "criterion_selection": step("criterion_selection", f"Which criterion, {loop}?", [label, "Another"], label),
            "finding_identification": step("finding_identification", f"Is it there, {loop}?", ["Yes", "No"], "Yes"),
            "ecg_grounding": [],
            "diagnostic_decision": step("diagnostic_decision", f"And {name}, {loop}?", ["Yes", "No", FURTHER], decided),
        })  # fmt: skip
    told = {"id": number, "data_source": "ptbxl", "ecg_id": str(number), "target_dx": "first_degree_av_block"}
    return {
        "metadata": {**told, "dx_label": True, "path_idx": 0},
        "data": {"initial_diagnostic_question": first, "reasoning": loops},
    }


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., Run]:
    """Sits and judges under a protocol: run(protocol, judge)."""
    (tmp_path / "wordy.py").write_text(WORDY)
    (tmp_path / "samples").mkdir()
    lines = [json.dumps(sample(number)) for number in range(3)]
    (tmp_path / "samples" / "ptbxl.jsonl").write_text("\n".join(lines) + "\n")

    def sit(protocol: str, judge: str) -> Run:
        out = tmp_path / protocol
        words = ["run", "ecg_reasoning", "--data", f"ecg_reasoning={tmp_path / 'samples'}", "--protocol", protocol]
        words += ["--set", "ecg_reasoning.media=none", "--set", "ecg_reasoning.release=0.0.2", "--conditions", "none"]
        words += ["--model", str(tmp_path / "wordy.py"), "--out", str(out)]
        for command in (words, ["judge", str(out), "--judge", judge, "--set", f"ask.rulings={tmp_path / 'kept'}"]):
            done = click.testing.CliRunner().invoke(main, command)
            assert done.exit_code == 0, done.output
        return Run(out)

    return sit


def calls(server: Any) -> int:
    return sum(server.stats()["done"].values())


def test_both_protocols_share_what_was_ruled(run: Callable[..., Run], chat_server: Start, tmp_path: Path) -> None:
    server = chat_server()
    judge = f"rubric[{server.spec()}]"
    default = run("default", judge)
    asked = calls(server)
    # 7 questions a sample, the same of all three samples: one ruling each.
    assert asked == 7
    forced = run("forced-commit", judge)
    # The first question again, and two decisions between yes and no.
    assert calls(server) == asked + 2
    for one, count in ((default, 21), (forced, 9)):
        found = one.table("verdicts").filter(pl.col("judge").str.starts_with("rubric"))
        assert found.height == count and not (one.folder / "rulings").exists()
    assert list((tmp_path / "kept" / "rubric").glob("*/run.json"))


def test_another_model_rules_for_itself(run: Callable[..., Run], chat_server: Start) -> None:
    server = chat_server()
    run("default", f"rubric[{server.spec('new_tokens=64')}]")
    asked = calls(server)
    run("forced-commit", f"rubric[{server.spec('new_tokens=65')}]")
    assert calls(server) == asked + 3
