"""The metrics of chains, on chains written out by hand."""

from __future__ import annotations

import itertools
from types import ModuleType
from typing import Any

import polars as pl
import pytest

from overread.metrics import completion_hard, completion_soft, first_accuracy, gt_rda, reasoning_depth, self_rda
from overread.metrics.contract import MARKS

FURTHER = "Further findings are required to confirm the diagnosis"
THREE = ["Yes", "No", FURTHER]
FIRST, C, F, D = "initial_diagnostic_question", "criterion_selection", "finding_identification", "diagnostic_decision"
L, W, M = "lead_grounding", "wave_grounding", "measurement_grounding"
CHAIN = (FIRST, C, F, W, M, D, C, F, D, C, F, L, W, D)
"""Three loops, the second without grounding; the key of the last decision is Yes."""
ALL_RIGHT = "1" * len(CHAIN)


def mark(place: int, stage: str, **more: Any) -> dict[str, Any]:
    last = place == len(CHAIN) - 1
    answer = ["Yes" if last else FURTHER] if stage == D else ["a"]
    options = THREE if stage == D else ["a", "b"]
    return {
        "protocol": "default", "condition": "plain", "model": "m", "judge": "j", "patient": "p", "case": "c",
        "dialogue": "d", "question": f"q{place}", "item": f"0.0.2/ptbxl/7/{place}", "place": place, "template": "t",
        "kind": "choice", "stage": stage, "scored": True, "slices": ["diagnosis=x", f"loop={place}"], "seed": 0,
        "options": options, "answer": answer, "sample": 0, "status": "read", "parsed": answer[0], "correct": True,
        "credit": 1.0, "error": None, "probability": None, "chance_credit": 0.5, "chance_error": None, **more,
    }  # fmt: skip


def chain(pattern: str, said: dict[int, str] | None = None) -> pl.DataFrame:
    """Marks of the chain: 1 right, 0 wrong, at each place; `said` is what a wrong decision said."""
    rows = []
    for place, (stage, right) in enumerate(zip(CHAIN, pattern, strict=True)):
        row = mark(place, stage)
        if right == "0":
            row |= {"credit": 0.0, "correct": False, "parsed": (said or {}).get(place, "b")}
        rows.append(row)
    return pl.DataFrame(rows, schema=MARKS, orient="row")


def value(metric: ModuleType, marks: pl.DataFrame) -> float:
    (found,) = metric.values(marks)["value"].to_list()
    return float(found)


@pytest.mark.parametrize(
    ("wrong", "said", "wanted"),  # hard, soft, last decision, own reasoning, depth
    [
        ((), {}, [1, 1, 1, 1, 4.0]),
        ((0,), {}, [1, 1, 1, 1, 4.0]),  # the first question is left aside
        ((5,), {5: "Yes"}, [0, 1, 1, 1, 3.5]),  # an early and right diagnosis
        ((5,), {5: "No"}, [0, 1, 1, 0, 3.5]),  # an early and wrong one
        ((5,), {5: "maybe"}, [0, 1, 1, 0, 3.5]),
        ((13,), {13: FURTHER}, [0, 0, 0, 0, 3.5]),
        ((4,), {}, [0, 0, 1, 0, 3.25]),  # half of the grounding of the first loop, and no decision
        ((3,), {}, [0, 0, 1, 0, 3.0]),  # what is right after an error in its loop does not count
        ((1, 5), {5: "Yes"}, [0, 0, 1, 0, 2.0]),  # a right diagnosis after a wrong criterion is none
        ((5, 9), {5: "Yes"}, [0, 0, 1, 1, 1.5]),  # what comes after the diagnosis does not matter
        ((7,), {}, [0, 0, 1, 0, 4.0]),  # a loop without grounding has no depth
        ((8, 13), {8: "Yes", 13: "No"}, [0, 0, 0, 1, 3.5]),
    ],
)
def test_each_chain_is_worth_what_the_definitions_say(
    wrong: tuple[int, ...], said: dict[int, str], wanted: list[float]
) -> None:
    marks = chain("".join("0" if place in wrong else "1" for place in range(len(CHAIN))), said)
    found = [value(metric, marks) for metric in (completion_hard, completion_soft, gt_rda, self_rda, reasoning_depth)]
    assert found == wanted
    assert value(first_accuracy, marks) == (0 not in wrong)


def test_a_sample_weighs_by_its_loops_with_grounding_and_keeps_the_slices_of_all_its_steps() -> None:
    found = reasoning_depth.values(chain(ALL_RIGHT))
    assert found["weight"].to_list() == [2.0]
    assert found["slices"].to_list() == [["diagnosis=x"]]


def test_guesses_are_worth_the_mean_over_all_that_could_be_said() -> None:
    """Each of two loops with one grounding is guessed; all ways of guessing are written out."""
    places = {0: FIRST, 1: C, 2: W, 3: D, 4: C, 5: W, 6: D}

    def marks(credits: dict[int, float], said: dict[int, str], status: str) -> pl.DataFrame:
        rows = [
            mark(p, stage, answer=["Yes" if p == 6 else FURTHER] if stage == D else ["a"], status=status,
                 credit=credits[p], parsed=said.get(p))
            for p, stage in places.items()
        ]  # fmt: skip
        return pl.DataFrame(rows, schema=MARKS, orient="row")

    chances = {p: 1 / 3 if stage == D else 0.5 for p, stage in places.items()}
    expected = marks(chances, {}, "expected")
    worth = dict.fromkeys((completion_hard, completion_soft, gt_rda, self_rda, reasoning_depth), 0.0)
    steps = [p for p, stage in places.items() if stage in (C, W)]
    ways = list(itertools.product(itertools.product((0, 1), repeat=len(steps)), THREE, THREE))
    for way, early, late in ways:
        credits = {0: 1.0, **dict(zip(steps, map(float, way), strict=True))}
        credits |= {3: float(early == FURTHER), 6: float(late == "Yes")}
        for metric in worth:
            worth[metric] += value(metric, marks(credits, {3: early, 6: late}, "read")) / len(ways)
    for metric, mean in worth.items():
        assert value(metric, expected) == pytest.approx(mean), metric.__name__


def test_a_sample_of_which_a_step_cannot_be_scored_is_left_out() -> None:
    marks = chain(ALL_RIGHT)
    for missing in (4, 13):
        assert completion_hard.values(marks.filter(pl.col("place") != missing)).is_empty()
    alone = marks.with_columns(item=pl.format("0.0.2/ptbxl/7/step{}/0", "place"), dialogue=pl.col("question"))
    assert value(completion_hard, alone) == 1.0
    assert completion_hard.values(alone.filter(pl.col("place") != 4)).is_empty()
