"""Fast PNG: unfiltered rows, zlib's level 1, and tables small enough for the processor's cache.

Measured on a sheet `upstream` (2072 x 1003): 13 ms and 271 kB, against 55 ms and 240 kB of Pillow's default; filters
make the file larger, and there are some 2000 colours, so that no palette holds them.
"""

from __future__ import annotations

import struct
import zlib

import numpy as np
import numpy.typing as npt

LEVEL, MEMORY_LEVEL = 1, 7
SIGNATURE = b"\x89PNG\r\n\x1a\n"


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(data, zlib.crc32(name)))


def encode(image: npt.NDArray[np.uint8], px_per_m: int = 0) -> bytes:
    """A picture (height, width, 3) as PNG; `px_per_m` tells how large it is meant to be, where it is known."""
    height, width = image.shape[:2]
    rows = np.empty((height, 1 + 3 * width), dtype=np.uint8)
    rows[:, 0] = 0
    rows[:, 1:] = image.reshape(height, 3 * width)
    parts = [SIGNATURE, _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))]
    if px_per_m:
        parts.append(_chunk(b"pHYs", struct.pack(">IIB", px_per_m, px_per_m, 1)))
    packer = zlib.compressobj(LEVEL, zlib.DEFLATED, zlib.MAX_WBITS, MEMORY_LEVEL)
    parts += [_chunk(b"IDAT", packer.compress(rows.data) + packer.flush()), _chunk(b"IEND", b"")]
    return b"".join(parts)
