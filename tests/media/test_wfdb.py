from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overread.errors import BadInput
from overread.media.wfdb import read_header, read_record, write_record
from overread.media.wfdb_samples import FORMATS, bytes_needed, samples_held, unpack

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import wfdb as oracle

BITS = {8: 8, 16: 16, 24: 24, 32: 32, 61: 16, 80: 8, 160: 16, 212: 12, 310: 10, 311: 10}


def store(folder: Path, header: str, **files: bytes) -> Path:
    (folder / "r.hea").write_text(header)
    for name, data in files.items():
        (folder / f"{name}.dat").write_bytes(data)
    return folder / "r"


def agree(path: Path, start: int = 0, stop: int | None = None) -> None:
    """Ours and the wfdb package's reading of a record are the same, bit for bit."""
    ours = read_record(path, start, stop)
    physical = oracle.rdrecord(str(path), sampfrom=start, sampto=stop)
    digital = oracle.rdrecord(str(path), sampfrom=start, sampto=stop, physical=False)
    # Not-a-number has many bit patterns; all others must be equal to the last bit.
    theirs = np.ascontiguousarray(physical.p_signal.T)
    assert np.array_equal(np.isnan(ours.physical), np.isnan(theirs))
    assert np.nan_to_num(ours.physical, nan=0).tobytes() == np.nan_to_num(theirs, nan=0).tobytes()
    assert np.array_equal(ours.digital, digital.d_signal.T)
    assert ours.names == tuple(name or "" for name in physical.sig_name)
    assert ours.units == tuple(physical.units)
    assert ours.rate_hz == physical.fs


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    mv = np.array([[0.001, -1.5, 32.767], [np.nan, 0.0, 2.0]])
    header = write_record(tmp_path / "new", "a_1", mv, 500, ["I", "lead two"], ["age 5", "rhythm: sinus"])
    record = read_record(header)
    assert np.array_equal(record.physical, mv, equal_nan=True)
    assert (record.names, record.units, record.rate_hz) == (("I", "lead two"), ("mV", "mV"), 500)
    assert record.comments == ("age 5", "rhythm: sinus")
    agree(header.with_suffix(""))


def test_the_same_signal_gives_the_same_bytes(tmp_path: Path) -> None:
    mv = np.linspace(-1, 1, 24).reshape(2, 12)
    for name in ("one", "two"):
        write_record(tmp_path / name, "r", mv, 100.5, ["I", "II"])
    for file in ("r.hea", "r.dat"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()
    assert read_header(tmp_path / "one" / "r").rate_hz == 100.5


@pytest.mark.parametrize(
    "change",
    [
        {"name": "a b"},
        {"name": "../a"},
        {"mv": np.full((2, 3), 33.0)},
        {"mv": np.full((2, 3), np.inf)},
        {"mv": np.zeros((3, 3))},
        {"mv": np.zeros((2, 0))},
        {"rate_hz": 0.0},
        {"rate_hz": float("nan")},
        {"leads": ["I", ""]},
        {"leads": ["I", "a\nb"]},
        {"comments": ["a\nb"]},
    ],
)
def test_what_cannot_be_stored_is_not_written(tmp_path: Path, change: dict[str, Any]) -> None:
    good: dict[str, Any] = {"name": "r", "mv": np.zeros((2, 3)), "rate_hz": 500.0, "leads": ["I", "II"]}
    with pytest.raises(BadInput):
        write_record(tmp_path, **(good | change))
    assert not list(tmp_path.iterdir())


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_all_formats_and_ranges_agree_with_the_wfdb_package(data: st.DataObject) -> None:
    groups = data.draw(
        st.lists(
            st.tuples(st.sampled_from(sorted(FORMATS)), st.integers(1, 4), st.integers(0, 9)), min_size=1, max_size=3
        )
    )
    length = data.draw(st.integers(1, 17))
    # From a later start the package reads format 8 as if it were the first sample (a limit that it documents).
    start = 0 if any(code == 8 for code, _, _ in groups) else data.draw(st.integers(0, length - 1))
    stop = data.draw(st.integers(start + 1, length))
    with tempfile.TemporaryDirectory() as name:
        folder, lines, files = Path(name), [], {}
        for i, (code, width, offset) in enumerate(groups):
            size = bytes_needed(code, length * width)
            payload = bytearray(data.draw(st.binary(min_size=size, max_size=size)))
            if code == 311:
                # Two bits of each block mean nothing; the package adds one of them to a sample.
                payload[3::4] = bytes(b & 0x3F for b in payload[3::4])
            files[f"f{i}"] = b"\xaa" * offset + bytes(payload)
            for _ in range(width):
                gain = data.draw(st.sampled_from(["200", "-1000.0(7)/mV", "0/uV", "12.5(-3)", "1e3(0)/mV"]))
                zero, first = data.draw(st.integers(-9, 9)), data.draw(st.integers(-99, 99))
                lines.append(f"f{i}.dat {code}+{offset} {gain} {BITS[code]} {zero} {first}")
        rate = data.draw(st.sampled_from(["500", "360/1(0)", "249.5"]))
        path = store(folder, "\n".join([f"r {len(lines)} {rate} {length}", *lines, "# a comment"]), **files)
        agree(path, start, stop)


@pytest.mark.parametrize("code", sorted(FORMATS))
@pytest.mark.parametrize("length", [1, 2, 3, 100])
def test_every_bit_of_a_format_goes_where_the_wfdb_package_puts_it(tmp_path: Path, code: int, length: int) -> None:
    size = bytes_needed(code, length)
    payload = np.random.default_rng(code).integers(0, 256, size, dtype=np.uint8)
    if code == 311:
        payload[3::4] &= 0x3F
    agree(store(tmp_path, f"r 1 500 {length}\nf.dat {code} 200(0)/mV {BITS[code]} 0 0\n", f=payload.tobytes()))


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_records_written_by_the_wfdb_package_are_read_alike(data: st.DataObject) -> None:
    code = data.draw(st.sampled_from([80, 212, 16, 24, 32]))
    top = 1 << (BITS[code] - 1)
    width, length = data.draw(st.integers(1, 3)), data.draw(st.integers(2, 12))
    numbers = data.draw(st.lists(st.integers(-top, top - 1), min_size=width * length, max_size=width * length))
    gains = data.draw(st.lists(st.floats(1, 5000), min_size=width, max_size=width))
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of pandas, inside the package
        oracle.wrsamp(
            "r",
            fs=500,
            units=["mV"] * width,
            sig_name=[f"s {i}" for i in range(width)],
            d_signal=np.array(numbers).reshape(length, width),
            fmt=[str(code)] * width,
            adc_gain=gains,
            baseline=[3] * width,
            write_dir=name,
        )
        agree(Path(name) / "r")


def test_differences_are_summed_from_the_beginning_of_the_record(tmp_path: Path) -> None:
    path = store(tmp_path, "r 1 100 4\nf.dat 8 1(0)/mV 8 0 10 0\n".replace(" 0\n", "\n"), f=bytes([1, 2, 255, 3]))
    assert read_record(path).physical.tolist() == [[11, 13, 12, 15]]
    assert read_record(path, 2, 4).physical.tolist() == [[12, 15]]


def test_fields_left_out_have_the_defaults_of_the_format(tmp_path: Path) -> None:
    path = store(
        tmp_path,
        "# before\n\nr 2\r\nf.dat 16\r\nf.dat 16 0 16 5\r\n",
        f=np.array([200, 205, 400, 405], "<i2").tobytes(),
    )
    record = read_record(path)
    assert record.rate_hz == 250
    assert record.units == ("mV", "mV")
    assert record.physical.tolist() == [[1, 2], [1, 2]]


def test_comments_may_hold_any_bytes(tmp_path: Path) -> None:
    (tmp_path / "r.hea").write_bytes(b"r 1 100 1\nf.dat 16\n# M\xfcller\n")
    (tmp_path / "f.dat").write_bytes(b"\1\0")
    assert read_record(tmp_path / "r").digital.tolist() == [[1]]


TWO = np.arange(8, dtype="<i2").tobytes()
LINES = "f.dat 16 200(0)/mV 16 0 0 {} 0 I\nf.dat 16 200(0)/mV 16 0 1 {} 0 II\n"


@pytest.mark.parametrize(
    ("header", "says"),
    [
        ("", "empty"),
        ("r\n", "number of signals"),
        ("r/2 2 100 4\na 2\nb 2\n", "segments"),
        ("r 0 100 4\n", "number of signals"),
        ("r 3 100 4\n" + LINES.format(12, 16), "3 signals"),
        ("r 2 fast 4\n" + LINES.format(12, 16), "sampling rate"),
        ("r 2 0 4\n" + LINES.format(12, 16), "sampling rate"),
        ("r 2 1e999 4\n" + LINES.format(12, 16), "sampling rate"),
        ("r 2 100 x\n" + LINES.format(12, 16), "number of samples"),
        ("r 2 100 5\n" + LINES.format(12, 16), "holds 4 samples"),
        ("r 2 100 3\n" + LINES.format(12, 16), "holds 4 samples"),
        ("r 2 100 99999999999999\n" + LINES.format(12, 16), "holds 4 samples"),
        ("r 2 100 4\n" + LINES.format(12, 17), "checksum"),
        ("r 1 100 8\nf.dat 99\n", "format 99"),
        ("r 1 100 8\nf.dat 516\n", "format 516"),
        ("r 1 100 8\nf.dat\n", "no format"),
        ("r 1 100 4\nf.dat 16x2\n", "samples a frame"),
        ("r 1 100 8\nf.dat 16:3\n", "skew"),
        ("r 1 100 8\nf.dat 16 abc\n", "not a gain"),
        ("r 1 100 8\nf.dat 16 200 16 x\n", "whole number"),
        ("r 1 100 8\n../f.dat 16\n", "beside the header"),
        ("r 1 100 8\n/f.dat 16\n", "beside the header"),
        ("r 1 100 8\ng.dat 16\n", "cannot be read"),
        ("r 2 100 4\nf.dat 16\nf.dat 61\n", "differ in format"),
        ("r 3 100 4\nf.dat 16\ng.dat 16\nf.dat 16\n", "beside each other"),
    ],
)
def test_a_header_that_is_wrong_or_not_supported_is_refused(tmp_path: Path, header: str, says: str) -> None:
    with pytest.raises(BadInput) as caught:
        read_record(store(tmp_path, header, f=TWO))
    assert says in str(caught.value)
    assert str(tmp_path) in caught.value.where


def test_a_checksum_is_read_with_or_without_its_sign(tmp_path: Path) -> None:
    data = np.array([-5, -6], "<i2").tobytes()
    for checksum in ("-11", "65525"):
        path = store(tmp_path, f"r 1 100 2\nf.dat 16 200 16 0 -5 {checksum} 0 I\n", f=data)
        assert read_record(path).digital.tolist() == [[-5, -6]]


def test_ranges_outside_the_record_are_refused(tmp_path: Path) -> None:
    path = store(tmp_path, "r 2 100 4\n" + LINES.format(12, 16), f=TWO)
    assert read_record(path, 1, 3).digital.tolist() == [[2, 4], [3, 5]]
    for start, stop in ((-1, 2), (0, 5), (3, 2), (2, 2), (4, 4)):
        with pytest.raises(BadInput):
            read_record(path, start, stop)


@settings(max_examples=150, deadline=None)
@given(header=st.text(st.sampled_from("r f.dat16+/()20-#\n\teE:x~"), max_size=80) | st.binary(max_size=60))
def test_no_header_makes_the_reader_fail_otherwise_than_by_its_own_error(header: str | bytes) -> None:
    with tempfile.TemporaryDirectory() as name:
        data = header.encode() if isinstance(header, str) else header
        (Path(name) / "r.hea").write_bytes(data)
        (Path(name) / "f.dat").write_bytes(TWO)
        try:
            read_record(Path(name) / "r")
        except BadInput as error:
            assert error.where
            assert error.do


@given(code=st.sampled_from(sorted(FORMATS)), samples=st.integers(0, 50))
def test_sizes_and_sample_counts_are_inverse(code: int, samples: int) -> None:
    size = bytes_needed(code, samples)
    assert samples_held(code, size) >= samples
    assert samples == 0 or samples_held(code, size - 1) < samples
    assert len(unpack(code, bytes(size), samples)) == samples


@pytest.mark.real
def test_all_real_records_agree_with_the_wfdb_package(real_data: Path) -> None:
    ptbxl = sorted((real_data / "ptbxl").rglob("*.hea"))
    ludb = sorted((real_data / "ludb" / "data").glob("*.hea"))
    assert ptbxl
    assert ludb
    for header in ptbxl + ludb:
        agree(header.with_suffix(""))
    agree(ptbxl[0].with_suffix(""), 100, 333)
