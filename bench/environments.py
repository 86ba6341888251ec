"""Environments for the other sides: made once from a lock with hashes, made anew where the lock has changed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def python_of(name: str, place: Path | None = None) -> Path:
    """The Python of the environment that `requirements-NAME.txt` describes; made in `place`, else in `.env-NAME`."""
    lock = HERE / f"requirements-{name}.txt"
    place = place or HERE / f".env-{name}"
    python, mark = place / "bin" / "python", place / "lock.txt"
    if mark.is_file() and mark.read_bytes() == lock.read_bytes():
        return python
    print(f"making the environment {place.name} (once)", file=sys.stderr, flush=True)
    shutil.rmtree(place, ignore_errors=True)
    environment = dict(os.environ)
    # uv reads names of its own for what pip was told.
    if links := environment.get("PIP_FIND_LINKS", "").split():
        environment.setdefault("UV_FIND_LINKS", ",".join(links))
    if environment.get("PIP_INDEX_URL"):
        environment.setdefault("UV_DEFAULT_INDEX", environment["PIP_INDEX_URL"])
    locked = ["install", "--quiet", "--require-hashes", "-r", str(lock)]
    uv = Path(sys.executable).parent / "uv"
    if uv.is_file():
        steps = [
            [uv, "venv", "--quiet", "--python", sys.executable, place],
            [uv, "pip", locked[0], "--python", python, *locked[1:]],
        ]
    else:
        steps = [[sys.executable, "-m", "venv", place], [python, "-m", "pip", *locked]]
    for step in steps:
        subprocess.run(step, env=environment, check=True)
    mark.write_bytes(lock.read_bytes())
    return python
