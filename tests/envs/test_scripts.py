"""The scripts of `envs/`, run from loading to answering with stand-ins for the packages of their models.

Nothing of a model is tried here: only that a script asks for what it needs, feeds what it says, and answers.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import pytest
import torch

ENVS = Path(__file__).parents[2] / "envs"
MADE = torch.ones(1, 3, dtype=torch.long)
PACKAGES = (
    "transformers", "huggingface_hub", "llava",
    "llava.constants", "llava.conversation", "llava.mm_utils",
    "llava.model", "llava.model.builder", "hulumed",
    "hulumed.mm_utils", "hulumed.model", "hulumed.model.processor",
    "opentslm", "opentslm.model", "opentslm.model.llm",
    "opentslm.model.llm.OpenTSLM", "opentslm.prompt", "opentslm.prompt.full_prompt",
    "opentslm.prompt.text_prompt", "opentslm.prompt.text_time_series_prompt", "merlin",
    "transformer_maskgit", "Model", "Model.RadFM",
    "Model.RadFM.multimodality_model", "ecg_plot",
)  # fmt: skip
SCRIPTS = [
    ("llava/model.py", "image", 1024), ("llava/gem.py", "signal", None),
    ("opentslm-hulumed/opentslm.py", "signal", None),
    ("opentslm-hulumed/hulumed.py", "image", None), ("opentslm-hulumed/hulumed.py", "frames", None),
    ("med3dvlm/model.py", "volume", 256), ("m3d/model.py", "volume", 256), ("merlin/model.py", "volume", None),
    ("ct-chat/model.py", "volume", 13824), ("radfm/model.py", "volume", 32), ("vila-m3/model.py", "volume", None),
]  # fmt: skip


class Talk:
    """A conversation template."""

    roles = ("USER", "ASSISTANT")
    system = ""

    def __init__(self) -> None:
        self.said: list[tuple[str, str | None]] = []

    def copy(self) -> Talk:
        return Talk()

    def append_message(self, role: str, text: str | None) -> None:
        self.said.append((role, text))

    def get_prompt(self) -> str:
        return "\n".join(f"{role}: {text}" for role, text in self.said)


class Request:
    """What a worker hands a script, and what the script says of it."""

    def __init__(self, given: Any) -> None:
        media = "ct"
        self.media = {media: given}
        count = given.shape[-1] if isinstance(given, np.ndarray) and given.dtype == np.float32 else 4
        self.indices = {media: list(range(count))}
        self.facts = {media: {"rate_hz": 500.0, "spacing_mm": (9.0, 9.0, 18.0)}}
        messages = [{"role": "user", "text": "Is the liver large?", "media": [media]}]
        self.fed_: list[tuple[str, Any, Any]] = []
        self.questions = [
            SimpleNamespace(
                messages=messages,
                text=messages[0]["text"],
                options=["Yes", "No"],
                kind="choice",
                answer=lambda **said: said,
            )
        ]

    def fed(self, name: str, array: Any, *, indices: Any = None, tokens: int | None = None) -> dict[str, Any]:
        assert isinstance(array, np.ndarray) and np.isfinite(array).all()
        self.fed_.append((name, array, indices))
        return {"name": name, "indices": indices, "tokens": tokens}


def stand_ins() -> dict[str, Any]:
    """The packages; every network writes three tokens, which every tokenizer reads as `Yes`."""
    made: dict[str, Any] = {name: MagicMock(name=name) for name in PACKAGES}
    for name, package in made.items():
        parent, _, child = name.rpartition(".")
        if parent:
            setattr(made[parent], child, package)
    tokenizer = MagicMock(eos_token_id=2)
    tokenizer.batch_decode.return_value = ["Yes"]
    tokenizer.decode.return_value = "Yes"
    tokenizer.side_effect = lambda text, **named: {"input_ids": torch.ones(1, 5, dtype=torch.long)}
    network = MagicMock(device=torch.device("cpu"), dtype=torch.float32)
    for wrapped in (network.to, network.cuda, network.eval):
        wrapped.return_value = network
    network.generate.return_value = MADE
    network.eval_prompt.return_value = "It is. Answer: Yes."
    network.config.image_aspect_ratio = "anyres"
    network.config.mm_use_im_start_end = False
    network.get_model.return_value.config.proj_out_num = 256
    made["transformers"].AutoTokenizer.from_pretrained.return_value = tokenizer
    made["transformers"].LlamaTokenizer.from_pretrained.return_value = tokenizer
    made["transformers"].AutoModelForCausalLM.from_pretrained.return_value = network
    made["transformers"].StoppingCriteria = object
    made["llava.model.builder"].load_pretrained_model.return_value = (tokenizer, network, MagicMock(), 2048)
    made["llava.mm_utils"].get_model_name_from_path.side_effect = lambda path: Path(path).name
    made["llava.mm_utils"].process_images.return_value = torch.zeros(1, 3, 8, 8)
    made["llava.mm_utils"].tokenizer_image_token.return_value = torch.ones(5, dtype=torch.long)
    made["llava.conversation"].conv_templates = {name: Talk() for name in ("llava_v1", "llama3", "llama_3")}
    made["llava.constants"].DEFAULT_IMAGE_TOKEN = "<image>"
    made["hulumed.model"].load_pretrained_model.return_value = (tokenizer, network, MagicMock(), 2048)
    given = {"input_ids": torch.ones(1, 5, dtype=torch.long), "pixel_values": torch.zeros(1, 3, 8, 8)}
    made["hulumed.model.processor"].HulumedProcessor.return_value.side_effect = lambda **named: given
    made["opentslm.model.llm.OpenTSLM"].OpenTSLM.load_pretrained.return_value = network
    made["Model.RadFM.multimodality_model"].MultiLLaMAForCausalLM.return_value = network
    merlin = MagicMock()
    merlin.to.return_value.eval.return_value.generate.return_value = ["Yes###"]
    made["merlin"].Merlin.return_value = merlin
    encoder = MagicMock(return_value=torch.zeros(1, 24, 24, 24, 512))
    encoder.to.return_value.eval.return_value = encoder
    made["transformer_maskgit"].CTViT.return_value = encoder
    return made


@pytest.fixture
def packages(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    found = stand_ins()
    for name, package in found.items():
        monkeypatch.setitem(sys.modules, name, package)
    monkeypatch.setattr(torch, "load", lambda *args, weights_only, **named: {})  # no pickle is loaded
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield found
    torch.set_grad_enabled(True)
    for name in ("preparing", "model"):
        sys.modules.pop(name, None)


def script(path: str) -> ModuleType:
    for name in ("preparing", "model"):
        sys.modules.pop(name, None)
    spec = importlib.util.spec_from_file_location("overread_env_script", ENVS / path)
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def given(form: str, folder: Path) -> Any:
    if form == "image":
        from PIL import Image

        Image.new("RGB", (20, 10), (200, 10, 10)).save(folder / "image.png")
        return str(folder / "image.png")
    if form == "frames":
        return np.zeros((4, 10, 20, 3), np.uint8)
    if form == "signal":
        return np.random.default_rng(0).normal(size=(12, 5000)).astype(np.float32)
    return np.random.default_rng(0).normal(0, 300, (20, 16, 12)).astype(np.float32)


@pytest.mark.parametrize(("path", "form", "tokens"), SCRIPTS, ids=str)
def test_a_script_loads_feeds_and_answers(
    path: str, form: str, tokens: int | None, packages: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = script(path)
    if hasattr(made, "drawn"):
        from PIL import Image

        monkeypatch.setattr(made, "drawn", lambda signal, rate_hz: Image.new("RGB", (20, 10)))
    options = {
        "weights": str(tmp_path),
        "conversation": "llama_3" if "vila" in path else "llava_v1",
        "encoder": "e.pth",
    }
    model = made.load(options)
    told = made.identity(model)
    assert str(tmp_path.parent) not in str(told), "where weights lie is no part of what a model is"
    request = Request(given(form, tmp_path))
    (said,) = made.answer(model, request)
    assert said["text"] in ("Yes", "No")
    assert [one["name"] for one in said["seen"]] == ["ct"] and request.fed_
    if "vila" in path:
        assert said["seen"][0]["indices"] == [6], "the receipt says which slice was shown"
    elif tokens is not None and form == "volume":
        assert said["seen"][0]["tokens"] == tokens


@pytest.mark.parametrize("path", ["m3d/model.py", "med3dvlm/model.py"])
def test_code_that_comes_with_weights_is_run_from_an_exact_commit_alone(path: str, packages: dict[str, Any]) -> None:
    made = script(path)
    for options in ({"weights": "org/name"}, {"weights": "org/name", "revision": "main"}):
        with pytest.raises(ValueError, match="exact commit"):
            made.load(options)
    packages["huggingface_hub"].snapshot_download.side_effect = lambda weights, revision: weights
    made.load({"weights": "org/name", "revision": "0123456789" * 4})


def test_a_study_that_differs_is_fed_otherwise(packages: dict[str, Any], tmp_path: Path) -> None:
    made = script("m3d/model.py")
    model = made.load({"weights": str(tmp_path)})
    fed = []
    for seed in (0, 1):
        request = Request(np.random.default_rng(seed).normal(size=(8, 8, 8)).astype(np.float32))
        list(made.answer(model, request))
        fed.append(request.fed_[0][1])
    assert not np.array_equal(*fed)


def test_llava_puts_the_picture_before_the_words_that_show_it(packages: dict[str, Any], tmp_path: Path) -> None:
    made = script("llava/model.py")
    model = made.load({"weights": str(tmp_path), "conversation": "llava_v1"})
    messages = [
        {"role": "system", "text": "s", "media": []},
        {"role": "user", "text": "First?", "media": ["ecg"]},
        {"role": "assistant", "text": "Yes", "media": []},
        {"role": "user", "text": "Second?", "media": []},
    ]
    said = made.prompt(model, SimpleNamespace(messages=messages))
    assert said == "USER: <image>\nFirst?\nASSISTANT: Yes\nUSER: Second?\nASSISTANT: None"


def test_merlin_refuses_what_it_was_not_trained_on(packages: dict[str, Any]) -> None:
    made = script("merlin/model.py")
    request = Request(np.zeros((8, 8, 8), np.float32))
    request.questions[0].text = "How far apart are they?"
    (said,) = made.answer(made.load({}), request)
    assert said["status"] == "refused"
