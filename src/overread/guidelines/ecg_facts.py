"""What is known of a 12-lead ECG, measured or made: the facts that findings and decision graphs are decided on.

The phantoms fill them from their own truth, `overread.measure.ecg` from a signal; nothing else is shared between the
two. Heights are in mV from the level just before the QRS complex (the PR level), durations in ms, angles in degrees.
All of them are those of the commonest kind of beat, save where a premature beat is named.

The waves of a QRS complex in one lead are its runs above and below the PR level, between the joint QRS onset and
offset, that reach `SMALLEST_MV`: a first negative one is the Q wave, the first positive one R, a negative one after it
S, the next positive one R'; what comes later is not named. Lower runs are overlooked, and what they part is one run
where it has one sign. A run that lasts to the QRS offset is a wave only if it comes back by `SMALLEST_MV` from its
furthest point before: else it is the way to a displaced ST segment. A complex that is negative throughout is QS: its
depth and duration stand both as Q and as S, and `r_mv` is 0. The height of a wave is that of its furthest point; its
duration runs from where it first to where it last is `EDGE_MV` away from the level. Depths are positive numbers. What
a lead does not have is 0.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Literal

SMALLEST_MV = 0.05
"""A run that stays below this is no wave."""

EDGE_MV = 0.02
"""So far from the level a wave begins and ends, for its duration."""

STRETCH_MS = 20.0
"""Levels are medians over so long."""

TShape = Literal["upright", "inverted", "flat", "biphasic"]


@dataclasses.dataclass(frozen=True, slots=True)
class LeadFacts:
    """One lead."""

    word: str
    """The complex as it is written: `qRs`, `rS`, `QS`, `rSR'`; capitals for waves of at least 0.5 mV and for QS; empty:
    none."""
    q_mv: float
    q_ms: float
    r_mv: float
    r_ms: float
    s_mv: float
    s_ms: float
    r2_mv: float
    """Height and, below, duration of R'."""
    r2_ms: float
    peak_ms: float
    """From the QRS onset of this lead to its highest point: the R peak time; with R', to the higher of the two; 0
    without an R wave."""
    notched: bool
    """R has two summits with a dip of at least `SMALLEST_MV` below the lower one, without an S wave between them."""
    area_mvs: float
    """Net area above the PR level from the joint QRS onset to the offset, in mV s; the axis follows from it."""
    j_mv: float
    """Level of the `STRETCH_MS` that begin at the joint QRS offset: what a sloping ST segment has soon after J."""
    st_mv: float
    """Level of the `STRETCH_MS` around the point 60 ms after that offset."""
    t_mv: float
    """Height of the T wave where it is furthest from the PR level between its joint onset and offset, with its sign."""
    t_shape: TShape
    """Flat: it stays below `SMALLEST_MV`; biphasic: it reaches that on both sides."""
    p_mv: float
    """Height of the P wave where it is furthest from the level at its joint onset, with its sign; 0 without one."""


@dataclasses.dataclass(frozen=True, slots=True)
class EcgFacts:
    """One ECG. None: it cannot be told from this record."""

    rate_bpm: float | None
    """Of the ventricles, over the whole record: from the first R peak to the last, premature beats counted."""
    atrial_bpm: float | None
    """Of the P waves, from their median distance, those that lead to no beat counted; None without P waves."""
    rr_ms: float | None
    """Median distance from R to R, premature beats and the pauses after them left out."""
    pr_ms: float | None
    """From P onset to QRS onset in beats that P waves lead to; None without such."""
    p_ms: float | None
    qrs_ms: float | None
    qt_ms: float | None
    qtc_ms: float | None
    """By Fridericia: QT / cube root of RR in s."""
    axis_deg: float | None
    """-180 to 180, of the QRS complex in the frontal plane, from the net areas of I and aVF as
    atan2(2 / sqrt(3) * aVF, I): augmented leads are shorter by that factor. None where both are next to nothing."""
    regular: bool | None
    """RR intervals do not vary, premature beats and the pauses after them left out."""
    p_waves: bool | None
    """P waves are seen, whether or not they lead to beats."""
    fibrillation: bool | None
    """The atria fibrillate: no P waves, and either f waves between the beats or RR intervals without order."""
    one_to_one: bool | None
    """Every P wave leads to a QRS complex and every complex follows one, at a steady distance, premature beats left
    out."""
    dropped: bool | None
    """A beat is missing: an RR interval is far longer than those around it, without a premature beat before it."""
    blocked_p: bool | None
    """Within such a gap lies a P wave that leads to no QRS complex."""
    dissociated: bool | None
    """P waves and QRS complexes both come regularly, and neither depends on the other."""
    premature: bool | None
    """A beat comes early."""
    premature_wide: bool | None
    """Such a beat has a clearly wider QRS complex than the others; None without one."""
    premature_qrs_ms: float | None
    """Of the widest such beat."""
    paced: bool | None
    """Pacing spikes stand before the complexes."""
    ventricular_tachycardia: bool | None
    """A fast, wide and regular rhythm without P waves that lead to the complexes."""
    leads: Mapping[str, LeadFacts]
    """By lead name; leads that cannot be measured are not there."""
    confidence: Mapping[str, float] = dataclasses.field(default_factory=dict)
    """0 to 1 by name of a fact, or `LEAD.fact`; what is not named is certain."""

    def sure(self, name: str) -> float:
        """How sure a fact is, 0 to 1."""
        return self.confidence.get(name, 1.0)
