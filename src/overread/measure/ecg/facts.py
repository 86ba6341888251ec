"""Measures an ECG: every fact of `overread.guidelines.ecg_facts`, and how sure it is."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from overread.guidelines.ecg_facts import EcgFacts, LeadFacts
from overread.measure.ecg.atria import level_of
from overread.measure.ecg.averages import average
from overread.measure.ecg.beats import AFTER, BEFORE, windows
from overread.measure.ecg.boundaries import UNSEEN, Boundaries, Floats
from overread.measure.ecg.delineate import Delineated, delineated
from overread.measure.ecg.lead_facts import LeadBeat, furthest, lead_facts, wave_spans
from overread.measure.ecg.preparing import MS, WORK_HZ, slow
from overread.measure.ecg.rhythm import FAST_BPM, WIDE_MS, WIDER_MS, Rhythm, rhythm_of
from overread.media.leads import LEADS

TO_AUGMENTED = 2.0 / math.sqrt(3.0)
"""An augmented lead is shorter than a limb lead by this factor."""
LEAST_AREA_MVS = 1e-4
WANDER_S = 0.25
NOISE_MV = 0.03
"""Noise of an average beat at which half of the confidence in its heights is gone."""
FINE_HZ = 250.0
"""Below this sampling rate intervals and heights are the less sure, the lower it is."""


@dataclasses.dataclass(frozen=True, slots=True)
class Measured:
    """An ECG as it was measured."""

    facts: EcgFacts
    boundaries: Boundaries
    rhythm: Rhythm
    found: Delineated
    noise_mv: Mapping[str, float]
    """By lead: the noise of its average beat."""
    waves: Mapping[str, Mapping[str, tuple[int, int]]]
    """By lead, and by `q`, `r`, `s`, `r2`: first and last working sample of the wave from the QRS onset on."""


def measure_ecg(mv: npt.NDArray[np.floating], rate_hz: float) -> Measured:
    """Measures `mv`, shape (12, samples), in mV.

    Leads that are flat, detached or mostly invalid are left out. Raises `BadInput` where nothing is left, where the
    signal is too short or too coarse, or where fewer than three beats are found.
    """
    found = delineated(mv, rate_hz)
    rhythm = rhythm_of(found)
    beat, noise = _fine_beat(found, rhythm.ordinary)
    leads = _leads(found, rhythm, beat, noise)
    by_lead = {LEADS[row]: float(one) for row, one in zip(found.rows, noise, strict=True)}
    facts = _facts(found, rhythm, leads)
    facts = dataclasses.replace(facts, confidence=_confidence(found, rhythm, facts, by_lead))
    return Measured(facts, found.boundaries, rhythm, found, by_lead, _waves(found, rhythm, beat))


def _fine_beat(found: Delineated, kind: int) -> tuple[Floats, Floats]:
    """The average beat (leads, samples) from its level before the complex, and the noise of each lead in it.

    Wander is followed on what is left without the beats, so that it does not take anything of them with it.
    """
    raw = found.prepared.mv[found.rows]
    beats_only = found.leads - found.left
    leads = raw - slow(raw - beats_only, WANDER_S)
    beat = average(leads, found.beats, kind)
    onset, offset = found.kinds[kind].qrs
    beat = beat - level_of(beat, onset)
    middles = found.beats.middles[found.beats.kinds == kind][:30]
    cuts = windows(leads, middles, BEFORE, AFTER)[:, :, onset:offset]
    # From sample to sample, so that what changes slowly from beat to beat is not counted as noise.
    single = np.nanmedian(np.abs(np.diff(cuts - beat[:, onset:offset], axis=2)), axis=(0, 2)) / 0.954
    return beat, single / math.sqrt(len(middles))


def _leads(found: Delineated, rhythm: Rhythm, beat: Floats, noise: Floats) -> dict[str, LeadFacts]:
    kind = found.kinds[rhythm.ordinary]
    atria = found.atria
    facts = {}
    for k, row in enumerate(found.rows.tolist()):
        p_mv = 0.0
        if atria.seen:
            wave = atria.beat[k, atria.span[0] : atria.span[1] + 1]
            p_mv = furthest(wave - wave[: round(8 * MS)].mean())
        t = None if kind.t is None else kind.t.joint
        facts[LEADS[row]] = lead_facts(LeadBeat(beat[k], float(noise[k]), kind.qrs, t, p_mv))
    return facts


def _waves(found: Delineated, rhythm: Rhythm, beat: Floats) -> dict[str, dict[str, tuple[int, int]]]:
    first, last = found.kinds[rhythm.ordinary].qrs
    return {LEADS[row]: wave_spans(beat[k, first : last + 1]) for k, row in enumerate(found.rows.tolist())}


def _facts(found: Delineated, rhythm: Rhythm, leads: dict[str, LeadFacts]) -> EcgFacts:
    kind, atria = found.kinds[rhythm.ordinary], found.atria
    onsets = rhythm.onsets
    qrs_ms = (kind.qrs[1] - kind.qrs[0]) / MS
    qt_ms = None if kind.t is None else (kind.t.joint[1] - kind.qrs[0]) / MS
    rr_ms = None if rhythm.rr is None else rhythm.rr / MS
    gaps = np.diff(onsets)[rhythm.whole] if rhythm.whole.any() else np.diff(onsets)
    rate = 60.0 * WORK_HZ / float(gaps.mean())
    widths = np.array([(one.qrs[1] - one.qrs[0]) / MS for one in found.kinds])[found.beats.kinds]
    early = widths[rhythm.early]
    conducted = len(rhythm.pr) >= 2 and not atria.dissociated
    return EcgFacts(
        rate_bpm=rate,
        atrial_bpm=rhythm.atrial_bpm,
        rr_ms=rr_ms,
        pr_ms=float(np.median(rhythm.pr)) if conducted else None,
        p_ms=(atria.span[1] - atria.span[0]) / MS if atria.seen else None,
        qrs_ms=qrs_ms,
        qt_ms=qt_ms,
        qtc_ms=None if qt_ms is None or rr_ms is None else qt_ms / math.cbrt(rr_ms / 1000.0),
        axis_deg=_axis(leads),
        regular=rhythm.regular,
        p_waves=atria.seen,
        fibrillation=rhythm.fibrillation,
        one_to_one=rhythm.one_to_one,
        dropped=bool(rhythm.pauses.any()),
        blocked_p=len(rhythm.blocked) > 0,
        dissociated=atria.dissociated,
        premature=bool(rhythm.early.any()),
        premature_wide=bool((early > qrs_ms + WIDER_MS).any()) if len(early) else None,
        premature_qrs_ms=float(early.max()) if len(early) else None,
        paced=rhythm.paced,
        ventricular_tachycardia=bool(
            rate > FAST_BPM and qrs_ms > WIDE_MS and rhythm.regular and not conducted and not rhythm.fibrillation
        ),
        leads=leads,
    )


def _axis(leads: Mapping[str, LeadFacts]) -> float | None:
    """From the net areas of I and aVF; of another pair of limb leads where one of them is missing."""
    if "I" not in leads or not {"aVF", "II", "III"} & set(leads):
        return None
    x = leads["I"].area_mvs
    if "aVF" in leads:
        y = leads["aVF"].area_mvs
    else:
        y = leads["II"].area_mvs - x / 2 if "II" in leads else leads["III"].area_mvs + x / 2
    y *= TO_AUGMENTED
    return None if math.hypot(x, y) < LEAST_AREA_MVS else math.degrees(math.atan2(y, x))


# ---- how sure


def _confidence(found: Delineated, rhythm: Rhythm, facts: EcgFacts, noise: Mapping[str, float]) -> dict[str, float]:
    marks = found.boundaries
    of_kind = found.beats.kinds == rhythm.ordinary
    fine = math.sqrt(min(1.0, marks.rate_hz / FINE_HZ))
    share = math.sqrt(len(noise) / len(LEADS)) * fine
    valid = float(np.median(found.prepared.valid[found.rows]))
    many = min(1.0, of_kind.sum() / 3.0)
    qrs = float(np.median(marks.qrs.sure[of_kind])) * share * valid
    t = float(np.median(marks.t.sure[of_kind])) * share * valid
    seen = marks.p.joint[:, 0] != UNSEEN
    likeness = float(np.median(found.atria.found.likeness)) if len(found.atria.found.likeness) else 0.8
    p = likeness * share * valid
    sure = {"rate_bpm": valid, "rr_ms": valid, "regular": qrs, "qrs_ms": qrs * many, "axis_deg": qrs * many}
    sure |= {"qt_ms": min(qrs, t) * many, "qtc_ms": min(qrs, t) * many}
    sure |= dict.fromkeys(("pr_ms", "p_ms"), min(qrs, p) * min(1.0, max(int(seen.sum()), len(marks.lone_p)) / 3.0))
    sure |= dict.fromkeys(("p_waves", "fibrillation", "one_to_one", "blocked_p", "dissociated", "atrial_bpm"), p)
    sure |= {"dropped": qrs, "premature": qrs, "premature_wide": qrs, "premature_qrs_ms": qrs, "paced": valid}
    sure["ventricular_tachycardia"] = min(qrs, p)
    names = [field.name for field in dataclasses.fields(LeadFacts)]
    for lead, one in noise.items():
        trusted = many * valid * fine / (1.0 + (one / NOISE_MV) ** 2)
        sure |= {f"{lead}.{name}": trusted for name in names}
    return {name: min(1.0, max(0.0, value)) for name, value in sure.items()}
