"""When the atria and the ventricles of the ECG phantom beat: one function a kind of rhythm, times in ms.

A rhythm is a function of a generator and of the numbers of its recipe. Every time is a whole and even number of ms, so
that it lies on a sample at 500 and 1000 Hz.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from overread.phantoms.draws import drawn, even

Numbers = Mapping[str, Any]
"""Numbers of a recipe, as they stand there: a number, or `low..high` to draw from."""


@dataclasses.dataclass(frozen=True, slots=True)
class Beat:
    """One beat of the ventricles."""

    onset: int
    """Of its QRS complex."""
    p: int | None = None
    """Onset of the P wave that leads to it."""
    kind: str = "N"
    """N ordinary, A premature atrial, V ventricular, P paced."""
    early: bool = False
    """It is premature."""


@dataclasses.dataclass(frozen=True, slots=True)
class Timeline:
    """When what happens, and what is true of the rhythm by the definitions of `EcgFacts`."""

    beats: tuple[Beat, ...]
    lone_p: tuple[int, ...] = ()
    """Onsets of P waves that lead to no beat."""
    spikes: tuple[int, ...] = ()
    regular: bool = True
    fibrillation: bool = False
    one_to_one: bool = True
    dropped: bool = False
    blocked_p: bool = False
    dissociated: bool = False
    tachycardia: bool = False
    """It is ventricular tachycardia."""

    @property
    def p_waves(self) -> bool:
        """There are P waves, whether or not they lead to beats."""
        return bool(self.lone_p) or any(beat.p is not None for beat in self.beats)


def timeline(rng: np.random.Generator, numbers: Numbers, span: int) -> Timeline:
    """The rhythm that `numbers` ask for, over at least `span` ms from 0 on."""
    return _KINDS[numbers["kind"]](rng, numbers, span)


def _onsets(rng: np.random.Generator, numbers: Numbers, span: int) -> list[int]:
    """Onsets from before 0 to beyond `span`, at a drawn rate with little variation."""
    mean = 60_000.0 / drawn(rng, numbers["rate"])
    spread = drawn(rng, numbers.get("spread", 0.02))
    count = int(np.ceil(span / mean)) + 4
    # Evenly spread factors in random order: every record shows the whole irregularity, and its mean rate is kept.
    gaps = mean * (1.0 + spread * rng.permutation(np.linspace(-1.0, 1.0, count)))
    start = rng.uniform(0.2, 0.9) * mean
    return [even(at) for at in np.cumsum(gaps) - gaps[0] - start]


def _sinus(rng: np.random.Generator, numbers: Numbers, span: int) -> Timeline:
    pr = even(drawn(rng, numbers["pr"]))
    beats = [Beat(at, at - pr) for at in _onsets(rng, numbers, span)]
    return Timeline(tuple(beats), regular=drawn(rng, numbers.get("spread", 0.02)) < 0.05)


def _premature(rng: np.random.Generator, numbers: Numbers, span: int) -> Timeline:
    """Sinus rhythm with premature beats: `of` is A or V, `pattern` single, bigeminy or couplet."""
    pr, pattern, atrial = even(drawn(rng, numbers["pr"])), numbers["pattern"], numbers["of"] == "A"
    early = drawn(rng, numbers["early"])
    pause = drawn(rng, "1.0..1.12") if atrial else 2.0 - early
    first, period = int(rng.integers(2, 4)), {"single": int(rng.integers(4, 6)), "bigeminy": 2, "couplet": 6}[pattern]
    sinus = _onsets(rng, numbers, span + 2000)
    gaps = np.diff(sinus).astype(float)
    mean = float(gaps.mean())
    beats, at = [Beat(sinus[0], sinus[0] - pr)], float(sinus[0])
    ordinary = first + (pattern == "bigeminy")
    for gap in gaps.tolist():
        if ordinary > 1:
            at, ordinary = at + gap, ordinary - 1
        else:
            for number in range(2 if pattern == "couplet" else 1):
                at += (early + 0.06 * number) * mean
                p = even(at) - even(pr * 0.94) if atrial else None
                beats.append(Beat(even(at), p, "A" if atrial else "V", early=True))
            at, ordinary = at + pause * mean, period - 1
        beats.append(Beat(even(at), even(at) - pr))
    return Timeline(tuple(beats))


def _fibrillation(rng: np.random.Generator, numbers: Numbers, span: int) -> Timeline:
    """Atria that fibrillate; with little `spread` the ventricles beat on their own."""
    beats = tuple(Beat(at) for at in _onsets(rng, numbers, span))
    return Timeline(beats, regular=numbers["spread"] < 0.05, fibrillation=True, one_to_one=False)


def _blocked(rng: np.random.Generator, numbers: Numbers, span: int) -> Timeline:
    """Second degree: of every `of` P waves the last leads to no beat; `longer` is how PR grows from beat to beat."""
    cycle, pr = int(rng.integers(numbers["of"][0], numbers["of"][1] + 1)), drawn(rng, numbers["pr"])
    longer = drawn(rng, numbers.get("longer", 0))
    phase = int(rng.integers(cycle)) if cycle > 2 else 0
    beats, lone = [], []
    for number, p in enumerate(_onsets(rng, numbers, span)):
        place = (number + phase) % cycle
        if place == cycle - 1:
            lone.append(p)
        else:
            # The second PR interval is longer by most, as Wenckebach found.
            beats.append(Beat(p + even(pr + longer * (1.0 - 0.5**place) * 2), p))
    fixed = cycle == 2
    return Timeline(tuple(beats), tuple(lone), (), fixed, one_to_one=False, dropped=not fixed, blocked_p=not fixed)


def _paused(rng: np.random.Generator, numbers: Numbers, span: int) -> Timeline:
    """Sinus rhythm in which the sinus node itself stops for a while."""
    pr, pause = even(drawn(rng, numbers["pr"])), drawn(rng, numbers["pause"])
    onsets = _onsets(rng, numbers, span)
    gap = onsets[1] - onsets[0]
    after = max(k for k, at in enumerate(onsets) if at < span * 0.45)
    late = [at + (even((pause - 1.0) * gap) if k > after else 0) for k, at in enumerate(onsets)]
    return Timeline(tuple(Beat(at, at - pr) for at in late), regular=False, dropped=True)


def _dissociated(rng: np.random.Generator, numbers: Numbers, span: int) -> Timeline:
    """Third degree: atria and ventricles each at a rate of their own, and those in no simple ratio.

    In one of 3:2 or 4:3 the same PR intervals would come back again and again, as if some beats were conducted.
    """
    rate, atrial = 1.0, 1.0
    while min(abs(k * atrial / rate - round(k * atrial / rate)) for k in (2, 3)) < 0.1:
        rate, atrial = drawn(rng, numbers["rate"]), drawn(rng, numbers["atrial"])
    beats = tuple(Beat(at) for at in _onsets(rng, {**numbers, "rate": rate}, span))
    lone = tuple(_onsets(rng, {**numbers, "rate": atrial}, span))
    return Timeline(beats, lone, one_to_one=False, dissociated=True)


def _tachycardia(rng: np.random.Generator, numbers: Numbers, span: int) -> Timeline:
    """Ventricular tachycardia; the atria are not seen."""
    beats = tuple(Beat(at, kind="V") for at in _onsets(rng, numbers, span))
    return Timeline(beats, one_to_one=False, tachycardia=True)


def _paced(rng: np.random.Generator, numbers: Numbers, span: int) -> Timeline:
    """Ventricles paced after each P wave; with `atria` the atria are paced too; with a `pr` of null they fibrillate."""
    onsets = _onsets(rng, numbers, span)
    before = even(drawn(rng, "4..10"))
    spikes = [at - before for at in onsets]
    if numbers["pr"] is None:
        beats = tuple(Beat(at, kind="P") for at in onsets)
        return Timeline(beats, (), tuple(spikes), fibrillation=True, one_to_one=False)
    pr = even(drawn(rng, numbers["pr"]))
    if numbers.get("atria", False):
        spikes += [at - pr - 14 for at in onsets]
    return Timeline(tuple(Beat(at, at - pr, "P") for at in onsets), (), tuple(sorted(spikes)))


_KINDS: dict[str, Callable[[np.random.Generator, Numbers, int], Timeline]] = {
    "sinus": _sinus,
    "premature": _premature,
    "fibrillation": _fibrillation,
    "blocked": _blocked,
    "paused": _paused,
    "dissociated": _dissociated,
    "tachycardia": _tachycardia,
    "paced": _paced,
}
