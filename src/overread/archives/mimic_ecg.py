"""MIMIC-IV-ECG: 800,035 ten-second ECGs of 161,352 patients, with the machine's statements and measurements

media: ecg (WFDB, 500 Hz)
terms: credentialed
licence: Open Data Commons Open Database License 1.0 for those who may have it
access: https://physionet.org/content/mimic-iv-ecg/1.0/

`report` holds the machine's statements, one a line, which no physician has confirmed (`report_by`); `machine` its
measurements in ms and degrees, without those that it marks as unknown. There are no labels, ages or sexes here: they
are in MIMIC-IV itself. Dates are shifted. The files have another order of leads (I II III aVR aVF aVL V1 ...); reading
goes by their names. Patients whose folder group (`files/p1000`) is not there make no cases.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from overread.archives.ecg_cases import case_of, geometry, media_of, patient_facts
from overread.archives.lists import Row, fail, number, rows_of, whole
from overread.archives.lookup import Lookup
from overread.errors import BadInput
from overread.tables import Case, Terms

ALIAS = "mimic_ecg"
TERMS: Terms = "credentialed"
ACCESS = "https://physionet.org/content/mimic-iv-ecg/1.0/ (training and a signed agreement)"
EXPECTED = (
    ("record_list.csv", "patient, time and file of each ECG"),
    ("machine_measurements.csv", "the machine's statements and measurements"),
    ("files/p1000/p*/s*/*.hea", "headers, of the first group of patients"),
    ("files/p1000/p*/s*/*.dat", "samples, of the first group of patients"),
)

SAMPLES, RATE_HZ = 5000, 500
MEASUREMENTS = (
    "rr_interval", "p_onset", "p_end", "qrs_onset", "qrs_end", "t_end", "p_axis", "qrs_axis", "t_axis",
)  # fmt: skip
UNKNOWN = 29999
"""What the machine writes where it measured nothing."""

_ADVICE = f"fetch the list again: {ACCESS}"
_NEEDED = ("subject_id", "study_id", "ecg_time", "path")
_RECORD = re.compile(r"files/(p\d{4})/p\d{8}/s\d{8}/\d{8}", re.ASCII)
_STATEMENTS = 18


def cases(root: Path) -> Iterator[Case]:
    """The ECGs in the order of record_list.csv."""
    there: dict[str, bool] = {}
    some = False
    with Lookup(root / "machine_measurements.csv", "study_id", MEASUREMENTS, f"get it: {ACCESS}") as measured:
        for where, row in rows_of(root / "record_list.csv", _NEEDED, f"get it: {ACCESS}"):
            record, study = row["path"].strip(), whole(row, "study_id", where, _ADVICE)
            found = _RECORD.fullmatch(record)
            person = whole(row, "subject_id", where, _ADVICE)
            if found is None or study is None or person is None:
                fail("the row names no patient, study and record", where, _ADVICE)
            if found[1] not in there:
                there[found[1]] = (root / "files" / found[1]).is_dir()
            if not there[found[1]]:
                continue
            patient, facts = patient_facts(ALIAS, str(person), "archive")
            facts |= {"study": str(study), **geometry(SAMPLES, RATE_HZ), "recorded": row["ecg_time"].strip() or None}
            line = measured.find(str(study))
            if line is not None:
                facts |= _machine(*line)
            some = True
            yield case_of(ALIAS, TERMS, patient, media_of(ALIAS, {"ecg": record}, where), facts)
    if not some:
        raise BadInput("none of the listed records is there", where=str(root), do=f"get some of them: {ACCESS}")


def _machine(where: str, row: Row) -> dict[str, Any]:
    """What the machine said of an ECG."""
    statements = [row.get(f"report_{i}", "").strip() for i in range(_STATEMENTS)]
    values = {name: number(row, name, where, _ADVICE) for name in MEASUREMENTS}
    facts: dict[str, Any] = {"machine": {k: v for k, v in values.items() if v is not None and v != UNKNOWN}}
    if any(statements):
        facts |= {"report": "\n".join(filter(None, statements)), "report_by": "machine"}
    return facts
