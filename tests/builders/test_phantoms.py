from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from overread.builders import phantoms as builder
from overread.builders.phantoms import build
from overread.errors import BadInput
from overread.media import clip, ecg, volume
from overread.tables import canonical, content_id

GOLDEN = {1: "f9b82367aff40a9fbffc4dca", 2: "3cd2fd896920cc0ed25963a1"}
"""The truth of a fixed small build, by edition: whoever changes it raises `EDITION` and adds a line here."""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("phantoms") / "out", patients=3, seed=5)


def contents(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def studies(folder: Path, kind: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in (folder / "truth.jsonl").read_text().splitlines()]
    return [line for line in lines if line["kind"] == kind]


def test_two_builds_are_the_same_to_the_byte(built: Path, tmp_path: Path) -> None:
    assert contents(build(tmp_path / "again", patients=3, seed=5)) == contents(built)


def test_the_truth_does_not_change_within_an_edition(built: Path) -> None:
    kept = [canonical(s["facts"]) for kind in builder.KINDS for s in studies(built, kind)]
    assert content_id(*kept) == GOLDEN[builder.EDITION]


def test_the_folder_holds_what_archives_hold(built: Path) -> None:
    names = set(contents(built))
    assert {"ecg/00001.hea", "ecg/00004.dat", "echo/00003.avi", "echo/00001.dcm"} <= names
    assert {"volume/00002.nii.gz", "volume/00002_seg.nii.gz", "volume/00002_seg.json"} <= names
    assert {"patients.csv", "truth.jsonl", "README.md", "phantoms.json"} <= names
    assert (built / "patients.csv").read_text().splitlines()[0] == "patient,sex,age"


def test_a_patient_may_have_several_ecgs_and_rhythms_are_balanced(tmp_path: Path) -> None:
    out = build(tmp_path / "out", patients=16, kinds=("ecg",))
    owners = [s["patient"] for s in studies(out, "ecg")]
    assert len(owners) == 24 and len(set(owners)) == 16
    firsts = {s["patient"]: s["facts"]["rhythm"] for s in reversed(studies(out, "ecg"))}
    rhythms = list(firsts.values())
    assert {rhythms.count(r) for r in set(rhythms)} == {2}


def test_ecgs_are_drawn_from_the_recipes_asked_for(tmp_path: Path) -> None:
    wanted = ("left_ventricular_hypertrophy/strain", "lateral_ischemia/but_t_inversion_lateral")
    out = build(tmp_path / "out", patients=4, kinds=("ecg",), ecgs=wanted)
    facts = [s["facts"] for s in studies(out, "ecg")]
    assert {f["rhythm"] for f in facts} == set(wanted)
    assert {tuple(f["diagnoses"]) for f in facts} == {("lateral_ischemia", "left_ventricular_hypertrophy"), ()}
    with pytest.raises(BadInput, match="other phantoms"):
        build(out, patients=4, kinds=("ecg",))


def test_ecgs_are_read_back_with_their_beats(built: Path) -> None:
    for study in studies(built, "ecg"):
        signal = ecg.read(built / study["file"])
        assert signal.mv.shape == (12, study["facts"]["samples"])
        assert signal.rate_hz == study["facts"]["rate_hz"]
        assert np.abs(signal.mv[2] - (signal.mv[1] - signal.mv[0])).max() < 1e-5
        height = np.abs(signal.mv[1])
        for beat in study["facts"]["beats"]:
            assert height[beat] > 0.8 * height[max(0, beat - 60) : beat + 60].max() - 0.1


def test_clips_are_read_back_from_both_formats(built: Path) -> None:
    for study in studies(built, "echo"):
        facts = study["facts"]
        back = clip.read(built / study["file"])
        assert len(back.frames) == facts["frames"] == len(facts["volume_ml"])
        assert back.times_ms[1] == pytest.approx(1000 / facts["fps"], abs=0.5)
        if "dicom" in facts:
            assert np.array_equal(clip.read(built / facts["dicom"]).frames, back.frames)
    assert [("dicom" in s["facts"]) for s in studies(built, "echo")] == [True, False, False]


def test_volumes_are_read_back_with_their_labels(built: Path) -> None:
    for study in studies(built, "volume"):
        back = volume.read(built / study["file"])
        labels = volume.read(built / study["facts"]["labels"])
        names = json.loads((built / study["facts"]["labels"].replace(".nii.gz", ".json")).read_text())["names"]
        assert back.voxels.shape == tuple(study["facts"]["shape"]) == labels.voxels.shape
        for label, name in names.items():
            told = study["facts"]["structures"].get(name, {"voxels": 0})
            assert int((labels.voxels == int(label)).sum()) == told["voxels"]


def test_only_the_kinds_asked_for_are_built(tmp_path: Path) -> None:
    out = build(tmp_path / "out", patients=1, kinds=("volume",))
    assert not (out / "ecg").exists() and not (out / "echo").exists() and (out / "volume").is_dir()


def test_another_seed_gives_other_patients(built: Path, tmp_path: Path) -> None:
    other = build(tmp_path / "out", patients=3, seed=6, kinds=("ecg",))
    assert (other / "ecg/00001.dat").read_bytes() != (built / "ecg/00001.dat").read_bytes()


def test_more_patients_do_not_change_the_first_ones(built: Path, tmp_path: Path) -> None:
    more = contents(build(tmp_path / "out", patients=4, seed=5))
    media = {name: data for name, data in contents(built).items() if "/" in name}
    assert all(more[name] == data for name, data in media.items())


def test_a_complete_build_is_used_again(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builder, "_write", lambda *_: pytest.fail("built again"))
    assert build(built, patients=3, seed=5, kinds=("volume", "echo", "ecg")) == built


def test_an_empty_folder_is_filled(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    assert (build(tmp_path / "out", patients=1, kinds=("ecg",)) / "phantoms.json").exists()


def test_other_phantoms_are_not_overwritten(built: Path) -> None:
    before = contents(built)
    with pytest.raises(BadInput, match="other phantoms"):
        build(built, patients=3, seed=6)
    assert contents(built) == before


def test_a_foreign_folder_or_file_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years")
    for place in ("mine", "mine/thesis.txt", "mine/thesis.txt/below"):
        with pytest.raises(BadInput):
            build(tmp_path / place, patients=1, kinds=("ecg",))
    assert contents(tmp_path) == {"mine/thesis.txt": b"years"}


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"settings": {}, "files": []}', '{"settings": NaN, "files": {}}'])
def test_a_strange_manifest_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "phantoms.json").write_text(text)
    with pytest.raises(BadInput):
        build(tmp_path, patients=1)


def test_a_damaged_build_is_named_and_not_used(tmp_path: Path) -> None:
    out = build(tmp_path / "out", patients=1, kinds=("ecg",))
    (out / "ecg/00001.dat").write_bytes(b"short")
    with pytest.raises(BadInput, match=r"00001\.dat"):
        build(out, patients=1, kinds=("ecg",))


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_an_interrupted_build_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    def breaks(*_: object) -> None:
        raise error

    monkeypatch.setattr(builder, "write_nifti", breaks)
    with pytest.raises(BadInput if isinstance(error, OSError) else KeyboardInterrupt):
        build(tmp_path / "out", patients=1, kinds=("volume",))
    assert list(tmp_path.iterdir()) == []


def test_two_builds_at_once_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = builder._write

    def slow(folder: Path, settings: dict[str, Any]) -> None:
        write(folder, settings)
        monkeypatch.setattr(builder, "_write", write)
        build(tmp_path / "out", patients=1, kinds=("ecg",))

    monkeypatch.setattr(builder, "_write", slow)
    assert build(tmp_path / "out", patients=1, kinds=("ecg",)).is_dir()
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize(
    "bad", [{"patients": 0}, {"seed": -1}, {"kinds": ()}, {"kinds": ("ekg",)}, {"ecgs": ()}, {"ecgs": ("gout",)}]
)
def test_settings_that_cannot_be_built_are_refused(tmp_path: Path, bad: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        build(tmp_path / "out", **bad)
    assert list(tmp_path.iterdir()) == []
