"""Processors that do not hand on what they are given are refused when a model is loaded, each fault by its name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from transformers import AutoProcessor

from overread.errors import BadInput, ModelFault
from overread.models import hf_conformance
from overread.models.contract import Setting
from overread.models.hf_receipts import check_all_there
from overread.models.hf_vlm import load

Pictures = list[Image.Image]


class Broken:
    """A true processor behind a fault: what it does to the pictures of a call, or to what comes out."""

    def __init__(self, processor: Any) -> None:
        self._processor, self._calls, self._before = processor, 0, [Image.new("RGB", (40, 40))]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._processor, name)

    def __call__(self, text: Any, images: Any = None, **given: Any) -> Any:
        self._calls += 1
        if images is None:
            return self._processor(text=text, **given)
        shown = self.pictures(images[0])
        self._before = images[0]
        return self.out(self._processor(text=text, images=[shown], **given))

    def pictures(self, shown: Pictures) -> Pictures:
        return shown

    def out(self, made: Any) -> Any:
        return made


class IgnoresPictures(Broken):
    def pictures(self, shown: Pictures) -> Pictures:
        return [Image.new("RGB", (40, 40), "grey") for _ in shown]


class GivesNoPixels(Broken):
    def out(self, made: Any) -> Any:
        del made["pixel_values"]
        return made


class WritesNoTokens(Broken):
    def out(self, made: Any) -> Any:
        made["input_ids"][made["input_ids"] == self._processor.image_token_id] = 0
        return made


class ResamplesFrames(Broken):
    def pictures(self, shown: Pictures) -> Pictures:
        return [shown[n - n % 2] for n in range(len(shown))]


class UsesTheLast(Broken):
    def pictures(self, shown: Pictures) -> Pictures:
        return [shown[-1] for _ in shown]


class DropsBeyondTheFirst(Broken):
    def pictures(self, shown: Pictures) -> Pictures:
        return [shown[0] for _ in shown]


class UsesTheCallBefore(Broken):
    def pictures(self, shown: Pictures) -> Pictures:
        return [self._before[n % len(self._before)] for n in range(len(shown))]


class KeepsAState(Broken):
    def pictures(self, shown: Pictures) -> Pictures:
        return [Image.fromarray(np.roll(np.asarray(one), 30 * self._calls, axis=0)) for one in shown]


FAULTS: dict[type[Broken], str] = {
    IgnoresPictures: "ignores its media: different pictures give the same input",
    GivesNoPixels: "ignores its media: no pixel values come out",
    WritesNoTokens: "ignores its media: the prompt holds no media tokens",
    ResamplesFrames: "resamples frames: of 9 only 5 reach the network",
    UsesTheLast: "uses the last picture for all: of 9 one reaches the network",
    DropsBeyondTheFirst: "drops pictures beyond the first: of 9 one reaches the network",
    UsesTheCallBefore: "uses the picture of the call before: it keeps a state",
    KeepsAState: "keeps a state: the same picture gives another input the second time",
}


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch, tiny: Callable[[str], Path]) -> Callable[[type[Broken]], Setting]:
    """A model whose folder gives a broken processor."""
    true = AutoProcessor.from_pretrained

    def behind(fault: type[Broken]) -> Setting:
        monkeypatch.setattr(AutoProcessor, "from_pretrained", lambda *given, **named: fault(true(*given, **named)))
        return Setting("hf_vlm", "", {"path": str(tiny("llava")), "engine": "single"})

    return behind


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_broken_processor_is_refused_by_name(fault: type[Broken], broken: Any) -> None:
    with pytest.raises(BadInput) as error:
        load(broken(fault))
    assert f"the processor {FAULTS[fault]}" in str(error.value)
    assert "docs/hf_models.md" in str(error.value)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_nothing_else_would_refuse_it(fault: type[Broken], broken: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the check each of them is loaded and would be scored: so the tests above test the check."""
    monkeypatch.setattr(hf_conformance, "check", lambda *given: None)
    assert load(broken(fault)).identity()["architecture"] == "LlavaForConditionalGeneration"


@pytest.mark.parametrize(
    ("name", "told"),
    [("llava", "ignores its frames: no pixel values come out"), ("qwen3_vl", "does not take its media: The total")],
)
def test_frames_as_a_video_are_refused_where_the_processor_has_none(name: str, told: str, tiny: Any) -> None:
    with pytest.raises(BadInput) as error:
        load(Setting("hf_vlm", "", {"path": str(tiny(name)), "frames": "video"}))
    assert f"the processor {told}" in str(error.value)


def test_a_processor_that_adds_no_fault_passes(broken: Any) -> None:
    assert load(broken(Broken)).alone == "engine=single was set"


def test_pictures_that_are_lost_later_fail_the_dialogue(seated: Any) -> None:
    """Nine frames are tried when a model is loaded; a processor may drop those beyond the tenth."""
    processing = seated("llava", new_tokens="4").processing
    token = next(iter(processing.media_tokens))
    inputs = {"input_ids": torch.tensor([[token, token]]), "pixel_values": torch.zeros(10, 3, 48, 48)}
    check_all_there(10, inputs, processing)
    with pytest.raises(ModelFault, match="drops pictures: of 12 at most 10 are in its tensors"):
        check_all_there(12, inputs, processing)
    with pytest.raises(ModelFault, match="no pixel values come out"):
        check_all_there(1, {"input_ids": inputs["input_ids"]}, processing)
    with pytest.raises(ModelFault, match="holds no media tokens"):
        check_all_there(1, {**inputs, "input_ids": torch.tensor([[5]])}, processing)


@pytest.mark.parametrize("name", ["idefics3", "qwen3_vl", "llava"])
def test_receipts_come_from_the_tensors(name: str, seated: Any, shapes: Any) -> None:
    model = seated(name, new_tokens="4")

    def receipt(shape: str, seed: int) -> Any:
        answers = list(model.answer([shapes[shape]("d", seed).posed()]))
        return answers[0].seen

    (one,), (again,), (other,) = receipt("single", 1), receipt("single", 1), receipt("single", 2)
    assert one == again and one.hash != other.hash
    posed = shapes["single"]("d", 1).posed()
    (sheaf,) = model.binder.sheaves(posed, options=False)
    assert (one.level, one.form, one.indices) == ("tensor", "image", (0,))
    assert one.shape == tuple(sheaf.inputs["pixel_values"].shape)
    assert one.tokens == int(np.isin(sheaf.tree.trunk, list(model.loaded.media_tokens)).sum()) > 0
    (frames,) = receipt("clip", 1)
    assert (frames.form, frames.indices) == ("frames", (0, 1, 2))
    first, *_, both = (answer.seen for answer in model.answer([shapes["two pictures"]("d", 1).posed()]))
    assert [seen.media.name for seen in first] == ["first"]
    assert [seen.media.name for seen in both] == ["first", "second"] and both[0].hash != both[1].hash
