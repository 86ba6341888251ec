"""A run is killed at fifty random moments, shared by two processes, and cut off from its disk; nothing is lost."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from overread.runs.folder import Run

pytestmark = pytest.mark.slow

KILLS = 50
Command = Callable[..., list[str]]


@pytest.fixture
def command(phantom_data: dict[str, str], toy: Callable[[str], str]) -> Command:
    def words(out: Path, *more: str, seconds: float = 0.0) -> list[str]:
        model = f"{toy('steady')}[seconds={seconds}]"
        data = f"phantoms={phantom_data['phantoms']}"
        base = [sys.executable, "-m", "overread", "run", "ecg_steps", "--data", data, "--conditions", "blank,text"]
        return [*base, "--model", model, "--model", "chance", "--protocol", "free", "--out", str(out), *more]

    return words


def finish(words: list[str]) -> None:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def scores_of(out: Path) -> pl.DataFrame:
    """The scores; the model's own name holds the seconds it waits, which differ."""
    scores = Run(out).table("scores")
    return scores.with_columns(pl.col("model").str.replace(r"\[.*", "")).sort(pl.exclude("value", "low", "high"))


def assert_whole(out: Path, undisturbed: Path) -> None:
    run = Run(out)
    verdicts, questions = run.table("verdicts"), run.table("questions")
    plain = run.table("dialogues").filter(pl.col("condition") == "plain")["id"]
    for model, expected in (
        ("steady", questions),
        ("chance", questions.filter(pl.col("dialogue").is_in(plain.implode()))),
    ):
        mine = verdicts.filter(pl.col("model").str.contains(model))
        assert sorted(mine["question"]) == sorted(expected["id"]), (
            f"not exactly one counted reply a question of {model}"
        )
    assert scores_of(out).equals(scores_of(undisturbed))


def test_fifty_kills_at_random_moments_lose_nothing(command: Command, tmp_path: Path) -> None:
    finish(command(tmp_path / "undisturbed"))
    out = tmp_path / "killed"
    draw = random.Random(7)
    words = command(out, seconds=0.02)
    kills = asked = 0
    while kills < KILLS:
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(draw.uniform(0.05, 2.5))
        if process.poll() is not None:
            assert process.returncode == 0
            asked += 1
            if asked > 3:  # the run is whole, and kills hit what comes after the asking: begin another one
                assert_whole(out, tmp_path / "undisturbed")
                out.rename(tmp_path / f"whole{kills}")
                asked = 0
        else:
            os.kill(process.pid, signal.SIGKILL)
            kills += 1
        process.wait()
    finish(words)
    assert_whole(out, tmp_path / "undisturbed")


def test_two_processes_on_one_run_ask_everything_once_or_count_it_once(command: Command, tmp_path: Path) -> None:
    finish(command(tmp_path / "undisturbed"))
    words = command(tmp_path / "shared", seconds=0.01)
    both = [subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for _ in range(2)]
    errors = [process.communicate()[1] for process in both]
    assert [process.returncode for process in both] == [0, 0], errors
    finish(words)
    assert_whole(tmp_path / "shared", tmp_path / "undisturbed")


def test_disjoint_shards_at_the_same_time_make_the_same_run(command: Command, tmp_path: Path) -> None:
    finish(command(tmp_path / "undisturbed"))
    out = tmp_path / "shards"
    words = [command(out, "--shard", f"{n}/3", seconds=0.005) for n in (1, 2, 3)]
    processes = [subprocess.Popen(each, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for each in words]
    for process in processes:
        error = process.communicate()[1]
        assert process.returncode in (0, 3), error
    finish(command(out, seconds=0.005))
    questions = Run(out).table("questions").height
    asked = Run(out).table("replies").filter(pl.col("model").str.contains("steady"))
    assert asked.height == questions, "the shards overlapped"
    assert_whole(out, tmp_path / "undisturbed")
