from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from overread.archives import phantoms
from overread.archives.contract import check
from overread.archives.phantoms import cases
from overread.builders.phantoms import build
from overread.columns import rows_of, to_frame
from overread.errors import BadInput
from overread.tables import Case, Media

GOOD: dict[str, Any] = {
    "kind": "ecg",
    "file": "ecg/00001",
    "patient": "p0001",
    "facts": {"leads": ["I", "II"], "samples": 5000, "rate_hz": 500},
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("phantoms") / "out", patients=2)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "patients.csv").write_text("patient,sex,age\np0001,F,63\np0002,M,40\n")
    write(tmp_path, GOOD)
    return tmp_path


def write(root: Path, *studies: Any) -> None:
    (root / "truth.jsonl").write_text("".join(json.dumps(study) + "\n" for study in studies))


def test_a_build_is_read_back_as_cases(built: Path) -> None:
    found = list(cases(built))
    assert [c.media[0].uri for c in found] == [
        "phantoms://ecg/00001",
        "phantoms://ecg/00002",
        "phantoms://ecg/00003",
        "phantoms://echo/00001.avi",
        "phantoms://echo/00002.avi",
        "phantoms://volume/00001.nii.gz",
        "phantoms://volume/00002.nii.gz",
    ]
    assert [c.media[0].kind for c in found] == ["ecg"] * 3 + ["clip"] * 2 + ["volume"] * 2
    assert {c.patient for c in found} == {"phantoms/p0001", "phantoms/p0002"}
    assert len({c.id for c in found}) == 7
    assert all(c.terms == "open" and c.archive == "phantoms" for c in found)
    assert list(rows_of(to_frame(found, Case), Case)) == found


def test_facts_hold_the_truth_the_patient_and_the_geometry(built: Path) -> None:
    first, _, _, loop, _, body, _ = (case.facts for case in cases(built))
    assert (first["geometry"], first["length"]) == ("12x5000@500", 5000)
    assert (loop["geometry"], loop["length"]) == ("112x112", len(loop["volume_ml"]))
    assert (body["geometry"], body["length"]) == ("48x40x32@7.5x7.5x7.5", 32)
    assert first["sex"] in "FM" and 20 <= first["age"] <= 90
    assert first["sex"] == loop["sex"] and first["age"] == body["age"]
    assert first["rhythm"] and first["beats"]


def test_a_build_has_the_layout_that_is_expected(built: Path) -> None:
    found = check(phantoms, built)
    assert found.missing == ()
    assert found.found["ecg/*.hea"] == 3
    assert found.found["volume/*[0-9].nii.gz"] == found.found["volume/*_seg.nii.gz"] == 2


def test_the_id_changes_with_the_facts(root: Path) -> None:
    (before,) = cases(root)
    write(root, GOOD | {"facts": GOOD["facts"] | {"samples": 4000}})
    (after,) = cases(root)
    assert before.id != after.id
    assert before.media == (Media("ecg", "ecg", "phantoms://ecg/00001"),)


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "mri"},
        {"kind": ["ecg"]},
        {"file": 7},
        {"file": ""},
        {"file": "../outside"},
        {"file": "/absolute"},
        {"file": "ecg/../../outside"},
        {"file": "ecg\\..\\outside"},
        {"file": "ecg/\u0000"},
        {"patient": "p9999"},
        {"patient": None},
        {"facts": []},
        {"facts": {}},
        {"facts": {"leads": 12, "samples": 5000, "rate_hz": 500}},
        {"facts": {"leads": ["I"], "samples": "many", "rate_hz": 500}},
        {"facts": {"leads": ["I"], "samples": 10, "rate_hz": 500, "note": "\ud800"}},
        {"kind": "volume", "facts": {"shape": [1, 2], "spacing_mm": [1, 1, 1]}},
    ],
)
def test_a_malformed_study_is_named_by_file_and_line(root: Path, change: dict[str, Any]) -> None:
    write(root, GOOD, GOOD | {"file": "ecg/00002"} | change)
    with pytest.raises(BadInput, match=r"truth\.jsonl:2"):
        list(cases(root))


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{",
        b"[]",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"kind":"ecg","file":"a","patient":"p0001","facts":{"leads":[],"samples":1,"rate_hz":1,"qt_ms":NaN}}',
        b'{"kind":"ecg","file":"a","patient":"p0001","facts":{"leads":[],"samples":1e999,"rate_hz":1}}',
    ],
)
def test_a_line_that_is_no_study_is_named_by_file_and_line(root: Path, line: bytes) -> None:
    with (root / "truth.jsonl").open("ab") as stream:
        stream.write(line + b"\n")
    with pytest.raises(BadInput, match=r"truth\.jsonl:2"):
        list(cases(root))


def test_a_study_twice_is_refused(root: Path) -> None:
    write(root, GOOD, GOOD | {"patient": "p0002"})
    with pytest.raises(BadInput, match=r"twice(.|\n)*truth\.jsonl:2"):
        list(cases(root))


def test_a_link_out_of_the_root_is_refused(root: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    (root / "echo").symlink_to(tmp_path_factory.mktemp("outside"))
    write(root, GOOD | {"kind": "echo", "file": "echo/00001.avi", "facts": {"size": 112, "frames": 5}})
    with pytest.raises(BadInput, match="symbolic link"):
        list(cases(root))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "name,sex,age\n",
        "patient,sex,age\np0001,F\n",
        "patient,sex,age\np0001,X,63\n",
        "patient,sex,age\np0001,F,old\n",
        "patient,sex,age\np0001,F,63\np0001,F,63\n",
        "patient,sex,age\n../up,F,63\n",
        'patient,sex,age\n"p0001,F,63\n',
    ],
)
def test_a_malformed_table_of_patients_is_named(root: Path, text: str) -> None:
    (root / "patients.csv").write_text(text)
    with pytest.raises(BadInput, match=r"patients\.csv"):
        list(cases(root))


@pytest.mark.parametrize("name", ["patients.csv", "truth.jsonl"])
def test_a_missing_file_says_how_to_make_it(root: Path, name: str) -> None:
    (root / name).unlink()
    with pytest.raises(BadInput, match="overread build phantoms"):
        list(cases(root))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(["ecg", "p0001"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(list(GOOD)), inner, max_size=4),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.fixed_dictionaries({}, optional=dict.fromkeys(GOOD, JSON)) | JSON, st.sampled_from(["", *GOOD["facts"]]))
def test_any_line_is_a_case_or_bad_input(root: Path, change: Any, spoilt: str) -> None:
    study = GOOD | change if isinstance(change, dict) else change
    if spoilt and isinstance(study, dict) and isinstance(study.get("facts"), dict):
        study = study | {"facts": GOOD["facts"] | {spoilt: change}}
    (root / "truth.jsonl").write_text(json.dumps(study) + "\n")
    try:
        assert all(isinstance(case, Case) for case in cases(root))
    except BadInput as error:
        assert "truth.jsonl:1" in str(error)
