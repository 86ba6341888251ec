"""Compiles the requirements of every environment here, with hashes and without the names of hosts.

make lock-envs            all of them; ARGS="llava m3d" some; about a minute

torch and what is built for it stay out (left_out.txt): which build is right differs from machine to machine. An
environment.toml names their versions, and `overread models check` installs them last.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
COMPILE = (
    *("pip", "compile", "--quiet", "--no-config", "--universal", "--generate-hashes"),
    *("--no-emit-index-url", "--no-emit-find-links", "--custom-compile-command", "make lock-envs"),
)


def main(names: list[str]) -> int:
    """Compiles the environments of these names, or all; returns how many could not be resolved."""
    uv = Path(sys.executable).with_name("uv")
    failed = 0
    for file in sorted(HERE.glob("*/requirements.in")):
        folder = file.parent
        if names and folder.name not in names:
            continue
        python = tomllib.loads((folder / "environment.toml").read_text(encoding="utf-8"))["python"]
        given = ["--python-version", python, "--excludes", "envs/left_out.txt", f"envs/{folder.name}/requirements.in"]
        out = ["--output-file", f"envs/{folder.name}/requirements.txt"]
        done = subprocess.run([str(uv), *COMPILE, *given, *out], cwd=HERE.parent, check=False)
        failed += done.returncode != 0
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
