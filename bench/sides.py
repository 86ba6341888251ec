"""The sides of a bench: each measured in a process of its own, the other ones in environments of their own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def call(words: Sequence[str | Path]) -> dict[str, Any]:
    """Runs a side in a process of its own, on one thread; the last line that it prints is JSON."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    environment = {**os.environ, **threads}
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, words))}\nfailed:\n{done.stdout}\n{done.stderr}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def python_of(name: str) -> Path:
    """The Python of the environment that `requirements-NAME.txt` describes; made where it is not there or differs."""
    lock, folder = HERE / f"requirements-{name}.txt", HERE / f".env-{name}"
    python, mark = folder / "bin" / "python", folder / "lock.txt"
    if mark.is_file() and mark.read_bytes() == lock.read_bytes():
        return python
    say(f"making the environment {folder.name} (once)")
    shutil.rmtree(folder, ignore_errors=True)
    uv = Path(sys.executable).parent / "uv"
    environment = dict(os.environ)
    links = environment.get("PIP_FIND_LINKS", "").split()
    if links:
        environment.setdefault("UV_FIND_LINKS", ",".join(links))
    if environment.get("PIP_INDEX_URL"):
        environment.setdefault("UV_DEFAULT_INDEX", environment["PIP_INDEX_URL"])
    locked = ["install", "--quiet", "--require-hashes", "-r", str(lock)]
    if uv.is_file():
        steps = [
            [uv, "venv", "--quiet", "--python", sys.executable, folder],
            [uv, "pip", locked[0], "--python", python, *locked[1:]],
        ]
    else:
        steps = [[sys.executable, "-m", "venv", folder], [python, "-m", "pip", *locked]]
    for step in steps:
        subprocess.run(step, env=environment, check=True)
    mark.write_bytes(lock.read_bytes())
    return python
