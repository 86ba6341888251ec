"""How dialogues are put together: too little memory, what cannot be shared, what is banned, what is drawn."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from overread.errors import BadInput, ModelFault
from overread.models.contract import Setting
from overread.models.hf_draws import Draw, drawn, numbers_of
from overread.models.hf_loading import why_alone
from overread.models.hf_shared import Pass
from overread.models.hf_vlm import HfVlm, load


@pytest.fixture
def fresh(tiny: Callable[[str], Path]) -> Callable[..., HfVlm]:
    """A model of its own, which a test may change."""
    return lambda name, **options: load(Setting("hf_vlm", "", {"path": str(tiny(name)), "new_tokens": "6", **options}))


def only_so_many(most: int, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Passes over more dialogues than that run out of memory; the sizes that were tried."""
    tried: list[int] = []
    true = Pass.__init__

    def guarded(self: Pass, model: Any, portions: Any, room: int, **more: Any) -> None:
        tried.append(sum(len(portion.trees) for portion in portions))
        if tried[-1] > most:
            raise torch.OutOfMemoryError("no memory")
        true(self, model, portions, room, **more)

    monkeypatch.setattr(Pass, "__init__", guarded)
    return tried


def test_a_batch_that_does_not_fit_is_halved_until_it_does(
    fresh: Any, tokens_of: Any, shapes: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = fresh("llava", batch="8")
    posed = [shapes["chain"](f"d{seed}", seed).posed() for seed in range(7)]
    before = tokens_of(model, posed)
    tried = only_so_many(2, monkeypatch)
    assert tokens_of(model, posed) == before
    assert tried == [7, 3, 1, 1, 1, 1, 1, 1, 1]
    assert model.runner.halved == 2


def test_one_dialogue_that_does_not_fit_is_a_fault_of_its_own(
    fresh: Any, tokens_of: Any, shapes: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    only_so_many(0, monkeypatch)
    model = fresh("llava", engine="single")
    model.runner.shared = True
    with pytest.raises(ModelFault, match="one dialogue alone does not fit"):
        tokens_of(model, [shapes["single"]("d", 1).posed()])


def test_what_was_asked_at_once_changes_no_reply(fresh: Any, tokens_of: Any, shapes: Any) -> None:
    """Unequal pictures, scripts and numbers of questions beside each other, and each dialogue alone."""
    model = fresh("idefics3", batch="16", engine="shared")
    sizes = [(60, 90), (120, 40), (30, 30), (200, 150)]
    talks = [shapes["chain"](f"c{n}", n, high=high, wide=wide) for n, (high, wide) in enumerate(sizes)]
    posed = [talk.posed() for talk in (*talks, shapes["unseen"]("u", 1), shapes["forced"]("f", 2))]
    together = tokens_of(model, posed)
    alone = {question: said for one in posed for question, said in tokens_of(model, [one]).items()}
    assert together == alone
    assert tokens_of(model, posed[::-1]) == alone


def test_what_cannot_share_says_why_and_answers_all_the_same(
    seated: Any, by_itself: Any, tokens_of: Any, shapes: Any, tiny: Any
) -> None:
    model = seated("sliding", new_tokens="6")
    told = model.provenance()
    assert (told["shared_prefix"], told["asked_one_by_one_because"]) == (False, "its attention slides over 16 tokens")
    posed = shapes["chain"]("d", 1).posed()
    alone = by_itself("sliding")
    assert tokens_of(model, [posed]) == {p.question.id: alone.reply(posed, p, 6) for p in posed.questions}
    with pytest.raises(BadInput, match="questions cannot share their prefix: its attention slides"):
        load(Setting("hf_vlm", "", {"path": str(tiny("sliding")), "engine": "shared"}))


def test_asked_one_by_one_on_wish_is_told(seated: Any) -> None:
    told = seated("llava", engine="single").provenance()
    assert (told["shared_prefix"], told["asked_one_by_one_because"]) == (False, "engine=single was set")
    assert seated("llava", engine="shared").provenance()["shared_prefix"]


@pytest.mark.parametrize(
    ("setting", "value"), [("num_beams", 3), ("repetition_penalty", 1.3), ("no_repeat_ngram_size", 2)]
)
def test_generation_settings_beyond_the_likeliest_token_are_not_shared(fresh: Any, setting: str, value: Any) -> None:
    model = fresh("llava").loaded.model
    assert why_alone(model) == ""
    setattr(model.generation_config, setting, value)
    assert why_alone(model) == f"its generation settings ask for {setting}"


def test_a_model_whose_positions_are_its_own_is_found_out_by_the_trial(
    monkeypatch: pytest.MonkeyPatch, fresh: Any
) -> None:
    """Its settings tell nothing; what it says of a shared prefix is another thing than of the prompts alone."""
    true = Pass.further
    monkeypatch.setattr(Pass, "further", lambda self, tokens, positions, mask: true(self, tokens, positions + 3, mask))
    told = fresh("llava").provenance()
    assert not told["shared_prefix"] and "apart from those of prompts by themselves" in told["asked_one_by_one_because"]


@pytest.mark.parametrize("engine", ["shared", "single"])
def test_banned_words_never_come(engine: str, fresh: Any, tokens_of: Any, shapes: Any) -> None:
    posed = [shapes["chain"]("d", 1).posed()]
    said = tokens_of(fresh("llava", engine=engine), posed)
    model = fresh("llava", engine=engine)
    tokenizer = model.loaded.processor.tokenizer
    words = [tokenizer.decode([token]) for token in sorted({token for reply in said.values() for token in reply})]
    word = next(w for w in words if w == w.strip() and w.isascii() and tokenizer(w).input_ids[-1:] and len(w) > 1)
    (token,) = tokenizer(word, add_special_tokens=False).input_ids
    assert any(token in reply for reply in said.values())
    without = tokens_of(fresh("llava", engine=engine, banned=word), posed)
    assert not any(token in reply for reply in without.values())
    assert without != said


def test_a_reply_ends_where_the_model_ends_it(fresh: Any, tokens_of: Any, shapes: Any) -> None:
    posed = [shapes["chain"]("d", 1).posed()]
    model = fresh("llava", engine="shared")
    said = tokens_of(model, posed)
    end = said["dq0"][2]
    model.runner.stop = dataclasses.replace(model.runner.stop, ends=(end,))
    cut = tokens_of(model, posed)
    assert cut == {q: reply[: reply.index(end)] if end in reply else reply for q, reply in said.items()}
    assert len(cut["dq0"]) < 6


def test_exact_ties_are_counted(fresh: Any, shapes: Any) -> None:
    """Where two tokens are exactly as likely, the reply may differ from one that was asked alone."""
    posed = shapes["chain"]("d", 1).posed()

    def ties(*, alike: bool = False, **options: str) -> set[int | None]:
        model = fresh("llava", **options)
        model.runner.stop = dataclasses.replace(model.runner.stop, ends=(-1,))
        if alike:
            with torch.no_grad():
                model.loaded.model.get_output_embeddings().weight.zero_()
        return {answer.usage.get("exact_ties") for answer in model.answer([posed])}

    assert ties() == {0}
    assert ties(alike=True) == {6}
    assert ties(engine="single") == {None} and ties(temperature="1") == {None}


def test_draws_belong_to_question_seed_and_sample_and_to_nothing_else(fresh: Any, tokens_of: Any, shapes: Any) -> None:
    shared, single = (fresh("llava", temperature="1.5", engine=engine) for engine in ("shared", "single"))
    assert shared.samples
    one, more = shapes["chain"]("d", 1).posed(), shapes["forced"]("f", 2).posed()
    found = tokens_of(shared, [one])
    assert tokens_of(shared, [one]) == found
    assert {q: tokens_of(shared, [more, one])[q] for q in found} == found
    assert tokens_of(single, [one]) == found
    for other in ({"seed": 1}, {"sample": 1}):
        again = dataclasses.replace(one, questions=tuple(dataclasses.replace(p, **other) for p in one.questions))
        drawn_otherwise = tokens_of(shared, [again])
        assert all(drawn_otherwise[q] != found[q] for q in found)


def test_tokens_are_drawn_by_their_probability() -> None:
    logits = torch.tensor([1.0, 3.0, 2.0, -4.0])
    numbers = numbers_of(7, 40_000)
    for draw in (Draw(1.0), Draw(2.0), Draw(1.0, top_k=2), Draw(1.0, top_p=0.8)):
        tokens = drawn(logits.expand(len(numbers), -1), draw, numbers)
        chances = (logits.double() / draw.temperature).softmax(0)
        kept = chances.sort(descending=True).indices[: 2 if draw.top_k or draw.top_p < 1 else 4]
        wanted = torch.zeros(4, dtype=torch.float64).index_copy(0, kept, chances[kept])
        share = torch.bincount(tokens, minlength=4).double() / len(numbers)
        assert torch.allclose(share, wanted / wanted.sum(), atol=0.01)
