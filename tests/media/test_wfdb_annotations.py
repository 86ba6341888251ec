from __future__ import annotations

import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overread.errors import BadInput
from overread.media.wfdb_annotations import SYMBOLS, read_marks

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import wfdb as oracle


def agree(record: Path, extension: str) -> None:
    ours = read_marks(record.with_name(f"{record.name}.{extension}"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of pandas, inside the package
        theirs = oracle.rdann(str(record), extension)
    assert np.array_equal(ours.samples, theirs.sample)
    assert list(ours.symbols) == theirs.symbol
    assert np.array_equal(ours.subtypes, theirs.subtype)
    assert np.array_equal(ours.channels, theirs.chan)
    assert np.array_equal(ours.numbers, theirs.num)
    assert list(ours.notes) == [note.rstrip("\0") for note in theirs.aux_note]


@settings(max_examples=25)
@given(data=st.data())
def test_what_the_wfdb_package_writes_is_read_as_it_reads_it(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 12))
    gaps = data.draw(st.lists(st.sampled_from([1, 2, 1023, 1024, 70_000]), min_size=count, max_size=count))
    column = st.integers(-128, 127)
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of numpy, inside the package
        oracle.wrann(
            "r",
            "atr",
            sample=np.cumsum(gaps),
            symbol=data.draw(st.lists(st.sampled_from(sorted(SYMBOLS.values())), min_size=count, max_size=count)),
            subtype=np.array(data.draw(st.lists(column, min_size=count, max_size=count))),
            chan=np.array(data.draw(st.lists(st.integers(0, 255), min_size=count, max_size=count))),
            num=np.array(data.draw(st.lists(st.integers(0, 127), min_size=count, max_size=count))),
            aux_note=data.draw(st.lists(st.text("(AFIBx ", max_size=7), min_size=count, max_size=count)),
            write_dir=name,
        )
        agree(Path(name) / "r", "atr")


def test_a_note_at_the_first_sample_is_about_the_file_and_no_mark(tmp_path: Path) -> None:
    note = b"## time resolution: 360\0"
    head = (22 << 10).to_bytes(2, "little") + (63 << 10 | len(note)).to_bytes(2, "little") + note
    (tmp_path / "r.atr").write_bytes(head + (1 << 10 | 7).to_bytes(2, "little") + b"\0\0")
    marks = read_marks(tmp_path / "r.atr")
    assert (marks.samples.tolist(), marks.symbols) == ([7], ("N",))


def test_distances_may_go_back_and_codes_without_a_symbol_are_numbered(tmp_path: Path) -> None:
    back = (59 << 10).to_bytes(2, "little") + b"\xff\xff" + (0x10000 - 5).to_bytes(2, "little")
    data = (1 << 10 | 9).to_bytes(2, "little") + back + (17 << 10).to_bytes(2, "little") + b"\0\0"
    (tmp_path / "r.atr").write_bytes(data)
    marks = read_marks(tmp_path / "r.atr")
    assert (marks.samples.tolist(), marks.symbols) == ([9, 4], ("N", "#17"))


@pytest.mark.parametrize("data", [b"", b"\x01", b"\x05\x04", b"\x00\xf8\0\0", b"\x05\x04\x09\xfcabc", b"\x00\xec\x01"])
def test_a_file_that_ends_early_or_is_none_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "r.atr").write_bytes(data)
    with pytest.raises(BadInput, match=r"r\.atr"):
        read_marks(tmp_path / "r.atr")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"none\.atr"):
        read_marks(tmp_path / "none.atr")


@settings(max_examples=200)
@given(st.binary(max_size=60))
def test_any_bytes_are_marks_or_refused(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "r.atr").write_bytes(data)
        try:
            marks = read_marks(Path(name) / "r.atr")
        except BadInput:
            return
        assert len(marks.samples) == len(marks.symbols) == len(marks.notes)


def compared(headers: list[Path]) -> int:
    for header in headers:
        for lead in ("i", "ii", "iii", "avr", "avl", "avf", "v1", "v2", "v3", "v4", "v5", "v6"):
            agree(header.with_suffix(""), lead)
    return len(headers)


@pytest.mark.real
def test_real_annotations_agree_with_the_wfdb_package(real_data: Path) -> None:
    assert compared(sorted((real_data / "ludb" / "data").glob("*.hea"))[::10])


@pytest.mark.real
@pytest.mark.slow
def test_all_real_annotations_agree_with_the_wfdb_package(real_data: Path) -> None:
    assert compared(sorted((real_data / "ludb" / "data").glob("*.hea")))
