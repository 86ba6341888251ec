from __future__ import annotations

import dataclasses

import pytest

from overread.quick import quick
from overread.tables import Json, Question, Reply

GIVEN = ("id", "dialogue", 3, "item", "template", "choice", "asked", "shown", "key", "prompt")


def test_a_quick_row_is_equal_to_one_that_the_class_makes() -> None:
    assert quick(Question)(*GIVEN, unit="ms", options=("a",)) == Question(*GIVEN, unit="ms", options=("a",))
    assert type(quick(Question)(*GIVEN)) is Question
    assert hash(quick(Question)(*GIVEN)) == hash(Question(*GIVEN))


def test_a_quick_row_is_frozen() -> None:
    made = quick(Question)(*GIVEN)
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.id = "other"  # type: ignore[misc]
    assert dataclasses.replace(made, id="other").id == "other"


def test_defaults_that_are_made_are_made_for_each_row() -> None:
    one, other = (quick(Reply)("id", "q", 0, "m", "x", 0, 0, "p", "answered") for _ in range(2))
    assert one.usage == Json() and one.usage is not other.usage
    assert one == Reply("id", "q", 0, "m", "x", 0, 0, "p", "answered")


def test_what_must_be_given_must_be_given() -> None:
    with pytest.raises(TypeError, match="dialogue"):
        quick(Question)("id")  # type: ignore[call-arg]
