"""Twelve leads in millivolts, in one order, out of the signals of any file.

Four leads say nothing that I and II do not: III = II - I, aVR = -(I + II)/2, aVL = I - II/2, aVF = II - I/2. Where only
they are missing they are computed, and named as `derived`.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import numpy.typing as npt

from overread.errors import BadInput
from overread.media.ecg_files import Rows
from overread.media.leads import LEADS, is_unnamed, lead_of, modified_of, shown

DERIVED = {"III": (-1.0, 1.0), "aVR": (-0.5, -0.5), "aVL": (1.0, -0.5), "aVF": (-0.5, 1.0)}
"""How much of I and of II makes each of the four."""

_MV_PER_UNIT = {"mv": 1.0, "uv": 1e-3, "µv": 1e-3, "μv": 1e-3, "nv": 1e-6, "v": 1e3}


@dataclasses.dataclass(frozen=True, slots=True)
class Twelve:
    """The twelve leads, and what of them the file did not hold."""

    mv: npt.NDArray[np.float32]
    """(12, samples) in mV, in the order of `LEADS`; NaN where a sample is invalid or a lead is missing."""
    derived: tuple[str, ...]
    missing: tuple[str, ...]
    doubts: tuple[str, ...]
    """What had to be assumed."""


def twelve(rows: Rows, path: Path, *, partial: bool = False) -> Twelve:
    """Finds, scales and orders the leads. Unless `partial`, all twelve must be there or follow from I and II."""
    places, doubts = _places(rows, path, partial)
    known = {lead: _millivolts(rows, at, path) for lead, at in places.items()}
    if any(not rows.units[at].strip() for at in places.values()):
        doubts = (*doubts, "the file does not tell its units; they are taken as mV")
    derived: list[str] = []
    if "I" in known and "II" in known:
        for lead, (one, two) in DERIVED.items():
            if lead not in known:
                known[lead] = one * known["I"] + two * known["II"]
                derived.append(lead)
    missing = tuple(lead for lead in LEADS if lead not in known)
    if missing and not partial:
        raise BadInput(
            f"leads are missing: {', '.join(missing)}",
            where=str(path),
            do=f"give a record with {', '.join(LEADS)} (it has {shown(list(rows.names))})",
        )
    mv = np.full((len(LEADS), rows.values.shape[1]), np.nan, dtype=np.float32)
    # What is too large for the type becomes infinite here and is refused below.
    with np.errstate(over="ignore"):
        for lead, values in known.items():
            mv[LEADS.index(lead)] = values
    if np.isinf(mv).any():
        raise BadInput("the signal is beyond what a voltage can be", where=str(path), do="check gain and units")
    return Twelve(mv, tuple(derived), missing, doubts)


def _places(rows: Rows, path: Path, partial: bool) -> tuple[dict[str, int], tuple[str, ...]]:
    """Where each lead stands in the file, and what had to be assumed to say so."""
    found: dict[str, int] = {}
    for at, name in enumerate(rows.names):
        lead = lead_of(name)
        if lead is not None:
            if lead in found:
                raise BadInput(f"lead {lead} appears twice", where=str(path), do="keep one of them")
            found[lead] = at
    if not partial:
        return found, ()
    doubts: list[str] = []
    for at, name in enumerate(rows.names):
        lead = modified_of(name)
        if lead is not None and lead not in found:
            found[lead] = at
            doubts.append(f"{shown([name])} is a modified lead, taken as {lead}")
    if not found and len(rows.names) == 1 and is_unnamed(rows.names[0]):
        found = {"II": 0}
        doubts.append("the file does not say which lead it holds; it is taken as II")
    if not found:
        raise BadInput(
            f"none of the signals is a lead of an ECG: {shown(list(rows.names))}",
            where=str(path),
            do=f"name the leads {', '.join(LEADS)}",
        )
    return found, tuple(doubts)


def _millivolts(rows: Rows, at: int, path: Path) -> npt.NDArray[np.float64]:
    units = rows.units[at].strip().casefold()
    scale = _MV_PER_UNIT.get(units) if units else 1.0
    if scale is None:
        raise BadInput(
            f"lead {shown([rows.names[at]])} is in {shown([rows.units[at]])!r}",
            where=str(path),
            do="give the record in mV or uV",
        )
    values: npt.NDArray[np.float64] = rows.values[at]
    return values if scale == 1.0 else values * scale
