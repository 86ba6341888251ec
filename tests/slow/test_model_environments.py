"""`overread models check` of a model with an environment of its own: built from its lock, asked, written down."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from overread.cards import environments
from overread.cards.environments import BUILT, read_environment
from overread.cli import main
from overread.errors import BadInput

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
SCRIPT = """
import sys
import numpy as np
import helping
KINDS = ["choice"]
FORMS = {"ecg": "signal"}
def load(options):
    return options
def identity(model):
    return {"weights": model["weights"], "helping": helping.EDITION}
def answer(model, request):
    for question in request.questions:
        names = [name for message in question.messages for name in message["media"]]
        seen = [request.fed(name, request.media[name], indices=request.indices[name]) for name in names]
        size = int(np.abs(request.media[names[0]]).sum())
        yield question.answer(choice=size % len(question.options), seen=seen)
"""
CARD = """
title = "Peer"
kind = "answerer"
adapter = "foreign"
weights = "{weights}"
environment = "peer"
[options]
python = "{{python}}"
script = "{{environment}}/model.py"
"option.weights" = "{{weights}}"
"option.source" = "{{sources}}/helping"
"""


def lock(name: str) -> str:
    """The lines of one distribution in the tests' own lock."""
    text = (ROOT / "requirements-test.txt").read_text(encoding="utf-8")
    found = re.findall(rf"^{name}==.*(?:\n    --hash.*|\n +#.*)*", text, flags=re.MULTILINE)
    assert found
    return "\n".join(found) + "\n"


def repository(folder: Path) -> tuple[Path, str]:
    """A repository with one module in it, and its shortened commit."""
    folder.mkdir()
    (folder / "helping.py").write_text("EDITION = 7\n")
    git = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
        subprocess.run([*git, *words], check=True)
    made = subprocess.run([*git, "rev-parse", "--short", "HEAD"], check=True, capture_output=True, text=True)
    return folder, made.stdout.strip()


def test_without_uv_an_environment_is_built_by_pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    base = shutil.which(f"python{version}", path="/usr/bin:/usr/local/bin")
    if base is None:
        pytest.skip("this Python is not on the path by its version")
    monkeypatch.setenv("OVERREAD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("OVERREAD_ENVS", str(tmp_path / "envs"))
    monkeypatch.setenv("PATH", f"{Path(base).parent}:/usr/bin:/bin")
    monkeypatch.setattr(environments, "_uv", lambda: None)
    folder = tmp_path / "envs" / "peer"
    folder.mkdir(parents=True)
    (folder / "requirements.txt").write_text(lock("numpy"))
    (folder / "environment.toml").write_text(f'title = "Peer"\npython = "{version}"\n')
    python = environments.build(read_environment("peer"))
    done = subprocess.run([str(python), "-c", "import numpy"], check=False)
    assert done.returncode == 0


def test_an_environment_that_cannot_be_installed_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OVERREAD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("OVERREAD_ENVS", str(tmp_path / "envs"))
    folder = tmp_path / "envs" / "peer"
    folder.mkdir(parents=True)
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    (folder / "environment.toml").write_text(f'title = "Peer"\npython = "{version}"\nunresolved = "no wheels"\n')
    with pytest.raises(BadInput, match="no wheels"):
        environments.build(read_environment("peer"))
    (folder / "requirements.txt").write_text(re.sub("sha256:.{8}", "sha256:00000000", lock("numpy")))
    with pytest.raises(BadInput, match="a step of building the environment fails"):
        environments.build(read_environment("peer"))
    assert not (read_environment("peer").place / BUILT).exists(), "what is half built is not taken for built"


def test_an_environment_is_built_once_and_its_model_is_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OVERREAD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("OVERREAD_ENVS", str(tmp_path / "envs"))
    source, commit = repository(tmp_path / "helping")
    folder = tmp_path / "envs" / "peer"
    folder.mkdir(parents=True)
    (folder / "model.py").write_text("import sys\n" + SCRIPT.replace("import helping", PATH))
    (folder / "requirements.txt").write_text(lock("numpy") + lock("accelerate"))  # which needs torch, and has none here
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    described = f'title = "Peer"\npython = "{version}"\n[[sources]]\nrepository = "{source}"\ncommit = "{commit}"\n'
    (folder / "environment.toml").write_text(described)
    (tmp_path / "weights").mkdir()
    card = tmp_path / "peer.toml"
    card.write_text(CARD.format(weights=tmp_path / "weights"))

    unbuilt = CliRunner().invoke(main, ["run", "ecg_steps", "--model", str(card), "--out", str(tmp_path / "run")])
    assert unbuilt.exit_code == 2 and "is not built on this machine" in unbuilt.output

    done = CliRunner().invoke(main, ["models", "check", str(card), "--json"])
    if done.exit_code == 2 and "requirements.txt" in done.output:
        pytest.skip("packages cannot be installed here")
    assert done.exit_code == 0, done.output
    record = json.loads(done.stdout)
    environment = read_environment("peer")
    assert record["lock"] == environment.lock_hash and (environment.place / BUILT).exists()
    assert record["identity"]["identity"]["helping"] == 7, "the source was checked out at its commit"
    assert record["media"]["ecg"]["plain"]["answered"] == 10
    assert "environment" in record["seconds"]
    left = Path(record["folder"])
    assert left.joinpath("requirements.txt").read_text() == (folder / "requirements.txt").read_text()

    stamp = (environment.place / BUILT).stat().st_mtime_ns
    again = CliRunner().invoke(main, ["models", "check", str(card)])
    assert again.exit_code == 0 and (environment.place / BUILT).stat().st_mtime_ns == stamp
    place = environment.place
    (folder / "environment.toml").write_text(described.replace("Peer", "Peer again"))
    assert read_environment("peer").place == place, "a title changes nothing"
    (folder / "environment.toml").write_text(described.replace(commit, "0000000"))
    assert read_environment("peer").place != place, "another commit of a source is another environment"
    (folder / "environment.toml").write_text(described)
    (folder / "requirements.txt").write_text(lock("numpy"))
    assert read_environment("peer").place != place, "another lock is another environment"


PATH = """
import json
options = json.loads(sys.argv[sys.argv.index("--options") + 1])
sys.path.insert(0, options["source"])
import helping"""
