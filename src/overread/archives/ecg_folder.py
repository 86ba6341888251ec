"""A folder of ECGs: WFDB and EDF files as they lie, each a case

media: ecg (WFDB, EDF)
terms: local-only
licence: yours
access: point at it: --data ecg_folder=PATH

Every `.hea` and `.edf` below the folder is a case, in the order of their paths. A file in a folder below the root
belongs to the patient of that folder's name (of the topmost one: what lies deeper are visits); one that lies in the
root itself is its own patient. `patient_from` says which.

A list `cases.csv` in the root says more. Its column `file` names the files, which then alone are cases, in its order;
`patient` says whose they are; `age`, `sex` (F or M), `split`, `labels` (with `;` between them) and `report` become
facts of those names; any other column becomes a fact as it stands.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from overread.archives.ecg_cases import PatientFrom, case_of, geometry, media_of, patient_facts
from overread.archives.lists import Row, fail, number, rows_of
from overread.archives.split import PARTS
from overread.errors import BadInput
from overread.media import ecg_files
from overread.media.deliver import reading
from overread.roots import Roots
from overread.tables import Case, Terms

ALIAS = "ecg_folder"
TERMS: Terms = "local-only"
ACCESS = "your own files: --data ecg_folder=PATH"
EXPECTED = (("**/*.[hHeE][eEdD][aAfF]", "ECGs: headers of WFDB records (.hea), EDF files (.edf)"),)

LIST = "cases.csv"
ENDINGS = (".hea", ".edf")

_ADVICE = f"correct {LIST}"
_OWN = {"geometry", "length", "rate_hz", "study", "patient_from", "signals"}
"""Facts that the file itself tells."""


def cases(root: Path) -> Iterator[Case]:
    """The ECGs of a folder; the header of each is read, its samples are not."""
    roots = Roots({ALIAS: root})
    some = False
    for file, person, facts, where in _listed(root) if (root / LIST).exists() else _found(root):
        some = True
        name = file.removesuffix(".hea")
        told: PatientFrom = "archive" if person else "folder" if "/" in name else "study"
        patient, known = patient_facts(ALIAS, person or (name.partition("/")[0] if told == "folder" else name), told)
        media = media_of(ALIAS, {"ecg": name}, where)
        yield case_of(ALIAS, TERMS, patient, media, {**known, **_shape(roots, media[0].uri), "study": name, **facts})
    if not some:
        raise BadInput("there is no ECG in the folder", where=str(root), do="give a folder with .hea or .edf files")


def _shape(roots: Roots, uri: str) -> dict[str, Any]:
    """What the header tells. Every file of the study must lie below the root before any is opened."""
    path = roots.resolve(ecg_files.first(uri))
    with reading(path, "an ECG"):
        for name in ecg_files.beside(path):
            roots.resolve(f"{uri[: uri.rfind('/') + 1]}{name}")
        names, samples, rate_hz = ecg_files.shape(path)
    return {**geometry(samples, rate_hz, leads=len(names)), "signals": list(names)}


def _found(root: Path) -> Iterator[tuple[str, str, dict[str, Any], str]]:
    """The files below the root; folders and files whose names start with a dot are not looked at."""
    for folder, below, files in os.walk(root):
        below[:] = sorted(name for name in below if not name.startswith("."))
        for name in sorted(files):
            if name.lower().endswith(ENDINGS) and not name.startswith("."):
                path = Path(folder) / name
                yield path.relative_to(root).as_posix(), "", {}, str(path)


def _listed(root: Path) -> Iterator[tuple[str, str, dict[str, Any], str]]:
    seen: set[str] = set()
    for where, row in rows_of(root / LIST, ("file",), _ADVICE):
        file = row["file"].strip()
        if not file or file in seen:
            fail("the row names no file, or one that a row before names", where, _ADVICE)
        seen.add(file)
        yield file, row.get("patient", "").strip(), _facts(row, where), where


def _facts(row: Row, where: str) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    for column, text in row.items():
        value = text.strip()
        if column in _OWN:
            fail(f"the column {column!r} has the name of a fact that the file itself tells", where, _ADVICE)
        if not column.strip() or column in ("file", "patient") or not value:
            continue
        if column == "labels":
            facts[column] = [label.strip() for label in value.split(";") if label.strip()]
        elif column == "age":
            facts[column] = number(row, column, where, _ADVICE)
        elif (column == "sex" and value not in ("F", "M")) or (column == "split" and value not in PARTS):
            fail(f"{column!r} is not one of {', '.join(('F', 'M') if column == 'sex' else PARTS)}", where, _ADVICE)
        else:
            facts[column] = value
    return facts
