from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from overread.archives.code15 import cases
from overread.archives.split import part_of
from overread.errors import BadInput


@pytest.fixture
def root(tmp_path: Path, trees: ModuleType) -> Path:
    return Path(trees.code15(tmp_path))


def test_a_case_says_what_the_archive_says_and_no_file_is_opened_for_it(root: Path) -> None:
    for part in root.glob("*.hdf5"):
        part.write_bytes(b"")
    one, two, three = cases(root)
    assert (one.patient, one.media[0].uri) == ("code15/523632", "code15://exams_part0.hdf5#exam=1169160")
    assert one.facts == {
        "patient_from": "archive", "split": part_of("code15/523632"), "study": "1169160", "geometry": "12x4096@400",
        "length": 4096, "rate_hz": 400, "amplitudes_sure": False, "age": 38.0, "sex": "M", "labels": [],
        "normal_ecg": True,
    }  # fmt: skip
    assert two.media[0].uri == "code15://exams_part0.hdf5#exam=2873686"
    assert three.facts["labels"] == ["RBBB", "AF"] and three.facts["sex"] == "F" and not three.facts["normal_ecg"]
    assert three.media[0].uri == "code15://exams_part1.hdf5#exam=168405"


def test_files_that_are_not_there_make_no_cases(root: Path) -> None:
    (root / "exams_part0.hdf5").unlink()
    assert [case.facts["study"] for case in cases(root)] == ["168405"]
    (root / "exams_part1.hdf5").unlink()
    with pytest.raises(BadInput, match="none of the listed files"):
        list(cases(root))


@pytest.mark.parametrize(
    ("old", "new"),
    [("exams_part0.hdf5", "../x.hdf5"), ("exams_part0.hdf5", "x.pkl"), ("1169160,", ",", ), ("1169160", "one"),
     (",38,True", ",38,maybe"), ("RBBB", "rbbb"), (",38,", ",old,")],
)  # fmt: skip
def test_a_list_that_is_wrong_is_told(root: Path, old: str, new: str) -> None:
    text = (root / "exams.csv").read_text()
    assert old in text
    (root / "exams.csv").write_text(text.replace(old, new))
    with pytest.raises(BadInput, match=r"exams\.csv:"):
        list(cases(root))
