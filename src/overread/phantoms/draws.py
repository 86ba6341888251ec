"""Seeded generators for phantoms: the same seed and purpose give the same numbers, whatever else has been drawn."""

from __future__ import annotations

import hashlib

import numpy as np

from overread.errors import BadInput


def generator(purpose: str, seed: int) -> np.random.Generator:
    """A generator of its own for one purpose; different purposes with one seed are independent."""
    if seed < 0:
        raise BadInput(f"the seed {seed} is negative", do="give a whole number from 0 on")
    word = int.from_bytes(hashlib.blake2b(purpose.encode(), digest_size=8).digest(), "little")
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, word])))


def drawn(rng: np.random.Generator, number: float | str) -> float:
    """A number as recipes state it: itself, or one between both ends of `low..high` (or of one of `a..b|c..d`)."""
    if isinstance(number, str):
        ranges = number.split("|")
        low, _, high = ranges[int(rng.integers(len(ranges)))].partition("..")
        return float(rng.uniform(float(low), float(high)))
    return float(number)


def even(number: float) -> int:
    """The nearest even number."""
    return 2 * round(number / 2)
