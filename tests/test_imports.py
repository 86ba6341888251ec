"""The core stays light: only the heavy modules import torch and its kind, and nothing imports those by the way."""

from __future__ import annotations

import fnmatch
import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SRC = ROOT / "src" / "overread"
RUFF = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["ruff"]["lint"]
HEAVY_LIBRARIES = sorted(RUFF["flake8-tidy-imports"]["banned-api"])
HEAVY_MODULES = [
    glob for glob, rules in RUFF["per-file-ignores"].items() if "TID251" in rules and glob.startswith("src/")
]


def light_modules() -> list[str]:
    """The dotted names of all modules that must be importable without the heavy libraries."""
    paths = [path.relative_to(ROOT) for path in sorted(SRC.rglob("*.py")) if path.name != "__main__.py"]
    light = [p for p in paths if not any(fnmatch.fnmatch(p.as_posix(), glob) for glob in HEAVY_MODULES)]
    return [".".join(p.relative_to("src").with_suffix("").parts).removesuffix(".__init__") for p in light]


def heavy_after(statements: str) -> tuple[list[str], str]:
    """The heavy libraries that a new interpreter has loaded after these statements, and what it printed before."""
    code = f"import sys\n{statements}\nprint('heavy:', *[name for name in {HEAVY_LIBRARIES} if name in sys.modules])\n"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    printed, _, loaded = done.stdout.rpartition("heavy:")
    return loaded.split(), printed


def test_the_rules_name_what_they_are_about() -> None:
    assert HEAVY_LIBRARIES == ["accelerate", "peft", "torch", "transformers"]
    assert "src/overread/train/**" in HEAVY_MODULES
    assert {"overread", "overread.tables", "overread.models.contract"} <= set(light_modules())


def test_no_light_module_imports_a_heavy_library() -> None:
    statements = "\n".join(f"import {name}" for name in light_modules())
    assert heavy_after(statements)[0] == []


def test_list_imports_no_heavy_library() -> None:
    loaded, printed = heavy_after("from overread.cli import main\nmain(['list', '--json'], standalone_mode=False)")
    assert loaded == []
    assert json.loads(printed)


def test_a_heavy_import_would_be_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "torch.py").write_text("")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert heavy_after("import torch\nprint('before')") == (["torch"], "before\n")


def lint_commands() -> list[str]:
    """The recipe of `make lint`, the one owner of what linting is."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    recipe = text.partition("\nlint:")[2].partition("\n\n")[0]
    return [line.strip() for line in recipe.splitlines()[1:]]


@pytest.mark.slow
@pytest.mark.parametrize("command", lint_commands())
def test_the_commands_of_make_lint_pass(command: str) -> None:
    argv = command.replace("$(BIN)", str(Path(sys.executable).parent)).split()
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
