from __future__ import annotations

import pytest

from overread.exam.waves import Step, plan


def test_questions_that_show_their_key_do_not_wait() -> None:
    steps = [Step("a", None), Step("b", None), Step("c", None)]
    assert plan(steps, {}) == [("a", 0, ()), ("b", 0, ()), ("c", 0, ())]


def test_everything_after_a_shown_reply_is_asked_in_the_next_wave() -> None:
    steps = [Step("a", "a"), Step("b", None), Step("c", None)]
    assert plan(steps, {}) == [("a", 0, ()), ("b", 1, ("a",)), ("c", 1, ("a",))]


def test_a_free_conversation_has_as_many_waves_as_questions() -> None:
    steps = [Step(name, name) for name in "abcd"]
    assert [(name, wave) for name, wave, _ in plan(steps, {})] == [("a", 0), ("b", 1), ("c", 2), ("d", 3)]
    assert plan(steps, {})[3][2] == ("a", "b", "c")


def test_branches_wait_for_the_reply_that_they_take_from_another_dialogue() -> None:
    waves: dict[str, int] = {}
    plan([Step("first", "first")], waves)
    assert plan([Step(None, "first"), Step("branch", None)], waves) == [("branch", 1, ("first",))]


def test_a_reply_that_nobody_asked_for_is_an_error() -> None:
    with pytest.raises(KeyError):
        plan([Step(None, "unknown")], {})
