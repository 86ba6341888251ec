from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from overread.judges.choosing import read
from overread.judges.offered import offered
from overread.judges.wording import LONGEST_REPLY

SETS = [
    ("Yes", "No"),
    ("NORM", "ABNORMAL", "MI", "ST", "LBBB"),
    ("Sinus rhythm", "Atrial fibrillation", "Atrial flutter", "AV block", "Third degree AV block"),
    ("[0.50s - 0.62s]", "[1.30s - 1.42s]", "[2.10s - 2.22s]"),
    ("RSR' pattern in V1", "R wave in V1 > 1.5mV", "Cornell product > 0.244mV*s"),
    ("lead I", "lead aVL", "lead V1", "lead V6"),
    ("II, III, and aVF", "I and aVL", "V1-V4"),
]
DECORATIONS = [
    "{}",
    " {}\n",
    "{}.",
    "**{}**",
    "*{}*",
    "__{}__",
    "`{}`",
    '"{}"',
    "“{}”",
    "- {}",
    "• {}",
    "* {}",
    "({})",
    "Answer: {}",
    "**Final answer:** {}",
    "The answer is {}.",
    "<answer>{}</answer>",
    "<think>something else</think>{}",
    "{}\n\nThis follows from what is seen.",
    '["{}"]',
    '{{"answer": "{}"}}',
]
CHOICES = st.sampled_from(SETS).flatmap(lambda options: st.tuples(st.just(options), st.sampled_from(options)))
PIECES = st.sampled_from(
    [option for options in SETS for option in options]
    + ["A", "(B)", "C.", "option", "not", "no", "or", "and", ",", "\n", "is", "the", "Answer:", "<think>", "</think>"]
    + ["{", '"', "**", "-", "maybe", "1", "2.", "V1-V4", "leads", "because", "?", ".", "boxed{", "\\boxed{", "```"]
)
SOUP = st.lists(PIECES, max_size=12).map(" ".join)


def chosen(text: str, options: tuple[str, ...], many: bool) -> set[str] | None:
    picked = read(text, offered(options), many=many)
    return None if picked is None else {options[index] for index in picked}


@given(CHOICES, st.sampled_from(DECORATIONS), st.booleans())
def test_a_decorated_option_reads_back(choice: tuple[tuple[str, ...], str], form: str, many: bool) -> None:
    options, option = choice
    assert chosen(form.format(option), options, many) == {option}


@given(CHOICES, st.sampled_from(["{}", "({})", "{}.", "{})", "**{}**", "Option {}", "Answer: {}", "The answer is {}"]))
def test_a_letter_reads_back(choice: tuple[tuple[str, ...], str], form: str) -> None:
    options, option = choice
    letter = "ABCDEFGH"[options.index(option)]
    assert chosen(form.format(letter), options, False) == {option}
    assert chosen(f"{letter}. {option}", options, False) == {option}


@given(CHOICES, st.data())
def test_a_letter_with_the_text_of_another_option_is_unreadable(
    choice: tuple[tuple[str, ...], str], data: st.DataObject
) -> None:
    options, option = choice
    other = data.draw(st.sampled_from([o for o in options if o != option]))
    assert chosen(f"{'ABCDEFGH'[options.index(option)]}. {other}", options, False) is None


@given(st.one_of(st.text(max_size=300), SOUP), st.sampled_from(SETS), st.booleans())
def test_no_text_raises(text: str, options: tuple[str, ...], many: bool) -> None:
    chosen(text, options, many)


@given(SOUP, st.sampled_from(SETS), st.booleans(), st.randoms(use_true_random=False))
def test_the_order_of_the_options_does_not_matter_to_their_texts(
    text: str, options: tuple[str, ...], many: bool, random: object
) -> None:
    assume(not set("ABCDE12").intersection(text.replace("(", " ").replace(".", " ").split()) and "(B)" not in text)
    assert chosen(text, options, many) == chosen(text, tuple(reversed(options)), many)


@given(st.text(alphabet="bcdfghjklmnopqrstuvwxyz ,.\n-:;", max_size=200))
def test_a_text_without_any_option_reads_as_none(text: str) -> None:
    options = ("NAEVUS", "AXIS", "EASE")
    assume(not {"b", "c"}.intersection(text.replace(".", " ").replace(",", " ").replace("-", " ").split()))
    assume(not any(c in text for c in ("b", "c")))
    assert chosen(text, options, False) is None
    assert chosen(text, options, True) is None


@given(st.text(max_size=100), st.sampled_from(["not {}", "There is no {}.", "no evidence of {}", "{} is ruled out"]))
def test_a_denied_option_is_never_read(tail: str, form: str) -> None:
    options = ("LBBB", "RBBB")
    text = form.format("LBBB")
    assert chosen(text, options, False) is None
    assert chosen(f"{text}\n{tail}", options, False) != {"LBBB"} or "LBBB" in tail or "a" in tail.casefold()


@given(
    st.sets(st.sampled_from(SETS[5][:3]), min_size=1), st.sampled_from([", ", "; ", "\n", "/", " and ", " & ", "\n- "])
)
def test_a_list_in_any_order_reads_as_its_set(picked: set[str], joint: str) -> None:
    text = joint.join(sorted(picked, reverse=True))
    assert chosen(text, SETS[5], True) == picked


@given(st.lists(st.text(max_size=12), min_size=1, max_size=6).map(tuple), st.text(max_size=30))
def test_any_options_can_be_prepared(options: tuple[str, ...], text: str) -> None:
    read(text, offered(options), many=False)
    read(text, offered(options), many=True)
    if options[0]:
        assert chosen(options[0], options, False) == {options[0]}


HOSTILE = """A |A, |MI |MI, |not MI |MI. |*|_ |(|- |'|<think>|</think>|<think></think>|Answer:|Answer: A\n
the answer is A |{|[|{"answer":|\\boxed{|\x00|\n|and |```|ﷺ|I would choose |Yes |V1-V4, |1. |ab-|#|no |A"""


@pytest.mark.parametrize("piece", HOSTILE.replace("\n{", "|{").split("|"))
@pytest.mark.parametrize("length", [4_000, LONGEST_REPLY, 1_000_000])
def test_hostile_text_is_read_to_its_end(piece: str, length: int) -> None:
    text, among = piece * (length // len(piece)), offered(SETS[1])
    read(text, among, many=False)
    read(text, among, many=True)


def test_the_end_of_an_endless_reply_is_what_counts() -> None:
    options = SETS[1]
    assert chosen(f"<think>{'x ' * LONGEST_REPLY}</think>MI", options, False) == {"MI"}
    assert chosen(f"<think>{'x ' * LONGEST_REPLY}MI", options, False) is None
    assert chosen(f"{'x ' * LONGEST_REPLY}Answer: MI", options, False) == {"MI"}
    assert chosen(f"{'x ' * LONGEST_REPLY}MI", options, False) is None
