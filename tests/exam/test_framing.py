"""How a question becomes the text of a turn."""

from __future__ import annotations

import copy
import dataclasses
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from overread.errors import BadInput
from overread.exam.framing import PROMPTS, load_framings
from overread.exam.script import Ask

PLAIN, WORDING = (load_framings()[name] for name in ("plain", "wording"))
CHOICE = Ask("t", "Which?", "choice", ("Red",), ("Red", "Green"))
NUMBER = Ask("t", "How far?", "number", 3.0, low=0.5, high=20, unit="mm")


def test_a_choice_shows_its_options_in_order_one_a_line() -> None:
    lines = PLAIN.ask(CHOICE).splitlines()
    assert lines[0] == "Which?"
    assert lines.index("- Red") + 1 == lines.index("- Green")
    assert PLAIN.ask(CHOICE) != PLAIN.ask(dataclasses.replace(CHOICE, many=True))


def test_a_question_can_be_shown_with_other_options() -> None:
    other = PLAIN.ask(CHOICE, options=("Blue",))
    assert "- Blue" in other and "Red" not in other
    assert "- " not in PLAIN.ask(CHOICE, options=())


@pytest.mark.parametrize(
    ("changes", "there", "absent"),
    [
        ({}, "one number from 0.5 to 20 in mm and", None),
        ({"unit": ""}, "one number from 0.5 to 20 and", " in "),
        ({"low": None}, "one number in mm and", "from"),
        ({"high": None, "unit": ""}, "one number and", "from"),
        ({"low": 0.0}, "from 0 to 20", None),
    ],
)
def test_a_number_says_its_range_and_unit_where_it_has_them(
    changes: dict[str, Any], there: str, absent: str | None
) -> None:
    asked = PLAIN.ask(dataclasses.replace(NUMBER, **changes))
    assert there in asked and (absent is None or absent not in asked)


def test_an_open_question_is_asked_as_it_is() -> None:
    assert PLAIN.ask(Ask("t", "Its name?", "text", ("x",))) == "Its name?"


@given(text=st.text(), options=st.lists(st.text(), min_size=1, max_size=4))
def test_nothing_that_a_question_says_is_taken_for_a_place_holder(text: str, options: list[str]) -> None:
    lines = PLAIN.ask(Ask("t", "{question}?", "choice", ("x",), tuple(options)))
    assert "{question}?" in lines
    assert all(f"- {option}" in lines for option in options)
    assert text in PLAIN.ask(Ask("t", text, "text", ("x",)))


def test_options_that_look_like_place_holders_stay_as_they_are() -> None:
    asked = PLAIN.ask(Ask("t", "Use {options}?", "choice", ("{option}",), ("{option}", "{question}")))
    assert "- {option}" in asked and "- {question}" in asked


def test_the_paraphrase_says_the_same_in_other_words() -> None:
    for ask in (CHOICE, dataclasses.replace(CHOICE, many=True), NUMBER, Ask("t", "Its name?", "text", ("x",))):
        plain, wording = PLAIN.ask(ask), WORDING.ask(ask)
        assert plain != wording and ask.text in wording
    assert "Red" in WORDING.ask(CHOICE) and "0.5" in WORDING.ask(NUMBER) and "mm" in WORDING.ask(NUMBER)
    assert PLAIN.guess != WORDING.guess


def broken(change: Any) -> str:
    book = copy.deepcopy(yaml.safe_load((PROMPTS / "framing.yaml").read_text(encoding="utf-8")))
    change(book)
    return yaml.safe_dump(book)


BROKEN = {
    "plain' lacks choice": broken(lambda book: book["plain"].pop("choice")),
    "wording' lacks unit": broken(lambda book: book["wording"].update(unit=3)),
    "wording' lacks option, choice": broken(lambda book: book.pop("wording")),
    "plain' lacks option": "[1, 2]",
    "cannot be read": "a: [",
}


@pytest.mark.parametrize("said", BROKEN)
def test_a_framing_file_that_lacks_words_is_named(said: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(BROKEN[said], encoding="utf-8")
    with pytest.raises(BadInput) as error:
        load_framings(path)
    assert said in str(error.value) and str(path) in str(error.value)


def test_a_framing_file_that_is_not_there_or_no_text_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        load_framings(tmp_path / "gone.yaml")
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadInput):
        load_framings(tmp_path / "bytes.yaml")
