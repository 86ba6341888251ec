from __future__ import annotations

from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from overread.archives.ecg_folder import cases
from overread.archives.split import part_of
from overread.errors import BadInput
from overread.media import ecg
from overread.media.wfdb import write_record
from overread.roots import Roots


@pytest.fixture
def root(tmp_path: Path, trees: ModuleType) -> Path:
    return Path(trees.ecg_folder(tmp_path))


def test_every_file_is_a_case_of_the_patient_whose_folder_it_lies_in(root: Path, trees: ModuleType) -> None:
    (root / ".hidden").mkdir()
    (root / ".hidden" / "x.edf").touch()
    (root / "notes.txt").touch()
    ben, two, one = cases(root)
    assert [case.facts["study"] for case in (ben, two, one)] == ["ben.edf", "anna/two", "anna/2024/one"]
    assert (ben.patient, two.patient, one.patient) == (
        "ecg_folder/study-ben.edf", "ecg_folder/anna", "ecg_folder/anna",
    )  # fmt: skip
    assert [case.facts["patient_from"] for case in (ben, two, one)] == ["study", "folder", "folder"]
    assert "split" not in ben.facts and two.facts["split"] == one.facts["split"] == part_of("ecg_folder/anna")
    assert [case.facts["geometry"] for case in (ben, two, one)] == ["12x1000@100", "12x2500@250", "12x5000@500"]
    assert {case.terms for case in (ben, two, one)} == {"local-only"}
    roots = Roots({"ecg_folder": root})
    read = [ecg.read(roots.resolve(case.media[0].uri, must_exist=False)) for case in (ben, two, one)]
    assert np.array_equal(read[2].mv, trees.phantom(1)) and read[0].rate_hz == 100
    assert ben.facts["signals"][0] == "ECG I"


def test_a_list_says_which_files_count_and_what_is_known_of_them(root: Path) -> None:
    (root / "cases.csv").write_text(
        "file,patient,age,sex,labels,split,ward\n"
        "ben.edf,ben,61,M,AF; LBBB,test,3\n"
        "anna/two.hea,,,,,,\n"
    )  # fmt: skip
    ben, two = cases(root)
    assert (ben.patient, ben.facts["patient_from"], ben.media[0].uri) == (
        "ecg_folder/ben", "archive", "ecg_folder://ben.edf",
    )  # fmt: skip
    told = {name: ben.facts[name] for name in ("age", "sex", "labels", "split", "ward")}
    assert told == {"age": 61.0, "sex": "M", "labels": ["AF", "LBBB"], "split": "test", "ward": "3"}
    assert (two.patient, two.facts["patient_from"]) == ("ecg_folder/anna", "folder") and "age" not in two.facts


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("name\nben.edf\n", "no column 'file'"),
        ("file\nben.edf\nben.edf\n", "a row before"),
        ("file,age\nben.edf,old\n", "'age'"),
        ("file,sex\nben.edf,male\n", "F, M"),
        ("file,split\nben.edf,all\n", "train, val, test"),
        ("file,length\nben.edf,3\n", "'length'"),
        ("file\n../ben.edf\n", "'..'"),
        ("file\n/etc/passwd\n", "absolute"),
        ("file\nnobody.edf\n", "no such file"),
        ("file\nnotes.txt\n", "no such file"),
        ("file\n", "no ECG"),
    ],
)
def test_a_list_that_is_wrong_is_told(root: Path, text: str, says: str) -> None:
    (root / "cases.csv").write_text(text)
    with pytest.raises(BadInput) as caught:
        list(cases(root))
    assert says in str(caught.value)


def test_links_that_leave_the_folder_are_not_followed(root: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside")
    write_record(outside, "r", np.zeros((1, 10)), 100, ["II"])
    (root / "linked").symlink_to(outside)
    assert len(list(cases(root))) == 3, "folders behind links are not walked"
    (root / "ben.edf").unlink()
    (root / "ben.edf").symlink_to(outside / "r.dat")
    with pytest.raises(BadInput, match="symbolic link"):
        list(cases(root))


def test_samples_that_lie_outside_are_told_before_they_are_looked_at(
    root: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside") / "x.dat"
    (root / "anna" / "two.dat").rename(outside)
    (root / "anna" / "two.dat").symlink_to(outside)
    with pytest.raises(BadInput, match="symbolic link"):
        list(cases(root))


def test_a_file_that_cannot_be_read_is_named(root: Path) -> None:
    (root / "anna" / "two.hea").write_text("not a header")
    with pytest.raises(BadInput, match=r"two\.hea"):
        list(cases(root))
