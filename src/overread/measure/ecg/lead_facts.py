"""The facts of single leads, read off an average beat by the definitions of `overread.guidelines.ecg_facts`."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from overread.guidelines.ecg_facts import EDGE_MV, SMALLEST_MV, STRETCH_MS, LeadFacts, TShape
from overread.measure.ecg.boundaries import Floats
from overread.measure.ecg.preparing import MS

CAPITAL_MV = 0.5
START_MV, START_MS = 0.01, 8.0
"""A lead that stays so near to its level for longer than this begins later than the others."""
ST_MS = 60.0


@dataclasses.dataclass(frozen=True, slots=True)
class Wave:
    """A run of a complex above (1) or below (-1) the level; places are samples from the joint onset on."""

    sign: int
    mv: float
    ms: float
    top: int
    start: int
    stop: int


@dataclasses.dataclass(frozen=True, slots=True)
class LeadBeat:
    """The average beat of one lead, and where its waves are, in samples of it."""

    mv: Floats
    """(samples,): from the level just before the complex."""
    noise_mv: float
    """Of the average."""
    qrs: tuple[int, int]
    t: tuple[int, int] | None
    p_mv: float


def lead_facts(beat: LeadBeat) -> LeadFacts:
    """What is true of a lead."""
    first, last = beat.qrs
    complex_ = beat.mv[first : last + 1]
    q, r, s, r2 = _named(waves(complex_))
    summit = max((one for one in (r, r2) if one is not None), key=lambda one: one.mv, default=None)
    t = beat.mv[beat.t[0] : beat.t[1] + 1] if beat.t is not None else np.zeros(1)
    return LeadFacts(
        word=_word(q, r, s, r2),
        **{f"{name}_mv": 0.0 if wave is None else wave.mv for name, wave in _by_name(q, r, s, r2)},
        **{f"{name}_ms": 0.0 if wave is None else wave.ms for name, wave in _by_name(q, r, s, r2)},
        peak_ms=0.0 if summit is None else (summit.top - _own_start(complex_, beat.noise_mv)) / MS,
        notched=r is not None and _is_notched(complex_[r.start : r.stop], beat.noise_mv),
        area_mvs=float(complex_.sum()) / (1000.0 * MS),
        j_mv=_level(beat.mv, last, last + STRETCH_MS * MS),
        st_mv=_level(beat.mv, last + (ST_MS - STRETCH_MS / 2) * MS, last + (ST_MS + STRETCH_MS / 2) * MS),
        t_mv=furthest(t),
        t_shape=_t_shape(t),
        p_mv=beat.p_mv,
    )


def wave_spans(complex_: Floats) -> dict[str, tuple[int, int]]:
    """First and last sample of the named waves, from the joint onset on."""
    named = _by_name(*_named(waves(complex_)))
    return {name: (wave.start, wave.stop - 1) for name, wave in named if wave is not None}


def waves(complex_: Floats) -> list[Wave]:
    """The runs of a complex that count as waves, in order."""
    signs = np.sign(complex_)
    starts = [0, *(np.flatnonzero(np.diff(signs)) + 1).tolist()]
    runs: list[tuple[int, int, float]] = []
    for start, stop in zip(starts, [*starts[1:], len(complex_)], strict=True):
        sign = float(signs[start])
        if sign == 0.0 or float(np.abs(complex_[start:stop]).max()) < SMALLEST_MV:
            continue
        if runs and runs[-1][2] == sign:
            runs[-1] = (runs[-1][0], stop, sign)
        else:
            runs.append((start, stop, sign))
    found = [_wave(complex_, start, stop, int(sign)) for start, stop, sign in runs]
    # What lasts to the end and does not come back is the way to a displaced ST segment.
    if found and found[-1].stop >= len(complex_) - 1 and found[-1].mv - abs(float(complex_[-1])) < SMALLEST_MV:
        found.pop()
    return found


def _wave(complex_: Floats, start: int, stop: int, sign: int) -> Wave:
    run = sign * complex_[start:stop]
    far = np.flatnonzero(run >= EDGE_MV)
    first, last = start + int(far[0]), start + int(far[-1])
    begin, end = float(first), float(last)
    if first > 0:
        begin -= _crossing(sign * complex_[first], sign * complex_[first - 1])
    if last + 1 < len(complex_):
        end += _crossing(sign * complex_[last], sign * complex_[last + 1])
    top = int(run.argmax())
    return Wave(sign, float(run[top]), (end - begin) / MS, start + top, start, stop)


def _crossing(inside: float, outside: float) -> float:
    """How far, in samples, the edge lies outside the last sample that is inside."""
    return float(np.clip((inside - EDGE_MV) / max(inside - outside, 1e-9), 0.0, 1.0))


def _named(found: Sequence[Wave]) -> tuple[Wave | None, Wave | None, Wave | None, Wave | None]:
    """Q, R, S and R'; a complex that is negative throughout has its first wave as Q and as S."""
    if not found:
        return None, None, None, None
    if all(wave.sign < 0 for wave in found):
        deepest = max(found, key=lambda wave: wave.mv)
        return deepest, None, deepest, None
    rest = list(found)
    q = rest.pop(0) if rest[0].sign < 0 else None
    r = rest[0] if rest else None
    s = rest[1] if len(rest) > 1 else None
    return q, r, s, rest[2] if len(rest) > 2 else None


def _by_name(*found: Wave | None) -> list[tuple[str, Wave | None]]:
    return list(zip(("q", "r", "s", "r2"), found, strict=True))


def _word(q: Wave | None, r: Wave | None, s: Wave | None, r2: Wave | None) -> str:
    if q is not None and r is None:
        return "QS"
    letters = zip(("q", "r", "s", "r'"), (q, r, s, r2), strict=True)
    return "".join(letter.upper() if wave.mv >= CAPITAL_MV else letter for letter, wave in letters if wave is not None)


def _own_start(complex_: Floats, noise_mv: float) -> float:
    """Where the lead itself begins, in samples after the joint onset."""
    off = np.flatnonzero(np.abs(complex_) > max(START_MV, 3.0 * noise_mv))
    first = float(off[0]) - 0.5 if len(off) else 0.0
    return first if first > START_MS * MS else 0.0


def _is_notched(run: Floats, noise_mv: float) -> bool:
    """Whether a wave above the level has two summits with a clear dip between them."""
    left = np.maximum.accumulate(run)
    right = np.maximum.accumulate(run[::-1])[::-1]
    # Noise alone makes small dips: of the highest and the lowest of some samples.
    return bool((np.minimum(left, right) - run).max() >= SMALLEST_MV + 1.5 * noise_mv)


def _level(mv: Floats, first: float, last: float) -> float:
    start = min(round(first), len(mv) - 1)
    return float(np.median(mv[start : min(len(mv), round(last) + 1)]))


def furthest(wave: Floats) -> float:
    """The value furthest from zero, with its sign."""
    return float(wave[int(np.abs(wave).argmax())])


def _t_shape(t: Floats) -> TShape:
    high, low = float(t.max()), float(t.min())
    if high >= SMALLEST_MV and low <= -SMALLEST_MV:
        return "biphasic"
    if max(high, -low) < SMALLEST_MV:
        return "flat"
    return "upright" if high > -low else "inverted"
