"""Any file that holds an ECG: found by its name, safe with its folder, damaged in any way."""

from __future__ import annotations

import tempfile
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from overread.errors import BadInput
from overread.media import ecg, ecg_files
from overread.media.reader import MediaReader
from overread.media.wfdb import write_record
from overread.roots import Roots
from overread.tables import Media


@pytest.fixture
def mv(trees: ModuleType) -> np.ndarray:
    return np.asarray(trees.phantom(4))


@pytest.mark.parametrize(
    ("address", "file"),
    [
        ("a://x/r", "a://x/r.hea"),
        ("a://x/r.hea", "a://x/r.hea"),
        ("a://x/r.edf", "a://x/r.edf"),
        ("a://x/r.EDF", "a://x/r.EDF"),
        ("a://x/r.hdf5#exam=7", "a://x/r.hdf5"),
        ("a://x/r.hdf5", "a://x/r.hdf5.hea"),
    ],
)
def test_the_file_that_is_opened_first_is_told_by_the_address(address: str, file: str) -> None:
    assert ecg_files.first(address) == file


def test_a_record_is_named_with_any_of_its_endings_or_none(tmp_path: Path, mv: np.ndarray) -> None:
    write_record(tmp_path, "r", mv, 500, ecg.LEADS)
    signals = [ecg.read(tmp_path / name) for name in ("r", "r.hea", "r.dat")]
    assert all(np.array_equal(signal.mv, mv) for signal in signals)
    assert ecg_files.shape(tmp_path / "r.hea") == (ecg.LEADS, 5000, 500)


def test_an_edf_file_is_an_ecg_among_other_signals_of_other_rates(
    tmp_path: Path, trees: ModuleType, mv: np.ndarray
) -> None:
    order = np.random.default_rng(2).permutation(12)
    leads = [(f"EKG {ecg.LEADS[i]}", "mV", 500, mv[i]) for i in order]
    other = [("Resp", "uV", 25, np.zeros(250)), ("SpO2", "%", 1, np.zeros(10)), ("C3", "uV", 500, np.ones(5000))]
    (tmp_path / "r.edf").write_bytes(trees.edf([*other, *leads]))
    assert ecg_files.shape(tmp_path / "r.edf")[1:] == (5000, 500)
    signal = ecg.read(tmp_path / "r.edf")
    assert np.allclose(signal.mv, mv, atol=1e-6) and signal.rate_hz == 500 and signal.doubts == ()
    assert np.allclose(ecg.read(tmp_path / "r.edf", (777, 1234)).mv, mv[:, 777:1234], atol=1e-6)
    with MediaReader(Roots({"d": tmp_path}), {"ecg": "signal"}) as reader:
        assert reader.look(Media("ecg", "ecg", "d://r.edf")).shape == (12, 5000)


def test_leads_of_two_rates_and_files_without_leads_are_refused(tmp_path: Path, trees: ModuleType) -> None:
    (tmp_path / "r.edf").write_bytes(trees.edf([("I", "mV", 500, np.zeros(500)), ("II", "mV", 250, np.zeros(250))]))
    with pytest.raises(BadInput, match="I 500 Hz, II 250 Hz"):
        ecg.read(tmp_path / "r.edf")
    (tmp_path / "r.edf").write_bytes(trees.edf([("EEG C3", "mV", 500, np.zeros(500))]))
    for partial in (False, True):
        with pytest.raises(BadInput, match="EEG C3"):
            ecg.read(tmp_path / "r.edf", partial=partial)


def test_a_link_out_of_the_root_is_refused(tmp_path: Path, trees: ModuleType, mv: np.ndarray) -> None:
    inner = tmp_path / "data"
    inner.mkdir()
    (tmp_path / "r.edf").write_bytes(trees.edf([("I", "mV", 500, mv[0])]))
    (inner / "r.edf").symlink_to(tmp_path / "r.edf")
    with MediaReader(Roots({"d": inner}), {"ecg": "signal"}) as reader, pytest.raises(BadInput, match="symbolic link"):
        reader.look(Media("ecg", "ecg", "d://r.edf"))


@pytest.mark.parametrize("rate", [100, 250, 360, 400, 500, 1000])
@pytest.mark.parametrize("ending", ["", ".edf"])
def test_all_rates_are_read(tmp_path: Path, trees: ModuleType, rate: int, ending: str) -> None:
    mv = trees.phantom(1, rate_hz=rate)
    if ending:
        (tmp_path / "r.edf").write_bytes(
            trees.edf([(lead, "mV", rate, row) for lead, row in zip(ecg.LEADS, mv, strict=True)])
        )
    else:
        write_record(tmp_path, "r", mv, rate, ecg.LEADS)
    signal = ecg.read(tmp_path / f"r{ending}")
    assert np.allclose(signal.mv, mv, atol=1e-6) and signal.rate_hz == rate and signal.doubts == ()


@pytest.mark.parametrize("seconds", [5, 60, 300])
def test_all_lengths_are_read(tmp_path: Path, trees: ModuleType, seconds: int) -> None:
    mv = trees.phantom(1, seconds=float(seconds))
    write_record(tmp_path, "r", mv, 500, ecg.LEADS)
    signal = ecg.read(tmp_path / "r")
    assert np.array_equal(signal.mv, mv) and (signal.start, signal.stop) == (0, seconds * 500) and not signal.doubts


@pytest.mark.parametrize("ending", [".dat", ".edf"])
def test_a_huge_file_is_read_by_stretches_or_refused(
    tmp_path: Path, trees: ModuleType, mv: np.ndarray, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_record(tmp_path, "r", mv, 500, ecg.LEADS)
    signals = [(lead, "mV", 500, row) for lead, row in zip(ecg.LEADS, mv, strict=True)]
    (tmp_path / "r.edf").write_bytes(trees.edf(signals))
    for module in ("wfdb", "edf"):
        monkeypatch.setattr(f"overread.media.{module}.MOST_BYTES", 12 * 2000 * 8)
    with pytest.raises(BadInput, match=r"too long[^$]*\(start, stop\)"):
        ecg.read(tmp_path / f"r{ending}")
    assert np.allclose(ecg.read(tmp_path / f"r{ending}", (4000, 5000)).mv, mv[:, 4000:], atol=1e-6)


def test_header_and_data_that_disagree_are_told(tmp_path: Path, mv: np.ndarray) -> None:
    write_record(tmp_path, "r", mv, 500, ecg.LEADS)
    whole, header = (tmp_path / "r.dat").read_bytes(), (tmp_path / "r.hea").read_text()
    for data, text in ((whole[:-24], header), (whole + bytes(24), header), (whole, header.replace(" 5000", " 4000"))):
        (tmp_path / "r.dat").write_bytes(data)
        (tmp_path / "r.hea").write_text(text)
        with pytest.raises(BadInput, match=r"r\.dat"):
            ecg.read(tmp_path / "r")
    (tmp_path / "r.hea").write_text(header)
    (tmp_path / "r.dat").write_bytes(whole[24:] + whole[:24])
    assert ecg.read(tmp_path / "r").mv.shape == (12, 5000), "the sums are the same"
    (tmp_path / "r.dat").write_bytes(bytes(24) + whole[24:])
    with pytest.raises(BadInput, match="checksum"):
        ecg.read(tmp_path / "r")


def damaged(data: st.DataObject, content: bytes) -> bytes:
    """Bytes changed, put in, or left out."""
    changed = bytearray(content)
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(changed)))
        piece = data.draw(
            st.binary(max_size=4) | st.sampled_from([b"0", b"-1", b"99999999", b"nan", b"/", b" ", b"\n"])
        )
        changed[at : at + data.draw(st.integers(0, 4))] = piece
    return bytes(changed[: data.draw(st.integers(0, len(changed)) | st.just(len(changed)))])


def only_bad_input(path: Path) -> None:
    for partial in (False, True):
        try:
            signal = ecg.read(path, partial=partial)
        except BadInput as error:
            assert error.where and error.do
            continue
        assert signal.mv.shape[0] == 12 and not np.isinf(signal.mv).any()
        assert all(np.isnan(signal.mv[ecg.LEADS.index(lead)]).all() for lead in signal.missing)


@settings(max_examples=150)
@given(data=st.data())
@example(data=None)
def test_a_damaged_wfdb_record_is_told_or_read(data: st.DataObject | None) -> None:
    mv = np.round(np.random.default_rng(0).normal(size=(12, 40)), 3)
    with tempfile.TemporaryDirectory() as name:
        header = write_record(Path(name), "r", mv, 500, ecg.LEADS)
        if data is not None:
            victim = header if data.draw(st.booleans()) else header.with_suffix(".dat")
            victim.write_bytes(damaged(data, victim.read_bytes()))
        only_bad_input(Path(name) / "r")


@settings(max_examples=150)
@given(data=st.data(), header=st.booleans())
def test_a_damaged_edf_file_is_told_or_read(data: st.DataObject, header: bool, trees: ModuleType) -> None:
    mv = np.round(np.random.default_rng(0).normal(size=(12, 40)), 3)
    whole = trees.edf([(lead, "mV", 20, row) for lead, row in zip(ecg.LEADS, mv, strict=True)])
    size = 256 * 13
    with tempfile.TemporaryDirectory() as name:
        content = damaged(data, whole[:size]) + whole[size:] if header else damaged(data, whole)
        (Path(name) / "r.edf").write_bytes(content)
        only_bad_input(Path(name) / "r.edf")


@settings(max_examples=60)
@given(field=st.integers(0, 255), text=st.text(st.characters(max_codepoint=255), min_size=1, max_size=8))
def test_any_field_of_an_edf_header_may_say_anything(field: int, text: str, trees: ModuleType) -> None:
    data = bytearray(trees.edf([("I", "mV", 20, np.zeros(40)), ("II", "mV", 20, np.ones(40))]))
    data[3 * field : 3 * field + len(text)] = text.encode("latin-1")
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "r.edf").write_bytes(data)
        only_bad_input(Path(name) / "r.edf")


@pytest.mark.parametrize("name", ["none", "none.edf", "none.hdf5#exam=1", "folder", "folder.edf"])
def test_a_file_that_is_not_there_or_is_none_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder.edf").mkdir()
    (tmp_path / "folder.hea").mkdir()
    with pytest.raises(BadInput) as caught:
        ecg.read(tmp_path / name)
    assert name.partition("#")[0] in caught.value.where
