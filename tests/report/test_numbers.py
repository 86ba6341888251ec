from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overread.report.numbers import count, number, percent, span, with_interval
from overread.report.texts import clean


@pytest.mark.parametrize(
    ("value", "about", "text"),
    [
        (0.621, {"share": True}, "62.1"),
        (-0.1485, {"share": True, "signed": True}, "−14.8"),
        (0.0, {"signed": True}, "0.00"),
        (-0.00001, {"share": True, "signed": True}, "0.0"),
        (8.383, {}, "8.38"),
        (123.46, {}, "123.5"),
        (0.0123, {}, "0.012"),
    ],
)
def test_values_are_written_with_few_decimals(value: float, about: dict[str, bool], text: str) -> None:
    assert number(value, **about) == text


def test_an_interval_takes_the_decimals_of_its_value() -> None:
    assert with_interval(0.62, 0.55, 0.69) == "0.62 [0.55, 0.69]"
    assert with_interval(0.62, 0.55, 0.69, share=True) == "62.0 % [55.0, 69.0]"
    assert with_interval(150.0, 0.02, 300.0) == "150.0 [0.0, 300.0]"
    assert with_interval(0.5, None, None) == "0.50"
    assert with_interval(None, None, None) == "–"
    assert span(None, None, 1.0) == ""


def test_only_all_is_a_hundred_per_cent() -> None:
    shares = (1.0, 0.9999, 0.5, 0.001, 0.0)
    assert [percent(share) for share in shares] == ["100 %", "> 99 %", "50 %", "< 1 %", "0 %"]
    assert count(1234567) == "1\u202f234\u202f567"


@given(st.text(max_size=300))
def test_cleaned_text_is_printable_and_bounded(text: str) -> None:
    shown = clean(text, 100)
    shown.encode("utf-8")
    assert not any(ord(c) < 32 and c not in "\t\n" for c in shown)
    assert not set(shown) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f")


def test_plain_text_stays_as_it_is() -> None:
    text = "Größe 3 µm ≥ 2\n\tja → نعم"
    assert clean(text) == text
    assert clean("a\r\nb") == "a\nb"
    assert clean("e" + "\u0301" * 50) == "e" + "\u0301" * 3
    assert clean("a" * 20, 10) == "a" * 10 + " … (the first 10 of 20 characters)"
