"""One ECG: read, measured, told as a table or a document, and drawn with its waves marked."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from overread.errors import BadInput
from overread.guidelines.diagnoses import book, diagnoses
from overread.guidelines.ecg_facts import EcgFacts, LeadFacts
from overread.measure.ecg import UNSEEN, Measured, Waves, measure_ecg
from overread.media import ecg, ecg_files
from overread.media.deliver import reading
from overread.media.drawing.marks import Mark
from overread.models.ecg_reading import EcgReading, Read
from overread.report.texts import plain_table

MOST_SECONDS = 3600.0
"""A longer recording is measured piece by piece."""

INTERVALS = ("rr_ms", "pr_ms", "qrs_ms", "qt_ms", "qtc_ms")
HEIGHTS = ("q_mv", "r_mv", "s_mv", "r2_mv", "t_mv", "p_mv")
WORDS = {
    "rate_bpm": ("ventricular rate", "bpm"), "atrial_bpm": ("rate of the P waves", "bpm"), "rr_ms": ("RR", "ms"),
    "p_ms": ("P wave", "ms"), "pr_ms": ("PR", "ms"), "qrs_ms": ("QRS", "ms"), "qt_ms": ("QT", "ms"),
    "qtc_ms": ("QTc (Fridericia)", "ms"), "axis_deg": ("QRS axis", "degrees"),
}  # fmt: skip
MARKED = (("P", "p"), ("QRS", "qrs"), ("T", "t"))


@dataclasses.dataclass(frozen=True, slots=True)
class Stretch:
    """The part of a recording that is measured, in seconds."""

    start: float = 0.0
    seconds: float | None = None
    """None: to its end."""


@dataclasses.dataclass(frozen=True, slots=True)
class OneEcg:
    """A recording and what was measured in it."""

    study: ecg.Signal
    measured: Measured

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the numbers has to know of the file."""
        notes = list(self.study.doubts)
        if self.study.missing:
            notes.append(f"leads that the file does not have: {', '.join(self.study.missing)}")
        if self.study.derived:
            notes.append(f"leads computed from I and II: {', '.join(self.study.derived)}")
        marks = self.measured.boundaries
        out = [name for name, usable in zip(marks.leads, marks.usable, strict=True) if not usable]
        out = [name for name in out if name not in self.study.missing]
        if out:
            notes.append(f"leads that could not be measured: {', '.join(out)}")
        return tuple(notes)


def measure_file(address: str, stretch: Stretch) -> OneEcg:
    """Reads and measures an ECG file; any number of leads from one on."""
    path = Path(address) if "#" in address else Path(ecg.first(address))
    study = ecg.read(path, _select(path, stretch), partial=True)
    try:
        return OneEcg(study, measure_ecg(study.mv, study.rate_hz))
    except BadInput as error:
        doubts = "".join(f"; {doubt}" for doubt in study.doubts)
        raise BadInput(error.what + doubts, where=address, do=error.do) from error


def _select(path: Path, stretch: Stretch) -> tuple[int, ...]:
    if stretch.start < 0 or (stretch.seconds is not None and not stretch.seconds > 0):
        raise BadInput("a stretch begins at 0 s or later and lasts", where=str(path), do="give positive seconds")
    if "#" in str(path):
        if stretch != Stretch():
            raise BadInput("no stretch of an HDF5 exam can be chosen", where=str(path), do="measure it whole")
        return ()
    with reading(path, "an ECG"):
        _, samples, rate_hz = ecg_files.shape(path)
    start = round(stretch.start * rate_hz)
    stop = samples if stretch.seconds is None else min(samples, start + round(stretch.seconds * rate_hz))
    if start >= samples:
        raise BadInput(f"the recording ends after {samples / rate_hz:g} s", where=str(path), do="begin earlier")
    if (stop - start) / rate_hz > MOST_SECONDS:
        raise BadInput(
            f"the recording lasts {(stop - start) / rate_hz:.0f} s, longer than is measured at once",
            where=str(path), do=f"choose a stretch of at most {MOST_SECONDS:g} s: --start and --seconds",
        )  # fmt: skip
    return () if (start, stop) == (0, samples) else (start, stop)


# ---- the document


def document(one: OneEcg) -> dict[str, Any]:
    """Everything as one object that JSON can hold; samples are counted as the file counts them."""
    facts, marks, answers = one.measured.facts, one.measured.boundaries, EcgReading(one.measured)
    start = one.study.start
    return {
        "fs": one.study.rate_hz,
        "leads": list(facts.leads),
        "samples": [start, one.study.stop],
        "beats": list(_beats(one)),
        "lone_p": (marks.lone_p + start).tolist(),
        "pacing_spikes": (marks.spikes + start).tolist(),
        "rate_bpm": _round(facts.rate_bpm),
        "atrial_bpm": _round(facts.atrial_bpm),
        "intervals": {name: _round(getattr(facts, name)) for name in INTERVALS},
        "axis_deg": _round(facts.axis_deg),
        "amplitudes_mv": {
            lead: {name.removesuffix("_mv"): _round(getattr(of_lead, name)) for name in HEIGHTS}
            for lead, of_lead in facts.leads.items()
        },
        "j_mv": {lead: _round(of_lead.j_mv) for lead, of_lead in facts.leads.items()},
        "st_mv": {lead: _round(of_lead.st_mv) for lead, of_lead in facts.leads.items()},
        "morphology": {lead: _shape(of_lead) for lead, of_lead in facts.leads.items()},
        "rhythm": {name: getattr(facts, name) for name in _rhythm_facts()},
        "findings": {name: _read(answers.finding(name)) for name in book()["findings"]},
        "diagnoses": {name: _read(answers.diagnosis(name)) for name in diagnoses()},
        "confidence": {name: _round(facts.sure(name)) for name in (*WORDS, *_rhythm_facts())},
        "notes": list(one.notes),
    }


def _rhythm_facts() -> Iterator[str]:
    """The facts that are a yes or no."""
    return (field.name for field in dataclasses.fields(EcgFacts) if "bool" in str(field.type))


def _shape(of_lead: LeadFacts) -> dict[str, Any]:
    return {"word": of_lead.word, "notched": of_lead.notched, "t": of_lead.t_shape}


def _read(found: Read) -> dict[str, Any]:
    return {"present": found.holds, "confidence": _round(found.sure), "leads": list(found.leads)}


def _beats(one: OneEcg) -> Iterator[dict[str, Any]]:
    marks, start = one.measured.boundaries, one.study.start
    kinds = dict(_waves(one.measured))
    usable = [(row, lead) for row, lead in enumerate(marks.leads) if marks.usable[row]]
    for beat, peak in enumerate(marks.peaks.tolist()):
        yield {
            "peak": peak + start,
            "kind": int(marks.kinds[beat]),
            "confidence": _round(float(marks.qrs.sure[beat])),
            **{kind: _span(waves.joint[beat], start) for kind, waves in kinds.items()},
            "per_lead": {
                lead: {kind: _span(waves.per_lead[beat, row], start) for kind, waves in kinds.items()}
                for row, lead in usable
            },
        }


def _waves(measured: Measured) -> list[tuple[str, Waves]]:
    marks = measured.boundaries
    return [("p", marks.p), ("qrs", marks.qrs), ("t", marks.t)]


def _span(span: np.ndarray[Any, np.dtype[np.int64]], start: int) -> list[int] | None:
    first, last = span.tolist()
    return None if UNSEEN in (first, last) else [first + start, last + start]


def _round(value: float | None) -> float | None:
    return None if value is None else round(float(value), 4)


# ---- tables


def tables(one: OneEcg) -> list[Table]:
    """What people read: intervals, leads, and what was found."""
    facts = one.measured.facts
    return [
        plain_table("Measured", ("", "value", "unit", "confidence"), _interval_rows(facts)),
        plain_table(
            "Leads (mV from the level before the QRS complex)",
            ("lead", "QRS", "Q", "R", "S", "R'", "J", "ST", "T", "P"),
            [_lead_row(lead, of_lead) for lead, of_lead in facts.leads.items()],
        ),
        plain_table("Found", ("finding", "leads", "confidence"), _found_rows(EcgReading(one.measured))),
    ]


def _interval_rows(facts: EcgFacts) -> Iterator[Sequence[str]]:
    for name, (words, unit) in WORDS.items():
        value = getattr(facts, name)
        yield words, "-" if value is None else f"{value:.0f}", unit, f"{facts.sure(name):.2f}"
    for name in _rhythm_facts():
        said = {True: "yes", False: "no", None: "not known"}[getattr(facts, name)]
        yield name.replace("_", " "), said, "", f"{facts.sure(name):.2f}"


def _lead_row(lead: str, of: LeadFacts) -> Sequence[str]:
    heights = (of.q_mv, of.r_mv, of.s_mv, of.r2_mv, of.j_mv, of.st_mv, of.t_mv, of.p_mv)
    return lead, of.word + (" notched" if of.notched else ""), *(f"{value:.2f}" for value in heights)


def _found_rows(answers: EcgReading) -> Iterator[Sequence[str]]:
    """The diagnoses first, then the findings; only what is there."""
    for found in [*map(answers.diagnosis, diagnoses()), *map(answers.finding, book()["findings"])]:
        if found.holds:
            yield found.name.replace("_", " "), " ".join(found.leads), f"{found.sure:.2f}"


# ---- the sheet


def sheet_png(one: OneEcg, profile: str) -> bytes:
    """The sheet as PNG, with the boundaries of the waves of each lead drawn on."""
    from overread.media import sheet  # not at the top: matplotlib is slow to import

    heading = sheet.Heading(patient=one.study.path.stem, lines=tuple(_summary(one.measured.facts)))
    drawn = sheet.draw(
        one.study.mv, one.study.rate_hz, one.study.leads, profile, heading=heading, marks=list(_marks(one.measured))
    )
    return drawn.png()


def _summary(facts: EcgFacts) -> Iterator[str]:
    known = {name: getattr(facts, name) for name in WORDS}
    told = {name: "-" if value is None else f"{value:.0f}" for name, value in known.items()}
    yield f"Rate {told['rate_bpm']} bpm, axis {told['axis_deg']}\u00b0"
    yield f"PR {told['pr_ms']} ms, QRS {told['qrs_ms']} ms"
    yield f"QT {told['qt_ms']} ms, QTc {told['qtc_ms']} ms"


def _marks(measured: Measured) -> Iterator[Mark]:
    marks = measured.boundaries
    for (kind, _), (_, waves) in zip(MARKED, _waves(measured), strict=True):
        for row in np.flatnonzero(marks.usable).tolist():
            spans = waves.per_lead[:, row]
            for first, last in spans[(spans != UNSEEN).all(axis=1) & (spans[:, 0] <= spans[:, 1])].tolist():
                yield Mark(marks.leads[row], first, last, kind)
    for first, last in marks.lone_p.tolist():
        yield Mark("", first, last, "P")


def write_sheet(one: OneEcg, place: Path, profile: str) -> None:
    """Writes the sheet, beside its place and renamed, so that there is never half of it."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        part = place.with_name(place.name + ".part")
        part.write_bytes(sheet_png(one, profile))
        part.replace(place)
    except OSError as error:
        raise BadInput(
            f"the sheet cannot be written: {error.strerror}", where=str(place), do="choose another --out"
        ) from error


def settings_of(profile: str) -> Mapping[str, Any]:
    """The settings of a profile; BadInput where there is none of that name."""
    from overread.media import sheet

    return dataclasses.asdict(sheet.sheet_of(profile))
