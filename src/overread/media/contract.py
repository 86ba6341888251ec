"""What a media kind gives, and what a model is handed.

Each file of this folder named in `KINDS` reads one kind of medium (`ecg`, `clip`, `volume`, `image`) and has:

    FORMS    the forms it can be handed over in, e.g. ("frames", "path")
    CHANGES  the probes of its own beyond `blank`, e.g. ("reverse", "shuffle", "frozen")
    read(path, select) -> study              decode a file, in native positions
    change(study, name, seed) -> study       what a condition does to it: `blank` or one of CHANGES
    deliver(study, form) -> Delivered        the arrays that a model gets
    check_form(form)         optional: BadInput for a variant of a form that there is not, before anything is asked
    pick(study, select) -> study             optional: positions out of a study that was read whole, once
    first(address) -> address                optional: the file that is opened first, where an address names no file
    beside(path) -> names                    with it: given that file, the names of all files of the study, which lie
                                             in its folder; they too must lie below the root

A model declares for each kind which form it takes; the engine hands it `Delivered` and builds receipts from it. A form
may have a variant behind a colon, as in "sheet:upstream".
"""

from __future__ import annotations

import dataclasses
from typing import Any

KINDS = ("ecg", "clip", "volume", "image")


@dataclasses.dataclass(frozen=True, slots=True)
class Delivered:
    """One medium in the form that a model takes, with what a receipt needs."""

    form: str
    data: Any
    """signal: float32 (leads, samples) in mV; sheet: uint8 (height, width, 3); frames: uint8 (frames, height, width,
    3); tensor: float32 (x, y, z); image: the bytes of the file; path: a `pathlib.Path`."""
    indices: tuple[int, ...]
    """Native positions handed over, in order: frames, slices; `(start, stop)` for samples."""
    shape: tuple[int, ...]
    hash: str
    """sha256 (first 24 digits) of the bytes of `data`."""
    facts: dict[str, Any]
    """What the numbers mean: `rate_hz` and `leads`; `boxes` of a sheet; `times_ms`; `spacing_mm` and `orientation`."""
