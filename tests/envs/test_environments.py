"""The environments of model families: their locks, what they say of themselves, and the scripts that run there."""

from __future__ import annotations

import ast
import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from overread.cards.environments import read_environment
from overread.cards.finding import cards
from overread.errors import BadInput

ENVS = Path(__file__).parents[2] / "envs"
NAMES = sorted(path.parent.name for path in ENVS.glob("*/environment.toml"))
SCRIPTS = sorted(ENVS.glob("*/*.py"))
PIN = re.compile(r"([a-z0-9][\w.-]*==[^\\]+?) *\\?$")
LEFT_OUT = (ENVS / "left_out.txt").read_text(encoding="utf-8").split()
Array = np.ndarray[Any, Any]


def short(path: Path) -> str:
    return path.relative_to(ENVS).as_posix()


def module(path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A script, imported as the worker does it; what it imports from beside it is forgotten afterwards."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in ("preparing", "model"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    spec = importlib.util.spec_from_file_location(f"overread_env_{path.parent.name}_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    for name in ("preparing", "model"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return made


@pytest.mark.parametrize("name", NAMES)
def test_an_environment_is_locked_with_hashes_or_says_why_not(name: str) -> None:
    environment = read_environment(name)
    assert bool(environment.lock) != bool(environment.unresolved)
    if environment.lock is None:
        return
    lines = environment.lock.read_text(encoding="utf-8").splitlines()
    known = re.compile(r"[a-z0-9][\w.-]*==\S+.*|    --hash=sha256:[0-9a-f]{64}( \\)?|\s*#.*|")
    assert [line for line in lines if not known.fullmatch(line)] == []
    assert not [line for line in lines if "://" in line or "index" in line.split("#")[0].split()]
    pins = [match[1] for line in lines if (match := PIN.match(line))]
    names = {pin.partition("==")[0] for pin in pins}
    assert names and not names & set(LEFT_OUT), "torch is named in environment.toml, outside the lock"
    asked = (environment.folder / "requirements.in").read_text(encoding="utf-8").splitlines()
    exact = [line for line in asked if "==" in line and not line.startswith("#")]
    assert [line for line in exact if line not in {pin.partition(" ;")[0].strip() for pin in pins}] == []
    assert environment.torch and all("==" in one for one in environment.torch)


def test_every_environment_is_some_cards_or_reproduces_the_benchmarks_own() -> None:
    assert set(NAMES) - {card.environment for card in cards().values()} == {"hf-chat"}
    assert {card.environment for card in cards().values() if card.environment} <= set(NAMES)


def test_the_locks_hold_the_transformers_that_the_families_need() -> None:
    def version(name: str) -> str:
        text = (ENVS / name / "requirements.txt").read_text(encoding="utf-8")
        return re.findall(r"^transformers==(\S+)", text, flags=re.MULTILINE)[0]

    assert {name: version(name) for name in NAMES if (ENVS / name / "requirements.txt").exists()} == {
        "ct-chat": "4.44.0", "hf-chat": "4.57.3", "llava": "4.37.2", "m3d": "4.45.2", "med3dvlm": "4.48.3",
        "merlin": "4.38.2", "opentslm-hulumed": "4.51.2", "radfm": "4.28.1",
    }  # fmt: skip


@pytest.mark.parametrize("path", SCRIPTS, ids=short)
def test_a_script_is_python_38_and_imports_nothing_heavy_until_it_is_loaded(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 8))
    imported = {alias.name for node in tree.body if isinstance(node, ast.Import) for alias in node.names}
    imported |= {str(node.module) for node in tree.body if isinstance(node, ast.ImportFrom)}
    assert imported <= {"sys", "io", "pathlib", "preparing", "model"}


@pytest.mark.parametrize("path", SCRIPTS, ids=short)
def test_a_script_has_what_a_worker_asks_of_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = module(path, monkeypatch)
    assert set(script.KINDS) <= {"text", "choice", "number", "embedding", "mask", "points"}
    assert set(script.FORMS.items()) <= {
        ("ecg", "sheet"), ("ecg", "signal"), ("clip", "frames"), ("volume", "tensor"), ("volume", "slices"),
        ("image", "image"),
    }  # fmt: skip
    assert all(callable(getattr(script, name)) for name in ("load", "answer", "identity"))


@pytest.mark.parametrize("name", sorted(card.name for card in cards().values() if card.adapter == "foreign"))
def test_a_card_says_of_its_input_what_its_script_does(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    card = cards()[name]
    path = Path(card.options["script"].replace("{environment}", str(ENVS / card.environment)))
    script = module(path, monkeypatch)
    assert {key: card.input.get(key) for key in script.INPUT} == script.INPUT
    assert set(script.FORMS) >= set(card.media)


def test_an_environment_that_is_not_there_is_told() -> None:
    with pytest.raises(BadInput, match="no environment 'lava'"):
        read_environment("lava")


def corner() -> Array:
    """A volume of air with one bright corner: right, front, head; and a dimmer block on the left."""
    volume = np.full((40, 32, 24), -1000.0, dtype=np.float32)
    volume[30:, 22:, 16:] = 900.0
    volume[:6, 4:20, 4:12] = 100.0
    return volume


def brightest(array: Array) -> tuple[float, ...]:
    """Where the brightest part lies, as a share of each axis."""
    places = np.argwhere(array > 0.8 * array.max())
    found = (places.mean(axis=0) + 0.5) / np.array(array.shape)
    return tuple(float(value) for value in found)


@pytest.mark.parametrize(
    ("name", "shape", "inner"),
    [("m3d", (1, 1, 32, 256, 256), (0, 0)), ("med3dvlm", (1, 1, 128, 256, 256), (0, 0))],
)
def test_a_volume_reaches_lamed_and_med3dvlm_as_a_file_in_lps_is_read(
    name: str, shape: tuple[int, ...], inner: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = module(ENVS / name / "model.py", monkeypatch).prepared(corner())
    assert made.shape == shape and made.dtype == np.float32
    assert (made.min(), made.max()) == (0.0, pytest.approx(1.0, abs=0.01))
    z, y, x = brightest(made[inner])
    assert z > 0.7 and y < 0.3 and x < 0.3, "head last; front and right first"


def test_a_volume_reaches_merlin_with_x_first(monkeypatch: pytest.MonkeyPatch) -> None:
    script = module(ENVS / "merlin" / "model.py", monkeypatch)
    made = script.prepared(corner(), (9.0, 9.0, 18.0))  # 360 x 288 x 432 mm: fills 224 x 192 x 144 voxels
    assert made.shape == (1, 1, 224, 224, 160) and (made.min(), made.max()) == (0.0, pytest.approx(0.95))
    x, y, z = brightest(made[0, 0])
    assert x > 0.7 and y > 0.6 and z > 0.6
    assert script.organ_of("What is wrong with the liver or the spleen?") == "spleen"
    assert script.organ_of("How far is it?") == ""


def test_a_volume_reaches_ct_chat_padded_with_air(monkeypatch: pytest.MonkeyPatch) -> None:
    script = module(ENVS / "ct-chat" / "model.py", monkeypatch)
    made = script.prepared(corner(), (6.0, 6.0, 12.0))  # 320 x 256 x 192 voxels
    assert made.shape == (1, 1, 240, 480, 480) and made[0, 0, 0, 0, 0] == -1.0
    assert made.max() == pytest.approx(0.9) and made.min() == -1.0
    z, x, y = brightest(made[0, 0] + 1)
    assert z > 0.6 and x < 0.4 and y < 0.4
    question = SimpleNamespace(messages=[{"role": "system", "text": "s"}, {"role": "user", "text": "Why?"}])
    assert script.asked(question, "short_answer") == [("user", "<image>\n<provided>\nWhy?<short_answer>")]


def test_a_volume_reaches_radfm_without_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    script = module(ENVS / "radfm" / "model.py", monkeypatch)
    made = script.prepared(corner())
    assert made.shape == (3, 256, 256, 64) and np.array_equal(made, script.prepared(corner()))
    y, x, z = brightest(made[0])
    assert y < 0.3 and x < 0.3 and z > 0.7
    asked = script.asked(SimpleNamespace(messages=[{"text": "Why?", "media": ["ct"]}]), ["ct"])
    assert asked.startswith("<image><image0>") and asked.endswith("<image31></image>Why?")


def test_a_slice_reaches_vila_m3_as_a_radiologist_looks_at_it(monkeypatch: pytest.MonkeyPatch) -> None:
    script = module(ENVS / "vila-m3" / "model.py", monkeypatch)
    made, number = script.prepared(corner(), "20")
    assert (made.shape, number) == ((32, 40), 20)
    assert made[0, 0] == 1.0, "right and front: above, on the left"
    assert made[-1, -1] == 0.0
    assert script.prepared(corner(), "middle")[1] == 12


def test_twelve_leads_reach_opentslm_scaled_and_thinned(monkeypatch: pytest.MonkeyPatch) -> None:
    script = module(ENVS / "opentslm-hulumed" / "opentslm.py", monkeypatch)
    signal = np.random.default_rng(0).normal(2.0, 3.0, (12, 5000)).astype(np.float32)
    signal[4] = 0.0
    leads, means, deviations = script.prepared(signal)
    assert leads.shape == (12, 1000)
    assert np.allclose(leads[0] * deviations[0] + means[0], signal[0, ::5], atol=1e-4)
    assert not leads[4].any()
    assert script.prepared(signal[:, :500])[0].shape == (12, 1000)
    assert script.ending("It is broad. Answer: no.\nmore\nAnswer: Yes.\nand so on") == "Yes"
    assert script.ending("It is broad.") == ""


def test_resampling_keeps_a_ramp_and_a_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    preparing = module(ENVS / "preparing.py", monkeypatch)
    ramp = np.broadcast_to(np.arange(20, dtype=np.float32)[:, None, None], (20, 4, 4))
    made = preparing.resampled(ramp, (40, 4, 4))
    assert np.allclose(np.diff(made[2:-2, 0, 0]), 0.5) and made.mean() == pytest.approx(ramp.mean(), abs=1e-5)
    assert np.array_equal(preparing.resampled(ramp, ramp.shape), ramp)
    fitted = preparing.fitted(np.ones((3, 10)), (5, 4), 0.0)
    assert fitted.shape == (5, 4) and fitted.sum() == 12 and fitted[0].sum() == 0
    assert not preparing.stretched(np.ones((2, 2, 2))).any()
    with pytest.raises(ValueError, match="one study a question"):
        preparing.only(["a", "b"])
