"""ECGs inside an HDF5 file as CODE-15% ships them: `tracings` (exams, samples, leads) and `exam_id` (exams,).

An address names the exam, `code15://exams_part0.hdf5#exam=1169160`: the list of exams tells its number and not its row.
Needs h5py (the extra `hdf5`), which is imported when a file is opened and not before.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from overread.errors import BadInput
from overread.media.deliver import MOST_BYTES, reading

NAMES = ("DI", "DII", "DIII", "AVR", "AVL", "AVF", "V1", "V2", "V3", "V4", "V5", "V6")
"""The leads of the last axis, in its order and spelling."""
RATE_HZ = 400.0
UNITS = "mV"
"""What the values come nearest to. The dataset states no unit, its authors contradict themselves (a tenth of a
millivolt, or a millivolt), and users who measured find QRS complexes about twice as tall as elsewhere, read so."""

_KEPT_FILES = 32
_MOST_EXAMS = 1 << 24


def read_exam(
    path: Path, exam: int, start: int | None = None, stop: int | None = None
) -> tuple[npt.NDArray[np.float64], int]:
    """The tracing of an exam as (12, samples) in mV, and its first sample in the row of the file.

    Without a range, the zeros that fill the row up to its length are cut off at both ends.
    """
    with reading(path, "an HDF5 file of exams"), _opened(path) as file:
        row = _row(path, exam)
        tracings = _dataset(file, "tracings", path)
        if tracings.ndim != 3 or tracings.shape[2] != len(NAMES) or tracings.dtype.kind not in "fiu":
            _fail(f"'tracings' is {tracings.dtype} of shape {tracings.shape}, not (exams, samples, 12)", path)
        if row >= tracings.shape[0] or tracings.shape[1] * len(NAMES) * 8 > MOST_BYTES:
            _fail(f"'tracings' has no row {row} that can be read", path)
        stored = np.asarray(tracings[row], dtype=np.float64).T
    if start is not None and stop is not None:
        if not 0 <= start < stop <= stored.shape[1]:
            raise BadInput(
                f"exam {exam} has no samples {start} to {stop}",
                where=str(path),
                do=f"select within 0 to {stored.shape[1]}",
            )
        return stored[:, start:stop], start
    filled = np.flatnonzero(np.any(stored != 0, axis=0))
    if not filled.size:
        raise BadInput(f"exam {exam} holds nothing but zeros", where=str(path), do="leave this exam out")
    return stored[:, filled[0] : filled[-1] + 1], int(filled[0])


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    try:
        h5py: Any = importlib.import_module("h5py")
    except ImportError as error:
        raise BadInput(
            "reading HDF5 files needs h5py", where=str(path), do="install it: pip install 'overread[hdf5]'"
        ) from error
    with h5py.File(path, "r") as file:
        yield file


def _row(path: Path, exam: int) -> int:
    state = path.stat()
    exams, rows = _exams(path, state.st_mtime_ns, state.st_size)
    first, last = np.searchsorted(exams, [exam, exam + 1])
    if last - first != 1:
        raise BadInput(
            f"exam {exam} is in the file {last - first} times, not once",
            where=str(path),
            do="take exams.csv and the HDF5 files from one place",
        )
    return int(rows[first])


@functools.lru_cache(maxsize=_KEPT_FILES)
def _exams(path: Path, changed: int, size: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The exams of a file in order of number, and their rows; read once for each state of the file."""
    with _opened(path) as file:
        exam_id = _dataset(file, "exam_id", path)
        if exam_id.ndim != 1 or exam_id.dtype.kind not in "iu" or exam_id.shape[0] > _MOST_EXAMS:
            _fail(f"'exam_id' is {exam_id.dtype} of shape {exam_id.shape}, not one number an exam", path)
        found = np.asarray(exam_id[:], dtype=np.int64)
    order = np.argsort(found, kind="stable")
    return found[order], order


def _dataset(file: Any, name: str, path: Path) -> Any:
    """A dataset whose values lie in this very file: HDF5 can also point into others, anywhere on the disk."""
    h5py: Any = importlib.import_module("h5py")
    link = file.get(name, getlink=True)
    found = file[name] if isinstance(link, h5py.HardLink) else None
    if not isinstance(found, h5py.Dataset) or found.external or found.is_virtual:
        _fail(f"there is no dataset {name!r} whose values lie in the file itself", path)
    return found


def _fail(what: str, path: Path) -> NoReturn:
    raise BadInput(what, where=str(path), do="give an HDF5 file of CODE-15%, with 'tracings' and 'exam_id'")
