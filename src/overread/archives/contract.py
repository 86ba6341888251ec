"""What an archive is: one file of this folder (or anywhere, by path) with

    a docstring             its first line is the title that `overread list archives` shows; below it the card, lines of
                            `key: value`: media, terms, licence, access
    ALIAS = "ptbxl"         the name that addresses start with (`ptbxl://records500/...`) and `--data ALIAS=PATH` sets
    TERMS = "open"          under which terms its cases stand: open, credentialed or local-only
    ACCESS = "https://..."  where to ask for it, or how to make it
    EXPECTED = (("ecg/*.hea", "what these files are"), ...)    the layout below the root, as glob patterns
    def cases(root: Path) -> Iterator[Case]
    OTHERS = ()             optional: aliases of other archives in which the media of its cases lie; such a case has
                            that archive's terms, and may have its patients
    def fetch(out: Path) -> Path                    optional: gets it over the network, for `overread data get --out`
    def left_out(root: Path) -> Iterator[str]       optional: what makes no case and why, a line each; runs tell it

`cases` streams, in a fixed order. Patient ids carry the alias (`ptbxl/123`); where an archive does not tell, the study
is the patient. Among the facts are `geometry`, the same text for studies of the same geometry, and `length`, the number
of samples, frames or slices: a study can only stand in for another where both agree. What cannot be read is a
`BadInput` that names the file and the line. Nothing in the archive is trusted, least of all its paths.

Archives of ECGs give facts of these names, each where the archive tells it, and others of their own:

    study           the archive's own name of the study
    patient_from    how the patient is known: `archive`; `folder` (its name); `study` (not known: it is the study)
    geometry        "12x5000@500": leads or signals, samples, rate; of the first medium, as are length and rate_hz
    length          samples as stored                   rate_hz   samples a second
    age             years; 90 may mean above 89         sex       "F" or "M"
    labels          all labels or statements, as the archive spells them; [] where it has labels and this ECG none
    split           train, val or test: the archive's own, else by `archives/split.py`; all studies of a patient in one.
                    Absent where the patient is not known
    report          what was written about the ECG      recorded  when, as the archive writes it
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from overread.errors import BadInput
from overread.paths import is_folder
from overread.tables import Case, Terms


class Archive(Protocol):
    """A module that is an archive."""

    ALIAS: str
    TERMS: Terms
    ACCESS: str
    EXPECTED: tuple[tuple[str, str], ...]

    def cases(self, root: Path) -> Iterator[Case]:
        """All studies below the root, streamed."""
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class Check:
    """What was found of an archive on this machine."""

    alias: str
    root: Path | None
    """None: this machine does not know where its data lie."""
    expected: dict[str, str]
    """What the files of each pattern are."""
    found: dict[str, int]
    """How many files match each pattern."""
    missing: tuple[str, ...]
    """The patterns that no file matches."""
    terms: Terms
    access: str


def check(archive: Archive, root: Path | None) -> Check:
    """Counts the files of the expected layout; nothing is opened. Without a root all of them are missing."""
    if root is not None and not is_folder(root):
        raise BadInput(
            f"there is no folder for the archive {archive.ALIAS!r}",
            where=str(root),
            do=f"give it with --data {archive.ALIAS}=PATH; to get it: {archive.ACCESS}",
        )
    expected = dict(archive.EXPECTED)
    paths = {pattern: root.glob(pattern) if root is not None else () for pattern in expected}
    found = {pattern: sum(1 for path in some if path.is_file()) for pattern, some in paths.items()}
    missing = tuple(pattern for pattern, count in found.items() if count == 0)
    return Check(archive.ALIAS, root, expected, found, missing, archive.TERMS, archive.ACCESS)
