"""WFDB signal files: packed bytes to integer samples, one function for all formats.

Written by us because the wfdb package brings pandas, matplotlib and a web client; that package is the test oracle.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.integer]


@dataclasses.dataclass(frozen=True, slots=True)
class Packing:
    """How one format packs samples: `block_samples` of them in `block_bytes`; `invalid` marks a missing sample."""

    block_samples: int
    block_bytes: int
    invalid: int | None


FORMATS: dict[int, Packing] = {
    8: Packing(1, 1, None),
    16: Packing(1, 2, -(1 << 15)),
    24: Packing(1, 3, -(1 << 23)),
    32: Packing(1, 4, -(1 << 31)),
    61: Packing(1, 2, -(1 << 15)),
    80: Packing(1, 1, -(1 << 7)),
    160: Packing(1, 2, -(1 << 15)),
    212: Packing(2, 3, -(1 << 11)),
    310: Packing(3, 4, -(1 << 9)),
    311: Packing(3, 4, -(1 << 9)),
}

_TAIL_BYTES = {(212, 1): 2, (310, 1): 2, (310, 2): 4, (311, 1): 2, (311, 2): 3}
"""Bytes that the samples of a last, incomplete block need."""

_ALIGNED = {8: "<i1", 16: "<i2", 32: "<i4", 61: ">i2", 80: "u1", 160: "<u2"}


def bytes_needed(code: int, samples: int) -> int:
    """The smallest number of bytes that hold this many samples."""
    packing = FORMATS[code]
    blocks, rest = divmod(samples, packing.block_samples)
    return blocks * packing.block_bytes + (_TAIL_BYTES[code, rest] if rest else 0)


def samples_held(code: int, size: int) -> int:
    """The largest number of samples that this many bytes hold."""
    packing = FORMATS[code]
    blocks, rest = divmod(size, packing.block_bytes)
    tail = max((n for (c, n), need in _TAIL_BYTES.items() if c == code and need <= rest), default=0)
    return blocks * packing.block_samples + tail


def unpack(code: int, data: bytes, samples: int) -> Integers:
    """The first `samples` samples of `data`, which starts at a block; format 8 gives differences."""
    if code in _ALIGNED:
        values: Integers = np.frombuffer(data, dtype=_ALIGNED[code], count=samples)
        if code == 80:
            return (values.astype(np.int16) - 128).astype(np.int8)
        if code == 160:
            return (values.astype(np.int32) - (1 << 15)).astype(np.int16)
        return values.astype(values.dtype.newbyteorder("="), copy=False)
    if code == 24:
        raw = np.frombuffer(data, dtype=np.uint8, count=3 * samples).reshape(-1, 3).astype(np.int32)
        return _signed(raw[:, 0] | raw[:, 1] << 8 | raw[:, 2] << 16, 24)
    blocks = -(-samples // FORMATS[code].block_samples)
    width = FORMATS[code].block_bytes
    padded = data[: blocks * width].ljust(blocks * width, b"\0")
    raw = np.frombuffer(padded, dtype=np.uint8).reshape(blocks, width).astype(np.int32)
    if code == 212:
        parts = [raw[:, 0] | (raw[:, 1] & 0x0F) << 8, raw[:, 2] | (raw[:, 1] & 0xF0) << 4]
        return _signed(np.stack(parts, axis=1).reshape(-1)[:samples], 12).astype(np.int16)
    if code == 310:
        low, high = raw[:, 0] | raw[:, 1] << 8, raw[:, 2] | raw[:, 3] << 8
        parts = [low >> 1 & 0x3FF, high >> 1 & 0x3FF, low >> 11 | (high >> 11) << 5]
    else:
        parts = [
            raw[:, 0] | (raw[:, 1] & 0x03) << 8,
            raw[:, 1] >> 2 | (raw[:, 2] & 0x0F) << 6,
            raw[:, 2] >> 4 | (raw[:, 3] & 0x3F) << 4,
        ]
    return _signed(np.stack(parts, axis=1).reshape(-1)[:samples], 10).astype(np.int16)


def _signed(values: npt.NDArray[np.int32], bits: int) -> npt.NDArray[np.int32]:
    """Two's complement numbers of fewer bits than their container."""
    half = np.int32(1 << (bits - 1))
    return (values ^ half) - half
