from __future__ import annotations

import csv
import io
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from overread.archives.lists import number, rows_of, truth, whole
from overread.archives.lookup import Lookup
from overread.errors import BadInput


def write(folder: Path, text: str | bytes) -> Path:
    file = folder / "list.csv"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def rows(file: Path, *needed: str) -> list[tuple[str, dict[str, str]]]:
    return list(rows_of(file, needed, "fetch it"))


def test_rows_come_by_column_with_the_line_they_stand_on(tmp_path: Path) -> None:
    file = write(tmp_path, '\ufeffa,b\n1,"x\ny"\n\n2,z\n')
    assert rows(file, "a") == [(f"{file}:3", {"a": "1", "b": "x\ny"}), (f"{file}:5", {"a": "2", "b": "z"})]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no column 'a'"),
        ("b\n1\n", "no column 'a'"),
        ("a,a\n1,2\n", "one name"),
        ("a,b\n1\n", "1 fields"),
        ("a,b\n1,2,3\n", "3 fields"),
        (b"a\n\xff\n", "UnicodeDecodeError"),
        ('a\n"x"y\n', "Error"),
        ("a\n" + "x" * 200_000, "Error"),
    ],
)
def test_what_is_no_list_is_told_without_what_it_holds(tmp_path: Path, text: str | bytes, says: str) -> None:
    with pytest.raises(BadInput) as caught:
        rows(write(tmp_path, text), "a")
    assert says in caught.value.what and caught.value.do == "fetch it" and str(tmp_path) in caught.value.where


def test_a_list_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"none\.csv"):
        rows(tmp_path / "none.csv", "a")
    with pytest.raises(BadInput, match=r"none\.csv"):
        Lookup(tmp_path / "none.csv", "a", (), "fetch it")


def test_fields_are_numbers_truths_or_nothing() -> None:
    row = {"a": " 12.0 ", "b": "", "c": "-3.5", "d": "True", "e": "0", "f": "Jones"}
    assert [number(row, name, "w", "d") for name in "abcx"] == [12.0, None, -3.5, None]
    assert [whole(row, name, "w", "d") for name in "abx"] == [12, None, None]
    assert [truth(row, name, "w", "d") for name in "bdex"] == [None, True, False, None]
    for read in (number, whole, truth):
        with pytest.raises(BadInput) as caught:
            read(row, "f", "w", "d")
        assert "Jones" not in str(caught.value)
    with pytest.raises(BadInput):
        whole(row, "c", "w", "d")


@given(st.text(max_size=12))
@example("0\x1f")
def test_no_text_is_a_number_that_python_would_not_take(text: str) -> None:
    try:
        found = number({"a": text}, "a", "w", "d")
    except BadInput:
        return
    assert found is None or found == float(text)


@given(st.permutations(range(8)), st.integers(0, 8), st.booleans())
def test_rows_are_found_by_key_whatever_the_order_of_the_list(order: list[int], missing: int, newline: bool) -> None:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n" if newline else "\n")
    writer.writerow(["x", "key"])
    writer.writerows([f"row, {i}", str(i)] for i in order if i != missing)
    with tempfile.TemporaryDirectory() as name:
        file = write(Path(name), text.getvalue())
        with Lookup(file, "key", ("x",), "fetch it") as lookup:
            for i in range(8):
                found = lookup.find(str(i))
                assert (found is None) == (i == missing)
                if found is not None:
                    at = [j for j in order if j != missing].index(i) + 2
                    assert found == (f"{file}:{at}", {"x": f"row, {i}", "key": str(i)})


def test_a_list_in_the_same_order_is_not_remembered(tmp_path: Path) -> None:
    file = write(tmp_path, "key\n" + "".join(f"{i}\n" for i in range(50)))
    with Lookup(file, "key", (), "fetch it") as lookup:
        assert all(lookup.find(str(i)) for i in range(50))
        assert lookup._passed == {}


@pytest.mark.parametrize("text", ["x\n1\n", "key,x\n1\n", 'key,x\n1,"2\n3"\n', b"key,x\n1,\xff\n"])
def test_a_list_that_cannot_be_looked_into_is_told(tmp_path: Path, text: str | bytes) -> None:
    with pytest.raises(BadInput, match=r"list\.csv"), Lookup(write(tmp_path, text), "key", (), "fetch it") as lookup:
        lookup.find("1")
