from __future__ import annotations

import dataclasses

import polars as pl

from overread.columns import to_frame
from overread.runs.standing import Standing, standing
from overread.tables import Question, Reply, content_id


def question(id_: str, place: int, wave: int = 0, parents: tuple[str, ...] = ()) -> Question:
    return Question(
        id_, "d", place, "i", "t", "choice", "?", "?", "reply", f"p-{id_}", ("Yes", "No"), wave=wave, parents=parents
    )


def reply(of: Question, id_: str, **changes: object) -> Reply:
    base = Reply(id_, of.id, of.place, "m", "x", 0, 0, of.prompt, "answered", choice=(0,), at=1.0, provenance="w")
    return dataclasses.replace(base, **changes)  # type: ignore[arg-type]


def decide(questions: list[Question], replies: list[Reply]) -> Standing:
    return standing(to_frame(questions, Question), to_frame(replies, Reply))


FIRST = question("first", 0)
NEXT = question("next", 1, wave=1, parents=("first",))


def after(text: str) -> str:
    return content_id(NEXT.prompt, text)


def counted(found: Standing) -> set[str]:
    return set(found.replies["id"])


def test_of_several_replies_the_earliest_counts() -> None:
    assert counted(decide([FIRST], [reply(FIRST, "late", at=2.0), reply(FIRST, "early")])) == {"early"}


def test_an_answer_counts_before_an_earlier_failure() -> None:
    failed = reply(FIRST, "failed", status="failed", choice=None, reason="no", at=0.5)
    assert counted(decide([FIRST], [failed, reply(FIRST, "answered")])) == {"answered"}
    assert counted(decide([FIRST], [failed])) == {"failed"}


def test_everybody_decides_alike_when_the_times_are_the_same() -> None:
    tied = [reply(FIRST, id_, provenance=worker) for id_, worker in (("b", "w1"), ("a", "w2"), ("c", "w1"))]
    for order in (tied, tied[::-1]):
        assert counted(decide([FIRST], order)) == {"b"}


def test_seeds_samples_and_identities_have_slots_of_their_own() -> None:
    replies = [
        reply(FIRST, "a"),
        reply(FIRST, "b", seed=1),
        reply(FIRST, "c", sample=1),
        reply(FIRST, "d", identity="y"),
    ]
    assert counted(decide([FIRST], replies)) == {"a", "b", "c", "d"}


def test_a_reply_to_another_prompt_does_not_count() -> None:
    assert counted(decide([FIRST], [reply(FIRST, "a", prompt="another")])) == set()


def test_a_follower_counts_when_its_prompt_holds_what_the_parent_said() -> None:
    found = decide([FIRST, NEXT], [reply(FIRST, "a"), reply(NEXT, "b", prompt=after("Yes"))])
    assert counted(found) == {"a", "b"}
    assert found.said == {("first", "x", 0, 0): "Yes"}


def test_a_follower_is_stale_when_the_parent_says_something_else() -> None:
    found = decide([FIRST, NEXT], [reply(FIRST, "a", choice=(1,)), reply(NEXT, "b", prompt=after("Yes"))])
    assert counted(found) == {"a"}


def test_a_failed_parent_holds_its_followers_back() -> None:
    failed = reply(FIRST, "a", status="failed", choice=None)
    found = decide([FIRST, NEXT], [failed, reply(NEXT, "b", prompt=after("Yes"))])
    assert counted(found) == {"a"}
    row = to_frame([NEXT], Question).row(0, named=True)
    assert found.prompt(row, "x", 0, 0) is None


def test_what_later_turns_see_is_the_text_or_the_choice_or_the_number() -> None:
    number = dataclasses.replace(FIRST, kind="number")
    for changes, shown in (
        ({"text": "Perhaps", "choice": (0,)}, "Perhaps"),
        ({"choice": (1, 0)}, "No, Yes"),
        ({"choice": None, "number": 12.0}, "12"),
        ({"status": "refused", "choice": None}, ""),
    ):
        found = decide([number, NEXT], [reply(number, "a", **changes)])
        assert found.said == {("first", "x", 0, 0): shown}


def test_no_replies_at_all_are_no_error() -> None:
    found = decide([FIRST, NEXT], [])
    assert found.replies.is_empty()
    assert found.replies.schema == pl.Schema(to_frame([], Reply).schema)
