"""Which P wave leads to which beat, and which lead to none."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from overread.measure.ecg.atria import Kind
from overread.measure.ecg.beats import BEFORE, Beats
from overread.measure.ecg.boundaries import UNSEEN, Floats, Places
from overread.measure.ecg.p_spans import boundaries_of, p_per_lead
from overread.measure.ecg.p_waves import Found, find_p
from overread.measure.ecg.preparing import MS

SHORTEST_PR_MS, LONGEST_PR_MS = 60.0, 460.0
STEADY_RR = 0.05
"""Standard deviation of RR intervals, as a share of their mean, below which they are regular."""
SPREAD_PR_MS = 35.0
"""PR intervals that spread more than this, while the beats come regularly, have nothing to do with them."""
LEAST_P = 4


@dataclasses.dataclass(frozen=True, slots=True)
class Atria:
    """P waves in working samples, sorted by what they lead to."""

    joint: Places
    """(beats, 2): onset and offset of the P wave that leads to each beat; `UNSEEN` without."""
    starts: Places
    """(beats,): what `per_lead` is counted from, the first sample of the average P wave."""
    sure: Floats
    per_lead: Places
    """(leads, 2): onset and offset in each lead of the average P wave."""
    lone: Places
    """(waves, 2): joint spans of those that lead to no beat."""
    beat: Floats
    """(leads, samples): the average P wave; empty without P waves."""
    span: tuple[int, int]
    """Onset and offset within that average."""
    dissociated: bool
    found: Found

    @property
    def seen(self) -> bool:
        """There are P waves."""
        return len(self.lone) > 0 or bool((self.joint[:, 0] != UNSEEN).any())


def sort_out(left: Floats, atrial: Floats, beats: Beats, kinds: Sequence[Kind]) -> Atria:
    """Finds the P waves in what is left of the leads (leads, samples) and sorts them."""
    found = find_p(atrial, beats, kinds)
    if not len(found.at) or found.racing:
        return _none(len(beats.middles), len(left), found)
    spans = beats.middles[:, None] - BEFORE + np.array([kind.qrs for kind in kinds])[beats.kinds]
    after = np.searchsorted(spans[:, 0], found.at * 4)
    room = np.append(spans[:, 0], spans[-1, 0] + 10**6)[after] - found.at * 4
    middles, (first, last), beat = boundaries_of(left, found, room)
    centre = beat.shape[1] // 2
    per_lead = p_per_lead(beat, (first + centre, last + centre))
    leads_to = _assigned(middles + first, spans)
    dissociated = _dissociated(middles + first, leads_to, spans)
    if dissociated:
        leads_to[:] = UNSEEN
    joint = np.full((len(spans), 2), UNSEEN, dtype=np.int64)
    of_beat = np.zeros(len(spans), dtype=np.int64)
    sure = np.zeros(len(spans))
    for p, beat_of in enumerate(leads_to.tolist()):
        if beat_of != UNSEEN and middles[p] + first >= 0:
            # Its end may lie where the complex already begins.
            joint[beat_of] = middles[p] + first, min(middles[p] + last, spans[beat_of, 0])
            of_beat[beat_of], sure[beat_of] = middles[p] - centre, np.clip(found.likeness[p], 0.05, 1.0)
    alone = middles[leads_to == UNSEEN]
    lone = np.stack([alone + first, alone + last], axis=1) if len(alone) else np.zeros((0, 2), np.int64)
    lone = lone[(lone[:, 0] >= 0) & (lone[:, 1] < left.shape[1])]
    return Atria(joint, of_beat, sure, per_lead, lone, beat, (first + centre, last + centre), dissociated, found)


def _none(beats: int, leads: int, found: Found) -> Atria:
    nothing = np.full((beats, 2), UNSEEN, dtype=np.int64)
    return Atria(
        nothing, np.zeros(beats, np.int64), np.zeros(beats), np.full((leads, 2), UNSEEN, dtype=np.int64),
        np.zeros((0, 2), np.int64), np.zeros((leads, 0)), (0, 0), False, found,
    )  # fmt: skip


def _assigned(onsets: Places, spans: Places) -> Places:
    """For each P wave the beat that it leads to, or `UNSEEN`: the last one before a beat, at a distance that can be."""
    leads_to = np.full(len(onsets), UNSEEN, dtype=np.int64)
    for beat, (start, _) in enumerate(spans.tolist()):
        after = spans[beat - 1, 1] if beat else -(10**9)
        near = (start - onsets >= SHORTEST_PR_MS * MS) & (start - onsets <= LONGEST_PR_MS * MS) & (onsets > after)
        if near.any():
            leads_to[int(np.flatnonzero(near)[-1])] = beat
    return leads_to


def _dissociated(onsets: Places, leads_to: Places, spans: Places) -> bool:
    """Whether P waves and beats both come regularly and neither depends on the other."""
    if len(onsets) < LEAST_P or len(spans) < LEAST_P:
        return False
    rr, pp = np.diff(spans[:, 0]), np.diff(np.sort(onsets))
    if not steady(rr):
        return False
    # Some P waves are hidden by complexes: their distances are whole multiples of one.
    one = float(np.median(pp[pp < 1.5 * pp.min()]))
    turns = pp / one
    if float((np.abs(turns - np.rint(turns)) < 0.12).mean()) < 0.7 or one > 0.93 * float(np.median(rr)):
        return False
    to_beat = leads_to != UNSEEN
    pr = spans[leads_to[to_beat], 0] - onsets[to_beat]
    return len(pr) < 3 or float(np.std(pr)) > SPREAD_PR_MS * MS


def steady(gaps: npt.NDArray[np.integer]) -> bool:
    """Whether distances do not vary."""
    return len(gaps) < 2 or float(np.std(gaps)) <= STEADY_RR * float(np.mean(gaps))
