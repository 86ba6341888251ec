"""Thousands of calls to a server that fails in every way: none is lost, none counts twice."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import overread

FAULTS = {
    "429": 0.06,
    "500": 0.05,
    "hang": 0.004,
    "cut": 0.05,
    "malformed": 0.05,
    "empty": 0.03,
    "wrong_model": 0.03,
    "refusal": 0.02,
}
SLOT = ["question", "seed", "sample"]
QUESTIONS, SAMPLES = 25, 3


@pytest.mark.parametrize(("cases", "calls"), [(3, 200), pytest.param(30, 2_000, marks=pytest.mark.slow)])
def test_thousands_of_calls_to_a_faulty_server_lose_nothing_and_count_nothing_twice(
    cases: int, calls: int, chat_server: Callable[..., Any], picture_cases: Callable[..., str], tmp_path: Path
) -> None:
    server = chat_server("--plan", json.dumps(FAULTS), "--delay", "0.02")
    model = server.spec("temperature=0.7", "concurrency=32", "timeout=1")

    def sit() -> overread.Run:
        return overread.run(
            picture_cases(cases, QUESTIONS), model, out=tmp_path / "run", conditions="none", samples=SAMPLES
        )

    expected = cases * QUESTIONS * SAMPLES
    run = sit()
    replies = run.table("replies")
    assert replies.height == expected and replies.select(SLOT).is_unique().all()
    failed = replies.filter(pl.col("status") == "failed")
    assert 0 < failed.height < expected / 4
    assert {reason.split("(")[0].split("'")[0].strip() for reason in failed["reason"]} == {
        "the server sent an empty text",
        "the server answered with the model",
    }
    refused = replies.filter(pl.col("status") == "refused")
    assert refused.height > 0 and set(refused["reason"]) == {"the model refused: I would rather not."}
    assert failed["text"].is_null().all() and refused["text"].is_null().all()

    for _ in range(8):  # a failed question is asked again by the next run, and by no other
        before = run.table("replies")
        left = before.filter(pl.col("status") != "failed").select(SLOT)
        asked_again = expected - left.height
        run = sit()
        assert run.table("replies").height == before.height + asked_again
        if not asked_again:
            break
    counted = run.table("verdicts")
    assert counted.height == expected and counted.select(SLOT).is_unique().all()
    assert "failed" not in set(counted["status"])

    stats = server.stats()
    assert sum(stats["done"].values()) >= calls and set(stats["done"]) >= {*FAULTS, "ok"} - {"hang"}
    answered = run.table("replies").filter(pl.col("status") == "answered")
    assert sum(stats["answered"].values()) == answered.height, "an answer that came was lost, or was asked for again"
    assert max(stats["answered"].values()) <= SAMPLES, "a question was asked again although it had its answer"
    assert 8 < stats["most"] <= 32


def test_what_was_read_and_written_is_counted_also_where_calls_were_lost(
    chat_server: Callable[..., Any], picture_cases: Callable[..., str], tmp_path: Path
) -> None:
    server = chat_server("--plan", json.dumps({"malformed": 0.5}))
    run = overread.run(picture_cases(), server.spec("retries=20"), out=tmp_path / "run", conditions="none")
    usages = [json.loads(usage) for usage in run.table("replies")["usage"]]
    assert all(usage["tokens"] == 5 and usage["prompt_tokens"] == 200 for usage in usages)
    lost = sum(usage.get("calls", 1) - 1 for usage in usages)
    assert lost == server.stats()["done"]["malformed"] > 0
    assert sum(usage.get("uncounted_tokens", 0) for usage in usages) > lost * 1000
