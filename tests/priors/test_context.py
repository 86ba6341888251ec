from __future__ import annotations

from overread.priors.context import START, WILDCARD, contexts


def last(*shown):
    *_, (question, ordinal, context) = contexts([*((None, s) for s in shown), ("q", None)])
    assert (question, ordinal) == ("q", 0)
    return context


def test_a_question_does_not_see_its_own_answer():
    (_, _, first), (_, _, second) = contexts([("q1", "Yes"), ("q2", "No")])
    assert first == START != second


def test_each_level_forgets_what_it_should():
    base, older, earlier = last("a", "b", "c"), last("x", "b", "c"), last("a", "x", "c")
    assert [m == n for m, n in zip(base, older, strict=True)] == [True, True, False, False]
    assert [m == n for m, n in zip(base, earlier, strict=True)] == [True, False, False, False]
    assert len({last("a", "b"), last("b", "a")}) == 2


def test_numbers_are_left_aside_where_said_but_names_with_digits_are_not():
    one, other = last("[1.20s - 1.44s]", "Yes"), last("[3.00s - 3.6s]", "Yes")
    assert [m == n for m, n in zip(one, other, strict=True)] == [True, True, True, False]
    assert last("V1", "Yes")[1:3] != last("V5", "Yes")[1:3]


def test_turns_that_show_nothing_leave_the_context_but_count_as_questions():
    walked = list(contexts([("q1", None), ("q2", "Yes"), ("q3", WILDCARD), ("q4", None)]))
    assert [(q, o) for q, o, _ in walked] == [("q1", 0), ("q2", 1), ("q3", 2), ("q4", 3)]
    assert walked[0][2] == walked[1][2] == START
    assert len({context for _, _, context in walked}) == 3
