"""ECGs: twelve leads in millivolts from WFDB, EDF or HDF5, in one order whatever the file's.

`read` gives all twelve or refuses: exams need them. With `partial=True` it takes any ECG, down to a single lead, and
says what is missing. What makes one doubt a file (leads that contradict each other, impossible sizes) is told as
`doubts`; nothing is put right silently.

Probes: `reverse` plays the samples backwards, `shuffle` puts whole seconds into another order (beats stay, rhythm
goes), `leads` hands the leads' signals around under the same names.

As a `sheet` an ECG is drawn: `sheet` alone is the profile `clinical`, `sheet:upstream` another, and settings may follow
(`sheet:clinical,dpi=150`); `drawing/settings.py` has them all. The changes are drawn from the changed signal.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from overread.errors import BadInput
from overread.media import ecg_files, leads
from overread.media.contract import Delivered
from overread.media.deliver import as_path, digest, order, reading, sealed, wrong_change, wrong_form
from overread.media.doubts import LEAST_MV, MOST_MV, doubts_about, height_mv
from overread.media.twelve import twelve

LEADS = leads.LEADS
FORMS = ("signal", "sheet", "path")
CHANGES = ("reverse", "shuffle", "leads")

first = ecg_files.first
beside = ecg_files.beside


@dataclasses.dataclass(frozen=True, slots=True)
class Signal:
    """An ECG, or a stretch of it."""

    mv: npt.NDArray[np.float32]
    """(12, samples) in mV, in the order of `LEADS`; NaN where a sample is marked as invalid or a lead is missing."""
    rate_hz: float
    leads: tuple[str, ...]
    start: int
    """First native sample."""
    stop: int
    """One past the last native sample."""
    path: Path
    changed: str = ""
    derived: tuple[str, ...] = ()
    """Leads that the file does not hold and that were computed from I and II."""
    missing: tuple[str, ...] = ()
    """Leads that are not known at all; only with `partial`."""
    doubts: tuple[str, ...] = ()
    """What makes one doubt the file, in sentences."""

    @property
    def nbytes(self) -> int:
        """Memory of the samples, in bytes."""
        return self.mv.nbytes


def read(path: Path, select: Sequence[int] = (), *, partial: bool = False) -> Signal:
    """Reads an ECG; `select` is `(start, stop)` in samples as the file counts them, all where empty.

    III, aVR, aVL and aVF are computed where only they are missing. Other missing leads are an error, or with `partial`
    rows of NaN. `overread.media.ecg_files` says how files are named.
    """
    if select and len(select) != 2:
        raise BadInput(
            f"an ECG is selected by (start, stop), not by {len(select)} numbers", where=str(path), do="give two samples"
        )
    with reading(path, "an ECG"):
        rows = ecg_files.read_rows(path, select)
        if rows.values.shape[1] == 0:
            raise BadInput("the record has no samples", where=str(path), do="fetch it again")
        found = twelve(rows, path, partial=partial)
        given = tuple(lead for lead in LEADS if lead not in (*found.derived, *found.missing))
        doubts = found.doubts + doubts_about(found.mv, rows.rate_hz, given)
        if not all(unit.strip() for unit in rows.units) and not _is_plausible(found.mv, rows.rate_hz):
            raise BadInput(
                "the file does not tell its units, and mV they are not", where=str(path), do="give the file in mV or uV"
            )
    stop = rows.start + found.mv.shape[1]
    return Signal(
        found.mv, rows.rate_hz, LEADS, rows.start, stop, path,
        derived=found.derived, missing=found.missing, doubts=doubts,
    )  # fmt: skip


def _is_plausible(mv: npt.NDArray[np.float32], rate_hz: float) -> bool:
    return LEAST_MV <= height_mv(mv, rate_hz) <= MOST_MV


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
    # Doubts are about the samples as the file has them, which these no longer are.
    return dataclasses.replace(study, mv=mv, changed=name, doubts=())


def check_form(form: str) -> None:
    """BadInput for a sheet that there is not."""
    name, colon, profile = form.partition(":")
    if colon and name != "sheet":
        raise wrong_form("ecg", form, FORMS)
    if colon:
        from overread.media import sheet

        sheet.sheet_of(profile)


def deliver(study: Signal, form: str) -> Delivered:
    """`signal`: float32 (12, samples) in mV; `sheet` or `sheet:PROFILE`: uint8 (height, width, 3)."""
    indices = (study.start, study.stop)
    if form == "path":
        return as_path(study.path, indices, study.changed)
    if form == "sheet" or form.startswith("sheet:"):
        return _sheet(study, form)
    if form != "signal":
        raise wrong_form("ecg", form, FORMS)
    facts = {"rate_hz": study.rate_hz, "leads": study.leads, "derived": study.derived, "doubts": study.doubts}
    return Delivered(form, sealed(study.mv), indices, study.mv.shape, digest(study.mv), facts)


def _sheet(study: Signal, form: str) -> Delivered:
    """The drawn sheet; its facts say where each lead stands, and its indices which samples it shows."""
    from overread.media import sheet  # not at the top: matplotlib is slow to import, and most models never draw

    _, colon, profile = form.partition(":")
    drawn = sheet.draw(study.mv, study.rate_hz, study.leads, profile if colon else sheet.DEFAULT)
    start, stop = drawn.samples
    facts = {"rate_hz": study.rate_hz, "leads": study.leads, "sheet": profile or sheet.DEFAULT, **drawn.facts()}
    indices = (study.start + start, study.start + stop)
    return Delivered(form, sealed(drawn.image), indices, drawn.image.shape, digest(drawn.image), facts)
