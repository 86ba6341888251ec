"""The protocol shapes of the field, compiled; the golden files are read by people, so keep them readable.

To write them anew after a wanted change: OVERREAD_WRITE_GOLDEN=1 pytest tests/test_exam.py
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from overread.errors import BadInput
from overread.exam.compiling import Exam, Part, compile_parts
from overread.exam.framing import load_framings
from overread.exam.script import Ask, Say, Script, Take, Tell
from overread.exam.survey import survey
from overread.media.conditions import parse_conditions
from overread.tables import Case, Json, Media

GOLDEN = Path(__file__).parent / "golden"
YES_NO = ("Yes", "No")
THREE = (*YES_NO, "More findings are needed")


def case(number: int = 1, **facts: object) -> Case:
    media = (Media("ecg", "ecg", f"phantoms://ecg/{number}"),)
    return Case(f"c{number}", "phantoms", f"phantoms/p{number}", media, Json(geometry="12x10", **facts))


def first(answer: str = "Yes", **changes: object) -> Ask:
    ask = Ask("first", "Is it there?", "choice", (answer,), YES_NO, media=("ecg",), shows="reply", stage="first")
    return dataclasses.replace(ask, **changes)  # type: ignore[arg-type]


def step(name: str, answer: str = "Yes", **changes: object) -> Ask:
    ask = Ask(name, f"What of {name}?", "choice", (answer,), YES_NO, shows="key", stage=name)
    return dataclasses.replace(ask, **changes)  # type: ignore[arg-type]


def compiled(scripts: Sequence[Script], conditions: str = "none", **more: int) -> list[Part]:
    exam = Exam("shape", "p", parse_conditions(conditions, ("reverse",)), more.get("seed", 0), load_framings())
    found = survey(scripts, more.get("seed", 0), more.get("limit"), everyone=True, swap="swap" in exam.conditions)
    return list(compile_parts(exam, scripts, found, more.get("part_size", 1000)))


def readable(parts: Sequence[Part]) -> str:
    """The exam as a person would write it down; ids are numbered in the order of their questions."""
    lines: list[str] = []
    questions = {q.id: q for part in parts for q in part.questions}
    keys = {k.question: k for part in parts for k in part.key}
    name = {id_: f"q{q.place}" for id_, q in questions.items()}
    for part in parts:
        for dialogue in part.dialogues:
            lines.append(f"== {dialogue.item} under {dialogue.condition}")
            for turn in dialogue.turns:
                media = "".join(f" +{medium}" for medium in turn.media)
                lines.append(f"[{turn.role}{media}] {turn.text}")
                if turn.source:
                    lines.append(f"  -> shows the reply to {name[turn.source]}")
                if turn.question:
                    q, key = questions[turn.question], keys[turn.question]
                    lines.append(f"  -> {name[q.id]}, wave {q.wave}, after {[name[p] for p in q.parents]}")
                    lines.append(f"  -> key {list(key.answer)}, later turns see {q.shows}")
                    if q.asked != turn.text:
                        lines.append(f"  -> asked as: {q.asked}")
    return "\n".join(lines) + "\n"


SHAPES = {
    "single": [
        Script(case(), "i", (Say("Read.", role="system"), first(shows="nothing")), name="a"),
        Script(case(), "i", (Say("Read.", role="system"), step("rate", media=("ecg",))), name="b"),
    ],
    "chain": [Script(case(), "i", (Say("Read.", role="system"), first(), step("rate"), step("decision", "No")))],
    "commit": [
        Script(case(), "i", (Say("Read.", role="system"), first()), name="first"),
        *(
            Script(
                case(),
                "i",
                (
                    Say("Read.", role="system"),
                    Take("first", "first"),
                    *(Tell(step(f"finding{m}")) for m in range(n + 1)),
                    step("decision", options=YES_NO, shown_as=THREE, shows="nothing"),
                ),
                name=f"branch{n}",
            )
            for n in range(2)
        ),
    ],
    "commit_in_one": [
        Script(
            case(),
            "i",
            (first(), step("decision1", "No", shown_as=THREE), step("decision2", "No", shown_as=THREE)),
        )
    ],
    "condensed": [
        Script(case(), "i", (first(shown_as="question"), step("rate", shown_as="question"), step("decision")))
    ],
    "free": [Script(case(), "i", (first(), step("rate", shows="reply"), step("decision", shows="reply")))],
    "left_out": [Script(case(), "i", (first(shows="nothing"), step("rate", media=("ecg",)), step("decision")))],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_each_protocol_shape_compiles_to_what_its_golden_file_shows(shape: str) -> None:
    text = readable(compiled(SHAPES[shape]))
    golden = GOLDEN / f"{shape}.txt"
    if os.environ.get("OVERREAD_WRITE_GOLDEN"):
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


def swap_pair(answers: tuple[str, str], patients: tuple[int, int] = (1, 2)) -> list[Script]:
    return [
        Script(case(patient), f"i{n}", (first(answers[n]), step("rate", "Yes"))) for n, patient in enumerate(patients)
    ]


def test_swap_takes_another_patients_study_with_another_key() -> None:
    (part,) = compiled(swap_pair(("Yes", "No")), "swap")
    uris = {d.item: d.media[0].uri for d in part.dialogues if d.condition == "swap"}
    assert uris == {"i0": "phantoms://ecg/2", "i1": "phantoms://ecg/1"}


def test_under_swap_only_the_questions_whose_key_differs_are_scored() -> None:
    (part,) = compiled(swap_pair(("Yes", "No")), "swap")
    swapped = {d.id for d in part.dialogues if d.condition == "swap"}
    scored = {q.template: k.scored for q, k in zip(part.questions, part.key, strict=True) if q.dialogue in swapped}
    assert scored == {"first": True, "rate": False}


@pytest.mark.parametrize("pair", [swap_pair(("Yes", "Yes")), swap_pair(("Yes", "No"), (1, 1))])
def test_there_is_no_swap_without_another_key_of_another_patient(pair: list[Script]) -> None:
    (part,) = compiled(pair, "swap")
    assert {d.condition for d in part.dialogues} == {"plain"}


def test_studies_of_another_geometry_are_not_swapped_in() -> None:
    scripts = swap_pair(("Yes", "No"))
    wide = dataclasses.replace(scripts[1].case, facts=Json(geometry="12x20"))
    (part,) = compiled([scripts[0], dataclasses.replace(scripts[1], case=wide)], "swap")
    assert {d.condition for d in part.dialogues} == {"plain"}


def test_text_and_guess_show_no_media_and_only_guess_says_so() -> None:
    (part,) = compiled([Script(case(), "i", (Say("Read.", role="system"), first()))], "text,guess")
    plain, text, guess = part.dialogues
    assert plain.media and not text.media and not guess.media
    assert not any(turn.media for turn in (*text.turns, *guess.turns))
    assert text.turns[0].text == "Read."
    assert guess.turns[0].text.startswith("Read.\n\n") and "guess" in guess.turns[0].text


def test_blank_and_probes_change_the_media_and_nothing_else() -> None:
    (part,) = compiled([Script(case(), "i", (first(),))], "blank,reverse")
    plain, blank, reverse = part.dialogues
    assert [d.media[0].change for d in (plain, blank, reverse)] == ["", "blank", "reverse"]
    assert plain.turns[0].text == blank.turns[0].text == reverse.turns[0].text


def test_order_asks_the_same_options_in_another_order_with_the_same_key() -> None:
    options = tuple("abcdef")
    (part,) = compiled([Script(case(), "i", (first("c", options=options),))], "order")
    plain, order = part.questions
    assert plain.options == options != order.options
    assert sorted(order.options) == list(options)
    assert part.key[0].answer == part.key[1].answer == ("c",)
    assert plain.item == order.item


def test_wording_asks_in_other_words_with_the_same_options() -> None:
    (part,) = compiled([Script(case(), "i", (first(wording="Can it be seen?"),))], "wording")
    plain, wording = part.questions
    assert "Can it be seen?" in wording.asked and "Is it there?" not in wording.asked
    assert plain.options == wording.options


def test_a_probe_moves_the_key_where_the_question_says_how() -> None:
    ask = Ask("n", "Which frame?", "number", 2.0, low=0, high=9, whole=True, media=("ecg",), follow={"reverse": 7.0})
    (part,) = compiled([Script(case(), "i", (ask,))], "reverse")
    assert [key.number for key in part.key] == [2.0, 7.0]


def test_items_are_never_split_between_parts_and_places_run_on() -> None:
    scripts = [Script(case(n), f"i{n}", (first(), step("rate"), step("decision"))) for n in range(7)]
    parts = compiled(scripts, part_size=4)
    assert [(part.start, part.stop) for part in parts] == [(0, 6), (6, 12), (12, 18), (18, 21)]
    for part in parts:
        assert [q.place for q in part.questions] == [k.place for k in part.key] == list(range(part.start, part.stop))


def test_a_limit_draws_the_same_items_whatever_else_is_asked() -> None:
    scripts = [Script(case(n), f"i{n}", (first(),)) for n in range(20)]
    items = [{d.item for part in compiled(scripts, c, limit=5) for d in part.dialogues} for c in ("none", "full")]
    assert items[0] == items[1]
    assert len(items[0]) == 5
    assert items[0] != {d.item for part in compiled(scripts, limit=5, seed=1) for d in part.dialogues}


def test_ids_and_prompts_are_the_same_whenever_it_is_compiled_again() -> None:
    one, other = (compiled(SHAPES["chain"] * 1, "full")[0] for _ in range(2))
    assert one.dialogues == other.dialogues and one.questions == other.questions and one.key == other.key


def test_a_changed_key_that_is_shown_changes_the_prompts_after_it_and_no_other() -> None:
    def prompts(answer: str) -> list[str]:
        turns = (first(shows="nothing"), step("rate", answer), step("decision"))
        return [q.prompt for q in compiled([Script(case(), "i", turns)])[0].questions]

    yes, no = prompts("Yes"), prompts("No")
    assert [a == b for a, b in zip(yes, no, strict=True)] == [True, True, False]


BROKEN = {
    "a choice without options": first(options=()),
    "the same option twice": first(options=("Yes", "Yes")),
    "not among its options": first(answer=("Maybe",)),
    "exactly one": first(answer=("Yes", "No")),
    "its key is none": Ask("n", "How many?", "number", float("nan")),
    "only one end of a range": Ask("n", "How many?", "number", 3.0, low=0),
    "which is none": Ask("n", "How many?", "number", 3.0, low=3, high=3),
    "outside its range from 1 to 2": Ask("n", "How many?", "number", 3.0, low=1, high=2),
    "a medium 'clip'": first(media=("clip",)),
}


@pytest.mark.parametrize("said", BROKEN)
def test_a_question_that_cannot_be_asked_is_named(said: str) -> None:
    with pytest.raises(BadInput, match="i7") as error:
        compiled([Script(case(), "i7", (BROKEN[said],))])
    assert said in str(error.value)


def test_scripts_of_one_item_must_follow_each_other() -> None:
    scripts = [Script(case(n), item, (first(),), name=str(n)) for n, item in enumerate(["a", "b", "a"])]
    with pytest.raises(BadInput, match="follow each other"):
        compiled(scripts)


def test_a_reply_can_only_be_taken_from_a_script_before() -> None:
    with pytest.raises(BadInput, match="not known yet"):
        compiled([Script(case(), "i", (Take("first", "first"), step("decision")))])
