"""Errors that a user can act on: what was wrong, where, and what to do.

    OverreadError
    ├── BadInput          a file, a name, a setting that cannot be used
    ├── BadRun            a run folder that is damaged, newer, or another exam's
    ├── NotYet            a command whose subject comes in a later version
    ├── ModelFault        a model that broke its contract; becomes a failed reply
    └── Stopped           a model that is to be asked no more; what is left stays missing

The command line prints these without a traceback and exits with code 2.
"""

from __future__ import annotations

import contextlib
import difflib
from collections.abc import Iterable, Iterator


class OverreadError(Exception):
    """Base of all errors meant for the user; `str()` gives the whole message."""

    def __init__(self, what: str, *, where: str = "", do: str = "") -> None:
        self.what = what
        self.where = where
        self.do = do
        super().__init__(what)

    def __str__(self) -> str:
        lines = [self.what]
        if self.where:
            lines.append(f"  where: {self.where}")
        if self.do:
            lines.append(f"  do:    {self.do}")
        return "\n".join(lines)


class BadInput(OverreadError):
    """Something the user gave cannot be used."""


class BadRun(OverreadError):
    """A run folder cannot be read or does not belong to this exam."""


class NotYet(OverreadError):
    """A command whose subject comes in a later version."""


class ModelFault(OverreadError):
    """A model broke its contract; the questions concerned become failed replies."""


class Stopped(OverreadError):
    """A model is to be asked no more in this run: its limit is reached, its server is gone. Nothing has failed."""


@contextlib.contextmanager
def blaming(what: str, where: str) -> Iterator[None]:
    """Turns whatever the file of a plug-in raises into an error that names the file."""
    try:
        yield
    except OverreadError:
        raise
    except Exception as error:
        said = f"{type(error).__name__}: {str(error)[:300]}"
        raise BadInput(f"{what} fails: {said}", where=where, do="mend the file, and give the command again") from error


def unknown_name(kind: str, name: str, known: Iterable[str], *, where: str = "") -> BadInput:
    """The error for a name that is not in a list, with the nearest known names."""
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    listing = ", ".join(names) if names else "none"
    return BadInput(f"there is no {kind} named {name!r}", where=where, do=f"{hint}known: {listing}")
