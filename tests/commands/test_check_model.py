"""`overread models`: the table, and the check that ticks its boxes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from overread.cli import main

PEER = """
import numpy as np
KINDS = ["choice"]
FORMS = {"ecg": "signal", "volume": "tensor"}
def load(options):
    return options
def answer(model, request):
    for question in request.questions:
        names = [name for message in question.messages for name in message["media"]]
        arrays = {name: request.media[name] for name in names}
        if model.get("blind"):
            arrays = {name: np.zeros_like(array) for name, array in arrays.items()}
        seen = [request.fed(name, array, indices=request.indices[name]) for name, array in arrays.items()]
        size = int(sum(np.abs(array).sum() for array in arrays.values()))
        yield question.answer(choice=size % len(question.options), seen=seen)
"""


def call(*argv: object) -> Result:
    return CliRunner().invoke(main, [str(one) for one in argv])


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OVERREAD_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_the_table_lists_every_card_and_json_holds_their_figures() -> None:
    shown = call("models")
    assert shown.exit_code == 0
    for name in ("pulse-7b", "ms-vlm", "echo-apex", "ecg_solver"):
        assert name in shown.output
    found = {row["model"]: row for row in json.loads(call("models", "--json").output)}
    assert found["pulse-7b"]["locked"] is True
    assert found["vila-m3"]["locked"] is False and "no lock" in found["vila-m3"]["notes"]
    assert found["qwen3-vl-8b"]["locked"] is None
    assert found["merlin"]["input"]["spacing_mm"] == "1.5 1.5 3"
    assert {"value": 61.3, "metric": "report score"}.items() <= found["pulse-7b"]["published"][3].items()


def test_a_solver_passes_and_its_box_is_ticked(tmp_path: Path, cache: Path) -> None:
    done = call("models", "check", "ecg_solver", "--json")
    assert done.exit_code == 0, done.output
    record = json.loads(done.stdout)
    assert record["media"]["ecg"]["plain"] == {"asked": 10, "answered": 10, "refused": 0, "failed": 0, "inputs": 10}
    assert record["media"]["ecg"]["swap"]["asked"] > 5
    assert record["changed"]["ecg"]["blank"] == 10
    assert {"load", "exam"} <= set(record["seconds"]) and record["memory"]["process"] > 0
    assert sorted(p.name for p in (cache / "envs" / "ecg_solver").iterdir()) == [
        "README.md", "launch.sh", "requirements.txt", "status.json",
    ]  # fmt: skip
    out = call("models", "check", "echo_solver", "--out", tmp_path / "out")
    assert out.exit_code == 0 and (tmp_path / "out" / "echo_solver" / "status.json").is_file()


def test_a_foreign_model_passes_and_one_that_does_not_look_does_not(tmp_path: Path) -> None:
    script = tmp_path / "peer.py"
    script.write_text(PEER)
    card = tmp_path / "peer.toml"
    card.write_text(f"title = 'Peer'\nkind = 'answerer'\nadapter = 'foreign'\n[options]\nscript = '{script}'\n")
    done = call("models", "check", card)
    assert done.exit_code == 0, done.output
    assert "volume, plain: asked: 10, answered: 10" in done.output
    blind = call("models", "check", f"{card}[option.blind=yes]")
    assert blind.exit_code == 3
    assert "it does not look" in (tmp_path / "cache" / "envs" / "peer" / "README.md").read_text()


def test_weights_that_cannot_be_fetched_name_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    done = call("models", "check", "smolvlm-256m")
    assert done.exit_code == 2
    assert "hf download HuggingFaceTB/SmolVLM-256M-Instruct --local-dir" in done.output


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["ms-vlm"], "no public code"),
        (["qwen3-vl-9b"], "did you mean"),
        (["prior"], "reads the key"),
        (["smolvlm-256m", "--weights", "nowhere"], "no such folder of weights"),
        (["pulse-7b", "--weights", "nowhere"], "no such folder of weights"),  # and no environment is built before
        (["ecg_solver", "--weights", "."], "is not told of weights"),
    ],
)
def test_what_cannot_be_checked_is_told(argv: list[str], said: str) -> None:
    done = call("models", "check", *argv)
    assert done.exit_code == 2
    assert said in done.output


@pytest.mark.slow
def test_a_tiny_hugging_face_model_passes_by_card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "models" / "hf"))
    import tiny  # type: ignore[import-not-found]

    weights = tiny.idefics3(tmp_path / "TINY")
    card = tmp_path / "small.toml"
    card.write_text(
        "title = 'Small'\nkind = 'answerer'\nadapter = 'hf_vlm'\nweights = 'ORG/TINY'\nmedia = ['ecg']\n"
        "[options]\npath = '{weights}'\nnew_tokens = '4'\n"
    )
    done = call("models", "check", card, "--weights", weights, "--json")
    assert done.exit_code == 0, done.output
    record = json.loads(done.stdout)
    assert set(record["media"]) == {"ecg"} and record["provenance"]["device"] == "cpu"
    assert record["options"]["path"] == "{weights}", "places of this machine are no part of the configuration"


def test_an_exam_of_ones_own_ticks_the_second_box(tmp_path: Path, phantom_data: dict[str, str], cache: Path) -> None:
    folder = tmp_path / "cases"
    shutil.copytree(Path(phantom_data["phantoms"]) / "ecg", folder / "ecg")
    headers = sorted((folder / "ecg").glob("*.hea"))[:10]
    lines = []
    for number, header in enumerate(headers):
        asked = {"text": "Is it regular?", "options": ["Yes", "No"], "answer": ["Yes", "No"][number % 2]}
        case = {"id": f"c{number}", "patient": f"p{number}", "media": [f"ecg/{header.name}"], "questions": [asked]}
        lines.append(json.dumps(case))
    (folder / "cases.jsonl").write_text("\n".join(lines) + "\n")
    script = tmp_path / "peer.py"
    script.write_text(PEER)
    card = tmp_path / "peer.toml"
    card.write_text(f"title = 'Peer'\nkind = 'answerer'\nadapter = 'foreign'\n[options]\nscript = '{script}'\n")
    done = call("models", "check", card, "--on", folder / "cases.jsonl")
    assert done.exit_code == 0, done.output
    page = (cache / "envs" / "peer" / "README.md").read_text()
    assert "- [ ] sanity exam on phantoms: never sat" in page and "- [x] sanity exam on real data" in page


def test_an_exam_on_phantoms_does_not_pass_for_real_data() -> None:
    done = call("models", "check", "ecg_solver", "--on", "ecg_steps")
    assert done.exit_code == 2 and "on phantoms, not on real data" in done.output


def test_the_launch_script_sits_an_exam(phantom_data: dict[str, str], tmp_path: Path) -> None:
    assert call("models", "check", "ecg_solver", "--out", tmp_path).exit_code == 0
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    words = ["ecg_steps", str(tmp_path / "run"), "--data", f"phantoms={phantom_data['phantoms']}", "--limit", "2"]
    script = str(tmp_path / "ecg_solver" / "launch.sh")
    for shard in ("1", "2"):
        env = {**os.environ, "PATH": path, "SLURM_ARRAY_TASK_ID": shard, "SLURM_ARRAY_TASK_COUNT": "2"}
        done = subprocess.run(["bash", script, *words], env=env, capture_output=True, text=True, check=False)
        assert done.returncode in (0, 3), done.stderr
    assert done.returncode == 0, "both shards together are the whole exam"
