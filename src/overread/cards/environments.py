"""Environments of model families: what `envs/NAME` says, whether it is locked, and how it is built.

environment.toml      Python, torch, sources, and the reason where it cannot be locked
requirements.in       what is asked for
requirements.txt      what that comes to, with hashes; without torch, whose build differs from machine to machine
model.py              the script that `foreign` runs there
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from overread.cards.card import Card
from overread.cards.places import cache, envs
from overread.errors import BadInput, unknown_name

KEYS = ("title", "python", "torch", "after", "sources", "needs", "unresolved")
SOURCE = ("repository", "commit")
LOCK = "requirements.txt"
BUILT = ".built"
"""Stands in a built environment once all of it is there."""


@dataclasses.dataclass(frozen=True, slots=True)
class Environment:
    """What `environment.toml` says."""

    name: str
    folder: Path
    title: str
    python: str
    """Its version: 3.10."""
    torch: tuple[str, ...] = ()
    """torch and what is built for it, outside the lock."""
    after: tuple[str, ...] = ()
    """Packages that are built against the installed torch, and so come last."""
    sources: tuple[Mapping[str, str], ...] = ()
    """Code that no package index has: repository and commit. Several may hold a package of one name, so a script puts
    on its path what its card names: `{sources}/NAME`."""
    needs: tuple[str, ...] = ()
    """What the machine must have: a compiler, a driver."""
    unresolved: str = ""
    """Why there is no lock."""

    @property
    def lock(self) -> Path | None:
        """The compiled requirements; None where there are none."""
        path = self.folder / LOCK
        return path if path.is_file() else None

    @property
    def lock_hash(self) -> str:
        """Tells one lock, with all that is installed beside it, from another; empty where there is none."""
        if self.lock is None:
            return ""
        digest = hashlib.sha256(self.lock.read_bytes())
        commits = (f"{source['repository']} {source['commit']}" for source in self.sources)
        digest.update("\n".join((self.python, *self.torch, *self.after, *commits)).encode())
        return digest.hexdigest()[:16]

    @property
    def place(self) -> Path:
        """Where it is built: a lock that changed makes another one."""
        return cache() / "environments" / f"{self.name}-{self.lock_hash}"

    @property
    def sources_at(self) -> Path:
        """Where its sources are checked out."""
        return self.place / "src"


def read_environment(name: str) -> Environment:
    """The environment of that name."""
    folder = envs() / name
    path = folder / "environment.toml"
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInput(
            f"there is no environment {name!r}",
            where=str(path),
            do="take the folder envs/ from the repository and name it in OVERREAD_ENVS",
        ) from error
    except ValueError as error:
        raise BadInput(f"the environment is not TOML: {error}", where=str(path), do="mend it") from error
    for key in document:
        if key not in KEYS:
            raise unknown_name("key of an environment", key, KEYS, where=str(path))
    told: dict[str, Any] = {key: document[key] for key in ("title", "python", "unresolved") if key in document}
    for key in ("torch", "after", "needs"):
        told[key] = tuple(map(str, document.get(key, [])))
    sources = tuple(dict(source) for source in document.get("sources", []))
    for source in sources:
        for key in source:
            if key not in SOURCE:
                raise unknown_name("key of a source", key, SOURCE, where=str(path))
    if not isinstance(told.get("title"), str) or not isinstance(told.get("python"), str):
        raise BadInput("an environment needs a title and a version of Python", where=str(path), do="write both as text")
    return Environment(name=name, folder=folder, sources=sources, **told)


def interpreter(card: Card) -> Path:
    """The interpreter of a card's environment, which must have been built."""
    environment = read_environment(card.environment)
    python = environment.place / "bin" / "python"
    if not (environment.place / BUILT).exists():
        raise BadInput(
            f"the environment {environment.name} of {card.name} is not built on this machine",
            where=str(environment.place),
            do=f"overread models check {card.name}, or name an interpreter: --model '{card.name}[python=...]'",
        )
    return python


def build(environment: Environment) -> Path:
    """Builds an environment from its lock and gives its interpreter; what is built already is used again."""
    python = environment.place / "bin" / "python"
    if (environment.place / BUILT).exists():
        return python
    if environment.lock is None:
        raise BadInput(
            f"the environment {environment.name} has no lock: {environment.unresolved or 'it was never compiled'}",
            where=str(environment.folder),
            do="build one by hand and name its interpreter: --model 'NAME[python=...]'",
        )
    shutil.rmtree(environment.place, ignore_errors=True)
    environment.place.parent.mkdir(parents=True, exist_ok=True)
    uv = _uv()
    if uv is None:
        base = shutil.which(f"python{environment.python}")
        if base is None:
            raise BadInput(
                f"there is neither uv nor python{environment.python} here",
                do=f"install uv, or Python {environment.python}",
            )
        _run([base, "-m", "venv", str(environment.place)])
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    else:
        _run([uv, "venv", "--quiet", "--no-project", "--python", environment.python, str(environment.place)])
        install = [uv, "pip", "install", "--quiet", "--no-config", "--python", str(python)]
    # The lock is whole but for torch, which some of its packages need: nothing else may be looked for.
    _run([*install, "--no-deps", "--require-hashes", "-r", str(environment.lock)])
    if environment.torch:
        _run([*install, "--constraint", str(_constraints(environment)), *environment.torch])
    if environment.after:
        _run([*install, "--no-build-isolation", *environment.after])
    for source in environment.sources:
        _fetch(source, environment)
    (environment.place / BUILT).write_text(environment.lock_hash + "\n", encoding="utf-8")
    return python


def _constraints(environment: Environment) -> Path:
    """The versions of the lock, so that torch does not move them."""
    lines = (environment.folder / LOCK).read_text(encoding="utf-8").splitlines()
    pins = [line.removesuffix("\\").strip() for line in lines if line and not line.startswith((" ", "#"))]
    path = environment.place / "constraints.txt"
    path.write_text("\n".join(pins) + "\n", encoding="utf-8")
    return path


def _fetch(source: Mapping[str, str], environment: Environment) -> None:
    """Checks a source out at its commit, which may be shortened; the history comes without its files."""
    name = source["repository"].rstrip("/").rsplit("/", 1)[-1].removesuffix(".git")
    place = environment.sources_at / name
    _run(["git", "clone", "--quiet", "--filter=blob:none", "--no-checkout", source["repository"], str(place)])
    _run(["git", "checkout", "--quiet", source["commit"]], place)


def _uv() -> str | None:
    beside = Path(sys.executable).with_name("uv")
    return str(beside) if beside.is_file() else shutil.which("uv")


def _variables() -> dict[str, str]:
    """The variables of this process; uv does not read pip's, so they are handed on under its names."""
    found = dict(os.environ)
    if found.get("PIP_FIND_LINKS"):
        found.setdefault("UV_FIND_LINKS", ",".join(found["PIP_FIND_LINKS"].split()))
    if found.get("PIP_INDEX_URL"):
        found.setdefault("UV_DEFAULT_INDEX", found["PIP_INDEX_URL"])
    return found


def _run(command: Sequence[str], folder: Path | None = None) -> None:
    done = subprocess.run(command, cwd=folder, env=_variables(), capture_output=True, text=True, check=False)
    if done.returncode:
        said = (done.stderr or done.stdout).strip()[-2000:]
        do = "mend what it says, or name an interpreter of your own: --model 'NAME[python=...]'"
        raise BadInput(f"a step of building the environment fails:\n{said}", where=" ".join(command[:6]), do=do)
