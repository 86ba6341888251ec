"""What is true of each lead of a drawn beat, by the definitions of `overread.guidelines.ecg_facts`.

Read off the beat as it was drawn, without noise, at 1000 Hz and with the boundaries it was drawn with.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from overread.guidelines.ecg_facts import EDGE_MV, SMALLEST_MV, STRETCH_MS, LeadFacts, TShape
from overread.phantoms.ecg_beats import Shape
from overread.phantoms.ecg_waves import LEADS, Floats, twelve

CAPITAL_MV = 0.5

QUIET_MV, QUIET_MS = 0.01, 8
"""A lead that stays within this height for longer than this begins later than the others, or ends earlier."""

SEEN_MV = 0.02
"""Least height of a wave for it to be seen in a lead."""


@dataclasses.dataclass(frozen=True, slots=True)
class _Wave:
    """A run of a complex: 1 above or -1 below the level; times in ms from the joint onset."""

    sign: int
    mv: float
    ms: float
    top: int
    start: int
    stop: int


def lead_spans(shape: Shape) -> list[tuple[int, int] | None]:
    """First and last ms of the complex in each lead, from the QRS onset on; None where it is not seen."""
    body = twelve(shape.body)[:, : shape.qrs_ms + 1]
    return [_span(lead) for lead in body]


def _span(lead: Floats) -> tuple[int, int] | None:
    last = len(lead) - 1
    if np.abs(lead).max() < SEEN_MV:
        return None
    left = np.flatnonzero(np.abs(lead) > QUIET_MV)
    right = np.flatnonzero(np.abs(lead - lead[-1]) > QUIET_MV)
    if not len(left) or not len(right):
        return None
    first, final = int(left[0]) - 1, int(right[-1]) + 1
    return (first if first > QUIET_MS else 0), (final if last - final > QUIET_MS else last)


def lead_facts(shape: Shape, *, p_wave: bool) -> dict[str, LeadFacts]:
    """The facts of all leads; `p_wave` says whether beats have one."""
    body, p = twelve(shape.body), twelve(shape.p)
    spans = lead_spans(shape)
    return {
        name: _facts(shape, body[k], p[k] if p_wave else np.zeros(1), (spans[k] or (0, 0))[0])
        for k, name in enumerate(LEADS)
    }


def _facts(shape: Shape, lead: Floats, p: Floats, onset: int) -> LeadFacts:
    complex_ = lead[: shape.qrs_ms + 1]
    q, r, s, r2 = _named(waves(complex_))
    t = lead[shape.t_ms :]
    summit = max((r, r2), key=lambda wave: wave.mv if wave else -1.0)
    return LeadFacts(
        word=_word(q, r, s, r2),
        q_mv=_mv(q),
        q_ms=_ms(q),
        r_mv=_mv(r),
        r_ms=_ms(r),
        s_mv=_mv(s),
        s_ms=_ms(s),
        r2_mv=_mv(r2),
        r2_ms=_ms(r2),
        peak_ms=float(summit.top - onset) if summit else 0.0,
        notched=r is not None and notched(complex_[r.start : r.stop]),
        area_mvs=float(complex_.sum()) / 1000.0,
        j_mv=_level(lead, shape.qrs_ms, 0.5),
        st_mv=_level(lead, shape.qrs_ms + 60, 0.0),
        t_mv=_furthest(t),
        t_shape=_t_shape(t),
        p_mv=_furthest(p),
    )


def waves(lead: Floats) -> list[_Wave]:
    """The runs of a complex that count as waves, in order."""
    signs = np.sign(lead)
    edges = np.flatnonzero(np.diff(signs)) + 1
    runs: list[list[int]] = []
    for start, stop in zip([0, *edges.tolist()], [*edges.tolist(), len(lead)], strict=True):
        height = float(np.abs(lead[start:stop]).max())
        if signs[start] == 0 or height < SMALLEST_MV:
            continue
        if runs and signs[runs[-1][0]] == signs[start]:
            runs[-1][1] = stop
        else:
            runs.append([start, stop])
    found = [_wave(lead, start, stop) for start, stop in runs]
    if found and found[-1].stop == len(lead) and found[-1].mv - abs(float(lead[-1])) < SMALLEST_MV:
        found.pop()
    return found


def _wave(lead: Floats, start: int, stop: int) -> _Wave:
    run = np.abs(lead[start:stop])
    top = int(run.argmax())
    far = np.flatnonzero(run >= EDGE_MV)
    # Where the line crosses the edge between two samples.
    first, last = start + int(far[0]), start + int(far[-1])
    sign = int(np.sign(lead[start + top]))
    begin = first - _part(sign * lead[first], sign * lead[first - 1]) if first > 0 else float(first)
    end = last + _part(sign * lead[last], sign * lead[last + 1]) if last + 1 < len(lead) else float(last)
    return _Wave(sign, float(run[top]), end - begin, start + top, start, stop)


def _part(inside: float, outside: float) -> float:
    return float((inside - EDGE_MV) / (inside - outside))


def _named(found: list[_Wave]) -> tuple[_Wave | None, _Wave | None, _Wave | None, _Wave | None]:
    """Q, R, S and R'; a complex without R has its one wave as Q and as S."""
    if found and all(wave.sign < 0 for wave in found):
        return found[0], None, found[0], None
    q = found[0] if found and found[0].sign < 0 else None
    rest: list[_Wave | None] = list(found[1 if q else 0 :])
    r, s, r2 = (rest + [None] * 3)[:3]
    return q, r, s, r2


def _word(q: _Wave | None, r: _Wave | None, s: _Wave | None, r2: _Wave | None) -> str:
    if q is not None and r is None:
        return "QS"
    named = (("q", q), ("r", r), ("s", s), ("r'", r2))
    return "".join(name.upper() if wave.mv >= CAPITAL_MV else name for name, wave in named if wave is not None)


def _mv(wave: _Wave | None) -> float:
    return wave.mv if wave else 0.0


def _ms(wave: _Wave | None) -> float:
    return wave.ms if wave else 0.0


def notched(run: Floats) -> bool:
    """Whether a wave above the level has two summits with a clear dip between them."""
    left = np.maximum.accumulate(run)
    right = np.maximum.accumulate(run[::-1])[::-1]
    return bool((np.minimum(left, right) - run).max() >= SMALLEST_MV)


def _level(lead: Floats, at: int, shift: float) -> float:
    """The level of a stretch around `at`, or with a `shift` of one half of the one that begins there."""
    start = at + round((shift - 0.5) * STRETCH_MS)
    return float(np.median(lead[start : start + round(STRETCH_MS) + 1]))


def _furthest(wave: Floats) -> float:
    return float(wave[int(np.abs(wave).argmax())])


def _t_shape(t: Floats) -> TShape:
    high, low = float(t.max()), float(t.min())
    if high >= SMALLEST_MV and low <= -SMALLEST_MV:
        return "biphasic"
    if max(high, -low) < SMALLEST_MV:
        return "flat"
    return "upright" if high > -low else "inverted"
