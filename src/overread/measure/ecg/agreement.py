"""How well found waves agree with drawn ones: the consensus over leads, what matches what, and how far off it is."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from overread.archives.ludb import DrawnWave
from overread.measure.ecg.boundaries import UNSEEN, Boundaries, Floats

WITHIN_MS = 150.0
"""Waves whose middles are no further apart are one."""
LEAST_LEADS = 6
"""A wave belongs to the consensus if it was drawn in so many leads."""

Spans = Floats
"""(waves, 2): onsets and offsets in samples."""


@dataclasses.dataclass(frozen=True, slots=True)
class Agreement:
    """Counts and errors, in ms; they add up over records."""

    matched: int = 0
    extra: int = 0
    missed: int = 0
    onsets_ms: tuple[float, ...] = ()
    """Found minus drawn."""
    offsets_ms: tuple[float, ...] = ()

    def __add__(self, other: Agreement) -> Agreement:
        return Agreement(
            self.matched + other.matched, self.extra + other.extra, self.missed + other.missed,
            self.onsets_ms + other.onsets_ms, self.offsets_ms + other.offsets_ms,
        )  # fmt: skip

    @property
    def f1(self) -> float:
        """The harmonic mean of sensitivity and precision; 1 where there was nothing to find and nothing was found."""
        whole = 2 * self.matched + self.extra + self.missed
        return 2 * self.matched / whole if whole else 1.0

    @property
    def onset(self) -> tuple[float, float]:
        """Mean and standard deviation of the errors of onsets, in ms."""
        return _mean_and_spread(self.onsets_ms)

    @property
    def offset(self) -> tuple[float, float]:
        """Those of offsets."""
        return _mean_and_spread(self.offsets_ms)


def _mean_and_spread(errors: Sequence[float]) -> tuple[float, float]:
    return (float(np.mean(errors)), float(np.std(errors))) if errors else (float("nan"), float("nan"))


def consensus(by_lead: Iterable[Iterable[tuple[float, float]]], rate_hz: float) -> Spans:
    """One wave for each that was drawn in at least `LEAST_LEADS` leads: medians of its onsets and of its offsets."""
    drawn = sorted(
        ((onset + offset) / 2, lead, onset, offset) for lead, waves in enumerate(by_lead) for onset, offset in waves
    )
    groups: list[list[tuple[float, int, float, float]]] = []
    for wave in drawn:
        if groups and wave[0] - np.median([one[0] for one in groups[-1]]) < WITHIN_MS * rate_hz / 1000.0:
            groups[-1].append(wave)
        else:
            groups.append([wave])
    kept = [group for group in groups if len({lead for _, lead, _, _ in group}) >= LEAST_LEADS]
    return np.array([np.median([one[2:] for one in group], axis=0) for group in kept]).reshape(-1, 2)


def agreement(drawn: Spans, found: Spans, rate_hz: float, within: tuple[float, float]) -> Agreement:
    """Found beside drawn waves, both (waves, 2) in samples; what was found outside of `within` does not count."""
    middles = found.mean(axis=1) if len(found) else np.zeros(0)
    found = found[(middles >= within[0]) & (middles <= within[1])]
    pairs = matches(drawn, found, WITHIN_MS * rate_hz / 1000.0)
    errors = np.array([found[j] - drawn[i] for i, j in pairs]).reshape(-1, 2) * (1000.0 / rate_hz)
    return Agreement(
        len(pairs), len(found) - len(pairs), len(drawn) - len(pairs),
        tuple(errors[:, 0].tolist()), tuple(errors[:, 1].tolist()),
    )  # fmt: skip


def matches(drawn: Spans, found: Spans, most: float) -> list[tuple[int, int]]:
    """Pairs of drawn and found waves, the nearest first, each wave once."""
    if not len(drawn) or not len(found):
        return []
    apart = np.abs(drawn.mean(axis=1)[:, None] - found.mean(axis=1)[None])
    left, right = np.ones(len(drawn), dtype=bool), np.ones(len(found), dtype=bool)
    pairs = []
    for flat in np.argsort(apart, axis=None, kind="stable").tolist():
        i, j = divmod(flat, len(found))
        if apart[i, j] > most:
            break
        if left[i] and right[j]:
            left[i] = right[j] = False
            pairs.append((i, j))
    return pairs


def drawn_spans(waves: Mapping[str, Sequence[DrawnWave]], kind: str) -> list[Spans]:
    """The drawn waves of one kind (`p`, `qrs`, `t`) in each lead; those that lack an end are left out."""
    return [
        np.array(
            [(w.onset, w.offset) for w in of_lead if w.kind == kind and w.onset is not None and w.offset is not None],
            dtype=np.float64,
        ).reshape(-1, 2)
        for of_lead in waves.values()
    ]


def drawn_within(waves: Mapping[str, Sequence[DrawnWave]]) -> tuple[float, float]:
    """The stretch of a record, in samples, in which anything was drawn at all."""
    marks = [at for of_lead in waves.values() for w in of_lead for at in (w.onset, w.offset) if at is not None]
    return (float(min(marks)), float(max(marks))) if marks else (0.0, -1.0)


def found_spans(marks: Boundaries, kind: str, lead: str = "") -> Spans:
    """The found waves of one kind, jointly or in one lead; jointly with the P waves that lead to no beat."""
    waves = {"p": marks.p, "qrs": marks.qrs, "t": marks.t}[kind]
    spans = waves.per_lead[:, marks.leads.index(lead)] if lead else waves.joint
    spans = spans[spans[:, 0] != UNSEEN]
    if kind == "p" and not lead:
        spans = np.concatenate([spans, marks.lone_p])
    return spans.astype(np.float64)
