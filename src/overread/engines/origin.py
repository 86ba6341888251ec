"""Where replies come from: versions, commit and machine of the asking process; recorded, never part of an identity."""

from __future__ import annotations

import functools
import importlib.metadata
import os
import platform
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from overread.version import __version__

_NAME = re.compile(r"^[A-Za-z0-9._-]+")


@functools.cache
def origin() -> dict[str, Any]:
    """Versions of overread, Python and the libraries it stands on; the commit where it runs from a checkout."""
    return {
        "overread": __version__,
        "commit": _commit(),
        "python": sys.version.split()[0],
        "platform": platform.platform(),
        "cores": os.cpu_count(),
        "versions": dict(_versions()),
    }


def _versions() -> list[tuple[str, str]]:
    try:
        needed = importlib.metadata.requires("overread") or []
    except importlib.metadata.PackageNotFoundError:
        return []  # run from a folder that was never installed
    names = [match[0] for text in needed if "extra ==" not in text and (match := _NAME.match(text))]
    return [(name, importlib.metadata.version(name)) for name in sorted(names)]


def _commit() -> str:
    top = Path(__file__).parents[3]
    if not (top / ".git").exists():
        return ""
    git = ["git", "-C", str(top), "describe", "--always", "--dirty", "--exclude", "*"]
    try:
        found = subprocess.run(git, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""  # no git here: the version has to do
    return found.stdout.strip()
