"""Lists and headers of every archive of ECGs, damaged anywhere: cases, or an error that names the place."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overread import catalog
from overread.archives.ecg_cases import case_of, media_of, patient_facts
from overread.errors import BadInput
from overread.tables import Case, canonical

ALIASES = ("ptbxl", "mimic_ecg", "ludb", "code15", "ecg_folder")
PIECES = [b"", b",", b'"', b"\n", b"\r", b"0", b"-1", b"nan", b"../", b"/", b"\0", b"\xff", b"'", b"{",
          b"1e999", b"\xe2\x80\xa8"]  # fmt: skip


@pytest.fixture(scope="module")
def roots(trees: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    made = {alias: trees.MAKERS[alias](tmp_path_factory.mktemp(alias)) for alias in ALIASES}
    (made["ecg_folder"] / "cases.csv").write_text("file,patient,age,sex,labels\nben.edf,b,61,F,AF\nanna/two.hea,,,,\n")
    return made


@settings(max_examples=150)
@given(data=st.data(), alias=st.sampled_from(ALIASES))
def test_a_damaged_list_or_header_gives_cases_or_is_told(
    data: st.DataObject, alias: str, roots: dict[str, Path]
) -> None:
    root, module = roots[alias], catalog.load("archives", alias)
    files = sorted(path for path in root.rglob("*") if path.suffix in (".csv", ".hea", ".edf"))
    victim = data.draw(st.sampled_from([path for path in files if path.suffix == ".csv"]) | st.sampled_from(files))
    whole = victim.read_bytes()
    content = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, min(len(content), 4000)))
        content[at : at + data.draw(st.integers(0, 3))] = data.draw(st.sampled_from(PIECES) | st.binary(max_size=3))
    victim.write_bytes(content)
    try:
        found = list(islice(module.cases(root), 20))
    except BadInput as error:
        assert error.where and error.do
    else:
        for case in found:
            canonical(case.facts).encode()
            assert case.patient.startswith(f"{alias}/") and all(".." not in m.uri.split("/") for m in case.media)
    finally:
        victim.write_bytes(whole)


@pytest.mark.parametrize("alias", ALIASES)
def test_all_facts_have_the_names_and_kinds_that_the_contract_gives_them(alias: str, roots: dict[str, Path]) -> None:
    kinds = {
        "study": str, "patient_from": str, "geometry": str, "length": int, "rate_hz": (int, float),
        "age": (int, float), "sex": str, "labels": list, "split": str, "report": str, "recorded": str,
    }  # fmt: skip
    for case in catalog.load("archives", alias).cases(roots[alias]):
        facts = case.facts
        assert {"study", "patient_from", "geometry", "length", "rate_hz"} <= set(facts)
        assert all(isinstance(facts[name], kind) for name, kind in kinds.items() if name in facts)
        assert None not in facts.values()
        assert facts.get("sex", "F") in ("F", "M") and facts.get("split", "val") in ("train", "val", "test")
        assert facts["patient_from"] in ("archive", "folder", "study")
        assert facts["geometry"] == f"{len(facts.get('signals', range(12)))}x{facts['length']}@{facts['rate_hz']}"


def test_studies_of_one_patient_are_in_one_part(roots: dict[str, Path]) -> None:
    for alias in ALIASES:
        parts: dict[str, set[str | None]] = {}
        for case in catalog.load("archives", alias).cases(roots[alias]):
            parts.setdefault(case.patient, set()).add(case.facts.get("split"))
        assert all(len(part) == 1 for part in parts.values())


def made(patient: str = "p", file: str = "x", **facts: object) -> Case:
    named, known = patient_facts("a", patient, "archive")
    return case_of("a", "open", named, media_of("a", {"ecg": file}, "list:1"), {**known, **facts})


def test_what_cannot_be_kept_is_refused_and_what_is_not_known_left_out() -> None:
    assert set(made(age=None, sex="F").facts) == {"patient_from", "split", "sex"}
    for bad in ({"patient": "\ud800"}, {"patient": "a\nb"}, {"patient": "x" * 300}, {"age": float("nan")}):
        with pytest.raises(BadInput):
            made(**bad)  # type: ignore[arg-type]
    for file in ("../x", "/x", "", "\ud800"):
        with pytest.raises(BadInput):
            made(file=file)
