from __future__ import annotations

import pytest

from overread.errors import BadInput
from overread.measure.remembered import Remembered


def test_what_was_measured_is_not_measured_again():
    known: Remembered[int] = Remembered()
    calls: list[int] = []
    assert [known.get("a", lambda: calls.append(1) or 7) for _ in range(3)] == [7, 7, 7]
    assert len(calls) == 1


def test_why_nothing_could_be_measured_is_remembered_too():
    known: Remembered[int] = Remembered()
    calls: list[int] = []

    def measure() -> int:
        calls.append(1)
        raise BadInput("flat")

    for _ in range(3):
        with pytest.raises(BadInput, match="flat"):
            known.get("a", measure)
    assert len(calls) == 1


def test_only_what_was_asked_for_last_is_kept():
    known: Remembered[str] = Remembered(room=2)
    calls: list[str] = []

    def ask(key: str) -> None:
        known.get(key, lambda: calls.append(key) or key)

    for key in ("a", "b", "a", "c", "a", "b"):
        ask(key)
    assert calls == ["a", "b", "c", "b"]
