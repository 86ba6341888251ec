"""Parts: whole or not there, of this version or refused, and named when they are damaged."""

from __future__ import annotations

import threading
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overread.errors import BadRun
from overread.runs.parts import check_version, read_part, write_atomically, write_part
from overread.tables import SCHEMA_VERSION

FRAME = pl.DataFrame({"place": [0, 1, 2], "text": ["a", None, "ü\x00"], "many": [["x"], [], None]})


def test_a_part_comes_back_as_it_was_whole_or_in_part(tmp_path: Path) -> None:
    path = tmp_path / "a" / "part.parquet"
    write_part(path, FRAME)
    assert read_part(path).equals(FRAME)
    assert read_part(path, ["text"]).equals(FRAME.select("text"))
    assert read_part(path, ["text"], pl.col("place") > 0).equals(FRAME[1:].select("text"))
    assert list(path.parent.iterdir()) == [path]


def test_an_empty_part_keeps_its_columns(tmp_path: Path) -> None:
    write_part(tmp_path / "part", FRAME.clear())
    assert read_part(tmp_path / "part").schema == FRAME.schema


def test_names_with_pattern_signs_are_taken_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "a[1]*?" / "part.parquet"
    write_part(path, FRAME)
    assert read_part(path).equals(FRAME)


def test_the_old_part_stands_until_the_new_one_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "part"
    write_atomically(path, b"old")

    def full(number: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("overread.runs.parts.os.fsync", full)
    with pytest.raises(BadRun, match="No space left") as error:
        write_atomically(path, b"new")
    assert str(path) in str(error.value) and "--out" in str(error.value)
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path], "nothing is left beside"


def test_a_file_in_the_way_is_told(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("x")
    with pytest.raises(BadRun, match="cannot write"):
        write_part(tmp_path / "runs" / "part", FRAME)


@given(cut=st.integers(0, 2000), at=st.integers(0, 2000), byte=st.integers(0, 255))
def test_a_damaged_part_is_named_or_read_and_nothing_else(
    tmp_path_factory: pytest.TempPathFactory, cut: int, at: int, byte: int
) -> None:
    path = tmp_path_factory.mktemp("part") / "part.parquet"
    write_part(path, FRAME)
    data = bytearray(path.read_bytes())
    if cut < len(data):
        data = data[:cut]
    elif at < len(data):
        data[at] = byte
    path.write_bytes(data)
    try:
        read_part(path)
    except BadRun as error:
        assert str(path) in str(error) and "do:" in str(error)
        assert path.exists()


def test_a_missing_part_and_a_folder_are_named(tmp_path: Path) -> None:
    for path in (tmp_path / "gone", tmp_path):
        with pytest.raises(BadRun) as error:
            read_part(path)
        assert str(path) in str(error.value)


@pytest.mark.parametrize("version", ["", "x", "-1", "1.5", None])
def test_what_has_no_version_of_ours_is_no_part(tmp_path: Path, version: object) -> None:
    with pytest.raises(BadRun, match="not a part of a run"):
        check_version(tmp_path, version)


def test_only_a_newer_version_is_refused(tmp_path: Path) -> None:
    for version in range(SCHEMA_VERSION + 1):
        check_version(tmp_path, version)
    with pytest.raises(BadRun, match="newer overread") as error:
        check_version(tmp_path, SCHEMA_VERSION + 1)
    assert "upgrade" in str(error.value)


def test_a_part_that_is_replaced_all_the_time_is_always_read_whole(tmp_path: Path) -> None:
    path, over = tmp_path / "part", threading.Event()
    frames = [pl.DataFrame({"place": list(range(size))}) for size in (10, 5000)]
    write_part(path, frames[0])

    def replace() -> None:
        while not over.is_set():
            for frame in frames:
                write_part(path, frame)

    writer = threading.Thread(target=replace)
    writer.start()
    try:
        assert {read_part(path, ["place"]).height for _ in range(300)} <= {10, 5000}
    finally:
        over.set()
        writer.join()
