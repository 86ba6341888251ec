"""The files that hold ECGs, read alike: WFDB records, EDF, and exams inside an HDF5 file.

FOLDER/NAME or NAME.hea or NAME.dat     WFDB
NAME.edf                                EDF or EDF+C
NAME.hdf5#exam=1169160                  an exam of CODE-15%
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from overread.errors import BadInput
from overread.media import edf, hdf5, wfdb
from overread.media.leads import is_unnamed, lead_of, modified_of, shown
from overread.roots import inside


@dataclasses.dataclass(frozen=True, slots=True)
class Rows:
    """Signals of a file that are or may be leads of an ECG, all over the same range."""

    names: tuple[str, ...]
    """As the file spells them."""
    units: tuple[str, ...]
    """As the file spells them; empty where it is silent and its format has no default."""
    values: npt.NDArray[np.float64]
    """(signals, samples) in those units; NaN where the file marks a sample as invalid."""
    rate_hz: float
    start: int
    """First sample, counted as in the file."""


def first(address: str) -> str:
    """The file of an address that is opened first: the header of a WFDB record, else the file itself."""
    file, place = inside(address)
    if place or _is_edf(file):
        return file
    return f"{file.removesuffix('.hea')}.hea"


def beside(path: Path) -> tuple[str, ...]:
    """Names of the files that a study consists of, given the one that is opened first; all lie in its folder."""
    if path.suffix != ".hea":
        return (path.name,)
    header = wfdb.read_header(path)
    return (path.name, *dict.fromkeys(line.file for line in header.lines))


def shape(path: Path) -> tuple[tuple[str, ...], int, float]:
    """Names of the signals, samples and rate in Hz of a WFDB or EDF file, from its header alone."""
    if _is_edf(path.name):
        header = edf.read_header(path)
        signals = _ecg_signals(header)
        return tuple(s.name for s in signals), header.records * signals[0].samples, header.rate_hz(signals[0])
    record = wfdb.read_header(path)
    return tuple(line.name for line in record.lines), wfdb.length(record), record.rate_hz


def read_rows(path: Path, select: Sequence[int] = ()) -> Rows:
    """Reads a file; `select` is `(start, stop)` in samples, all where empty."""
    file, place = inside(str(path))
    if place:
        key, _, number = place.partition("=")
        if key != "exam":
            raise BadInput(f"{place!r} is no place of an ECG", where=str(path), do="write FILE.hdf5#exam=NUMBER")
        values, start = hdf5.read_exam(Path(file), int(number), *select)
        return Rows(hdf5.NAMES, (hdf5.UNITS,) * len(hdf5.NAMES), values, hdf5.RATE_HZ, start)
    if _is_edf(path.name):
        header = edf.read_header(path)
        signals = _ecg_signals(header)
        values = edf.read_signals(header, signals, *select)
        names, units = tuple(s.name for s in signals), tuple(s.units for s in signals)
        return Rows(names, units, values, header.rate_hz(signals[0]), select[0] if select else 0)
    if path.suffix == ".dat" and not wfdb.header_path(path).exists():
        path = path.with_suffix(".hea")
    record = wfdb.read_record(path, *select)
    return Rows(record.names, record.units, record.physical, record.rate_hz, record.start)


def _ecg_signals(header: edf.EdfHeader) -> list[edf.EdfSignal]:
    """The signals of an EDF file that are leads; where none is named, those that are called an ECG."""
    found = [s for s in header.signals if lead_of(s.name) or modified_of(s.name)]
    found = found or [s for s in header.signals if s.name and is_unnamed(s.name)]
    if not found:
        raise BadInput(
            f"none of the signals is a lead of an ECG: {shown([s.name for s in header.signals])}",
            where=str(header.path),
            do="name the leads I, II, ... V6, or ECG I, ECG II, ...",
        )
    if len({s.samples for s in found}) > 1:
        rates = ", ".join(f"{shown([s.name])} {header.rate_hz(s):g} Hz" for s in found[:12])
        raise BadInput(f"the leads differ in rate: {rates}", where=str(header.path), do="resample them to one rate")
    return found


def _is_edf(name: str) -> bool:
    return name.lower().endswith(edf.ENDING)
