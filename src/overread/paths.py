"""Whether a file or folder is there, also where no file can have such a path: too long, or with a NUL in it."""

from __future__ import annotations

from pathlib import Path


def is_file(path: Path) -> bool:
    """Whether a file lies there."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def is_folder(path: Path) -> bool:
    """Whether a folder lies there."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False
