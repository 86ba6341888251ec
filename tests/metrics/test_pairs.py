"""Every validity measure, worked by hand."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from overread.metrics import accuracy, pairs
from overread.metrics.tally import Tally

Rows = list[dict[str, Any]]


def side(condition: str, *credits: float, **more: Any) -> Rows:
    """Questions 0, 1, 2, ... of patients 0, 0, 1, 1, ... under one condition."""
    return [
        {"condition": condition, "item": f"i{k}", "patient": f"p{k // 2}", "place": k, "credit": c} | more
        for k, c in enumerate(credits)
    ]


def read(rows: Rows, *parsed: str) -> Rows:
    return [row | {"parsed": p} for row, p in zip(rows, parsed, strict=True)]


def measure(marks: pl.DataFrame, metric: str, condition: str, **more: Any) -> dict[str, Any]:
    tally = Tally({"accuracy": accuracy}, benchmark="b", seed=0, resamples=200, **more)
    tally.add(marks)
    found = tally.scores().filter(
        pl.col("metric") == metric, pl.col("condition") == condition, pl.col("slice") == "all", pl.col("model") == "m"
    )
    assert found.height == 1
    return found.row(0, named=True)


def test_gain_is_plain_above_text_on_the_same_items(make_marks: Any) -> None:
    # Plain 1 1 0 1 on the items that text has too: 3/4; text 1 0 0 0: 1/4. The fifth plain item has no partner.
    found = measure(make_marks(side("plain", 1, 1, 0, 1, 1) + side("text", 1, 0, 0, 0)), "accuracy:gain", "text")
    assert (found["value"], found["n"], found["patients"]) == (0.5, 4, 2)
    assert (found["unit"], found["direction"]) == ("pair", "more")
    # Per patient .5 and .5: no resample can differ.
    assert (found["low"], found["high"]) == (0.5, 0.5)


def test_the_mirage_score_is_text_over_plain(make_marks: Any) -> None:
    marks = make_marks(side("plain", 1, 1, 0, 1) + side("text", 1, 0, 0, 1))
    found = measure(marks, "accuracy:mirage_score", "text")
    assert (found["value"], found["n"], found["direction"]) == (pytest.approx(2 / 3), 4, "less")


def test_there_is_no_mirage_score_where_nothing_is_right(make_marks: Any) -> None:
    found = measure(make_marks(side("plain", 0, 0, 0) + side("text", 1, 0, 0)), "accuracy:mirage_score", "text")
    assert (found["value"], found["low"], found["high"], found["n"]) == (None, None, None, 3)


@pytest.mark.parametrize("condition", ["blank", "swap"])
def test_reliance_is_plain_above_the_condition(make_marks: Any, condition: str) -> None:
    marks = make_marks(side("plain", 1, 1, 1, 0) + side(condition, 0, 1, 0, 1))
    assert measure(marks, f"accuracy:reliance_{condition}", condition)["value"] == 0.25


@pytest.mark.parametrize("condition", ["blank", "swap"])
def test_image_sensitivity_is_the_share_of_read_pairs_that_differ(make_marks: Any, condition: str) -> None:
    plain = read(side("plain", 1, 1, 0, 0), "a", "a", "b", "b")
    other = read(side(condition, 1, 0, 0, 0), "a", "b", "c", "b")
    found = measure(make_marks(plain + other), "image_sensitivity", condition)
    assert (found["value"], found["n"], found["direction"]) == (0.5, 4, "more")
    other[3] |= {"status": "unreadable", "parsed": None}
    found = measure(make_marks(plain + other), "image_sensitivity", condition)
    assert (found["value"], found["n"], found["unreadable"]) == (pytest.approx(2 / 3), 3, 0.25)


def test_a_swap_that_has_the_same_key_says_nothing_of_sensitivity(make_marks: Any) -> None:
    plain, swap = (
        read(side("plain", 1, 1, 1, 1), "a", "a", "b", "b"),
        read(side("swap", 0, 0, 0, 0), "b", "b", "b", "a"),
    )
    swap[2]["scored"] = False  # the partner's key is b as well, so who looks says b again
    found = measure(make_marks(plain + swap), "image_sensitivity", "swap")
    assert (found["value"], found["n"]) == (1.0, 3)


@pytest.mark.parametrize("probe", ["order", "wording", "mirror"])
def test_consistency_is_the_share_of_read_pairs_that_agree(make_marks: Any, probe: str) -> None:
    plain = read(side("plain", 1, 1, 0, 0), "a", "a\nb", "b", "b")
    other = read(side(probe, 1, 1, 0, 0), "a", "b\na", "c", "b")
    other[3] |= {"status": "refused", "parsed": None}
    if probe == "mirror":
        for row in other:
            row["answer"] = ["moved"]
    found = measure(make_marks(plain + other), f"{probe}_consistency", probe)
    assert (found["value"], found["n"]) == (pytest.approx(2 / 3), 3)
    assert found["direction"] == ("less" if probe == "mirror" else "more")


def test_following_is_being_right_on_both_sides_where_the_probe_has_a_key(make_marks: Any) -> None:
    probe = side("mirror", 1, 0, 1, 1)
    probe[3]["scored"] = False
    found = measure(make_marks(side("plain", 1, 1, 0, 1) + probe), "mirror_follow", "mirror")
    assert (found["value"], found["n"]) == (pytest.approx(1 / 3), 3)


def test_a_probe_that_leaves_the_answer_as_it_was_says_nothing_by_an_answer_that_stays(make_marks: Any) -> None:
    probe = read(side("mirror", 1, 1, 1), "a", "a", "b")
    probe[1]["scored"], probe[2]["answer"] = False, ["moved"]
    found = measure(make_marks(read(side("plain", 1, 1, 1), "a", "a", "a") + probe), "mirror_consistency", "mirror")
    assert (found["value"], found["n"]) == (0.5, 2)


def test_a_base_model_that_never_looks_is_taken_as_it_is_under_plain(make_marks: Any) -> None:
    marks = make_marks(side("plain", 1, 1) + side("text", 1, 1) + side("plain", 0, 1, model="words"))
    found = measure(marks, "accuracy:leakage", "plain", base={"m": "words"})
    assert (found["value"], found["n"]) == (0.5, 2)


def test_leakage_is_text_above_the_text_of_the_base_model(make_marks: Any) -> None:
    marks = make_marks(side("text", 1, 1, 0, 1) + side("text", 1, 0, 0, 0, model="words"))
    found = measure(marks, "accuracy:leakage", "text", base={"m": "words"})
    assert (found["value"], found["n"], found["direction"]) == (0.5, 4, "less")


def test_leakage_is_never_below_0(make_marks: Any) -> None:
    marks = make_marks(side("text", 0, 0, 0, 1) + side("text", 1, 0, 1, 0, model="words"))
    found = measure(marks, "accuracy:leakage", "text", base={"m": "words"})
    assert (found["value"], found["low"]) == (0.0, 0.0)


def test_without_a_base_there_is_no_leakage(make_marks: Any) -> None:
    tally = Tally({"accuracy": accuracy}, benchmark="b", seed=0, resamples=10)
    tally.add(make_marks(side("text", 1, 1) + side("text", 1, 0, model="words")))
    assert not tally.scores()["metric"].str.contains("leakage").any()


def test_guess_is_a_floor_and_not_a_probe(make_marks: Any) -> None:
    tally = Tally({"accuracy": accuracy}, benchmark="b", seed=0, resamples=10)
    tally.add(make_marks(side("plain", 1, 1) + side("guess", 1, 0)))
    assert set(tally.scores()["metric"]) == {"accuracy", "accuracy:lift"}


@pytest.mark.parametrize("status", ["missing", "failed"])
def test_a_pair_with_an_absent_reply_does_not_count_and_is_told(make_marks: Any, status: str) -> None:
    other = side("text", 0, 0, 0, 0)
    other[0]["status"] = status
    found = measure(make_marks(side("plain", 1, 1, 0, 1) + other), "accuracy:gain", "text")
    assert (found["value"], found["n"], found["coverage"]) == (pytest.approx(2 / 3), 3, 0.75)


def test_seeds_samples_protocols_judges_and_models_are_not_mixed(make_marks: Any) -> None:
    plain = side("plain", 1)
    for other in ({"seed": 1}, {"sample": 1}, {"protocol": "chain"}, {"judge": "x"}, {"model": "n"}, {"item": "z"}):
        marks = make_marks(plain + side("text", 0, **other))
        assert pairs.matched(marks).is_empty()


def test_questions_that_share_an_item_are_paired_in_their_order(make_marks: Any) -> None:
    shared = {"item": "same", "patient": "p0"}
    marks = make_marks(side("plain", 1, 0, **shared) + side("text", 0, 1, **shared))
    found = pairs.matched(marks)
    assert sorted(zip(found["credit"], found["credit_other"], strict=True)) == [(0.0, 1.0), (1.0, 0.0)]


def test_a_seed_that_one_side_lacks_does_not_shift_the_pairs_of_the_others(make_marks: Any) -> None:
    marks = make_marks(side("plain", 1) + side("plain", 0, seed=1) + side("text", 0, seed=1))
    found = pairs.matched(marks)
    assert found.select("seed", "credit").rows() == [(1, 0.0)]
