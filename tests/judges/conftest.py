from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

from overread.judges.contract import COLUMNS

_PLAIN = {
    "kind": "choice",
    "template": "rhythm/1",
    "stage": "",
    "asked": "?",
    "options": ["Yes", "No"],
    "many": False,
    "whole": False,
    "unit": "",
    "answer": ["Yes"],
    "status": "answered",
}


@pytest.fixture
def replies() -> Callable[..., pl.DataFrame]:
    """Makes a judge's table: one dictionary a reply, over what all of them share."""

    def make(*rows: dict[str, Any], **shared: Any) -> pl.DataFrame:
        filled = [{"reply": f"r{place}"} | _PLAIN | shared | row for place, row in enumerate(rows)]
        return pl.DataFrame([{name: row.get(name) for name in COLUMNS} for row in filled], schema=COLUMNS)

    return make
