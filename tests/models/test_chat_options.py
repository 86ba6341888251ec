from __future__ import annotations

import pytest

from overread.errors import BadInput
from overread.models.chat_options import OPENAI_KEY, is_loopback, read_options

SECRET = "sk-proj-abcdef0123456789"


@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        ({}, "no model is named"),
        ({"model": "m", "modle": "x"}, "modle"),
        ({"model": "m", "mode": "guess"}, "mode=guess"),
        ({"model": "m", "url": "models.example/v1"}, "not that of a server"),
        ({"model": "m", "url": "https://me:secret@models.example/v1"}, "more than an address"),
        ({"model": "m", "url": "https://models.example/v1?key=1"}, "more than an address"),
        ({"model": "m", "url": "https://models.example/v1", "serve": "x"}, "models.example is another one"),
        ({"model": "m", "concurrency": "0"}, "concurrency"),
        ({"model": "m", "concurrency": "many"}, "not a number"),
        ({"model": "m", "temperature": "-1"}, "temperature"),
        ({"model": "m", "temperature": "nan"}, "temperature"),
        ({"model": "m", "budget_money": "5"}, "needs prices"),
        ({"model": "m", "extra": "[1]"}, "no.* JSON object"),
        ({"model": "m", "extra": "{"}, "not JSON"),
    ],
)
def test_what_cannot_be_meant_is_refused(given: dict[str, str], wrong: str) -> None:
    with pytest.raises(BadInput, match=wrong):
        read_options(given, "here")


def test_a_key_given_in_place_of_a_name_is_refused_and_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadInput) as error:
        read_options({"model": "m", "key": SECRET}, "here")
    assert SECRET not in str(error.value) and "environment variable" in str(error.value)
    lookalike = "sk_abcdef0123456789"
    with pytest.raises(BadInput) as error:
        read_options({"model": "m", "key": lookalike}, "here").secret()
    assert lookalike not in str(error.value)


@pytest.mark.parametrize("around", ["\n", "\r\n", " ", "é"])
def test_a_key_with_signs_that_no_header_holds_is_refused_and_not_repeated(
    around: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MINE", SECRET + around)
    with pytest.raises(BadInput, match="a line break") as error:
        read_options({"model": "m", "key": "MINE"}, "").secret()
    assert SECRET not in str(error.value)


def test_a_variable_that_is_not_set_is_named_where_its_name_cannot_be_a_key() -> None:
    with pytest.raises(BadInput, match="GEMINI_TEST_API_KEY is not set"):
        read_options({"model": "m", "key": "GEMINI_TEST_API_KEY"}, "").secret()


def test_the_key_comes_from_the_variable_named_and_only_openai_has_a_usual_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(OPENAI_KEY, SECRET)
    monkeypatch.setenv("MINE", "other")
    assert read_options({"model": "m"}, "").secret() == SECRET
    assert read_options({"model": "m", "url": "https://models.example/v1"}, "").secret() == ""
    assert read_options({"model": "m", "url": "https://models.example/v1", "key": "MINE"}, "").secret() == "other"
    monkeypatch.delenv(OPENAI_KEY)
    with pytest.raises(BadInput, match=OPENAI_KEY):
        read_options({"model": "m"}, "").secret()


def test_the_identity_holds_what_changes_answers_and_nothing_else() -> None:
    plain = {"model": "m", "url": "http://127.0.0.1:8000/v1"}
    known = read_options(plain, "").identity()
    for name, value in {"temperature": "0.5", "frames": "video", "new_tokens": "9", "extra": '{"a": 1}'}.items():
        assert read_options({**plain, name: value}, "").identity() != known
    other = {"url": "http://127.0.0.1:9000/v1", "key": "K", "concurrency": "2", "budget_tokens": "9", "timeout": "7"}
    assert read_options({**plain, **other}, "").identity() == known
    assert read_options({"model": "m", "url": "https://models.example/v1"}, "").identity() != known


def test_what_is_another_machine_and_what_is_not() -> None:
    hosts = {"localhost": True, "127.0.0.1": True, "::1": True, "10.0.0.1": False, "localhost.example": False}
    assert {host: is_loopback(host) for host in hosts} == hosts
    assert read_options({"model": "m"}, "").remote == "api.openai.com"
    assert read_options({"model": "m", "url": "http://[::1]:8000/v1"}, "").remote == ""
    assert read_options({"model": "m", "url": "http://127.0.0.1:{port}/v1", "serve": "x"}, "").remote == ""


def test_a_dated_edition_of_the_model_is_the_model() -> None:
    options = read_options({"model": "gpt-5"}, "")
    assert all(map(options.is_asked_for, ("gpt-5", "gpt-5-2026-08-07", "gpt-5-20260807", "gpt-5-001")))
    assert not any(map(options.is_asked_for, ("gpt-5-mini", "gpt-5-mini-2026-08-07", "gpt-4", "")))
    assert read_options({"model": "latest", "returns": "m-7"}, "").is_asked_for("m-7")
    latest = read_options({"model": "m-7-latest"}, "")
    assert latest.is_asked_for("m-7-latest") and latest.is_asked_for("m-7-20260807")
    assert not latest.is_asked_for("m-7") and not latest.is_asked_for("m-8-20260807")
