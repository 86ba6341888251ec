"""Which part of an archive a patient belongs to, where the archive itself does not say: one rule for all archives.

The part hangs on the patient's id alone, so all studies of a patient are in one part, on every machine and whatever
else is read with it.
"""

from __future__ import annotations

import hashlib
from typing import Literal

Part = Literal["train", "val", "test"]

PARTS: tuple[Part, ...] = ("train", "val", "test")
_TRAIN, _VAL = 80, 10
"""Of a hundred patients, how many are to train on and to choose by; the rest are to test on."""


def part_of(patient: str) -> Part:
    """The part of a patient, by an id that carries its archive: `code15/1169160`."""
    drawn = (
        int.from_bytes(
            hashlib.blake2b(f"split {patient}".encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little"
        )
        % 100
    )
    if drawn < _TRAIN:
        return "train"
    return "val" if drawn < _TRAIN + _VAL else "test"
