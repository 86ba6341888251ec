"""WFDB records, the file format of PhysioNet: a text header `NAME.hea` and the signal files that it names.

Reads single-segment records whose signals share one rate (formats 8, 16, 24, 32, 61, 80, 160, 212, 310, 311), writes
format 16. What it does not support it refuses: segments, several samples a frame, skew, FLAC.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from overread.errors import BadInput
from overread.media.deliver import MOST_BYTES
from overread.media.wfdb_samples import FORMATS, bytes_needed, samples_held, unpack

DEFAULT_GAIN = 200.0
DEFAULT_RATE_HZ = 250.0
WRITE_GAIN = 1000.0

_MOST_HEADER = 1 << 20
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,3})?"
_RATE = re.compile(rf"({_NUMBER})(?:/.*)?", re.ASCII)
_FORMAT = re.compile(r"(\d{1,3})(?:x(\d{1,9}))?(?::(\d{1,9}))?(?:\+(\d{1,15}))?", re.ASCII)
_GAIN = re.compile(rf"({_NUMBER})(?:\(([-+]?\d{{1,12}})\))?(?:/(\S+))?", re.ASCII)
_WHOLE = re.compile(r"[-+]?\d{1,15}", re.ASCII)
_NAME = re.compile(r"[A-Za-z0-9_-]+")


@dataclasses.dataclass(frozen=True, slots=True)
class Line:
    """One signal line of a header."""

    file: str
    format: int
    offset: int
    """Bytes before the first sample."""
    gain: float
    """Digital units per physical unit."""
    baseline: int
    units: str
    initial: int
    checksum: int | None
    block_size: int
    name: str


@dataclasses.dataclass(frozen=True, slots=True)
class Header:
    """A header; `samples` (a lead) is None where the file does not tell."""

    path: Path
    name: str
    rate_hz: float
    samples: int | None
    lines: tuple[Line, ...]
    comments: tuple[str, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Record:
    """Samples of a record, all signals over the same range."""

    names: tuple[str, ...]
    units: tuple[str, ...]
    rate_hz: float
    physical: npt.NDArray[np.float64]
    """(signals, samples) in the file's units; NaN where the file marks a sample as invalid."""
    digital: npt.NDArray[np.int32]
    """(signals, samples) as stored."""
    start: int
    comments: tuple[str, ...]


def header_path(path: Path) -> Path:
    """The header's path, for a record given with or without `.hea`."""
    return path if path.suffix == ".hea" else path.with_name(path.name + ".hea")


def read_header(path: Path) -> Header:
    """Reads `path` (with or without `.hea`)."""
    file = header_path(path)
    try:
        with file.open("rb") as stream:
            data = stream.read(_MOST_HEADER + 1)
    except OSError as error:
        raise BadInput(f"the WFDB header cannot be read: {error.strerror}", where=str(file), do="check it") from error
    if len(data) > _MOST_HEADER or b"\0" in data:
        _fail(file, 1, "this is not a WFDB header", "give the .hea file of a record")
    comments: list[str] = []
    rows: list[tuple[int, str]] = []
    # Only comments may hold other than ASCII, and nothing is computed from them: odd bytes must not cost the record.
    for number, line in enumerate(re.split(r"\r\n|\n|\r", data.decode("utf-8", "replace")), start=1):
        text = line.strip()
        if text.startswith("#"):
            comments.append(text.lstrip("#").strip())
        elif text:
            rows.append((number, text))
    if not rows:
        _fail(file, 1, "the WFDB header is empty", "fetch the file again")
    name, count, rate, samples = _record_line(file, *rows[0])
    if len(rows) - 1 != count:
        _fail(
            file, rows[0][0], f"the header names {count} signals and has {len(rows) - 1} signal lines", "fetch it again"
        )
    lines = tuple(_signal_line(file, number, text) for number, text in rows[1:])
    return Header(file, name, rate, samples, lines, tuple(comments))


def length(header: Header) -> int:
    """Samples of each signal: as the header says, else as many as its files hold."""
    if header.samples is not None:
        return header.samples
    return min(_held(header, lines) for _, lines in _groups(header))


def read_record(path: Path, start: int = 0, stop: int | None = None) -> Record:
    """Reads samples `start` to `stop` (not included; None: to the end); checksums are verified over whole records."""
    header = read_header(path)
    groups = _groups(header)
    held = min(_held(header, lines) for _, lines in groups)
    whole = held if header.samples is None else header.samples
    stop = whole if stop is None else stop
    if not 0 <= start <= stop <= whole or (start == stop and whole):
        raise BadInput(
            f"the record has no samples {start} to {stop}", where=str(header.path), do=f"select within 0 to {whole}"
        )
    if (stop - start) * len(header.lines) * 8 > MOST_BYTES:
        raise BadInput("the record is too long to be read at once", where=str(header.path), do="select (start, stop)")
    digital = np.concatenate([_read_group(header, lines, start, stop) for _, lines in groups])
    if (start, stop) == (0, whole):
        _verify(header, digital)
    physical = digital.astype(np.float64)
    physical -= np.array([[line.baseline] for line in header.lines], dtype=np.float64)
    physical /= np.array([[line.gain] for line in header.lines], dtype=np.float64)
    for values, stored, line in zip(physical, digital, header.lines, strict=True):
        invalid = FORMATS[line.format].invalid
        if invalid is not None:
            values[stored == invalid] = np.nan
    names = tuple(line.name for line in header.lines)
    units = tuple(line.units for line in header.lines)
    return Record(names, units, header.rate_hz, physical, digital, start, header.comments)


def write_record(
    folder: Path,
    name: str,
    mv: npt.NDArray[Any],
    rate_hz: float,
    leads: Sequence[str],
    comments: Sequence[str] = (),
) -> Path:
    """Writes `mv` (leads, samples) as format 16, 1000 units a mV, NaN as an invalid sample; gives the header's path."""
    where = str(folder / name)
    if not _NAME.fullmatch(name):
        raise BadInput(f"{name!r} cannot name a WFDB record", where=where, do="use letters, digits, '_' and '-'")
    if mv.ndim != 2 or mv.shape[0] != len(leads) or 0 in mv.shape:
        raise BadInput(
            f"{len(leads)} leads do not fit samples of shape {mv.shape}", where=where, do="give (leads, samples)"
        )
    if not (math.isfinite(rate_hz) and rate_hz > 0):
        raise BadInput(f"the rate {rate_hz} is not positive", where=where, do="give it in Hz")
    if any(not lead.strip() or not lead.isprintable() for lead in leads) or any(
        "\n" in c or "\r" in c for c in comments
    ):
        raise BadInput("a lead's name or a comment is not one line of text", where=where, do="change it")
    scaled = np.rint(np.asarray(mv, dtype=np.float64) * WRITE_GAIN)
    missing = np.isnan(scaled)
    if np.any(np.abs(scaled[~missing]) > 32767):
        raise BadInput("the signal exceeds 32.767 mV", where=where, do="give the signal in mV")
    digital = np.where(missing, -32768, scaled).astype("<i2")
    rate = np.format_float_positional(rate_hz, trim="-")
    rows = [f"{name} {len(leads)} {rate} {digital.shape[1]}"]
    for lead, values in zip(leads, digital, strict=True):
        checksum = int(values.sum(dtype=np.int64)) & 0xFFFF
        rows.append(f"{name}.dat 16 {WRITE_GAIN:g}(0)/mV 16 0 {values[0]} {checksum} 0 {lead.strip()}")
    rows += [f"# {comment}" for comment in comments]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.dat").write_bytes(np.ascontiguousarray(digital.T).tobytes())
    header = folder / f"{name}.hea"
    header.write_bytes(("\n".join(rows) + "\n").encode("utf-8"))
    return header


def _fail(file: Path, line: int, what: str, do: str) -> NoReturn:
    raise BadInput(what, where=f"{file}:{line}", do=do)


def _record_line(file: Path, number: int, text: str) -> tuple[str, int, float, int | None]:
    fields = text.split()
    if "/" in fields[0]:
        _fail(file, number, "records of several segments are not supported", "give the header of one segment")
    if len(fields) < 2 or not _WHOLE.fullmatch(fields[1]) or int(fields[1]) < 1:
        _fail(file, number, "the record line does not tell the number of signals", "fetch the file again")
    found = _RATE.fullmatch(fields[2]) if len(fields) > 2 else None
    rate = float(found[1]) if found else DEFAULT_RATE_HZ
    if (len(fields) > 2 and not found) or not (math.isfinite(rate) and rate > 0):
        _fail(file, number, f"{fields[2]!r} is not a sampling rate", "correct the record line")
    if len(fields) > 3 and not _WHOLE.fullmatch(fields[3]):
        _fail(file, number, f"{fields[3]!r} is not a number of samples", "correct the record line")
    samples = int(fields[3]) if len(fields) > 3 else 0
    if samples < 0:
        _fail(file, number, "the number of samples is negative", "correct the record line")
    return fields[0], int(fields[1]), rate, samples or None


def _signal_line(file: Path, number: int, text: str) -> Line:
    """FILE FORMAT[xFRAME][:SKEW][+OFFSET] [GAIN[(BASELINE)][/UNITS] [BITS [ZERO [FIRST [CHECKSUM [BLOCK [NAME]]]]]]]"""
    fields = text.split(None, 8)
    name = fields[0]
    if "/" in name or "\\" in name or name in (".", "..", "~"):
        _fail(file, number, f"{name!r} is not a signal file beside the header", "name a file without folders")
    packed = _FORMAT.fullmatch(fields[1]) if len(fields) > 1 else None
    if packed is None:
        _fail(file, number, "the signal line has no format", "correct the signal line")
    if int(packed[1]) not in FORMATS:
        known = ", ".join(map(str, FORMATS))
        _fail(file, number, f"WFDB format {packed[1]} is not supported", f"convert the record to one of {known}")
    if packed[2] not in (None, "1") or int(packed[3] or 0):
        _fail(file, number, "several samples a frame and skew are not supported", "resample the record to one rate")
    scale = _GAIN.fullmatch(fields[2]) if len(fields) > 2 else None
    if len(fields) > 2 and scale is None:
        _fail(file, number, f"{fields[2]!r} is not a gain", "write GAIN(BASELINE)/UNITS")
    gain = float(scale[1]) if scale else DEFAULT_GAIN
    if not math.isfinite(gain):
        _fail(file, number, "the gain is not finite", "correct the signal line")
    for field in fields[3:8]:
        if not _WHOLE.fullmatch(field):
            _fail(file, number, f"{field!r} is not a whole number", "correct the signal line")
    # Order of these five: bits, zero, first, checksum, block size. Zero serves where baseline or first are not told.
    given: list[int | None] = [int(field) for field in fields[3:8]]
    _, zero, first, checksum, block = given + [None] * (5 - len(given))
    baseline = int(scale[2]) if scale and scale[2] else zero or 0
    return Line(
        file=name,
        format=int(packed[1]),
        offset=int(packed[4] or 0),
        gain=gain or DEFAULT_GAIN,
        baseline=baseline,
        units=(scale[3] if scale else None) or "mV",
        initial=first if first is not None else zero or 0,
        checksum=checksum,
        block_size=block or 0,
        name=fields[8].strip() if len(fields) > 8 else "",
    )


def _groups(header: Header) -> list[tuple[str, list[Line]]]:
    """The signals that share a file, by file."""
    groups = [(file, list(lines)) for file, lines in groupby(header.lines, key=lambda line: line.file)]
    if len({file for file, _ in groups}) != len(groups):
        _fail(header.path, 1, "signals of one file are not beside each other", "reorder the signal lines")
    return groups


def _held(header: Header, lines: Sequence[Line]) -> int:
    """How many samples of each of its signals a signal file holds; refused where the header says otherwise."""
    file = header.path.with_name(lines[0].file)
    if len({(line.format, line.offset) for line in lines}) > 1:
        raise BadInput("signals of one file differ in format", where=str(header.path), do="fetch the header again")
    try:
        size = file.stat().st_size - lines[0].offset
    except OSError as error:
        raise BadInput(
            f"the signal file cannot be read: {error.strerror}", where=str(file), do="put it beside its header"
        ) from error
    held = samples_held(lines[0].format, max(size, 0)) // len(lines)
    if header.samples is None:
        return held
    # A last block may be padded, and files of a block size are; a whole further sample of every signal is neither.
    padding = -(header.samples * len(lines)) % FORMATS[lines[0].format].block_samples
    too_long = held > header.samples + padding // len(lines) and not lines[0].block_size
    if held < header.samples or too_long:
        raise BadInput(
            f"the signal file holds {held} samples of each signal and its header says {header.samples}",
            where=str(file),
            do="fetch header and signal file again, together",
        )
    return held


def _read_group(header: Header, lines: Sequence[Line], start: int, stop: int) -> npt.NDArray[np.int32]:
    """Samples of the signals that share one file, (signals, samples)."""
    file = header.path.with_name(lines[0].file)
    code, width = lines[0].format, len(lines)
    # Format 8 stores differences, so what precedes the range is needed too.
    first = 0 if code == 8 else start * width
    block = FORMATS[code].block_samples
    lead_in = first % block
    samples = stop * width - first + lead_in
    try:
        with file.open("rb") as stream:
            stream.seek(lines[0].offset + (first - lead_in) // block * FORMATS[code].block_bytes)
            data = stream.read(-(-samples // block) * FORMATS[code].block_bytes)
    except OSError as error:
        raise BadInput(f"the signal file cannot be read: {error.strerror}", where=str(file), do="check it") from error
    if len(data) < bytes_needed(code, samples):
        raise BadInput("the signal file ends early", where=str(file), do="fetch it again")
    values = unpack(code, data, samples)[lead_in:].reshape(-1, width)
    if code == 8:
        initial = np.array([line.initial for line in lines], dtype=np.int64)
        values = (np.cumsum(values, axis=0, dtype=np.int64) + initial)[start:]
    return np.ascontiguousarray(values.T, dtype=np.int32)


def _verify(header: Header, digital: npt.NDArray[np.int32]) -> None:
    for line, values in zip(header.lines, digital, strict=True):
        found = int(values.sum(dtype=np.int64)) & 0xFFFF
        if line.checksum is not None and found != line.checksum & 0xFFFF:
            raise BadInput(
                f"the samples of signal {line.name!r} are not those that the header was made for (checksum)",
                where=str(header.path),
                do="fetch header and signal file again, together",
            )
