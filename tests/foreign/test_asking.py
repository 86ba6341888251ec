from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from overread.errors import ModelFault
from overread.foreign.asking import Outcome, Patience, converse
from overread.foreign.process import Process
from overread.foreign.request import Asked, Packed
from overread.models.contract import Answer, Message, Pending
from overread.tables import Question

DONE = {"type": "done", "request": 4}


class Fake:
    """A worker that says what it was told to say, and then falls silent."""

    def __init__(self, said: Sequence[dict[str, Any]]) -> None:
        self._said = iter(said)

    def send(self, line: bytes, seconds: float) -> None:
        pass

    def receive(self, seconds: float) -> dict[str, Any] | None:
        return next(self._said, None)


def packed(place: int) -> Packed:
    question = Question(f"q{place}", "d", 0, "i", "t", "choice", "", "", "key", "p", ("yes", "no"))
    asked = Asked(Pending(question, 0, Message("user", "?"), 0, 0), {})
    return Packed(b"{}", {f"4.{place}.0": asked}, ())


def talk(*said: dict[str, Any], patience: Patience = Patience()) -> list[Answer]:  # noqa: B008 (frozen)
    outcome = Outcome([packed(0), packed(1)], Path("nowhere"))
    process = cast("Process", Fake(said))
    return [*converse(process, b"", 4, outcome, patience), *outcome.rest()]


def say(place: Any, ask: Any = "4.0.0", choice: int = 1) -> dict[str, Any]:
    return {"type": "answer", "request": 4, "dialogue": place, "answer": {"question": ask, "choice": choice}}


def test_answers_go_to_their_questions_and_the_rest_fails() -> None:
    one, two = talk(say(0), DONE)
    assert (one.question, one.choice) == ("q0", (1,))
    assert one.seconds > 0
    assert (two.question, two.status) == ("q1", "failed")


def test_a_late_sign_of_life_of_the_last_request_is_harmless() -> None:
    assert talk({"type": "alive", "request": 3}, say(0), DONE)[0].status == "answered"


def test_answers_come_as_they_are_given() -> None:
    process = cast("Process", Fake([say(0)]))
    first = next(converse(process, b"", 4, Outcome([packed(0)], Path("nowhere")), Patience()))
    assert first.choice == (1,)


@pytest.mark.parametrize("wrong", ["4.1.0", "3.0.0", None, 7, ["4.0.0"]])
def test_an_answer_nobody_asked_for_is_passed_on_and_fails_what_is_open(wrong: Any) -> None:
    stray, one, two = talk(say(0, wrong), DONE)
    assert (stray.status, stray.question) == ("failed", str(wrong))
    assert (one.question, one.reason) == ("q0", "the script answered a question that was not asked")
    assert (two.question, two.reason) == ("q1", "the script gave no answer to this question")


def test_a_second_answer_is_passed_on_and_the_first_one_stands() -> None:
    one, again, two = talk(say(None), say(None, choice=0), DONE)
    assert [(a.question, a.choice) for a in (one, again)] == [("q0", (1,)), ("q0", (0,))]
    assert two.reason == "the script answered a question twice"


def test_an_error_without_a_place_concerns_all_that_have_no_answer() -> None:
    error = {"type": "error", "request": 4, "dialogue": None, "error": "ValueError: no", "at": "m.py:3"}
    one, two = talk(say(None), error, DONE)
    assert (one.status, two.reason) == ("answered", "the script raised ValueError: no (m.py:3)")


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ({**DONE, "request": 3}, "another request"),
        ({"type": "done"}, "another request"),
        (say(5), "not given"),
        (say(-1), "not given"),
        (say("x"), "no number"),
        ({"type": "answer", "request": 4, "dialogue": 0}, "unknown message"),
        ({"type": "error", "request": 4, "dialogue": 0}, "unknown message"),
        ({"type": "shrug", "request": 4}, "unknown message"),
    ],
)
def test_a_worker_out_of_step_is_lost(message: dict[str, Any], reason: str) -> None:
    with pytest.raises(ModelFault, match=reason):
        talk(message, DONE)


def test_silence_and_endless_work_are_told_apart() -> None:
    with pytest.raises(ModelFault, match="no sign of life for 60 s"):
        talk(say(0))
    with pytest.raises(ModelFault, match="busy for 50 s"):
        talk(say(0), patience=Patience(silence=60, answer=50))
