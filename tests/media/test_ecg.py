from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from overread.errors import BadInput
from overread.media import ecg
from overread.media.wfdb import write_record

RATE = 100.0


@pytest.fixture
def mv() -> np.ndarray:
    return np.round(np.random.default_rng(3).normal(size=(12, 450)), 3)


@pytest.fixture
def record(tmp_path: Path, mv: np.ndarray) -> Path:
    write_record(tmp_path, "r", mv, RATE, ecg.LEADS)
    return tmp_path / "r"


def test_leads_come_in_one_order_whatever_the_files(tmp_path: Path, mv: np.ndarray) -> None:
    at = np.random.default_rng(1).permutation(12)
    write_record(tmp_path, "r", mv[at], RATE, [ecg.LEADS[i].upper() for i in at])
    study = ecg.read(tmp_path / "r")
    assert study.leads == ("I", "II", "III", "aVR", "aVL", "aVF", "V1", "V2", "V3", "V4", "V5", "V6")
    assert study.mv.dtype == np.float32
    assert np.array_equal(study.mv, mv.astype(np.float32))
    assert (study.start, study.stop, study.rate_hz) == (0, 450, RATE)


def test_a_stretch_is_selected_by_its_samples(record: Path, mv: np.ndarray) -> None:
    study = ecg.read(record, (50, 120))
    assert np.array_equal(study.mv, mv[:, 50:120].astype(np.float32))
    assert ecg.deliver(study, "signal").indices == (50, 120)


@pytest.mark.parametrize("select", [(0,), (0, 1, 2), (10, 5), (0, 451), (-1, 3)])
def test_a_stretch_that_is_not_there_is_refused(record: Path, select: tuple[int, ...]) -> None:
    with pytest.raises(BadInput):
        ecg.read(record, select)


@pytest.mark.parametrize(("unit", "factor"), [("mV", 1), ("uV", 1e-3), ("µV", 1e-3), ("V", 1e3), ("nV", 1e-6)])
def test_units_become_millivolts(record: Path, mv: np.ndarray, unit: str, factor: float) -> None:
    header = record.with_suffix(".hea")
    header.write_text(header.read_text().replace("/mV", f"/{unit}"), encoding="utf-8")
    assert np.allclose(ecg.read(record).mv, mv * factor, rtol=1e-6)


def test_unknown_units_are_refused_by_name(record: Path) -> None:
    header = record.with_suffix(".hea")
    header.write_text(header.read_text().replace("/mV", "/mmHg"))
    with pytest.raises(BadInput, match="mmHg"):
        ecg.read(record)


def test_missing_leads_are_named(tmp_path: Path, mv: np.ndarray) -> None:
    write_record(tmp_path, "r", mv[:10], RATE, ecg.LEADS[:10])
    with pytest.raises(BadInput, match=r"V5, V6"):
        ecg.read(tmp_path / "r")


def test_a_lead_given_twice_is_refused(tmp_path: Path, mv: np.ndarray) -> None:
    write_record(tmp_path, "r", np.vstack([mv, mv[:1]]), RATE, [*ecg.LEADS, "i"])
    with pytest.raises(BadInput, match="twice"):
        ecg.read(tmp_path / "r")


def test_blank_is_a_flat_line_of_the_same_shape(record: Path) -> None:
    study = ecg.change(ecg.read(record), "blank", 0)
    assert study.mv.shape == (12, 450)
    assert not study.mv.any()


def test_reverse_plays_backwards(record: Path, mv: np.ndarray) -> None:
    assert np.array_equal(ecg.change(ecg.read(record), "reverse", 0).mv, mv[:, ::-1].astype(np.float32))


def test_leads_are_handed_around_and_all_kept(record: Path, mv: np.ndarray) -> None:
    study = ecg.read(record)
    changed = ecg.change(study, "leads", 5)
    assert np.array_equal(changed.mv, ecg.change(study, "leads", 5).mv)
    assert not np.array_equal(changed.mv, study.mv)
    assert sorted(map(bytes, changed.mv)) == sorted(map(bytes, study.mv))
    assert changed.leads == study.leads


def test_shuffle_moves_whole_seconds(record: Path) -> None:
    study = ecg.read(record)
    changed = ecg.change(study, "shuffle", 5)
    assert changed.mv.shape == study.mv.shape
    assert not np.array_equal(changed.mv, study.mv)
    assert np.array_equal(np.sort(changed.mv, axis=1), np.sort(study.mv, axis=1))
    jumps = np.count_nonzero(changed.mv[0, 1:] != changed.mv[0, :-1])
    assert jumps > 400
    second = study.mv[:, 100:200].tobytes()
    assert any(changed.mv[:, i : i + 100].tobytes() == second for i in range(350))


def test_the_signal_form_tells_what_its_numbers_mean(record: Path) -> None:
    delivered = ecg.deliver(ecg.read(record), "signal")
    assert delivered.data.dtype == np.float32
    assert delivered.shape == (12, 450)
    assert delivered.indices == (0, 450)
    contradict = ("the limb leads contradict each other",)  # they are noise
    assert delivered.facts == {"rate_hz": RATE, "leads": ecg.LEADS, "derived": (), "doubts": contradict}


def test_unknown_forms_and_changes_are_listed(record: Path) -> None:
    study = ecg.read(record)
    for form in ("frames", "signal:upstream", "sheets"):
        with pytest.raises(BadInput, match="no form"):
            ecg.deliver(study, form)
    with pytest.raises(BadInput, match="no change"):
        ecg.change(study, "mirror", 0)


def test_a_path_is_handed_over_only_unchanged(record: Path) -> None:
    study = ecg.read(record)
    assert ecg.deliver(study, "path").data == record
    with pytest.raises(BadInput, match="path"):
        ecg.deliver(ecg.change(study, "blank", 0), "path")


@pytest.mark.real
def test_real_records_are_read(real_data: Path) -> None:
    headers = sorted((real_data / "ptbxl").rglob("*.hea")) + sorted((real_data / "ludb").rglob("*.hea"))[::10]
    for header in headers:
        study = ecg.read(header.with_suffix(""))
        assert study.mv.shape[0] == 12
        assert 0.01 < float(np.nanstd(study.mv)) < 3
        # Einthoven: I + III = II, up to rounding and the archive's own filtering.
        assert abs(float(np.nanmedian(study.mv[0] + study.mv[2] - study.mv[1]))) < 0.05
