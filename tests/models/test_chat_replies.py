from __future__ import annotations

import json
import math
from typing import Any

import pytest

from overread.models.chat_options import Options
from overread.models.chat_replies import Malformed, Said, parse, read, usage_of
from overread.tables import Question

M = Options(model="m")


def question(**about: Any) -> Question:
    values: dict[str, Any] = {"kind": "choice", "options": ("Yes", "No", "Perhaps"), **about}
    return Question("q", "d", 0, "i", "t", asked="?", shown="?", shows="key", prompt="p", **values)


def document(content: Any = "Yes", model: str = "m", finish: str = "stop", **more: Any) -> dict[str, Any]:
    choice = {"message": {"role": "assistant", "content": content, **more.pop("message", {})}, "finish_reason": finish}
    return {"model": model, "choices": [{**choice, **more}]}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"<html>",
        b'{"choices": [',
        b"[]",
        b"{}",
        b'{"choices": []}',
        b'{"choices": [{"message": null}]}',
        b'{"choices": [{"message": {"content": [1]}}]}',
        b'{"usage": 7, "choices": [{"message": {"content": "x"}}]}',
    ],
)
def test_what_is_no_chat_completion_is_told_from_one(data: bytes) -> None:
    with pytest.raises(Malformed):
        parse(data)
    assert parse(json.dumps(document()).encode()) == document()


def test_texts_are_answers_and_what_is_none_has_its_status() -> None:
    assert read(document(" Yes\n"), question(), M) == Said(text="Yes")
    empty = read(document("", finish="length"), question(), M)
    assert (empty.status, empty.reason) == ("failed", "the server sent an empty text (finish_reason length)")
    assert read(document(None), question(), M).status == "failed"
    refused = read(document(None, message={"refusal": "No."}), question(), M)
    assert (refused.status, refused.reason, refused.text) == ("refused", "the model refused: No.", None)
    assert read(document("Ye", finish="content_filter"), question(), M).status == "refused"
    other = read(document(model="n"), question(), M)
    assert other.status == "failed" and "'n', not 'm'" in other.reason
    assert read(document(model=""), question(), M).text == "Yes", "some servers do not say which model answered"


@pytest.mark.parametrize(
    ("content", "about", "said"),
    [
        ('{"answer": "No"}', {}, Said(text="No", choice=(1,))),
        ('{"answer": ["No", "Yes"]}', {"many": True}, Said(text="No, Yes", choice=(1, 0))),
        ('{"answer": 7}', {"kind": "number", "options": ()}, Said(text='{"answer": 7}', number=7.0)),
        ('{"answer": true}', {"kind": "number", "options": ()}, Said(text='{"answer": true}')),
        ('{"answer": "Never"}', {}, Said(text='{"answer": "Never"}')),
        ("No", {}, Said(text="No")),
    ],
)
def test_what_was_held_to_a_schema_is_read_and_never_guessed(content: str, about: Any, said: Said) -> None:
    assert read(document(content), question(**about), Options(model="m", constrain="json_schema")) == said


def test_a_guided_choice_is_the_option_and_nothing_near_it() -> None:
    guided = Options(model="m", constrain="guided_choice")
    assert read(document("Perhaps"), question(), guided) == Said(text="Perhaps", choice=(2,))
    assert read(document("perhaps."), question(), guided) == Said(text="perhaps.")


def top(*pairs: tuple[str, float]) -> dict[str, Any]:
    likely = [{"token": token, "logprob": math.log(share)} for token, share in pairs]
    blank = {"token": "\n", "logprob": 0.0, "top_logprobs": []}
    return {"logprobs": {"content": [blank, {"token": pairs[0][0], "logprob": 0.0, "top_logprobs": likely}]}}


def test_probabilities_are_those_of_the_letters() -> None:
    said = read(document("B", **top((" B", 0.5), ("A", 0.2), ("B", 0.1), ("The", 0.1))), question(), M_SCORE)
    assert said.choice == (1,) and said.option_scores is not None
    assert [round(share, 6) for share in said.option_scores] == [0.25, 0.75, 0.0]


M_SCORE = Options(model="m", mode="score")


def test_without_probabilities_nothing_is_scored() -> None:
    for found in (document("B"), document("B", **top(("The", 0.9)))):
        assert read(found, question(), M_SCORE).status == "failed"
    assert read(document("x"), question(options=tuple(map(str, range(21)))), M_SCORE).status == "failed"
    assert read(document("Yes, No"), question(many=True), M_SCORE) == Said(text="Yes, No")


def test_usage_is_taken_over_as_far_as_it_is_told() -> None:
    told = {"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}}
    assert usage_of({"usage": told, "model": "m-1"}) == {
        "prompt_tokens": 9, "tokens": 2, "cached_tokens": 4, "model": "m-1",
    }  # fmt: skip
    assert usage_of({"usage": None}) == {} == usage_of({"usage": {"prompt_tokens": "9", "completion_tokens": True}})


@pytest.mark.parametrize("count", [-1, 10**30])
def test_a_count_that_no_reply_has_is_none(count: int) -> None:
    assert usage_of({"usage": {"prompt_tokens": count, "completion_tokens": count}}) == {}


def test_numbers_beyond_all_measure_are_no_numbers() -> None:
    held = Options(model="m", constrain="json_schema")
    for number in ("1" + "0" * 400, "1e999", "NaN"):
        said = read(document(f'{{"answer": {number}}}'), question(kind="number", options=()), held)
        assert (said.status, said.number) == ("answered", None)
    first = {"token": "A", "logprob": 0, "top_logprobs": [{"token": "A", "logprob": 10**400}]}
    scored = read(document(logprobs={"content": [first]}), question(), Options(model="m", mode="score"))
    assert scored.status == "failed"
