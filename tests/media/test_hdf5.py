from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType
from typing import Any

import h5py
import numpy as np
import pytest

from overread.errors import BadInput
from overread.media import ecg
from overread.media.contract import Delivered
from overread.media.hdf5 import read_exam
from overread.media.reader import MediaReader
from overread.roots import Roots
from overread.tables import Media


@pytest.fixture
def root(tmp_path: Path, trees: ModuleType) -> Path:
    (tmp_path / "code15").mkdir()
    return Path(trees.code15(tmp_path / "code15"))


def look(root: Path, uri: str, form: str = "signal") -> Delivered:
    with MediaReader(Roots({"code15": root}), {"ecg": form}) as reader:
        return reader.look(Media("ecg", "ecg", uri))


def test_an_exam_is_found_by_its_number_and_its_filling_is_cut_off(root: Path, trees: ModuleType) -> None:
    for exam, file, seconds in ((1169160, 0, 10.0), (2873686, 0, 7.0), (168405, 1, 10.24)):
        mv = trees.phantom(exam, seconds=seconds, rate_hz=400)
        signal = ecg.read(root / f"exams_part{file}.hdf5#exam={exam}")
        assert np.array_equal(signal.mv, mv)
        assert (signal.start, signal.stop) == ((4096 - mv.shape[1]) // 2, (4096 + mv.shape[1]) // 2)
        assert signal.rate_hz == 400 and signal.leads == ecg.LEADS and signal.derived == ()
        given = look(root, f"code15://exams_part{file}.hdf5#exam={exam}")
        assert np.array_equal(given.data, mv) and given.indices == (signal.start, signal.stop)


def test_a_stretch_is_counted_in_the_row_of_the_file(root: Path, trees: ModuleType) -> None:
    mv = trees.phantom(2873686, seconds=7.0, rate_hz=400)
    signal = ecg.read(root / "exams_part0.hdf5#exam=2873686", (640, 660))
    assert (signal.start, signal.stop) == (640, 660)
    assert not signal.mv[:, :8].any() and np.array_equal(signal.mv[:, 8:], mv[:, :12])
    with pytest.raises(BadInput, match="no samples"):
        ecg.read(root / "exams_part0.hdf5#exam=2873686", (0, 4097))


@pytest.mark.parametrize("place", ["exam=5", "exam=0", "row=1"])
def test_an_exam_that_is_not_there_or_empty_is_refused(root: Path, place: str) -> None:
    with pytest.raises(BadInput, match="exams_part0"):
        ecg.read(root / f"exams_part0.hdf5#{place}")


def test_a_file_that_is_not_there_is_named(root: Path) -> None:
    with pytest.raises(BadInput, match=r"exams_part7\.hdf5"):
        look(root, "code15://exams_part7.hdf5#exam=5")


def test_a_part_of_a_file_is_not_handed_over_as_a_path(root: Path) -> None:
    with pytest.raises(BadInput, match="a part of one"):
        look(root, "code15://exams_part0.hdf5#exam=1169160", "path")


def test_a_link_out_of_the_root_is_refused_before_the_file_is_opened(root: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.hdf5"
    (root / "exams_part0.hdf5").rename(secret)
    (root / "exams_part0.hdf5").symlink_to(secret)
    with pytest.raises(BadInput, match="symbolic link"):
        look(root, "code15://exams_part0.hdf5#exam=1169160")


def spoil(file: h5py.File, how: str, elsewhere: Path) -> None:
    if how.startswith("external"):
        del file["tracings"]
    if how == "external link":
        file["tracings"] = h5py.ExternalLink(str(elsewhere), "tracings")
    elif how == "external values":
        raw = elsewhere.with_suffix(".raw")
        np.zeros((3, 16, 12), "<f4").tofile(raw)
        file.create_dataset("tracings", (3, 16, 12), "<f4", external=[(str(raw), 0, 3 * 16 * 12 * 4)])
    elif how == "virtual":
        layout = h5py.VirtualLayout((3, 16, 12), "<f4")
        layout[:] = h5py.VirtualSource(str(elsewhere), "tracings", (3, 16, 12))
        del file["tracings"]
        file.create_virtual_dataset("tracings", layout)
    elif how == "soft link":
        file.move("tracings", "other")
        file["tracings"] = h5py.SoftLink("/other")
    else:
        del file[how]


@pytest.mark.parametrize("how", ["external link", "external values", "virtual", "soft link", "tracings", "exam_id"])
def test_values_that_lie_in_another_file_are_refused(root: Path, tmp_path: Path, how: str) -> None:
    elsewhere = tmp_path / "elsewhere.hdf5"
    with h5py.File(elsewhere, "w") as file:
        file["tracings"] = np.ones((3, 16, 12), "<f4")
    with h5py.File(root / "exams_part0.hdf5", "r+") as file:
        spoil(file, how, elsewhere)
    with pytest.raises(BadInput, match="file itself"):
        read_exam(root / "exams_part0.hdf5", 1169160)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("tracings", np.zeros((3, 16))),
        ("tracings", np.zeros((3, 16, 8))),
        ("tracings", np.zeros((1, 16, 12))),
        ("tracings", np.full((3, 16, 12), b"x")),
        ("exam_id", np.zeros((3, 1), int)),
        ("exam_id", np.array([1169160.0, 2.0])),
        ("exam_id", np.array([1169160, 1169160, 7])),
    ],
)
def test_datasets_of_another_shape_are_refused(root: Path, name: str, values: np.ndarray) -> None:
    with h5py.File(root / "exams_part0.hdf5", "r+") as file:
        del file[name]
        file[name] = values
    with pytest.raises(BadInput, match="exams_part0"):
        read_exam(root / "exams_part0.hdf5", 1169160)


def test_a_file_that_was_replaced_is_read_anew(root: Path) -> None:
    path = root / "exams_part0.hdf5"
    read_exam(path, 1169160)
    with h5py.File(path, "w") as file:
        file["exam_id"], file["tracings"] = np.array([5]), np.ones((1, 64, 12))
    assert read_exam(path, 5)[0].shape == (12, 64)
    with pytest.raises(BadInput, match="0 times"):
        read_exam(path, 1169160)


def test_damaged_files_are_told(root: Path) -> None:
    path = root / "exams_part0.hdf5"
    data = path.read_bytes()
    for damaged in (b"", b"text", data[:900], data[: len(data) // 2]):
        path.write_bytes(damaged)
        with pytest.raises(BadInput, match="exams_part0"):
            read_exam(path, 1169160)


def test_without_h5py_the_extra_is_named(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = importlib.import_module

    def without(name: str, *rest: Any) -> ModuleType:
        if name == "h5py":
            raise ImportError(name)
        return plain(name, *rest)

    monkeypatch.setattr(importlib, "import_module", without)
    with pytest.raises(BadInput, match=r"overread\[hdf5\]"):
        read_exam(root / "exams_part0.hdf5", 1169160)
