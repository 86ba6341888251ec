"""The locks name every dependency with its hashes, and no host."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LOCKS = ["requirements.txt", "requirements-test.txt"]


def plain(name: str) -> str:
    """A distribution's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(lock: str) -> dict[str, list[str]]:
    """Of each locked `name==version`, with its marker where it has one, the hashes."""
    found: dict[str, list[str]] = {}
    for line in (ROOT / lock).read_text(encoding="utf-8").splitlines():
        if match := re.match(r"([a-z0-9][\w.-]*==[^\\]+?) *\\?$", line):
            found[match[1]] = []
        elif match := re.match(r" +--hash=(sha256:[0-9a-f]{64})", line):
            found[list(found)[-1]].append(match[1])
    return found


def names(requirements: list[str]) -> set[str]:
    return {plain(Requirement(requirement).name) for requirement in requirements}


def versions(lock: str, name: str) -> list[str]:
    """The locked versions of a distribution; several where they differ between Python versions."""
    found = [pin.partition(" ;")[0].split("==") for pin in pins(lock)]
    return [version for locked, version in found if locked == plain(name)]


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_names_no_host(lock: str) -> None:
    text = (ROOT / lock).read_text(encoding="utf-8")
    assert re.findall(r".*(?:https?:|file:|://|--index|--find-links|--extra-index).*", text) == []


@pytest.mark.parametrize("lock", LOCKS)
def test_every_line_of_a_lock_is_a_pin_a_hash_or_a_remark(lock: str) -> None:
    known = re.compile(r"[a-z0-9][\w.-]*==\S+.*|    --hash=sha256:[0-9a-f]{64}( \\)?|\s*#.*|")
    assert [line for line in (ROOT / lock).read_text(encoding="utf-8").splitlines() if not known.fullmatch(line)] == []


@pytest.mark.parametrize("lock", LOCKS)
def test_every_pin_has_hashes(lock: str) -> None:
    assert pins(lock)
    assert [pin for pin, hashes in pins(lock).items() if not hashes] == []


@pytest.mark.parametrize(
    ("lock", "wanted"),
    [
        ("requirements.txt", PROJECT["dependencies"]),
        ("requirements-test.txt", PROJECT["dependencies"] + PROJECT["optional-dependencies"]["test"] + ["hatchling"]),
    ],
)
def test_every_dependency_of_the_project_is_locked_in_a_version_it_allows(lock: str, wanted: list[str]) -> None:
    for requirement in map(Requirement, wanted):
        locked = versions(lock, requirement.name)
        assert locked, f"{requirement} is not in {lock}: run make lock"
        assert [v for v in locked if v not in requirement.specifier] == [], f"{requirement}: run make lock"


def test_the_tests_run_on_the_versions_that_users_get() -> None:
    users, tests = ({pin.partition(" ;")[0] for pin in pins(lock)} for lock in LOCKS)
    assert users - tests == set()


def test_the_core_is_light() -> None:
    heavy = {"torch", "torchvision", "transformers", "peft", "accelerate", "pandas", "litellm", "diskcache"}
    assert names(list(pins("requirements.txt"))) & heavy == set()
    assert "torch" not in names(list(pins("requirements-test.txt")))
