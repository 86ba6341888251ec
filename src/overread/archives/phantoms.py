"""Phantoms: made-up patients whose truth is known exactly

media: ecg (WFDB), clip (AVI, some also DICOM), volume (NIfTI with label map)
terms: open
licence: Apache-2.0, like the program that draws them
access: overread build phantoms --out DIR

The facts of a case are what `overread.phantoms` says of it, and sex and age.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from overread.errors import BadInput
from overread.roots import Roots
from overread.tables import Case, Json, Media, Terms, canonical, content_id

ALIAS = "phantoms"
TERMS: Terms = "open"
ACCESS = "overread build phantoms --out DIR"
EXPECTED = (
    ("patients.csv", "patient, sex, age"),
    ("truth.jsonl", "one line a study: kind, file, patient, facts"),
    ("ecg/*.hea", "headers of the ECGs"),
    ("ecg/*.dat", "samples of the ECGs"),
    ("echo/*.avi", "clips"),
    ("echo/*.dcm", "some of the clips again, as DICOM"),
    ("volume/*[0-9].nii.gz", "CT volumes"),
    ("volume/*_seg.nii.gz", "their label maps"),
    ("volume/*_seg.json", "the names of the labels"),
)

MEDIA = {"ecg": "ecg", "echo": "clip", "volume": "volume"}
"""The kind of medium of each kind of study."""
_PATIENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_FILE = re.compile(r"[A-Za-z0-9._/-]{1,255}")
_ADVICE = "build the phantoms again"


def cases(root: Path) -> Iterator[Case]:
    """All studies in the order of `truth.jsonl`."""
    people = _people(root / "patients.csv")
    roots = Roots({ALIAS: root})
    seen: set[str] = set()
    file = root / "truth.jsonl"
    try:
        with file.open("rb") as stream:
            for number, line in enumerate(stream, start=1):
                case = _case(line, f"{file}:{number}", people, roots)
                if case.media[0].uri in seen:
                    _fail("the study appears twice", f"{file}:{number}")
                seen.add(case.media[0].uri)
                yield case
    except OSError as error:
        raise BadInput(f"the phantoms cannot be read: {error.strerror}", where=str(file), do=ACCESS) from error


def _case(line: bytes, where: str, people: dict[str, dict[str, Any]], roots: Roots) -> Case:
    study = _object(line, where)
    kind, file, patient, facts = (study.get(name) for name in ("kind", "file", "patient", "facts"))
    if not isinstance(kind, str) or kind not in MEDIA:
        _fail(f"the kind of study {kind!r} is not known", where)
    if not isinstance(file, str) or not _FILE.fullmatch(file) or not isinstance(facts, dict):
        _fail("'file' is no file name or 'facts' is no object", where)
    if not isinstance(patient, str) or patient not in people:
        _fail(f"patient {patient!r} is not in patients.csv", where)
    uri = f"{ALIAS}://{file}"
    try:
        # An ECG is named without its suffix: there is no such file, and the folder is what counts.
        roots.resolve(uri, must_exist=False)
        known = Json(facts | people[patient] | _geometry(kind, facts))
        text = canonical(known)
        text.encode()
    except BadInput as error:
        _fail(error.what, f"{where} ({error.where})")
    except (LookupError, TypeError, ValueError, ArithmeticError, RecursionError) as error:
        _fail(f"the facts of the {kind} study cannot be used: {type(error).__name__} {error}", where)
    media = Media(MEDIA[kind], MEDIA[kind], uri)
    return Case(content_id("case", ALIAS, file, text), ALIAS, f"{ALIAS}/{patient}", (media,), known, TERMS)


def _geometry(kind: str, facts: dict[str, Any]) -> dict[str, Any]:
    """What two studies must share for one to stand in for the other."""
    if kind == "ecg":
        leads, samples, rate = len(facts["leads"]), int(facts["samples"]), int(facts["rate_hz"])
        return {"geometry": f"{leads}x{samples}@{rate}", "length": samples}
    if kind == "echo":
        return {"geometry": f"{int(facts['size'])}x{int(facts['size'])}", "length": int(facts["frames"])}
    x, y, z = (int(n) for n in facts["shape"])
    steps = "x".join(f"{float(step):g}" for step in facts["spacing_mm"])
    return {"geometry": f"{x}x{y}x{z}@{steps}", "length": z}


def _object(line: bytes, where: str) -> dict[str, Any]:
    try:
        value = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise BadInput(f"the line is not JSON: {error}", where=where, do=_ADVICE) from error
    if not isinstance(value, dict):
        _fail("the line is not a JSON object", where)
    return value


def _people(file: Path) -> dict[str, dict[str, Any]]:
    """Sex and age of each patient."""
    people: dict[str, dict[str, Any]] = {}
    try:
        with file.open(encoding="utf-8", newline="") as stream:
            rows = csv.reader(stream)
            if next(rows, None) != ["patient", "sex", "age"]:
                _fail("the columns are not patient, sex, age", f"{file}:1")
            for row in rows:
                where = f"{file}:{rows.line_num}"
                if len(row) != 3 or not _PATIENT.fullmatch(row[0]) or row[0] in people:
                    _fail("the row is not a new patient with sex and age", where)
                if row[1] not in ("F", "M") or not re.fullmatch(r"[0-9]{1,3}", row[2]):
                    _fail("the sex is not F or M, or the age is not a whole number", where)
                people[row[0]] = {"sex": row[1], "age": int(row[2])}
    except OSError as error:
        raise BadInput(f"the phantoms cannot be read: {error.strerror}", where=str(file), do=ACCESS) from error
    except (ValueError, csv.Error) as error:
        raise BadInput(f"the file is not a table: {error}", where=str(file), do=_ADVICE) from error
    return people


def _fail(what: str, where: str) -> NoReturn:
    raise BadInput(what, where=where, do=_ADVICE)
