"""What each condition does to a script, and what it leaves alone."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overread.errors import BadInput
from overread.exam.script import Ask, Say, Script, Take, Tell
from overread.media.conditions import BLIND, TEXT_PROBES, parse_conditions, seeded, vary
from overread.tables import Case, Json, Media

MEDIA = (Media("ecg", "ecg", "x://1"), Media("clip", "clip", "x://2", select=(3, 1, 2)))
CASE = Case("c", "x", "x/p", MEDIA, Json())
COLOURS = ("Red", "Green", "Blue", "Grey")
ASK = Ask("t", "Which?", "choice", ("Red",), COLOURS, media=("clip", "ecg"), wording="What?")
ASK = dataclasses.replace(ASK, follow={"reverse": ("Blue",)})
FAR = Ask("n", "How far?", "number", 2.0, follow={"reverse": 7.0})
SCRIPT = Script(
    CASE,
    "i",
    (Say("Look.", role="system"), Say("Here:", media=("ecg",)), ASK, Tell(ASK), Take("a", "b"), FAR),
    name="s",
)


def under(condition: str, script: Script = SCRIPT, seed: int = 0) -> Script:
    return vary(script, condition, seed, (Media("ecg", "ecg", "x://9"), Media("clip", "clip", "x://8")), "Guess.")


def asks(script: Script) -> list[Ask]:
    return [one.ask if isinstance(one, Tell) else one for one in script.turns if isinstance(one, Tell | Ask)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("none", ("plain",)),
        ("", ("plain",)),
        ("plain", ("plain",)),
        ("floors", ("plain", *BLIND)),
        ("full", ("plain", *BLIND, *TEXT_PROBES, "reverse")),
        ("reverse, text ,reverse", ("plain", "reverse", "text")),
        ("text,plain", ("plain", "text")),
    ],
)
def test_conditions_are_read_and_plain_comes_first(text: str, found: tuple[str, ...]) -> None:
    assert parse_conditions(text, ("reverse",)) == found


@pytest.mark.parametrize("text", ["shuffle", "text,blanc", "floors,text", "Plain"])
def test_a_condition_that_the_exam_does_not_have_is_named_with_those_it_has(text: str) -> None:
    with pytest.raises(BadInput, match="no condition") as error:
        parse_conditions(text, ("reverse",))
    assert "plain, blank, swap, text, guess, order, wording, reverse" in str(error.value)


def test_plain_is_the_script_itself() -> None:
    assert under("plain") is SCRIPT


@pytest.mark.parametrize("condition", ["text", "guess"])
def test_without_media_no_turn_attaches_any(condition: str) -> None:
    bare = under(condition)
    assert bare.shown_media() == ()
    assert not any(one.media for one in bare.turns if isinstance(one, Say | Ask))
    assert not any(ask.media for ask in asks(bare))
    assert [ask.answer for ask in asks(bare)] == [ask.answer for ask in asks(SCRIPT)]
    assert len(under("text").turns) == len(SCRIPT.turns)


def test_guess_says_so_in_the_system_turn_or_in_one_of_its_own() -> None:
    first = under("guess").turns[0]
    assert isinstance(first, Say) and first.text == "Look.\n\nGuess."
    silent = dataclasses.replace(SCRIPT, turns=SCRIPT.turns[2:])
    assert under("guess", silent).turns[0] == Say("Guess.", role="system")
    assert len(under("guess", silent).turns) == len(silent.turns) + 1
    assert under("guess", dataclasses.replace(SCRIPT, turns=())).turns == (Say("Guess.", role="system"),)


def test_swap_changes_the_media_and_nothing_else() -> None:
    swapped = under("swap")
    assert [medium.uri for medium in swapped.shown_media()] == ["x://9", "x://8"]
    assert swapped.turns == SCRIPT.turns and swapped.case is CASE


@pytest.mark.parametrize("condition", ["blank", "reverse", "frozen"])
def test_a_change_marks_every_medium_and_keeps_order_and_positions(condition: str) -> None:
    changed = under(condition).shown_media()
    assert changed == tuple(dataclasses.replace(medium, change=condition) for medium in MEDIA)


def test_a_probe_moves_the_keys_that_follow_it_told_ones_too() -> None:
    assert [ask.answer for ask in asks(under("reverse"))] == [("Blue",), ("Blue",), 7.0]
    assert [ask.answer for ask in asks(under("blank"))] == [("Red",), ("Red",), 2.0]


def test_wording_asks_in_other_words_where_there_are_some() -> None:
    assert [ask.text for ask in asks(under("wording"))] == ["What?", "What?", "How far?"]


@given(count=st.integers(2, 8), seed=st.integers(0, 50), item=st.text(max_size=3))
def test_order_always_changes_the_order_and_never_the_options_or_the_key(count: int, seed: int, item: str) -> None:
    options = tuple(f"o{n}" for n in range(count))
    script = dataclasses.replace(SCRIPT, item=item, turns=(dataclasses.replace(ASK, options=options, answer=("o1",)),))
    (ask,) = under("order", script, seed).asks()
    assert ask.options != options and sorted(ask.options) == sorted(options)
    assert ask.answer == ("o1",)
    assert (ask,) == tuple(under("order", script, seed).asks())


def test_order_leaves_a_single_option_and_a_number_alone() -> None:
    one = dataclasses.replace(ASK, options=("Red",))
    script = dataclasses.replace(SCRIPT, turns=(one, FAR))
    assert under("order", script).turns == (one, FAR)


def test_draws_hang_on_their_parts_alone_and_are_the_same_on_every_machine() -> None:
    assert seeded("a", 1).integers(1000, size=3).tolist() == seeded("a", "1").integers(1000, size=3).tolist()
    assert seeded("a", 1).integers(1 << 40) != seeded("a", 2).integers(1 << 40)
    assert seeded("ab").integers(1 << 40) != seeded("a", "b").integers(1 << 40)
    assert seeded("overread").integers(1000, size=4).tolist() == [168, 50, 503, 445]
