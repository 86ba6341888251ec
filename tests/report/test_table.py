from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from overread.report.table import headline_rows


def test_rows_are_plain_data_with_candidates_first(usual: Any) -> None:
    rows = headline_rows(usual.run())
    assert [(row["model"], row["group"]) for row in rows] == [
        ("seer", "model"),
        ("chance", "reference"),
        ("prior", "reference"),
    ]
    seer = rows[0]
    assert (seer["lift"], seer["lift_low"], seer["floor"], seer["value"]) == (0.25, 0.05, "prior", 0.8)
    assert (seer["chance"], seer["prior"], seer["blank"], seer["swap"], seer["text"]) == (0.5, 0.55, 0.4, None, None)
    assert seer["not_asked"] == "swap, guess"
    assert (seer["direction"], seer["receipts"], rows[1]["receipts"]) == ("more", "tensor", "never looks")
    assert rows[1]["lift"] is None
    assert len({tuple(row) for row in rows}) == 1
    json.dumps(rows, allow_nan=False)


def test_the_best_prior_is_shown_in_either_direction(made: Callable[..., Any]) -> None:
    for benchmark, metric, best in (("ecg_steps", "accuracy", 0.6), ("heartbeat", "mean_error", 0.5)):
        run = made(benchmark=benchmark).model("seer", lambda q: ("Yes", "read", True))
        for name, value in (("prior", 0.5), ("prior:chain", 0.6)):
            run.model(name, lambda q: ("Yes", "read", True), looks=False).score(name, metric, value)
        run.score("seer", metric, 0.7)
        assert headline_rows(run.run())[0]["prior"] == best


def test_the_weakest_receipt_of_a_model_counts(made: Callable[..., Any]) -> None:
    run = made().model("seer", lambda q: ("Yes", "read", True) if q.place % 2 else None, level="tensor")
    run.model("seer", lambda q: None if q.place % 2 else ("Yes", "read", True), level="sent")
    assert headline_rows(run.score("seer", "accuracy", 0.5).run())[0]["receipts"] == "sent"
