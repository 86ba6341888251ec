"""The samples that a measured fact was read from: what one would point at on the recording."""

from __future__ import annotations

import numpy as np

from overread.errors import unknown_name
from overread.guidelines.ecg_facts import EcgFacts, LeadFacts
from overread.measure.ecg.beats import BEFORE
from overread.measure.ecg.boundaries import UNSEEN, Places
from overread.measure.ecg.facts import Measured
from overread.measure.ecg.lead_facts import ST_MS

Spans = tuple[tuple[int, int], ...]
"""Stretches of the recording: first and last sample of each."""

Pairs = list[tuple[int, int]]

MOST = 64
"""Of so many beats the spans are told; a long recording has more."""

_QRS = ("qrs_ms", "axis_deg", "paced", "ventricular_tachycardia")
_ATRIAL = ("p_waves", "p_ms", "atrial_bpm", "dissociated")
_EARLY = ("premature", "premature_wide", "premature_qrs_ms")


def evidence(measured: Measured, fact: str) -> Spans:
    """The spans that a fact (`pr_ms`, `V1.r_mv`) follows from; empty where it says that something is not there."""
    lead, dot, name = fact.rpartition(".")
    known = LeadFacts if dot else EcgFacts
    if name not in known.__dataclass_fields__ or (dot and lead not in measured.boundaries.leads):
        raise unknown_name("fact", fact, [*EcgFacts.__dataclass_fields__, *LeadFacts.__dataclass_fields__])
    found = _of_lead(measured, lead, name) if dot else _of_all(measured, name)
    return tuple((int(first), int(last)) for first, last in found[:MOST] if first != UNSEEN)


def _ordinary(measured: Measured, spans: Places) -> Places:
    """Those of the beats that facts are about."""
    return np.asarray(spans[measured.boundaries.kinds == measured.rhythm.ordinary])


def _of_all(measured: Measured, name: str) -> Pairs:
    marks, rhythm = measured.boundaries, measured.rhythm
    p, qrs, t = marks.p.joint, marks.qrs.joint, marks.t.joint
    before, after = marks.peaks[:-1], marks.peaks[1:]
    if name in _QRS:
        return _pairs(_ordinary(measured, qrs))
    if name in _EARLY:
        return _pairs(qrs[rhythm.early])
    if name in _ATRIAL:
        return sorted(_pairs(np.concatenate([p[p[:, 0] != UNSEEN], marks.lone_p])))
    if name == "blocked_p":
        return _pairs(measured.found.prepared.native(rhythm.blocked))
    between = {
        "pr_ms": (p[:, 0], qrs[:, 0], p[:, 0] != UNSEEN),
        "one_to_one": (p[:, 0], qrs[:, 1], p[:, 0] != UNSEEN),
        "qt_ms": (qrs[:, 0], t[:, 1], t[:, 1] != UNSEEN),
        "qtc_ms": (qrs[:, 0], t[:, 1], t[:, 1] != UNSEEN),
        "dropped": (before, after, rhythm.pauses),
        "rr_ms": (before, after, rhythm.usual),
    }
    first, last, wanted = between.get(name, (before, after, np.ones(len(before), dtype=bool)))
    return _pairs(np.stack([first[wanted], last[wanted]], axis=1))


def _pairs(spans: Places) -> Pairs:
    return [(first, last) for first, last in spans.tolist()]


def _of_lead(measured: Measured, lead: str, name: str) -> Pairs:
    """Where a fact of one lead stands in each ordinary beat."""
    marks, found = measured.boundaries, measured.found
    row = marks.leads.index(lead)
    if not marks.usable[row]:
        return []
    if name == "p_mv":
        return _pairs(marks.p.per_lead[:, row])
    if name in ("t_mv", "t_shape"):
        return _pairs(_ordinary(measured, marks.t.joint))
    if name in ("j_mv", "st_mv"):
        offset = _ordinary(measured, marks.qrs.joint)[:, 1]
        first, last = (0.0, 20.0) if name == "j_mv" else (ST_MS - 10.0, ST_MS + 10.0)
        return [(at + _native(measured, first), at + _native(measured, last)) for at in offset.tolist()]
    wave = measured.waves[lead].get(name.partition("_")[0]) if name.endswith(("_mv", "_ms")) else None
    if wave is None:
        return _pairs(_ordinary(measured, marks.qrs.joint))
    start = found.kinds[measured.rhythm.ordinary].qrs[0] - BEFORE
    middles = _ordinary(measured, found.beats.middles)
    spans = np.stack([middles + start + wave[0], middles + start + wave[1]], axis=1)
    return _pairs(found.prepared.native(np.maximum(spans, 0)))


def _native(measured: Measured, ms: float) -> int:
    return round(ms * measured.boundaries.rate_hz / 1000.0)
