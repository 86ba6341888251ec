"""WFDB annotation files, `NAME.EXTENSION`: marks at samples of a record, in the MIT format.

Two bytes a mark: six bits say what it is, ten how far it lies behind the one before. Some codes carry more: a longer
distance, a subtype, a channel, a number, a note. Written by us as `media/wfdb.py` is; the wfdb package is the test
oracle.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import NoReturn

import numpy as np
import numpy.typing as npt

from overread.errors import BadInput

SYMBOLS = {
    1: "N", 2: "L", 3: "R", 4: "a", 5: "V", 6: "F", 7: "J", 8: "A", 9: "S", 10: "E", 11: "j", 12: "/", 13: "Q",
    14: "~", 16: "|", 18: "s", 19: "T", 20: "*", 21: "D", 22: '"', 23: "=", 24: "p", 25: "B", 26: "^", 27: "t",
    28: "+", 29: "u", 30: "?", 31: "!", 32: "[", 33: "]", 34: "e", 35: "n", 36: "@", 37: "x", 38: "f", 39: "(",
    40: ")", 41: "r",
}  # fmt: skip
"""What stands for each code; codes without a symbol are written `#17`."""

_NOTE_CODE = 22
_SKIP, _NUM, _SUB, _CHAN, _AUX = 59, 60, 61, 62, 63
_MOST_BYTES = 64 << 20


@dataclasses.dataclass(frozen=True, slots=True)
class Marks:
    """The marks of one file, in the file's order; all parts have the same length."""

    samples: npt.NDArray[np.int64]
    symbols: tuple[str, ...]
    subtypes: npt.NDArray[np.int8]
    channels: npt.NDArray[np.uint8]
    numbers: npt.NDArray[np.int8]
    notes: tuple[str, ...]
    """A text that a mark carries; mostly empty."""


@dataclasses.dataclass(slots=True)
class _Mark:
    sample: int
    code: int
    channel: int
    number: int
    subtype: int = 0
    note: str = ""


def read_marks(path: Path) -> Marks:
    """Reads an annotation file, named with its extension: `100.atr`, `1.avr`."""
    try:
        with path.open("rb") as stream:
            data = stream.read(_MOST_BYTES + 1)
    except OSError as error:
        raise BadInput(
            f"the annotations cannot be read: {error.strerror}", where=str(path), do="check the file"
        ) from error
    if len(data) > _MOST_BYTES:
        raise BadInput("the file is too large for annotations", where=str(path), do="give an annotation file")
    marks = [mark for mark in _parse(data, path) if mark.code and not _defines(mark)]
    return Marks(
        np.array([mark.sample for mark in marks], dtype=np.int64),
        tuple(SYMBOLS.get(mark.code, f"#{mark.code}") for mark in marks),
        np.array([mark.subtype for mark in marks], dtype=np.int8),
        np.array([mark.channel for mark in marks], dtype=np.uint8),
        np.array([mark.number for mark in marks], dtype=np.int8),
        tuple(mark.note for mark in marks),
    )


def _defines(mark: _Mark) -> bool:
    """Notes at the first sample say how the file is to be read, not what is seen there."""
    return mark.sample == 0 and mark.code == _NOTE_CODE


def _parse(data: bytes, path: Path) -> list[_Mark]:
    """All marks up to the pair of zeros that ends the file."""
    marks: list[_Mark] = []
    at = sample = channel = number = 0
    while at + 2 <= len(data):
        code, value = data[at + 1] >> 2, data[at] | (data[at + 1] & 3) << 8
        at += 2
        if code == 0 and value == 0:
            return marks
        if code == _SKIP:
            if at + 4 > len(data):
                break
            # A 32-bit number, its high half first, each half with its low byte first.
            high, low = int.from_bytes(data[at : at + 2], "little"), int.from_bytes(data[at + 2 : at + 4], "little")
            distance = high << 16 | low
            sample += distance - (1 << 32) if distance >> 31 else distance
            at += 4
        elif code < _SKIP:
            sample += value
            marks.append(_Mark(sample, code, channel, number))
        elif not marks:
            _fail("the first mark is no mark", path)
        elif code == _AUX:
            length = value & 0xFF
            if at + length > len(data):
                break
            marks[-1].note = data[at : at + length].decode("latin-1").rstrip("\0")
            at += length + length % 2
        elif code == _SUB:
            marks[-1].subtype = _signed(value)
        elif code == _CHAN:
            channel = marks[-1].channel = value & 0xFF
        else:
            number = marks[-1].number = _signed(value)
        if not 0 <= sample < 1 << 40:
            _fail(f"a mark lies at sample {sample}", path)
    return _fail("the annotations end early", path)


def _signed(value: int) -> int:
    return (value & 0xFF) - (256 if value & 0x80 else 0)


def _fail(what: str, path: Path) -> NoReturn:
    raise BadInput(what, where=str(path), do="fetch the file again; it may be cut short or of another kind")
