from __future__ import annotations

from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from overread.archives.mimic_ecg import cases
from overread.archives.split import part_of
from overread.errors import BadInput
from overread.media import ecg
from overread.roots import Roots


@pytest.fixture
def root(tmp_path: Path, trees: ModuleType) -> Path:
    return Path(trees.mimic_ecg(tmp_path))


def test_a_case_says_what_the_archive_says(root: Path) -> None:
    one, two, three = cases(root)
    assert (one.patient, two.patient, three.patient) == (
        "mimic_ecg/10000032", "mimic_ecg/10000032", "mimic_ecg/10000117",
    )  # fmt: skip
    assert one.terms == "credentialed"
    assert one.facts == {
        "patient_from": "archive", "split": part_of("mimic_ecg/10000032"), "study": "40689238",
        "geometry": "12x5000@500", "length": 5000, "rate_hz": 500, "recorded": "2180-07-23 08:44:00",
        "machine": {"rr_interval": 659.0, "p_onset": 40.0, "p_end": 128.0, "qrs_onset": 170.0, "qrs_end": 258.0,
                    "t_end": 518.0, "p_axis": 81.0, "t_axis": -17.0},
        "report": "Sinus rhythm\nPossible left atrial, abnormality\nNormal ECG except for rate",
        "report_by": "machine",
    }, "an axis of 29999 is one that the machine did not find"  # fmt: skip


def test_the_leads_come_in_our_order_and_not_in_the_files(root: Path, trees: ModuleType) -> None:
    assert trees.MIMIC_ORDER != ecg.LEADS
    for case in cases(root):
        path = Roots({"mimic_ecg": root}).resolve(case.media[0].uri, must_exist=False)
        signal = ecg.read(path)
        assert np.array_equal(signal.mv, trees.phantom(int(case.facts["study"]))) and signal.doubts == ()


def test_measurements_in_another_order_or_missing_are_no_trouble(root: Path) -> None:
    file = root / "machine_measurements.csv"
    head, one, two, _ = file.read_text().splitlines()
    file.write_text("\n".join([head, two, one]) + "\n")
    found = {case.facts["study"]: case.facts for case in cases(root)}
    assert len(found) == 3
    assert "machine" in found["40689238"] and "machine" in found["44458630"] and "machine" not in found["43834530"]


def test_groups_of_patients_that_are_not_there_make_no_cases(root: Path) -> None:
    with (root / "record_list.csv").open("a") as stream:
        stream.write("19999987,41190887,41190887,2146-02-08,files/p1999/p19999987/s41190887/41190887\n")
    assert len(list(cases(root))) == 3
    (root / "files").rename(root / "elsewhere")
    with pytest.raises(BadInput, match="none of the listed records"):
        list(cases(root))


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("record_list.csv", "files/p1000/p10000117/", "files/p1000/../../"),
        ("record_list.csv", "10000117,43834530", ",43834530"),
        ("record_list.csv", "study_id", "study"),
        ("machine_measurements.csv", ",659,", ",fast,"),
        ("machine_measurements.csv", "t_axis", "axis"),
    ],
)
def test_a_list_that_is_wrong_is_told_without_what_the_machine_said(root: Path, name: str, old: str, new: str) -> None:
    text = (root / name).read_text()
    assert old in text
    (root / name).write_text(text.replace(old, new))
    with pytest.raises(BadInput) as caught:
        list(cases(root))
    assert f"{name}:" in caught.value.where and "Sinus" not in str(caught.value)


def test_a_missing_list_is_told(root: Path) -> None:
    for name in ("machine_measurements.csv", "record_list.csv"):
        (root / name).unlink()
        with pytest.raises(BadInput, match=r"\.csv"):
            list(cases(root))
