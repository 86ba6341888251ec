"""ECGs: twelve leads in millivolts from a WFDB record, in one order whatever the file's.

Probes: `reverse` plays the samples backwards, `shuffle` puts whole seconds into another order (beats stay, rhythm
goes), `leads` hands the leads' signals around under the same names.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from overread.errors import BadInput
from overread.media.contract import Delivered
from overread.media.deliver import as_path, digest, order, reading, sealed, wrong_change, wrong_form
from overread.media.wfdb import Record, header_path, read_header, read_record

LEADS = ("I", "II", "III", "aVR", "aVL", "aVF", "V1", "V2", "V3", "V4", "V5", "V6")
FORMS = ("signal", "path")
CHANGES = ("reverse", "shuffle", "leads")

_MV_PER_UNIT = {"mv": 1.0, "uv": 1e-3, "µv": 1e-3, "μv": 1e-3, "nv": 1e-6, "v": 1e3}


@dataclasses.dataclass(frozen=True, slots=True)
class Signal:
    """An ECG, or a stretch of it."""

    mv: npt.NDArray[np.float32]
    """(12, samples) in mV, in the order of `LEADS`; NaN where the file marks a sample as invalid."""
    rate_hz: float
    leads: tuple[str, ...]
    start: int
    """First native sample."""
    stop: int
    """One past the last native sample."""
    path: Path
    changed: str = ""

    @property
    def nbytes(self) -> int:
        """Memory of the samples, in bytes."""
        return self.mv.nbytes


def read(path: Path, select: Sequence[int] = ()) -> Signal:
    """Reads a record (with or without `.hea`); `select` is `(start, stop)` in samples, all where empty."""
    if select and len(select) != 2:
        raise BadInput(
            f"an ECG is selected by (start, stop), not by {len(select)} numbers", where=str(path), do="give two samples"
        )
    with reading(path, "a WFDB record"):
        record = read_record(path, *select)
        if record.physical.shape[1] == 0:
            raise BadInput("the record has no samples", where=str(path), do="fetch it again")
        mv = _twelve(record, path)
    return Signal(mv, record.rate_hz, LEADS, record.start, record.start + mv.shape[1], path)


def _twelve(record: Record, path: Path) -> npt.NDArray[np.float32]:
    place: dict[str, int] = {}
    for i, name in enumerate(record.names):
        if name.casefold() in place:
            raise BadInput(f"lead {name} appears twice", where=str(path), do="keep one of them")
        place[name.casefold()] = i
    missing = [lead for lead in LEADS if lead.casefold() not in place]
    if missing:
        raise BadInput(
            f"leads are missing: {', '.join(missing)}", where=str(path), do=f"give a record with {', '.join(LEADS)}"
        )
    mv = np.empty((len(LEADS), record.physical.shape[1]), dtype=np.float32)
    for row, lead in zip(mv, LEADS, strict=True):
        i = place[lead.casefold()]
        scale = _MV_PER_UNIT.get(record.units[i].casefold())
        if scale is None:
            raise BadInput(f"lead {lead} is in {record.units[i]!r}", where=str(path), do="give the record in mV or uV")
        row[:] = record.physical[i] * scale
    return mv


def beside(path: Path) -> tuple[str, ...]:
    """Names of the files that a record consists of, all in the record's folder."""
    header = read_header(path)
    return (header_path(path).name, *dict.fromkeys(line.file for line in header.lines))


def change(study: Signal, name: str, seed: int) -> Signal:
    """`blank`: flat lines of zero. The probes keep rate, length and the leads' names."""
    mv = study.mv
    if name == "blank":
        mv = np.zeros_like(mv)
    elif name == "reverse":
        mv = np.ascontiguousarray(mv[:, ::-1])
    elif name == "shuffle":
        second = max(1, round(study.rate_hz))
        pieces = [mv[:, i : i + second] for i in range(0, mv.shape[1], second)]
        mv = np.concatenate([pieces[i] for i in order(len(pieces), seed)], axis=1)
    elif name == "leads":
        mv = mv[list(order(len(study.leads), seed))]
    else:
        raise wrong_change("ecg", name, CHANGES)
    return dataclasses.replace(study, mv=mv, changed=name)


def deliver(study: Signal, form: str) -> Delivered:
    """`signal`: float32 (12, samples) in mV."""
    indices = (study.start, study.stop)
    if form == "path":
        return as_path(study.path, indices, study.changed)
    if form == "sheet":
        raise BadInput(
            "form 'sheet' of kind 'ecg' comes in a later version", where="the model's FORMS", do="take form 'signal'"
        )
    if form != "signal":
        raise wrong_form("ecg", form, FORMS)
    facts = {"rate_hz": study.rate_hz, "leads": study.leads}
    return Delivered(form, sealed(study.mv), indices, study.mv.shape, digest(study.mv), facts)
