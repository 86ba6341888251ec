"""EDF and EDF+C: a header of fixed-width text, then data records that hold a stretch of each signal as 16-bit numbers.

Written by us because reading it takes a page; pyedflib is the test oracle. Signals may differ in rate; those that are
read together may not. Recordings with gaps (EDF+D) and 24-bit files (BDF) are refused. Names of patients are not read.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import numpy as np
import numpy.typing as npt

from overread.errors import BadInput
from overread.media.deliver import MOST_BYTES

ENDING = ".edf"
ANNOTATIONS = "EDF Annotations"

_FIXED = 256
_MOST_SIGNALS = 2048
_MOST_RECORD = 1 << 27
"""Bytes of one data record: far above what the format recommends (61,440)."""
_WIDTHS = {
    "label": 16, "transducer": 80, "units": 8, "physical_min": 8, "physical_max": 8, "digital_min": 8,
    "digital_max": 8, "filter": 80, "samples": 8, "reserved": 32,
}  # fmt: skip
"""The fields of the second part of the header: each stands there for all signals, then the next."""
_WHOLE = re.compile(r"[-+]?\d{1,9}", re.ASCII)
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,2})?", re.ASCII)


@dataclasses.dataclass(frozen=True, slots=True)
class EdfSignal:
    """One signal as the header describes it."""

    name: str
    units: str
    physical_min: float
    physical_max: float
    digital_min: int
    digital_max: int
    samples: int
    """In each data record."""
    place: int
    """Samples of other signals before its own in each data record."""


@dataclasses.dataclass(frozen=True, slots=True)
class EdfHeader:
    """What a file holds; channels of annotations are not among its signals."""

    path: Path
    start: int
    """Bytes before the first data record."""
    records: int
    seconds: float
    """Length of a data record."""
    width: int
    """Samples of all signals together, in a data record."""
    signals: tuple[EdfSignal, ...]

    def rate_hz(self, signal: EdfSignal) -> float:
        """Samples a second of one of its signals."""
        return signal.samples / self.seconds


def read_header(path: Path) -> EdfHeader:
    """Reads the header, and checks it against the size of the file."""
    try:
        with path.open("rb") as stream:
            fixed = stream.read(_FIXED)
            count = _count(fixed, path)
            rest = stream.read(_FIXED * count)
        size = path.stat().st_size
    except OSError as error:
        raise BadInput(f"the EDF file cannot be read: {error.strerror}", where=str(path), do="check it") from error
    if len(rest) < _FIXED * count:
        _fail("the header ends early", path)
    if _text(fixed[192:236]).startswith("EDF+D"):
        raise BadInput(
            "the recording has gaps (EDF+D), which is not supported", where=str(path), do="export it without gaps"
        )
    seconds = _number(fixed[244:252], "the length of a data record", path)
    signals, width = _signals(rest, count, path)
    if not signals:
        _fail("the file holds no signals, only annotations", path)
    if seconds <= 0:
        _fail("the data records have no length", path)
    start = _FIXED * (1 + count)
    held, cut = divmod(size - start, 2 * width)
    records = _whole(fixed[236:244], "the number of data records", path)
    if records == -1 and not cut:
        records = held  # a recording that was stopped before its header was completed
    if _whole(fixed[184:192], "the size of the header", path) != start or records != held or cut:
        raise BadInput(
            f"the header says {records} data records and the file holds {held}{' and a part' if cut else ''}",
            where=str(path),
            do="fetch or export the file again",
        )
    return EdfHeader(path, start, records, seconds, width, signals)


def read_signals(
    header: EdfHeader, signals: Sequence[EdfSignal], start: int = 0, stop: int | None = None
) -> npt.NDArray[np.float64]:
    """Samples `start` to `stop` of signals that share a rate, in the units of the file: (signals, samples)."""
    each = signals[0].samples
    if {signal.samples for signal in signals} != {each}:
        raise BadInput("the signals differ in rate", where=str(header.path), do="read signals of one rate together")
    length = header.records * each
    stop = length if stop is None else stop
    if not 0 <= start <= stop <= length or (start == stop and length):
        raise BadInput(
            f"the recording has no samples {start} to {stop}", where=str(header.path), do=f"select within 0 to {length}"
        )
    first, last = start // each, -(-stop // each)
    if (last - first) * each * len(signals) * 8 > MOST_BYTES or (last - first) * header.width * 2 > MOST_BYTES:
        raise BadInput(
            "the recording is too long to be read at once", where=str(header.path), do="select (start, stop)"
        )
    if start == stop:
        return np.empty((len(signals), 0))
    try:
        stored = np.fromfile(
            header.path,
            dtype="<i2",
            count=(last - first) * header.width,
            offset=header.start + 2 * first * header.width,
        )
    except OSError as error:
        raise BadInput(
            f"the EDF file cannot be read: {error.strerror}", where=str(header.path), do="check it"
        ) from error
    if stored.size != (last - first) * header.width:
        _fail("the file ends early", header.path)
    stored = stored.reshape(last - first, header.width)
    physical = np.empty((len(signals), stop - start))
    for row, signal in zip(physical, signals, strict=True):
        digital = stored[:, signal.place : signal.place + each].reshape(-1)[start - first * each : stop - first * each]
        step = (signal.physical_max - signal.physical_min) / (signal.digital_max - signal.digital_min)
        row[:] = step * (digital + (signal.physical_max / step - signal.digital_max))
    return physical


def _count(fixed: bytes, path: Path) -> int:
    """The number of signals, of a header that is one of EDF."""
    if fixed[:8] == b"\xffBIOSEMI":
        _fail("24-bit files (BDF) are not supported", path)
    if len(fixed) < _FIXED or fixed[:8] != b"0       ":
        _fail("this is not an EDF file", path)
    count = _whole(fixed[252:256], "the number of signals", path)
    if not 1 <= count <= _MOST_SIGNALS:
        _fail(f"the number of signals is {count}", path)
    return count


def _signals(rest: bytes, count: int, path: Path) -> tuple[tuple[EdfSignal, ...], int]:
    """The signals, and the samples of a whole data record."""
    fields: dict[str, list[bytes]] = {}
    at = 0
    for name, width in _WIDTHS.items():
        fields[name] = [rest[at + i * width : at + (i + 1) * width] for i in range(count)]
        at += count * width
    signals: list[EdfSignal] = []
    place = 0
    for i in range(count):
        where = f"of signal {i + 1}"
        samples = _whole(fields["samples"][i], f"the number of samples {where}", path)
        if not 1 <= samples <= _MOST_RECORD // 2:
            _fail(f"the number of samples {where} is {samples}", path)
        label = _text(fields["label"][i])
        if label != ANNOTATIONS:
            low, high = (_number(fields[f"physical_{end}"][i], f"the range {where}", path) for end in ("min", "max"))
            least, most = (_whole(fields[f"digital_{end}"][i], f"the range {where}", path) for end in ("min", "max"))
            # A physical range that runs backwards is legal and turns the signal over.
            if low == high or not -32768 <= least < most <= 32767:
                _fail(f"the range {where} is empty or beyond 16 bits", path)
            units = _text(fields["units"][i])
            signals.append(EdfSignal(label, units, low, high, least, most, samples, place))
        place += samples
        if place > _MOST_RECORD // 2:
            _fail("the data records are too large", path)
    return tuple(signals), place


def _text(field: bytes) -> str:
    return field.decode("latin-1").strip(" \0")


def _whole(field: bytes, what: str, path: Path) -> int:
    text = _text(field)
    if not _WHOLE.fullmatch(text):
        _fail(f"{what} is no whole number", path)
    return int(text)


def _number(field: bytes, what: str, path: Path) -> float:
    text = _text(field)
    value = float(text) if _NUMBER.fullmatch(text) else math.nan
    if not math.isfinite(value):
        _fail(f"{what} is no number", path)
    return value


def _fail(what: str, path: Path) -> NoReturn:
    raise BadInput(what, where=str(path), do="give an EDF or EDF+C file; fetch or export it again if it is one")
