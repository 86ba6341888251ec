"""What is told before gigabytes are read, and what a model is called once they are."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForImageTextToText

from overread.errors import BadInput
from overread.models.contract import Setting
from overread.models.hf_options import CHOICES, Options, read_options
from overread.models.hf_vlm import check, load


def refusal(**options: str) -> str:
    with pytest.raises(BadInput) as error:
        load(Setting("hf_vlm", "", options))
    return str(error.value)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({}, "no weights are named"),
        ({"path": "x", "new_tokens": "0"}, "new_tokens=0 leaves no room for a reply"),
        ({"path": "x", "new_tokens": "-1"}, "new_tokens=-1 is not a whole number"),
        ({"path": "x", "temperature": "warm"}, "temperature=warm is not a number from 0"),
        ({"path": "x", "temperature": "nan"}, "temperature=nan is not a number from 0"),
        ({"path": "x", "top_k": "3"}, "none are drawn at temperature 0"),
        ({"path": "x", "temperature": "1", "top_p": "1.5"}, "top_p=1.5 is no share"),
        ({"path": "x", "temperature": "1", "mode": "score"}, "nothing is drawn"),
        ({"path": "x", "mode": "guess"}, "give one of generate, score"),
        ({"path": "x", "bits": "3"}, "give one of 16, 8, 4"),
        ({"path": "x", "compile": "all"}, "give one of none, layers"),
        ({"path": "x", "tp": "2", "bits": "4"}, "leave out device and bits beside tp"),
        ({"path": "x", "dtyp": "float32"}, "dtyp"),
    ],
)
def test_options_that_cannot_be_are_refused_before_anything_is_read(options: dict[str, str], told: str) -> None:
    for refuse in (check, load):
        with pytest.raises(BadInput) as error:
            refuse(Setting("hf_vlm", "", options))
        assert told in str(error.value) and "hf_vlm" in str(error.value)


def test_the_page_of_hugging_face_models_tells_every_option_and_its_values() -> None:
    page = (Path(__file__).parents[3] / "docs" / "hf_models.md").read_text(encoding="utf-8")
    rows = {line.split("|")[1].strip().strip("`"): line for line in page.splitlines() if line.startswith("| `")}
    assert list(rows) == list(Options.__dataclass_fields__)
    assert all(f"`{value}`" in rows[name] for name, values in CHOICES.items() for value in values)


def test_only_what_changes_what_is_asked_is_identity() -> None:
    plain = read_options({"path": "x"}, "here").identity()
    places = {"device": "cpu", "batch": "2", "engine": "single", "tp": "0", "compile": "layers"}
    assert read_options({"path": "x", **places}, "here").identity() == plain
    for name, value in {
        "mode": "score",
        "system": "drop",
        "new_tokens": "8",
        "banned": "x",
        "dtype": "float16",
    }.items():
        assert read_options({"path": "x", name: value}, "here").identity() != plain


def test_a_folder_without_a_model_says_so(tmp_path: Path) -> None:
    told = refusal(path=str(tmp_path))
    assert "the model cannot be loaded" in told and f"check path={tmp_path}" in told


def test_a_name_of_the_hub_that_cannot_be_reached_says_so() -> None:
    told = refusal(path="nobody/nothing")
    assert "the model cannot be loaded" in told and "give a local folder" in told


def test_weights_that_are_damaged_say_so(tiny: Callable[[str], Path], tmp_path: Path) -> None:
    folder = tmp_path / "cut"
    shutil.copytree(tiny("llava"), folder)
    (folder / "config.json").write_text('{"model_type": "no_such_model"}')
    assert "the model cannot be loaded" in refusal(path=str(folder))


@pytest.mark.skipif(torch.cuda.is_available(), reason="tells what is missing where there is no accelerator")
def test_what_the_machine_lacks_is_told(tiny: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(tiny("llava"))
    assert "bits=4 needs an accelerator" in refusal(path=path, bits="4")
    assert "no accelerator is here" in refusal(path=path, device="cuda")
    told = refusal(path=path, tp="2")
    assert "tp=2 needs as many processes, and this run has 1" in told and "torchrun --nproc-per-node 2" in told
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert "bits=8 needs the package bitsandbytes" in refusal(path=path, bits="8")


def test_layers_that_cannot_be_compiled_are_told(tiny: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("overread.models.hf_compiling.LAYERS", ("NoSuchLayer",))
    told = refusal(path=str(tiny("llava")), compile="layers")
    assert "compile=layers finds no layers that it knows in LlavaForConditionalGeneration" in told


@pytest.mark.parametrize("options", [{"device": "auto"}, {"dtype": "bfloat16"}, {"dtype": "float16"}])
def test_places_and_precisions_share_as_well(options: dict[str, str], seated: Any, shapes: Any) -> None:
    model = seated("llava", new_tokens="4", **options)
    assert model.provenance()["shared_prefix"]
    assert model.identity()["precision"] == f"torch.{options.get('dtype', 'float32')}"
    assert len(list(model.answer([shapes["chain"]("d", 1).posed()]))) == 4


def test_a_processor_that_needs_torchvision_says_so(tiny: Callable[[str], Path], tmp_path: Path) -> None:
    if pytest.importorskip("importlib.util").find_spec("torchvision"):
        pytest.skip("torchvision is here")
    folder = tmp_path / "qwen"
    shutil.copytree(tiny("qwen3_vl"), folder)
    settings = json.loads((folder / "processor_config.json").read_text())
    (folder / "processor_config.json").write_text(json.dumps({**settings, "processor_class": "Qwen3VLProcessor"}))
    (folder / "video_preprocessor_config.json").write_text('{"video_processor_type": "Qwen3VLVideoProcessor"}')
    assert "install torchvision" in refusal(path=str(folder))


def test_the_identity_tells_weights_apart_that_lie_under_one_name(seated: Any, tiny: Any, tmp_path: Path) -> None:
    mine = seated("llava", engine="single").identity()
    folder = tmp_path / "llava"
    shutil.copytree(tiny("llava"), folder)
    assert load(Setting("hf_vlm", "", {"path": f"{folder}/", "dtype": "float32"})).identity() == mine
    model = AutoModelForImageTextToText.from_pretrained(folder)
    with torch.no_grad():
        model.model.language_model.layers[1].mlp.up_proj.weight.mul_(1.01)
    model.save_pretrained(folder)
    other = load(Setting("hf_vlm", "", {"path": str(folder), "dtype": "float32"})).identity()
    assert {name for name in mine if mine[name] != other[name]} == {"fingerprint"}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")  # of the compiler itself
def test_compiled_layers_say_the_same(seated: Any, tokens_of: Any, shapes: Any) -> None:
    posed = [shapes["chain"]("d", 1).posed(), shapes["condensed"]("e", 2).posed()]
    compiled = seated("llava", new_tokens="8", compile="layers")
    assert compiled.provenance()["layers_compiled"] == 6
    plain = seated("llava", new_tokens="8")
    assert plain.provenance()["layers_compiled"] == 0
    assert tokens_of(compiled, posed) == tokens_of(plain, posed)
