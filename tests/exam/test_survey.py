"""Who enters an exam, who is asked blind, and whose study is swapped in."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from overread.exam import survey as survey_module
from overread.exam.script import Ask, Say, Script
from overread.exam.survey import BLIND_QUESTIONS, Survey, rank, survey
from overread.tables import Case, Json, Media


def case(patient: str, number: int = 0, **facts: object) -> Case:
    media = (Media("ecg", "ecg", f"x://{patient}/{number}"),)
    return Case(f"{patient}-{number}", "x", f"x/{patient}", media, Json(**{"geometry": "g", "length": 1, **facts}))


def script(of: Case, *answers: str, item: str = "", name: str = "", media: tuple[Media, ...] | None = None) -> Script:
    asks = tuple(Ask(f"t{n}", "?", "choice", (answer,), ("a", "b", "c")) for n, answer in enumerate(answers))
    return Script(of, item or of.id, asks, name=name, media=media)


def surveyed(scripts: Sequence[Script], limit: int | None = None, *, everyone: bool = True, seed: int = 0) -> Survey:
    return survey(scripts, seed, limit, everyone=everyone, swap=True)


def partner_of(one: Script, *others: Script) -> str | None:
    found = surveyed([one, *others]).partner([one], 0)
    return None if found is None else found.patient


def test_nothing_and_a_single_patient_are_no_error() -> None:
    assert surveyed([]).questions == 0 and surveyed([]).blind == set()
    alone = [script(case("p", n), "a") for n in range(3)]
    found = surveyed(alone, everyone=False)
    assert (found.items, found.questions, found.blind) == (3, 3, {"x/p"})
    assert found.partner(alone[:1], 0) is None and found.unpaired == 1


def test_the_partner_is_the_one_that_differs_in_the_most_questions() -> None:
    one = script(case("p"), "a", "a", "a")
    assert partner_of(one, script(case("q"), "b", "a", "a"), script(case("r"), "b", "b", "a")) == "x/r"
    assert partner_of(one, script(case("q"), "a", "a", "a")) is None
    assert partner_of(one, script(case("p", 1), "b", "b", "b")) is None, "the same patient"


def test_only_answers_to_the_same_question_are_compared() -> None:
    one = Script(case("p"), "i", (Ask("left", "?", "choice", ("a",), ("a", "b")),))
    other = Script(case("q"), "j", (Ask("right", "?", "choice", ("b",), ("a", "b")),))
    assert partner_of(one, other) is None


def test_a_partner_has_the_same_geometry_length_and_number_of_positions() -> None:
    one = script(case("p"), "a")
    assert partner_of(one, script(case("q"), "b")) == "x/q"
    assert partner_of(one, script(case("q", geometry="h"), "b")) is None
    assert partner_of(one, script(case("q", length=2), "b")) is None
    places = (range(4), range(9, 13), range(2, 7))
    window = [(Media("clip", "clip", f"x://{n}", select=tuple(place)),) for n, place in enumerate(places)]
    windows = [script(case(patient), answer, media=window[n]) for n, (patient, answer) in enumerate(("pa", "qb", "rb"))]
    assert partner_of(windows[0], windows[1]) == "x/q"
    assert partner_of(windows[0], windows[2]) is None
    longer = script(case("q", length=99), "b", media=window[1])
    assert partner_of(windows[0], longer) == "x/q", "of a window the length of the whole clip does not matter"


def test_the_swapped_study_comes_under_the_names_that_the_script_uses() -> None:
    one = script(case("p"), "a")
    theirs = script(case("q"), "b", media=(Media("other", "ecg", "x://q/0"),))
    found = surveyed([one, theirs]).partner([one], 0)
    assert found is not None
    assert [(m.name, m.uri) for m in found.media_for(one)] == [("ecg", "x://q/0")]


def test_a_script_without_media_has_no_partner() -> None:
    bare = script(case("p"), "a", media=())
    found = surveyed([bare, script(case("q"), "b")])
    assert found.partner([bare], 0) is None and found.unpaired == 0


def test_of_very_many_candidates_the_same_few_are_looked_at() -> None:
    crowd = [script(case(f"p{n}"), "ab"[n % 2], "abc"[n % 3]) for n in range(3 * survey_module.TRIES)]
    picked = [surveyed(crowd).partner(crowd[:1], seed) for seed in (0, 0, 1, 2, 3)]
    patients = [one.patient for one in picked if one is not None]
    assert len(patients) == 5 and patients[0] == patients[1] and len(set(patients)) > 1


@given(sizes=st.lists(st.integers(1, 60), min_size=1, max_size=30), seed=st.integers(0, 3))
def test_a_fifth_of_the_questions_is_asked_blind_by_whole_patients_and_no_fewer_than_200(
    sizes: list[int], seed: int
) -> None:
    scripts = [script(case(f"p{n}"), *"a" * size) for n, size in enumerate(sizes)]
    found = surveyed(scripts, everyone=False, seed=seed)
    asked = sum(size for n, size in enumerate(sizes) if f"x/p{n}" in found.blind)
    enough = min(max(0.2 * sum(sizes), BLIND_QUESTIONS), sum(sizes))
    assert enough <= asked < enough + max(sizes)
    mixed = surveyed(scripts[::-1], everyone=False, seed=seed)
    assert mixed.blind == found.blind, "chosen by patient and by nothing else"
    assert surveyed(scripts, seed=seed).blind == {f"x/p{n}" for n in range(len(sizes))}


def test_a_limit_keeps_whole_items_and_counts_only_them() -> None:
    scripts = [script(case(f"p{n}"), "a", "b", item=f"i{n}", name=name) for n in range(9) for name in ("x", "y")]
    found = surveyed(scripts, 4)
    assert found.chosen is not None and len(found.chosen) == found.items == 4
    assert found.questions == 4 * 4 and len(found.blind) == 4
    assert surveyed(scripts, 9).chosen is None and surveyed(scripts, 99).chosen is None
    assert found.chosen < (surveyed(scripts, 6).chosen or set()), "a larger limit only adds"


def test_what_is_not_chosen_may_still_be_swapped_in() -> None:
    scripts = [script(case("p"), "a", item="i"), script(case("q"), "b", item="j")]
    found = surveyed(scripts, 1)
    (item,) = found.chosen or set()
    one = next(one for one in scripts if one.item == item)
    assert found.partner([one], 0) is not None


def test_questions_are_told_apart_by_script_template_and_number() -> None:
    one = Script(case("p"), "i", (Say("x"), *script(case("p"), "a").turns, *script(case("p"), "b").turns), name="n")
    assert list(survey_module.answers_of(one)) == [("n", "t0", 0), ("n", "t0", 1)]


def test_ranks_are_the_same_on_every_machine_and_hang_on_the_seed() -> None:
    assert rank(0, "a") == 6_539_243_125_055_167_529
    assert len({rank(seed, *parts) for seed in (0, 1) for parts in (("a",), ("b",), ("a", "b"), ("ab",))}) == 8
