"""`overread ecg`: a whole way from a file to numbers, a table and a sheet, and what happens to files that are bad."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import click.testing
import numpy as np
import pytest
from PIL import Image

from overread.cli import main
from overread.measure.ecg import UNSEEN
from overread.media.leads import LEADS
from overread.media.wfdb import write_record
from overread.phantoms.ecg import EcgPhantom, ecg_phantom


def call(*words: str) -> click.testing.Result:
    return click.testing.CliRunner().invoke(main, ["ecg", *words])


def measured(*words: str) -> dict[str, Any]:
    result = call(*words, "--json")
    assert result.exit_code == 0, result.output
    document: dict[str, Any] = json.loads(result.stdout)
    return document


def told(result: click.testing.Result, *said: str) -> None:
    assert result.exit_code == 2, (result.output, result.exception)
    assert "Traceback" not in result.output and result.stdout == ""
    assert all(text in result.stderr for text in said), result.stderr


def record(folder: Path, made: EcgPhantom, rows: list[int] | None = None, mv: Any = None, **other: Any) -> str:
    rows = list(range(12)) if rows is None else rows
    values = (made.mv if mv is None else mv).astype(np.float64)[rows]
    return str(write_record(folder, "one", values, other.get("rate_hz", made.rate_hz), [LEADS[row] for row in rows]))


@pytest.fixture(scope="module")
def made() -> EcgPhantom:
    return ecg_phantom(5, "first_degree_block", snr_db=30.0)


def test_the_document_says_what_was_measured(tmp_path: Path, made: EcgPhantom) -> None:
    found = measured(record(tmp_path, made))
    true = made.facts
    assert found["fs"] == 500 and found["leads"] == list(LEADS)
    for name in ("rr_ms", "pr_ms", "qrs_ms", "qt_ms", "qtc_ms"):
        assert found["intervals"][name] == pytest.approx(getattr(true, name), abs=8)
    assert found["axis_deg"] == pytest.approx(true.axis_deg, abs=5)
    assert found["amplitudes_mv"]["V5"]["r"] == pytest.approx(true.leads["V5"].r_mv, abs=0.03)
    assert found["st_mv"]["V2"] == pytest.approx(true.leads["V2"].st_mv, abs=0.03)
    assert found["diagnoses"]["first_degree_av_block"]["present"] is True
    assert found["findings"]["long_pr"]["present"] is True and 0.5 < found["findings"]["long_pr"]["confidence"] <= 1
    assert found["findings"]["wide_premature_beat"]["present"] is None


def test_beats_have_their_boundaries_in_samples_of_the_file(tmp_path: Path, made: EcgPhantom) -> None:
    beats = measured(record(tmp_path, made))["beats"]
    true = made.boundaries.qrs.joint
    inside = true[(true[:, 0] > 60) & (true[:, 1] < 4940)]
    spans = np.array([beat["qrs"] for beat in beats])
    assert all(np.abs(spans - span).max(axis=1).min() <= 5 for span in inside)
    middle = beats[len(beats) // 2]
    assert set(middle["per_lead"]) == set(LEADS) and set(middle["per_lead"]["II"]) == {"p", "qrs", "t"}
    assert middle["p"][1] <= middle["qrs"][0] < middle["qrs"][1] < middle["t"][0]


def test_a_wave_that_is_not_there_is_null(tmp_path: Path) -> None:
    made = ecg_phantom(5, "atrial_fibrillation", snr_db=30.0)
    found = measured(record(tmp_path, made))
    assert all(beat["p"] is None for beat in found["beats"]) and found["intervals"]["pr_ms"] is None
    assert UNSEEN not in [at for beat in found["beats"] for at in beat["qrs"]]


def test_a_stretch_is_measured_in_samples_of_the_whole_file(tmp_path: Path) -> None:
    made = ecg_phantom(5, "normal", seconds=30.0, snr_db=30.0)
    found = measured(record(tmp_path, made), "--start", "10", "--seconds", "8")
    assert found["samples"] == [5000, 9000]
    assert all(5000 <= beat["peak"] < 9000 for beat in found["beats"])


def test_people_get_a_table_and_a_sheet_with_marks(tmp_path: Path, made: EcgPhantom) -> None:
    plain, marked = tmp_path / "plain.png", tmp_path / "deep" / "marked.png"
    result = call(record(tmp_path, made), "--out", str(marked))
    assert result.exit_code == 0 and "PR" in result.stdout and "first degree av block" in result.stdout
    assert "The sheet lies in" in result.stderr
    from overread.media import sheet

    plain.write_bytes(sheet.draw(made.mv, made.rate_hz, LEADS).png())
    one, other = (np.asarray(Image.open(path)).astype(int) for path in (plain, marked))
    assert one.shape == other.shape and np.abs(one - other).mean() > 1.0


def test_the_sheet_has_a_place_of_its_own_when_none_is_given(
    tmp_path: Path, made: EcgPhantom, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert call(record(tmp_path, made), "--sheet", "12x1,dpi=72").exit_code == 0
    assert (tmp_path / "runs" / "ecg" / "one.png").exists()
    assert call(record(tmp_path, made), "--json").exit_code == 0
    assert [path.name for path in (tmp_path / "runs" / "ecg").iterdir()] == ["one.png"]


@pytest.mark.parametrize("rate_hz", [100, 250, 400, 1000])
def test_any_rate_is_measured(tmp_path: Path, rate_hz: int) -> None:
    made = ecg_phantom(6, "left_bundle_branch_block", rate_hz=rate_hz, snr_db=30.0)
    found = measured(record(tmp_path, made))
    assert found["fs"] == rate_hz
    assert found["intervals"]["qrs_ms"] == pytest.approx(made.facts.qrs_ms, abs=4 + 1000 / rate_hz)


@pytest.mark.parametrize("seconds", [5.0, 300.0])
def test_short_and_long_recordings_are_measured(tmp_path: Path, seconds: float) -> None:
    made = ecg_phantom(7, "normal", seconds=seconds, snr_db=30.0)
    found = measured(record(tmp_path, made))
    assert found["intervals"]["pr_ms"] == pytest.approx(made.facts.pr_ms, abs=6)


@pytest.mark.parametrize("rows", [[0, 1, 6, 7, 8, 9, 10, 11], [1], [11, 3, 0, 7]])
def test_some_leads_alone_are_measured_and_the_rest_is_told(tmp_path: Path, made: EcgPhantom, rows: list[int]) -> None:
    result = call(record(tmp_path, made, rows), "--json")
    found = json.loads(result.stdout)
    known = {LEADS[row] for row in rows} | ({"III", "aVR", "aVL", "aVF"} if {0, 1} <= set(rows) else set())
    assert set(found["leads"]) == known
    assert found["intervals"]["pr_ms"] == pytest.approx(made.facts.pr_ms, abs=16)
    assert "leads" in result.stderr and found["notes"]
    # Whatever their order in the file, leads keep their names.
    for lead in known:
        assert found["amplitudes_mv"][lead]["r"] == pytest.approx(made.facts.leads[lead].r_mv, abs=0.06)


def test_damaged_leads_cost_confidence_and_are_named(tmp_path: Path, made: EcgPhantom) -> None:
    mv = made.mv.copy()
    mv[6], mv[7, 500:4500], mv[8] = 0.0, np.nan, np.clip(mv[8], -0.05, 0.05)
    clean, found = measured(record(tmp_path, made)), measured(record(tmp_path, made, mv=mv))
    assert not {"V1", "V2"} & set(found["leads"])
    assert found["confidence"]["qrs_ms"] < clean["confidence"]["qrs_ms"]
    assert any("V1" in note for note in found["notes"])
    assert found["intervals"]["qrs_ms"] == pytest.approx(made.facts.qrs_ms, abs=12)


def test_limb_leads_that_contradict_each_other_are_told(tmp_path: Path, made: EcgPhantom) -> None:
    mv = made.mv.copy()
    mv[[0, 1]] = mv[[1, 0]]
    result = call(record(tmp_path, made, mv=mv), "--json")
    assert result.exit_code == 0 and "contradict" in result.stderr
    assert any("contradict" in note for note in json.loads(result.stdout)["notes"])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda mv: mv * 0.0, "flat"),
        (lambda mv: mv * np.nan, "invalid"),
        (lambda mv: np.clip(mv * 1e3, -0.001, 0.001), "flat"),
        (lambda mv: mv[:, :600], "too short"),
        (lambda mv: np.clip(mv * 1000, -32, 32), "millivolts|too high|units"),
    ],
    ids=["flat", "nan", "saturated", "short", "units"],
)
def test_what_cannot_be_measured_is_told(tmp_path: Path, made: EcgPhantom, change: Any, said: str) -> None:
    result = call(record(tmp_path, made, mv=change(made.mv)), "--json")
    assert result.exit_code == 2 and "Traceback" not in result.output
    assert any(word in result.stderr for word in said.split("|")), result.stderr


def _header(path: str, old: str, new: str) -> None:
    header = Path(path)
    text = header.read_text()
    assert old in text
    header.write_text(text.replace(old, new))


def test_header_and_data_that_disagree_are_told(tmp_path: Path, made: EcgPhantom) -> None:
    path = record(tmp_path, made)
    data = Path(path).with_suffix(".dat")
    data.write_bytes(data.read_bytes()[:-1000])
    told(call(path), "one")


def test_a_negative_gain_turns_the_signal_over_and_is_no_crash(tmp_path: Path, made: EcgPhantom) -> None:
    path = record(tmp_path, made)
    upright = measured(path)
    text = Path(path).read_text()
    Path(path).write_text(text.replace(" 1000(0)/mV", " -1000(0)/mV").replace(" 1000/mV", " -1000/mV"))
    assert Path(path).read_text() != text
    result = call(path, "--json")
    if result.exit_code == 0:
        turned = json.loads(result.stdout)
        assert turned["amplitudes_mv"]["V5"]["s"] == pytest.approx(upright["amplitudes_mv"]["V5"]["r"], abs=0.1)
    else:
        told(result, "gain")


def test_units_that_are_not_told_or_wrong_are_not_guessed(tmp_path: Path, made: EcgPhantom) -> None:
    path = record(tmp_path, made)
    Path(path).write_text(Path(path).read_text().replace("/mV", "/mmHg"))
    told(call(path), "mmHg")


def test_a_recording_that_is_too_long_says_how_to_go_on(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    path = write_record(tmp_path, "long", rng.standard_normal((1, 100 * 4000)) / 10, 100.0, ["II"])
    told(call(str(path)), "--seconds", "4000 s")
    told(call(str(path), "--start", "5000"), "ends after")
    told(call(str(path), "--start", "-1"), "0 s or later")


def test_files_that_are_none_and_profiles_that_are_none_are_told(tmp_path: Path, made: EcgPhantom) -> None:
    told(call(str(tmp_path / "nothing")), "nothing")
    (tmp_path / "text.edf").write_text("not an EDF")
    told(call(str(tmp_path / "text.edf")), "text.edf")
    told(call(record(tmp_path, made), "--sheet", "clinicle"), "clinical")
    told(call(record(tmp_path, made), "--out", str(tmp_path / "one.hea" / "x.png")), "one.hea")


def test_edf_is_read_too_in_whatever_order_its_leads_come(tmp_path: Path, trees: ModuleType, made: EcgPhantom) -> None:
    leads = [(LEADS[row], "mV", 500, made.mv[row].astype(float)) for row in (11, 3, 0, 1, 6, 5, 4, 2, 7, 10, 9, 8)]
    (tmp_path / "one.edf").write_bytes(trees.edf(leads))
    found = measured(str(tmp_path / "one.edf"))
    assert found["intervals"] == measured(record(tmp_path, made))["intervals"]
    assert found["amplitudes_mv"]["V6"]["r"] == pytest.approx(made.facts.leads["V6"].r_mv, abs=0.03)
