"""CODE-15%: 345,779 ECGs of 233,770 patients in primary care, six abnormalities labelled

media: ecg (HDF5, 400 Hz)
terms: open
licence: CC BY 4.0
access: https://zenodo.org/records/4916206

An ECG is a row of a large file, addressed as `code15://exams_part0.hdf5#exam=1169160`; reading it needs the extra
`hdf5`, listing does not. Rows are filled up with zeros to 4,096 samples; `length` counts these, and reading cuts them
off (most ECGs then last 7 or 10 seconds). The archive does not state its unit: values are read as millivolts, which
is said to make QRS complexes about twice as tall as elsewhere; amplitudes must not be trusted (`amplitudes_sure` is
false). Only exams of files that are there make cases.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from overread.archives.ecg_cases import case_of, geometry, media_of, patient_facts
from overread.archives.lists import fail, number, rows_of, truth, whole
from overread.errors import BadInput
from overread.tables import Case, Terms

ALIAS = "code15"
TERMS: Terms = "open"
ACCESS = "https://zenodo.org/records/4916206 (open; any of its parts will do)"
EXPECTED = (
    ("exams.csv", "patient, age, sex, labels and file of each ECG"),
    ("exams_part*.hdf5", "the ECGs, about 20,000 a file"),
)

LABELS = ("1dAVb", "RBBB", "LBBB", "SB", "ST", "AF")
SAMPLES, RATE_HZ = 4096, 400

_ADVICE = f"fetch exams.csv again: {ACCESS}"
_NEEDED = ("exam_id", "patient_id", "age", "is_male", *LABELS, "trace_file")
_FILE = re.compile(r"[A-Za-z0-9_-]{1,64}\.(?:hdf5|h5)")


def cases(root: Path) -> Iterator[Case]:
    """The exams in the order of exams.csv."""
    there: dict[str, bool] = {}
    some = False
    for where, row in rows_of(root / "exams.csv", _NEEDED, f"get it: {ACCESS}"):
        file = row["trace_file"].strip()
        if file not in there:
            if not _FILE.fullmatch(file):
                fail("'trace_file' names no HDF5 file", where, _ADVICE)
            there[file] = (root / file).is_file()
        if not there[file]:
            continue
        exam, person = (whole(row, name, where, _ADVICE) for name in ("exam_id", "patient_id"))
        if exam is None or exam < 0:
            fail("the exam has no number", where, _ADVICE)
        told = [truth(row, name, where, _ADVICE) for name in LABELS]
        male = truth(row, "is_male", where, _ADVICE)
        patient, facts = patient_facts(
            ALIAS, str(exam if person is None else person), "study" if person is None else "archive"
        )
        facts |= {
            "study": str(exam),
            **geometry(SAMPLES, RATE_HZ),
            "amplitudes_sure": False,
            "age": number(row, "age", where, _ADVICE),
            "sex": None if male is None else "FM"[male],
            "labels": [name for name, is_so in zip(LABELS, told, strict=True) if is_so],
            "normal_ecg": truth(row, "normal_ecg", where, _ADVICE),
        }
        some = True
        yield case_of(ALIAS, TERMS, patient, media_of(ALIAS, {"ecg": f"{file}#exam={exam}"}, where), facts)
    if not some:
        raise BadInput("none of the listed files is there", where=str(root), do=f"get some of them: {ACCESS}")
