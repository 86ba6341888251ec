from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overread.errors import BadInput
from overread.media.edf import EdfHeader, read_header, read_signals

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import pyedflib as oracle


def agree(path: Path) -> EdfHeader:
    """Every signal is, bit for bit, what pyedflib reads."""
    header = read_header(path)
    with oracle.EdfReader(str(path)) as theirs:
        assert [s.name for s in header.signals] == theirs.getSignalLabels()
        assert [s.units for s in header.signals] == [theirs.getPhysicalDimension(i) for i in range(len(header.signals))]
        for i, signal in enumerate(header.signals):
            assert header.rate_hz(signal) == theirs.getSampleFrequency(i)
            ours = read_signals(header, [signal])
            assert ours[0].tobytes() == theirs.readSignal(i).tobytes()
    return header


def written(path: Path, rates: list[int], kind: int, **ranges: Any) -> Path:
    """A file of pyedflib's making: noise, three seconds."""
    rng = np.random.default_rng(len(rates))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with oracle.EdfWriter(str(path), len(rates), file_type=kind) as writer:
            for i, rate in enumerate(rates):
                info = {"label": f"ECG {i}", "dimension": "uV", "sample_frequency": rate, "physical_max": 3000.0,
                        "physical_min": -3000.0, "digital_max": 32767, "digital_min": -32768, "transducer": "",
                        "prefilter": ""}  # fmt: skip
                writer.setSignalHeader(i, info | ranges)
            writer.writeSamples([rng.uniform(-2900, 2900, 3 * rate) for rate in rates])
            if kind == oracle.FILETYPE_EDFPLUS:
                writer.writeAnnotation(1.0, -1, "a mark")
    return path


@settings(max_examples=30)
@given(
    rates=st.lists(st.sampled_from([1, 100, 250, 500]), min_size=1, max_size=4),
    plus=st.booleans(),
    low=st.integers(-32768, 0),
    high=st.integers(1, 32767),
    most=st.sampled_from([1.5, 3276.7, 32767.0]),
)
def test_files_of_pyedflib_are_read_as_it_reads_them(
    rates: list[int], plus: bool, low: int, high: int, most: float
) -> None:
    kind = oracle.FILETYPE_EDFPLUS if plus else oracle.FILETYPE_EDF
    with tempfile.TemporaryDirectory() as name:
        path = written(
            Path(name) / "r.edf", rates, kind, digital_min=low, digital_max=high, physical_max=most, physical_min=-most
        )
        agree(path)


def test_stretches_are_cut_to_the_sample_out_of_any_data_record(tmp_path: Path) -> None:
    path = written(tmp_path / "r.edf", [100, 7, 100], oracle.FILETYPE_EDFPLUS)
    header = agree(path)
    pair = [header.signals[0], header.signals[2]]
    whole = read_signals(header, pair)
    assert whole.shape == (2, 300)
    for start, stop in ((0, 1), (99, 101), (100, 200), (150, 300), (0, 300), (299, 300)):
        assert np.array_equal(read_signals(header, pair, start, stop), whole[:, start:stop])
    for start, stop in ((-1, 4), (5, 5), (5, 4), (0, 301)):
        with pytest.raises(BadInput, match="no samples"):
            read_signals(header, pair, start, stop)
    with pytest.raises(BadInput, match="rate"):
        read_signals(header, header.signals)


def test_a_range_that_runs_backwards_turns_the_signal_over(tmp_path: Path, trees: ModuleType) -> None:
    data = trees.edf([("I", "mV", 100, np.linspace(-1, 1, 200))])
    (tmp_path / "a.edf").write_bytes(data)
    (tmp_path / "b.edf").write_bytes(data.replace(b"-32.768 32.767  ", b"32.767  -32.768 "))
    one, other = (read_header(tmp_path / f"{name}.edf") for name in "ab")
    assert np.allclose(read_signals(one, one.signals), -read_signals(other, other.signals), atol=0.002)


def test_a_recording_stopped_before_its_header_was_completed_is_read(tmp_path: Path, trees: ModuleType) -> None:
    data = bytearray(trees.edf([("I", "mV", 100, np.zeros(300))]))
    data[236:244] = b"-1      "
    (tmp_path / "r.edf").write_bytes(data)
    assert read_header(tmp_path / "r.edf").records == 3


def spoiled(data: bytes, at: int, text: bytes) -> bytes:
    return data[:at] + text + data[at + len(text) :]


@pytest.mark.parametrize(
    ("at", "text", "says"),
    [
        (0, b"\xffBIOSEMI", "BDF"),
        (0, b"PK\3\4", "not an EDF"),
        (192, b"EDF+D", "gaps"),
        (184, b"999     ", "data records"),
        (236, b"99      ", "99 data records"),
        (236, b"few     ", "whole number"),
        (244, b"0       ", "no length"),
        (244, b"nan     ", "no number"),
        (244, b"-1      ", "no length"),
        (252, b"0   ", "signals is 0"),
        (252, b"9999", "signals is 9999"),
        (256, b"EDF Annotations ", "only annotations"),
        (256 + 16 + 80 + 8, b"32.767  ", "range"),
        (256 + 16 + 80 + 8, b"1e999   ", "no number"),
        (256 + 16 + 80 + 8 + 16, b"40000   ", "range"),
        (256 + 16 + 80 + 8 + 16, b"32767   ", "range"),
        (256 + 16 + 80 + 8 + 32 + 80, b"0       ", "number of samples"),
        (256 + 16 + 80 + 8 + 32 + 80, b"99999999", "number of samples"),
    ],
)
def test_a_header_that_is_wrong_or_not_supported_is_refused(
    tmp_path: Path, trees: ModuleType, at: int, text: bytes, says: str
) -> None:
    data = spoiled(trees.edf([("I", "mV", 100, np.zeros(300))]), at, text)
    (tmp_path / "r.edf").write_bytes(data)
    with pytest.raises(BadInput) as caught:
        read_header(tmp_path / "r.edf")
    assert says in caught.value.what and str(tmp_path) in caught.value.where


def test_a_file_cut_short_is_told_and_the_patient_is_not(tmp_path: Path, trees: ModuleType) -> None:
    data = trees.edf([("I", "mV", 100, np.zeros(300))]).replace(b"X X X X ", b"Mr Jones", 1)
    for length in (0, 8, 100, 300, 512, len(data) - 1, len(data) - 200):
        (tmp_path / "r.edf").write_bytes(data[:length])
        with pytest.raises(BadInput) as caught:
            read_header(tmp_path / "r.edf")
        assert "Jones" not in str(caught.value)
    (tmp_path / "r.edf").write_bytes(data + b"\0\0")
    with pytest.raises(BadInput, match="and a part"):
        read_header(tmp_path / "r.edf")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"none\.edf"):
        read_header(tmp_path / "none.edf")
