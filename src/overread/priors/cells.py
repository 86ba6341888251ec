"""Hashes that name what is counted, the same one by one (Python) and in bulk (NumPy), in every process."""

from __future__ import annotations

import functools
import hashlib

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]

_MASK = (1 << 64) - 1
_ODD = 0x9E3779B97F4A7C15
FOLDS = 5
"""Inner folds of patients, within one half."""


@functools.lru_cache(maxsize=1 << 16)
def token(text: str) -> int:
    """A text as 64 bits."""
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def mix(left: int, right: int) -> int:
    """One hash of an ordered pair; not linear, so that sums of histories cannot cancel out."""
    return ((left ^ (left >> 29)) * _ODD + right) & _MASK


def mix_all(left: Hashes, right: Hashes | int) -> Hashes:
    """`mix` for arrays; overflow wraps round as the mask does."""
    other = np.uint64(right) if isinstance(right, int) else right
    mixed: Hashes = (left ^ (left >> np.uint64(29))) * np.uint64(_ODD) + other
    return mixed


def half_of(patient: str) -> int:
    """Which of the two halves of all patients this one belongs to."""
    return token(f"half:{patient}") & 1


def fold_of(patient: str) -> int:
    """The inner fold of a patient; independent of the half."""
    return token(f"fold:{patient}") % FOLDS
