from __future__ import annotations

from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

from overread.archives.ludb import DrawnWave, boundaries, cases
from overread.archives.split import part_of
from overread.errors import BadInput
from overread.media.leads import LEADS
from overread.phantoms.ecg import ecg_phantom


@pytest.fixture
def root(tmp_path: Path, trees: ModuleType) -> Path:
    return Path(trees.ludb(tmp_path))


def test_a_case_says_what_the_archive_says_and_records_that_are_not_there_make_none(root: Path) -> None:
    one, two = cases(root)
    assert (one.patient, one.media[0].uri) == ("ludb/1", "ludb://data/1")
    assert one.facts == {
        "patient_from": "archive", "split": part_of("ludb/1"), "study": "1", "geometry": "12x5000@500",
        "length": 5000, "rate_hz": 500, "age": 51, "sex": "F", "rhythm": "Sinus rhythm", "axis": "left axis deviation",
        "labels": ["Sinus rhythm", "Electric axis of the heart: left axis deviation", "Left ventricular overload",
                   "Left ventricular hypertrophy"],
        "statements": {"Rhythms": ["Sinus rhythm"],
                       "Electric axis of the heart": ["Electric axis of the heart: left axis deviation"],
                       "Hypertrophies": ["Left ventricular overload", "Left ventricular hypertrophy"]},
    }  # fmt: skip
    assert (two.facts["age"], two.facts["sex"], two.facts["rhythm"]) == (90, "M", "Atrial fibrillation")
    assert "axis" not in two.facts and two.facts["labels"] == ["Atrial fibrillation", "Aberrant conduction"]


def test_the_drawn_waves_are_those_of_the_files(root: Path) -> None:
    truth = ecg_phantom(1, "normal").truth["waves"]
    found = boundaries(root, "1")
    assert tuple(found) == LEADS
    for kind in ("p", "qrs", "t"):
        drawn = [(wave.onset, wave.offset) for wave in found["V3"] if wave.kind == kind]
        assert drawn == [tuple(wave) for wave in truth[kind][1:-1] if wave is not None] and drawn


@pytest.mark.parametrize(
    ("marks", "waves"),
    [
        ([(9, "N"), (12, ")")], [DrawnWave("qrs", None, 9, 12)]),
        ([(5, "("), (9, "t")], [DrawnWave("t", 5, 9, None)]),
        ([(9, "N"), (11, "("), (15, ")")], [DrawnWave("qrs", 11, 9, 15)]),
        ([(9, "N"), (11, "("), (13, "t"), (15, ")")], [DrawnWave("qrs", None, 9, None), DrawnWave("t", 11, 13, 15)]),
        (
            [(1, "("), (2, "("), (3, "("), (5, "t"), (6, "t"), (7, "t"), (8, ")"), (9, ")"), (10, ")")],
            [DrawnWave("t", 1, 6, 10)],
        ),
        ([], []),
    ],
)
def test_waves_that_lack_an_end_or_are_drawn_over_each_other_are_read(
    root: Path, trees: ModuleType, marks: list[tuple[int, str]], waves: list[DrawnWave]
) -> None:
    (root / "data" / "1.ii").write_bytes(trees.annotations(marks))
    assert list(boundaries(root, "1")["II"]) == waves


@pytest.mark.parametrize("marks", [[(5, ")")], [(5, "("), (9, ")")], [(5, "("), (6, "p"), (7, "t")]])
def test_marks_that_make_no_wave_are_told(root: Path, trees: ModuleType, marks: list[tuple[int, str]]) -> None:
    (root / "data" / "1.v2").write_bytes(trees.annotations(marks))
    if marks[-1][1] == "t":
        assert len(boundaries(root, "1")["V2"]) == 2
    else:
        with pytest.raises(BadInput, match=r"1\.v2"):
            boundaries(root, "1")


@pytest.mark.parametrize("record", ["", "../1", "a", "1.ii"])
def test_a_record_is_a_number(root: Path, record: str) -> None:
    with pytest.raises(BadInput, match="no record"):
        boundaries(root, record)
    with pytest.raises(BadInput, match=r"3\.i"):
        boundaries(root, "3")


@pytest.mark.parametrize(("old", "new"), [("51", "fifty"), ("F\n", "X\n"), ("\n3,", "\n,"), ("Rhythms", "Rhythm")])
def test_a_list_that_is_wrong_is_told(root: Path, old: str, new: str) -> None:
    text = (root / "ludb.csv").read_text()
    assert old in text
    (root / "ludb.csv").write_text(text.replace(old, new))
    with pytest.raises(BadInput, match=r"ludb\.csv:"):
        list(cases(root))


@pytest.mark.real
def test_the_real_archive_is_read_whole(real_data: Path) -> None:
    root = real_data / "ludb"
    found = list(cases(root))
    assert len(found) == len(list((root / "data").glob("*.hea"))) > 100
    assert all({"age", "sex", "rhythm", "labels"} <= set(case.facts) for case in found)
    counts: Counter[str] = Counter()
    for case in found:
        for waves in boundaries(root, case.facts["study"]).values():
            counts.update(wave.kind for wave in waves)
            assert all(wave.onset is None or wave.offset is None or wave.onset < wave.offset for wave in waves)
    assert counts["qrs"] > counts["t"] > counts["p"] > 10_000
