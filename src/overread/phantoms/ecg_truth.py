"""What is true of an ECG phantom: its `EcgFacts`, its `Boundaries`, and the dictionary that archives keep.

All of it follows from when the beats happen and how they were drawn; no signal is measured.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from typing import Any

import numpy as np

from overread.guidelines.ecg_facts import EcgFacts, LeadFacts
from overread.measure.ecg.boundaries import UNSEEN, Boundaries, Places, Waves
from overread.phantoms.ecg_beats import Shape
from overread.phantoms.ecg_cases import Recipe
from overread.phantoms.ecg_leads import SEEN_MV, lead_facts, lead_spans
from overread.phantoms.ecg_rhythms import Beat, Timeline
from overread.phantoms.ecg_waves import LEADS, TO_AUGMENTED, Floats, twelve

LEAST_AREA_MVS = 1e-4

FAR_LONGER = 1.5
"""A gap is a missing beat only where it is longer than the others by this factor."""

WIDER_MS = 20
"""So much wider than an ordinary complex is that of a wide premature beat."""


@dataclasses.dataclass(frozen=True, slots=True)
class Drawing:
    """Everything an ECG was drawn from."""

    line: Timeline
    shapes: dict[str, Shape]
    """By kind of beat, as in `Beat.kind`."""
    rate_hz: int
    samples: int

    @property
    def ordinary(self) -> str:
        """The kind of the beats that facts are about."""
        return next(beat.kind for beat in self.line.beats if not beat.early)

    def shape(self, beat: Beat) -> Shape:
        """How a beat was drawn."""
        return self.shapes[beat.kind]

    def place(self, ms: float) -> int:
        """The sample nearest to a time."""
        return round(ms * self.rate_hz / 1000)

    def whole(self, first_ms: float, last_ms: float) -> bool:
        """Whether the record holds a stretch wholly."""
        return self.place(first_ms) >= 0 and self.place(last_ms) < self.samples

    def shown(self) -> list[Beat]:
        """The beats whose QRS complex the record holds wholly."""
        return [b for b in self.line.beats if self.whole(b.onset, b.onset + self.shape(b).qrs_ms)]


# ---- facts


@dataclasses.dataclass(frozen=True, slots=True)
class Marks:
    """Spans of a drawn beat in each lead, in ms from the QRS onset on, or from the P onset for `p`; shape (12, 2)."""

    p: Floats
    qrs: Floats
    t: Floats

    @classmethod
    def of(cls, shape: Shape) -> Marks:
        """Those of a shape."""
        heights = (np.abs(twelve(shape.p)).max(axis=1), np.abs(twelve(shape.body))[:, shape.t_ms :].max(axis=1))
        whole = ((0, shape.p_ms), (shape.t_ms, shape.qt_ms))
        p, t = (
            np.where(height[:, None] >= SEEN_MV, np.array(span), UNSEEN)
            for height, span in zip(heights, whole, strict=True)
        )
        qrs = np.array([span or (UNSEEN, UNSEEN) for span in lead_spans(shape)])
        return cls(p.astype(float), qrs.astype(float), t.astype(float))


def joint(marks: Floats) -> tuple[float, float]:
    """Median onset and offset over the leads that show a wave; `UNSEEN` without any."""
    seen = marks[marks[:, 0] != UNSEEN]
    if not len(seen):
        return UNSEEN, UNSEEN
    first, last = np.median(seen, axis=0).tolist()
    return first, last


def ecg_facts(drawing: Drawing) -> EcgFacts:
    """The facts of an ECG."""
    line, shown = drawing.line, drawing.shown()
    ordinary = drawing.shapes[drawing.ordinary]
    leads = lead_facts(ordinary, p_wave=line.p_waves)
    marks = Marks.of(ordinary)
    (qrs_on, qrs_off), (_, t_off), (p_on, p_off) = joint(marks.qrs), joint(marks.t), joint(marks.p)
    gaps = _gaps(shown)
    rr = float(np.median(gaps)) if gaps else None
    pr = [beat.onset + qrs_on - beat.p - p_on for beat in shown if beat.p is not None and not beat.early]
    early = [beat for beat in shown if beat.early]
    wide = [drawing.shape(beat).qrs_ms for beat in early]
    qt = t_off - qrs_on
    return EcgFacts(
        rate_bpm=60_000.0 * (len(shown) - 1) / (shown[-1].onset - shown[0].onset),
        atrial_bpm=_atrial(drawing),
        rr_ms=rr,
        pr_ms=float(np.median(pr)) if pr else None,
        p_ms=p_off - p_on if line.p_waves else None,
        qrs_ms=qrs_off - qrs_on,
        qt_ms=qt,
        qtc_ms=None if rr is None else qt / math.cbrt(rr / 1000.0),
        axis_deg=_axis(leads),
        regular=line.regular,
        p_waves=line.p_waves,
        fibrillation=line.fibrillation,
        one_to_one=line.one_to_one,
        dropped=line.dropped and _pauses(shown),
        blocked_p=line.blocked_p and _pauses(shown),
        dissociated=line.dissociated,
        premature=bool(early),
        premature_wide=any(ms > ordinary.qrs_ms + WIDER_MS for ms in wide) if early else None,
        premature_qrs_ms=float(max(wide)) if early else None,
        paced=bool(line.spikes),
        ventricular_tachycardia=line.tachycardia,
        leads=leads,
    )


def _gaps(shown: list[Beat]) -> list[int]:
    """Distances from beat to beat without premature ones and the pauses after them."""
    pairs = itertools.pairwise(shown)
    return [after.onset - before.onset for before, after in pairs if not (before.early or after.early)]


def _pauses(shown: list[Beat]) -> bool:
    """Whether the record holds one of the gaps that a rhythm with dropped beats has."""
    gaps = np.diff([beat.onset for beat in shown])
    return bool(gaps.max() > FAR_LONGER * gaps.min())


def _atrial(drawing: Drawing) -> float | None:
    onsets = sorted([*(b.p for b in drawing.line.beats if b.p is not None), *drawing.line.lone_p])
    held = [at for at in onsets if drawing.whole(at, at + drawing.shapes[drawing.ordinary].p_ms)]
    return 60_000.0 / float(np.median(np.diff(held))) if len(held) > 1 else None


def _axis(leads: dict[str, LeadFacts]) -> float | None:
    x, y = leads["I"].area_mvs, leads["aVF"].area_mvs * TO_AUGMENTED
    return None if math.hypot(x, y) < LEAST_AREA_MVS else math.degrees(math.atan2(y, x))


# ---- boundaries


def boundaries(drawing: Drawing, atrial: Floats, usable: Floats | None = None) -> Boundaries:
    """The boundaries of all beats that the record holds; `atrial` is what the atria were drawn as, in mV."""
    shown = drawing.shown()
    marks = {kind: Marks.of(shape) for kind, shape in drawing.shapes.items()}
    tops = {kind: _top(shape) for kind, shape in drawing.shapes.items()}
    of_p = [None if beat.p is None else (beat.p, marks[beat.kind].p) for beat in shown]
    kinds = ["V" if beat.early and beat.kind == "V" else "" for beat in shown]
    return Boundaries(
        rate_hz=float(drawing.rate_hz),
        leads=LEADS,
        usable=np.ones(len(LEADS), dtype=bool) if usable is None else usable.astype(bool),
        peaks=_places([drawing.place(beat.onset + tops[beat.kind]) for beat in shown], (-1,)),
        kinds=_places([int(kind == "V") for kind in kinds], (-1,)),
        p=_waves(drawing, of_p),
        qrs=_waves(drawing, [(beat.onset, marks[beat.kind].qrs) for beat in shown]),
        t=_waves(drawing, [(beat.onset, marks[beat.kind].t) for beat in shown]),
        lone_p=_lone(drawing, shown),
        spikes=_places([at for at in map(drawing.place, drawing.line.spikes) if 0 <= at < drawing.samples], (-1,)),
        atrial=atrial,
    )


def _places(numbers: Any, shape: tuple[int, ...]) -> Places:
    return np.asarray(numbers, dtype=np.int64).reshape(shape)


def _top(shape: Shape) -> int:
    """Where within the complex all leads together are furthest from their level."""
    return int((twelve(shape.body)[:, : shape.qrs_ms + 1] ** 2).sum(axis=0).argmax())


def _waves(drawing: Drawing, spans: list[tuple[int, Floats] | None]) -> Waves:
    """Waves of all beats from their starts in ms and their spans in each lead; what the record cuts off is unseen."""
    per_lead = np.full((len(spans), len(LEADS), 2), UNSEEN, dtype=np.int64)
    both = np.full((len(spans), 2), UNSEEN, dtype=np.int64)
    for beat, span in enumerate(spans):
        if span is None:
            continue
        start, marks = span
        first, last = joint(marks)
        if first == UNSEEN or not drawing.whole(start + first, start + last):
            continue
        per_lead[beat] = np.where(marks == UNSEEN, UNSEEN, np.rint((start + marks) * drawing.rate_hz / 1000))
        both[beat] = drawing.place(start + first), drawing.place(start + last)
    return Waves(per_lead, both, (both[:, 0] != UNSEEN).astype(np.float64))


def _lone(drawing: Drawing, shown: list[Beat]) -> Places:
    """P waves that lead to no beat and are not hidden in a QRS complex."""
    length = drawing.shapes[drawing.ordinary].p_ms
    hidden = [(beat.onset, beat.onset + drawing.shape(beat).qrs_ms) for beat in shown]
    free = [
        (drawing.place(at), drawing.place(at + length))
        for at in drawing.line.lone_p
        if drawing.whole(at, at + length) and all(at + length <= first or at >= last for first, last in hidden)
    ]
    return _places(free, (-1, 2))


# ---- the dictionary


def dictionary(recipe: Recipe, drawing: Drawing, facts: EcgFacts, marks: Boundaries) -> dict[str, Any]:
    """The truth as JSON can hold it; `EcgPhantom.truth` says what is in it."""
    shown = drawing.shown()
    spans = {wave: _pairs(found.joint) for wave, found in (("p", marks.p), ("qrs", marks.qrs), ("t", marks.t))}
    second = {kind: int(np.abs(shape.body[1, : shape.qrs_ms + 1]).argmax()) for kind, shape in drawing.shapes.items()}
    beats = [drawing.place(beat.onset + second[beat.kind]) for beat in shown]
    gaps = np.diff([beat.onset for beat in shown])
    known = dataclasses.asdict(facts)
    numbers = {key: _short(value) for key, value in known.items() if key not in ("leads", "confidence")}
    return {
        **numbers,
        "rhythm": recipe.name,
        "rate_bpm": round(60.0 * drawing.rate_hz * (len(beats) - 1) / (beats[-1] - beats[0]), 2),
        "regular": facts.regular and bool(np.abs(gaps / gaps.mean() - 1.0).max() < 0.05),
        "diagnoses": sorted(recipe.has),
        "labels": list(recipe.labels),
        "beats": beats,
        "beat_types": [beat.kind for beat in shown],
        "waves": spans,
        "lone_p": marks.lone_p.tolist(),
        "spikes": marks.spikes.tolist(),
        "lead_facts": {
            lead: {key: _short(value) for key, value in of_lead.items()} for lead, of_lead in known["leads"].items()
        },
        "rate_hz": drawing.rate_hz,
        "samples": drawing.samples,
        "leads": list(LEADS),
    }


def _pairs(spans: Places) -> list[list[int] | None]:
    return [None if first == UNSEEN else [first, last] for first, last in spans.tolist()]


def _short(value: Any) -> Any:
    """Numbers to four places: tenths of a microvolt."""
    return round(value, 4) if isinstance(value, float) else value
