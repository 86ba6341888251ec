"""The wheel, installed elsewhere, is all that a user needs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import overread

ROOT = Path(__file__).parents[1]
SRC = ROOT / "src"

pytestmark = pytest.mark.slow


def call(*argv: str | Path, cwd: Path) -> str:
    """What a command printed; the tests' own interpreter settings do not reach it, and it must succeed."""
    kept = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "VIRTUAL_ENV"}}
    done = subprocess.run(
        [str(a) for a in argv], cwd=cwd, env=kept, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, f"{argv[0]} in {cwd}:\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    call(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=ROOT)
    [built] = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of a new environment that has the wheel and the versions of the lock."""
    folder = tmp_path_factory.mktemp("environment")
    uv = Path(sys.executable).with_name("uv")
    call(uv, "venv", "--quiet", "--python", sys.executable, folder / "venv", cwd=folder)
    python = folder / "venv" / "bin" / "python"
    call(uv, "pip", "install", "--quiet", "--python", python, "-c", ROOT / "requirements.txt", wheel, cwd=folder)
    return python.parent


def test_the_wheel_holds_every_file_of_the_package(wheel: Path) -> None:
    inside = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("overread/")}
    files = {p.relative_to(SRC).as_posix() for p in (SRC / "overread").rglob("*") if p.is_file()}
    assert inside == {name for name in files if "__pycache__" not in name}
    assert "overread/py.typed" in inside


def test_the_wheel_carries_its_licence_and_nothing_of_the_repository(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    info = f"overread-{overread.__version__}.dist-info"
    assert {name.partition("/")[0] for name in names} == {"overread", info}
    licence = zipfile.ZipFile(wheel).read(f"{info}/licenses/LICENSE")
    assert licence == (ROOT / "LICENSE").read_bytes()


def test_the_wheel_offers_the_extras_and_needs_no_torch(wheel: Path) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    text = zipfile.ZipFile(wheel).read(f"overread-{overread.__version__}.dist-info/METADATA").decode()
    head = text.partition("\n\n")[0].splitlines()
    extras = {line.removeprefix("Provides-Extra: ") for line in head if line.startswith("Provides-Extra: ")}
    assert extras == set(project["optional-dependencies"])
    needed = [line for line in head if line.startswith("Requires-Dist: ") and "extra ==" not in line]
    assert len(needed) == len(project["dependencies"])
    assert [line for line in needed if line.startswith("Requires-Dist: torch")] == []


def test_the_installed_package_is_importable_and_knows_its_version(programs: Path, tmp_path: Path) -> None:
    code = "import overread; print(overread.__version__, overread.__file__)"
    version, file = call(programs / "python", "-c", code, cwd=tmp_path).split(maxsplit=1)
    assert version == overread.__version__
    assert Path(file).is_relative_to(programs.parent)


def test_the_installed_command_lists_what_the_repository_lists(programs: Path, tmp_path: Path) -> None:
    listed = json.loads(call(programs / "overread", "list", "--json", cwd=tmp_path))
    here = json.loads(call(Path(sys.executable).with_name("overread"), "list", "--json", cwd=ROOT))
    assert listed == here


def test_the_installed_demo_runs_away_from_the_repository(programs: Path, tmp_path: Path) -> None:
    call(programs / "overread", "demo", "--out", tmp_path / "demo", cwd=tmp_path)
    pages = list((tmp_path / "demo").rglob("report.html"))
    assert pages and all(page.stat().st_size > 1000 for page in pages)
    assert [p.name for p in tmp_path.iterdir()] == ["demo"]
