"""LUDB: 200 ten-second ECGs with every P, QRS and T wave drawn by cardiologists in every lead

media: ecg (WFDB, 500 Hz)
terms: open
licence: Open Data Commons Attribution License 1.0
access: https://physionet.org/content/ludb/1.0.1/

Each record is another person. `labels` are all statements of ludb.csv, `statements` the same by column, `rhythm` and
`axis` those that everybody has. `boundaries` gives the drawn waves; the first and last beats of a record have none.
Records that are not there make no case.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from overread.archives.ecg_cases import case_of, geometry, media_of, patient_facts
from overread.archives.lists import Row, fail, rows_of, whole
from overread.errors import BadInput
from overread.media.leads import LEADS
from overread.media.wfdb_annotations import Marks, read_marks
from overread.roots import Roots
from overread.tables import Case, Terms

ALIAS = "ludb"
TERMS: Terms = "open"
ACCESS = "https://physionet.org/content/ludb/1.0.1/ (open)"
EXPECTED = (
    ("ludb.csv", "sex, age, rhythm and diagnoses of each record"),
    ("data/*.hea", "headers"),
    ("data/*.dat", "samples"),
    ("data/*.ii", "waves drawn in lead II"),
    ("data/*.v6", "waves drawn in lead V6"),
)

SAMPLES, RATE_HZ = 5000, 500
WAVES = {"p": "p", "N": "qrs", "t": "t"}
"""What the marks at the peaks of waves stand for."""

_ADVICE = f"fetch ludb.csv again: {ACCESS}"
_AXIS = "Electric axis of the heart"
_NEEDED = ("ID", "Sex", "Age", "Rhythms", _AXIS)
# Most waves are `(x)`. Some are drawn several times over each other, `(((xxx)))`; some lack an end; of some the peak
# was set before the onset, `x()`.
_WAVE = re.compile(r"\(+([pNt])\1*\)*|([pNt])(?:\(\)|\)?)")


@dataclasses.dataclass(frozen=True, slots=True)
class DrawnWave:
    """A wave as a cardiologist drew it in one lead, in samples; None where an end was not drawn.

    Of a few waves the peak lies outside its ends; one that was drawn several times has the outermost ends.
    """

    kind: str
    """p, qrs or t."""
    onset: int | None
    peak: int
    offset: int | None


def cases(root: Path) -> Iterator[Case]:
    """The records in the order of ludb.csv."""
    there = {path.stem for path in (root / "data").glob("*.hea")}
    some = False
    for where, row in rows_of(root / "ludb.csv", _NEEDED, f"get it: {ACCESS}"):
        record = whole(row, "ID", where, _ADVICE)
        if record is None or record < 1:
            fail("the record has no number", where, _ADVICE)
        if str(record) in there:
            some = True
            patient, facts = patient_facts(ALIAS, str(record), "archive")
            facts |= {"study": str(record), **geometry(SAMPLES, RATE_HZ), **_facts(row, where)}
            yield case_of(ALIAS, TERMS, patient, media_of(ALIAS, {"ecg": f"data/{record}"}, where), facts)
    if not some:
        raise BadInput("none of the listed records is there", where=str(root), do=f"get them: {ACCESS}")


def boundaries(root: Path, record: str) -> dict[str, tuple[DrawnWave, ...]]:
    """The waves drawn in each lead of a record (`"17"`), in order of time."""
    if not re.fullmatch(r"[0-9]{1,6}", record):
        raise BadInput(f"{record!r} is no record of LUDB", where=str(root), do="give its number")
    roots = Roots({ALIAS: root})
    found: dict[str, tuple[DrawnWave, ...]] = {}
    for lead in LEADS:
        path = roots.resolve(f"{ALIAS}://data/{record}.{lead.lower()}")
        found[lead] = _waves(read_marks(path), path)
    return found


def _waves(marks: Marks, path: Path) -> tuple[DrawnWave, ...]:
    """Waves out of marks: `(` onset, a letter at the peak, `)` offset."""
    text = "".join(symbol if symbol in "()" or symbol in WAVES else "?" for symbol in marks.symbols)
    waves: list[DrawnWave] = []
    at = 0
    for found in _WAVE.finditer(text):
        if found.start() != at:
            break
        at = found.end()
        samples = {mark: [int(marks.samples[i]) for i in range(*found.span()) if text[i] == mark] for mark in "()"}
        letter = found[1] or found[2]
        peaks = [int(marks.samples[i]) for i in range(*found.span()) if text[i] == letter]
        onset, offset = samples["("][:1], samples[")"][-1:]
        waves.append(
            DrawnWave(WAVES[letter], onset[0] if onset else None, peaks[len(peaks) // 2], offset[0] if offset else None)
        )
    if at != len(text):
        raise BadInput(
            f"the mark at sample {marks.samples[at]} belongs to no wave", where=str(path), do="fetch the file again"
        )
    return tuple(waves)


def _facts(row: Row, where: str) -> dict[str, Any]:
    statements = {
        column: [line.strip(" .") for line in text.splitlines() if line.strip()]
        for column, text in row.items()
        if column not in ("ID", "Sex", "Age") and text.strip()
    }
    sex, age = row["Sex"].strip(), row["Age"].strip()
    if sex not in ("F", "M", ""):
        fail("'Sex' is neither F nor M", where, _ADVICE)
    # One person's age is given as above 89.
    years = re.fullmatch(r">?\s*(\d{1,3})", age, re.ASCII)
    if age and not years:
        fail("'Age' is no whole number", where, _ADVICE)
    axis = statements.get(_AXIS, [""])[0].partition(":")[2].strip()
    return {
        "age": int(years[1]) + age.startswith(">") if years else None,
        "sex": sex or None,
        "labels": [line for lines in statements.values() for line in lines],
        "statements": statements,
        "rhythm": statements["Rhythms"][0] if "Rhythms" in statements else None,
        "axis": axis or None,
    }
