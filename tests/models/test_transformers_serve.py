"""`transformers serve` on this machine, with a tiny model built here: a real OpenAI-compatible server."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import overread

pytestmark = pytest.mark.slow
TINY = Path(__file__).parent / "hf" / "tiny.py"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny vision-language model with random weights, as a hub folder; built in a process of its own."""
    made = tmp_path_factory.mktemp("tiny") / "smol"
    assert importlib.util.find_spec("transformers") is not None
    code = f"import runpy; from pathlib import Path; runpy.run_path({str(TINY)!r})['idefics3'](Path({str(made)!r}))"
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "HF_HUB_OFFLINE": "1"})
    return made


@pytest.fixture
def spec(folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    for name in ("HF_HUB_OFFLINE", "OMP_NUM_THREADS"):
        monkeypatch.setenv(name, "1")
    serve = f"{Path(sys.executable).parent / 'transformers'} serve {folder} --device cpu --port {{port}}"
    return (
        f"openai_chat[model={folder},url=http://127.0.0.1:{{port}}/v1,serve={serve},new_tokens=8,concurrency=4,"
        "timeout=60,patience=90,serve_seconds=90]"
    )


def test_a_true_server_answers_questions_about_pictures(
    spec: str, picture_cases: Callable[..., str], tmp_path: Path
) -> None:
    def sit(model: str, name: str) -> Any:
        return overread.run(picture_cases(4, 3), model, out=tmp_path / name, conditions="none").table("replies")

    replies = sit(spec, "run")
    counts = dict(replies.group_by("status").len().iter_rows())
    said = replies.filter(pl.col("status") == "answered")
    assert sum(counts.values()) == 12 and said.height > 0
    assert set(replies.filter(pl.col("status") == "failed")["reason"].str.slice(0, 29)) <= {
        "the server sent an empty text"
    }
    usages = [json.loads(usage) for usage in said["usage"]]
    assert all(0 < usage["tokens"] <= 8 and usage["prompt_tokens"] > 10 for usage in usages)
    again = sit(spec, "again")
    assert dict(again["question", "text"].iter_rows()) == dict(replies["question", "text"].iter_rows())


def test_pictures_reach_a_true_server(spec: str, picture_cases: Callable[..., str], tmp_path: Path) -> None:
    run = overread.run(picture_cases(8, 1), spec, out=tmp_path / "run", conditions="full")
    asked = run.table("replies").filter(pl.col("model") == spec)  # chance and the priors count no tokens
    replies = asked.join(
        run.table("questions").select("dialogue", question="id"), on="question"
    ).join(run.table("dialogues").select("condition", dialogue="id"), on="dialogue")  # fmt: skip
    read = {
        condition: {json.loads(usage)["prompt_tokens"] for usage in rows["usage"]}
        for (condition,), rows in replies.group_by("condition")
    }
    assert min(read["plain"]) > max(read["text"]) + 4, "with a picture the server counts the picture's tokens"
