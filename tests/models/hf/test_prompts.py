"""Prompts as a processor's own template writes them, and trees of prompts that begin alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from overread.errors import ModelFault
from overread.models.contract import Message
from overread.models.hf_prompts import Prompts
from overread.models.hf_trees import expanded, expansions, grow

PICTURE = 9


@pytest.mark.parametrize(
    ("system", "told"),
    [
        ("keep", "SYSTEM: Be brief. USER: <image>\nWhy? ASSISTANT:"),
        ("user", "USER: <image>\nBe brief.\n\nWhy? ASSISTANT:"),
        ("drop", "USER: <image>\nWhy? ASSISTANT:"),
    ],
)
def test_a_system_message_goes_where_the_model_can_take_it(system: str, told: str, seated: Any, shapes: Any) -> None:
    processor = seated("llava", engine="single").loaded.processor
    posed = shapes["single"]("d", 1).posed()
    (medium,) = posed.dialogue.media
    messages = [Message("system", "Be brief."), Message("user", "Why?", (medium,))]
    assert Prompts(processor, system=system, frames="images").text(messages, {medium: 1}) == told


def test_only_the_first_user_message_takes_a_system_message_over(seated: Any) -> None:
    prompts = Prompts(seated("llava", engine="single").loaded.processor, system="user", frames="images")
    messages = [Message("system", "S"), Message("user", "one"), Message("assistant", "a"), Message("user", "two")]
    assert prompts.text(messages, {}) == "USER: S\n\none ASSISTANT: a</s>USER: two ASSISTANT:"
    assert prompts.text(messages[:2], {}, "an answer") == "USER: S\n\none ASSISTANT: an answer</s>"


def test_every_frame_has_a_place_of_its_own(seated: Any, shapes: Any) -> None:
    prompts = Prompts(seated("llava", engine="single").loaded.processor, system="keep", frames="images")
    posed = shapes["clip"]("d", 1).posed()
    (medium,) = posed.dialogue.media
    assert prompts.text([Message("user", "?", (medium,))], {medium: 3}).count("<image>") == 3


def test_a_beginning_that_the_template_writes_is_not_written_twice(seated: Any) -> None:
    """Idefics3's template begins with the token that its tokenizer would put first."""
    prompts = Prompts(seated("idefics3", new_tokens="4").loaded.processor, system="keep", frames="images")
    text = prompts.text([Message("user", "Why?")], {})
    begin = prompts.processor.tokenizer.bos_token
    assert text.startswith(begin) and prompts.special(text) == {"add_special_tokens": False}
    assert prompts.special("plain") == {"add_special_tokens": True}


def ids(*tokens: int) -> Any:
    return np.asarray(tokens, dtype=np.int64)


def test_prompts_that_begin_alike_share_a_trunk_as_far_as_they_are_equal() -> None:
    prompts = [ids(1, PICTURE, 2), ids(1, PICTURE, 2, 3, 4, 5), ids(1, PICTURE, 2, 3, 7)]
    (tree,) = grow(prompts, frozenset([PICTURE]))
    assert tree.trunk_prompt == 1 and tree.trunk.tolist() == prompts[1].tolist()
    assert [(branch.shared, branch.own.tolist()) for branch in tree.branches] == [(3, []), (6, []), (4, [7])]


def test_a_picture_of_its_own_makes_a_tree_of_its_own() -> None:
    prompts = [ids(1, 2, 3), ids(1, 2, PICTURE), ids(5)]
    trees = grow(prompts, frozenset([PICTURE]))
    assert [[branch.prompt for branch in tree.branches] for tree in trees] == [[0], [1], [2]]


def test_the_same_tokens_with_other_pictures_are_not_shared() -> None:
    """Tokens say that there is a picture, not which."""
    prompts = [ids(1, PICTURE, 2), ids(1, PICTURE, 2, 3)]
    assert len(grow(prompts, frozenset([PICTURE]), [("a",), ("a",)])) == 1
    assert len(grow(prompts, frozenset([PICTURE]), [("a",), ("b",)])) == 2


def test_places_of_pictures_are_carried_over_from_one_processed_text() -> None:
    media = frozenset([PICTURE])
    found = expansions([1, PICTURE, 2, PICTURE, 3], [1, PICTURE, PICTURE, 2, PICTURE, 3], media)
    assert found == [[PICTURE, PICTURE], [PICTURE]]
    assert expanded([7, PICTURE, 2, PICTURE, 8, 8], found, media).tolist() == [7, PICTURE, PICTURE, 2, PICTURE, 8, 8]
    assert expansions([1, PICTURE, 2], [4, 4, PICTURE, 2], media) is None, "text that the processor rewrote"
    with pytest.raises(ModelFault, match="the prompt holds no media tokens"):
        expansions([1, PICTURE], [1, 2], media)
    with pytest.raises(ModelFault, match="1 places for media, and 2 were processed"):
        expanded([1, PICTURE], found, media)
