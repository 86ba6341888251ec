"""The engine says, token by token, what a model says when each prompt is put to it alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

MODELS = ("idefics3", "qwen3_vl", "llava")
LONGEST = 12


@pytest.mark.parametrize("name", MODELS)
def test_replies_are_those_of_generate_on_each_prompt_alone(
    name: str, seated: Any, by_itself: Any, tokens_of: Any, shapes: dict[str, Callable[..., Any]]
) -> None:
    """All shapes of protocols in one batch: unequal pictures, unequal numbers of questions."""
    model = seated(name, new_tokens=str(LONGEST), engine="shared", batch="16")
    posed = [make(f"{shape}{seed}", seed).posed() for shape, make in shapes.items() for seed in (1, 2)]
    found = tokens_of(model, posed)
    alone = by_itself(name)
    wanted = {p.question.id: alone.reply(one, p, LONGEST) for one in posed for p in one.questions}
    assert found == wanted
    assert len({tuple(reply) for reply in wanted.values()}) > len(wanted) / 2, "replies tell the prompts apart"


@pytest.mark.parametrize("name", MODELS)
def test_another_picture_makes_another_reply(name: str, seated: Any, tokens_of: Any, shapes: Any) -> None:
    """Or the tests above would say nothing about pictures."""
    model = seated(name, new_tokens=str(LONGEST), engine="shared", batch="16")
    found = [tokens_of(model, [shapes["single"]("d", seed).posed()])["dq0"] for seed in range(4)]
    assert len({tuple(reply) for reply in found}) > 1


@pytest.mark.parametrize("name", MODELS)
def test_options_have_the_probability_that_each_has_alone(name: str, seated: Any, by_itself: Any, shapes: Any) -> None:
    import math

    model = seated(name, mode="score", engine="shared")
    options = ("Red", "Green", "No colour at all")
    talk = shapes["chain"]("d", 3).ask("Colour?", kind="choice", options=options).ask("A word?")
    posed = talk.posed()
    (answer,) = [one for one in model.answer([posed]) if one.option_scores is not None]
    logs = [by_itself(name).log(posed, posed.questions[4], option) for option in options]
    whole = sum(math.exp(log) for log in logs)
    assert answer.option_scores == pytest.approx([math.exp(log) / whole for log in logs], rel=1e-4)
    assert answer.choice == (max(range(3), key=logs.__getitem__),)
    assert len(set(answer.option_scores)) == 3


@pytest.mark.parametrize("name", MODELS)
def test_one_by_one_says_and_scores_the_same(name: str, seated: Any, tokens_of: Any, shapes: Any) -> None:
    posed = [shapes[shape](shape, 5).posed() for shape in ("chain", "two pictures")]
    models = [seated(name, new_tokens=str(LONGEST), engine=engine) for engine in ("shared", "single")]
    assert tokens_of(models[0], posed) == tokens_of(models[1], posed)
    asked = shapes["single"]("d", 3).ask("Colour?", "ecg", kind="choice", options=("Red", "Blue")).posed()
    both = [seated(name, mode="score", engine=engine) for engine in ("shared", "single")]
    one, other = ({a.question: a.option_scores for a in model.answer([asked])} for model in both)
    assert one.keys() == other.keys() and one["dq0"] is None
    assert one["dq1"] == pytest.approx(other["dq1"], rel=1e-4)
