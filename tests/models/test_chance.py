from __future__ import annotations

import numpy as np
import pytest

from overread.errors import BadInput
from overread.models import chance
from overread.models.contract import Setting


def one(new_exam, fields, right=("A",), variant="", **pending):
    exam = new_exam()
    exam.add("p/1", (fields, right))
    (answer,) = chance.load(Setting("chance", variant)).answer(exam.posed())
    return answer


def test_a_single_choice_gets_equal_probabilities_and_no_choice(new_exam):
    answer = one(new_exam, {"options": ("A", "B", "C", "D")})
    assert answer.option_scores == (0.25,) * 4
    assert answer.choice is None


def test_each_of_many_options_gets_a_half(new_exam):
    assert one(new_exam, {"options": ("A", "B", "C"), "many": True}).option_scores == (0.5,) * 3


def test_a_short_whole_range_is_listed_number_by_number(new_exam):
    answer = one(new_exam, {"kind": "number", "low": 0.5, "high": 4.0, "whole": True}, 2.0)
    assert answer.spread == (1.0, 2.0, 3.0, 4.0)
    assert answer.number is None


@pytest.mark.parametrize("key", [0.0, 250.0, 999.0])
def test_the_mean_error_over_a_long_whole_range_is_that_of_every_number(new_exam, key):
    spread = np.array(one(new_exam, {"kind": "number", "low": 0.0, "high": 999.0, "whole": True}, key).spread)
    assert len(spread) == 401 and np.all(spread == np.round(spread)) and spread.min() >= 0 and spread.max() <= 999
    assert np.abs(spread - key).mean() == pytest.approx(np.abs(np.arange(1000) - key).mean(), rel=0.005)


@pytest.mark.parametrize("key", [10.0, 13.0, 20.0])
def test_the_mean_error_over_a_continuous_range_is_the_exact_expectation(new_exam, key):
    spread = np.array(one(new_exam, {"kind": "number", "low": 10.0, "high": 20.0}, key).spread)
    expected = ((key - 10) ** 2 + (20 - key) ** 2) / 20
    assert np.abs(spread - key).mean() == pytest.approx(expected, rel=0.001)


@pytest.mark.parametrize("variant", ["", "draw"])
@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"kind": "text"}, "chance has nothing to say to a text question"),
        ({"kind": "mask"}, "chance has nothing to say to a mask question"),
        ({"kind": "number"}, "no range"),
        ({"kind": "number", "low": 0.2, "high": 0.8, "whole": True}, "no range"),
        ({"kind": "number", "low": 0.0, "high": float("inf")}, "no range"),
        ({"kind": "number", "low": 5.0, "high": 1.0}, "no range"),
        ({"options": ()}, "no options"),
    ],
)
def test_what_cannot_be_guessed_is_refused_with_the_reason(new_exam, variant, fields, reason):
    answer = one(new_exam, fields, variant=variant)
    assert answer.status == "refused" and reason in answer.reason
    assert answer.option_scores is None and answer.spread is None and answer.choice is None


def test_draws_are_uniform_and_differ_between_questions(new_exam):
    exam = new_exam()
    for i in range(900):
        exam.add(
            f"p/{i}",
            ({"options": ("A", "B", "C")}, ("A",)),
            ({"options": ("A", "B"), "many": True}, ("A",)),
            ({"kind": "number", "low": 1.0, "high": 3.0, "whole": True}, 2.0),
            ({"kind": "number", "low": -1.0, "high": 1.0}, 0.0),
        )
    answers = list(chance.load(Setting("chance", "draw")).answer(exam.posed()))
    single = np.bincount([a.choice[0] for a in answers[::4]], minlength=3)
    assert single.min() > 240 and len(single) == 3
    sets = [a.choice for a in answers[1::4]]
    assert all(180 < sets.count(s) < 270 for s in [(), (0,), (1,), (0, 1)])
    whole = [a.number for a in answers[2::4]]
    assert {1.0, 2.0, 3.0} == set(whole) and all(240 < whole.count(n) < 360 for n in set(whole))
    floats = np.array([a.number for a in answers[3::4]])
    assert floats.min() < -0.95 and floats.max() > 0.95 and abs(floats.mean()) < 0.07


def test_a_draw_depends_on_seed_and_sample_only_by_their_values(new_exam):
    import dataclasses

    exam = new_exam()
    posed = exam.pose(exam.add("p/1", ({"options": tuple("ABCDEFGH")}, ("A",))))
    model = chance.load(Setting("chance", "draw"))

    def draw(seed, sample):
        pending = dataclasses.replace(posed.questions[0], seed=seed, sample=sample)
        (answer,) = model.answer([dataclasses.replace(posed, questions=(pending,))])
        assert (answer.seed, answer.sample) == (seed, sample)
        return answer.choice

    table = [[draw(seed, sample) for sample in range(12)] for seed in range(12)]
    assert table == [[draw(seed, sample) for sample in range(12)] for seed in range(12)]
    assert len({c for row in table for c in row}) == 8
    assert table[0] != table[1] and [row[0] for row in table] != [row[1] for row in table]


def test_identity_tells_the_variants_apart():
    plain, draw = (chance.load(Setting("chance", v)).identity() for v in ("", "draw"))
    assert plain != draw and plain["name"] == draw["name"] == "chance"


def test_an_unknown_variant_or_option_is_named():
    with pytest.raises(BadInput, match="drow"):
        chance.load(Setting("chance", "drow"))
    with pytest.raises(BadInput, match="depth"):
        chance.load(Setting("chance", options={"depth": "1"}))
