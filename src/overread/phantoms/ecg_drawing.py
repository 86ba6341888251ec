"""Puts an ECG phantom together: from a recipe to when and how its beats are drawn, and from there to the signal."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import numpy as np

from overread.phantoms.ecg_beats import Shape, draw_shape, draw_times
from overread.phantoms.ecg_cases import Recipe
from overread.phantoms.ecg_rhythms import Timeline, timeline
from overread.phantoms.ecg_truth import Drawing
from overread.phantoms.ecg_waves import DRAWN, Floats

F_WAVES = np.array([0.25, 0.70, 1.00, 0.60, 0.35, 0.25, 0.20, 0.20])
"""How strongly each drawn lead shows the waves of a fibrillating atrium."""

SPIKE_MV = np.array([0.8, 1.2, -0.9, -1.2, -0.8, 0.5, 0.9, 0.9])
"""A pacing spike in the drawn leads."""

BEFORE_NEXT_MS = 20
"""Between the end of T and what comes next."""

PR_SEGMENT_MS = 24


def draw(recipe: Recipe, rng: np.random.Generator, samples: int, rate_hz: int) -> Drawing:
    """One drawing by a recipe; whether it has what the recipe claims is for the caller to see."""
    line = timeline(rng, recipe.rhythm, round(1000 * samples / rate_hz))
    rr = float(np.median(np.diff([beat.onset for beat in line.beats])))
    pr = [beat.onset - beat.p for beat in line.beats if beat.p is not None]
    p_room = min(pr) - PR_SEGMENT_MS if pr else 1000.0
    shapes: dict[str, Shape] = {}
    for kind, table in _tables(recipe, line).items():
        shapes[kind] = draw_shape(rng, table, draw_times(rng, table, rr, (p_room, _room(line, kind))))
    if "A" in {beat.kind for beat in line.beats}:
        # A beat from elsewhere in the atria: the same complex after another P wave.
        ordinary = shapes["N"]
        tilt = np.array([0.5, -0.35, 1.3, 1.1, 0.9, 0.8, 0.7, 0.7]) * rng.uniform(0.8, 1.2)
        shapes["A"] = dataclasses.replace(ordinary, p=ordinary.p * tilt[:, None])
    return Drawing(line, shapes, rate_hz, samples)


def _tables(recipe: Recipe, line: Timeline) -> dict[str, Any]:
    kinds = sorted({beat.kind for beat in line.beats} - {"A"})
    premature = {beat.kind for beat in line.beats if beat.early}
    return {kind: recipe.beat["ectopic"] if kind in premature else recipe.beat for kind in kinds}


def _room(line: Timeline, kind: str) -> float:
    """The longest QT that beats of a kind may have before the next wave begins."""
    beats = sorted(line.beats, key=lambda beat: beat.onset)
    kinds = {kind, "A"} if kind == "N" else {kind}
    rooms = [
        (after.onset if after.p is None else after.p) - before.onset
        for before, after in itertools.pairwise(beats)
        if before.kind in kinds
    ]
    if not line.dissociated:
        onsets = np.array([beat.onset for beat in beats])
        rooms += [at - int(onsets[onsets < at][-1]) for at in line.lone_p if (onsets < at).any()]
    return min(rooms) - BEFORE_NEXT_MS


def signal(drawing: Drawing, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """The eight drawn leads without noise, shape (8, samples), and the atria in the mean of II and V1, in mV."""
    span = int(np.ceil(1000 * drawing.samples / drawing.rate_hz)) + 2
    atria, rest = np.zeros((len(DRAWN), span)), np.zeros((len(DRAWN), span))
    for beat in drawing.line.beats:
        shape = drawing.shape(beat)
        _add(rest, shape.body, beat.onset)
        if beat.p is not None:
            _add(atria, shape.p, beat.p)
    for onset in drawing.line.lone_p:
        _add(atria, drawing.shapes[drawing.ordinary].p, onset)
    if drawing.line.fibrillation:
        atria += _f_waves(rng, span)
    leads, atria = _sampled(atria + rest, drawing), _sampled(atria, drawing)
    for spike in drawing.line.spikes:
        # Drawn on the samples: far shorter than the distance of samples, it would be missed at low rates.
        at = drawing.place(spike)
        leads[:, max(at, 0) : max(at + max(1, round(0.002 * drawing.rate_hz)), 0)] += SPIKE_MV[:, None]
    return leads, np.asarray(atria[1:3].mean(axis=0))


def _sampled(fine: Floats, drawing: Drawing) -> Floats:
    """At the sampling rate, from 1000 Hz."""
    at = np.arange(drawing.samples) * (1000.0 / drawing.rate_hz)
    if 1000 % drawing.rate_hz == 0:
        return np.ascontiguousarray(fine[:, :: 1000 // drawing.rate_hz][:, : drawing.samples])
    grid = np.arange(fine.shape[1])
    return np.stack([np.interp(at, grid, lead) for lead in fine])


def _add(leads: Floats, wave: Floats, onset: int) -> None:
    start, stop = max(onset, 0), min(onset + wave.shape[1], leads.shape[1])
    if start < stop:
        leads[:, start:stop] += wave[:, start - onset : stop - onset]


def _f_waves(rng: np.random.Generator, span: int) -> Floats:
    """The fibrillating atria: 5 to 7.5 waves a second that drift in rate and height, shape (8, span), in mV."""
    t = np.arange(span) / 1000.0
    rate, drift, swell = rng.uniform(5.0, 7.5), rng.uniform(0.2, 0.5), rng.uniform(0.3, 0.7)
    start = rng.uniform(0.0, 2 * np.pi, 3)
    turn = 2 * np.pi * rate * t + 2.0 * np.sin(2 * np.pi * drift * t + start[0]) + start[1]
    height = rng.uniform(0.07, 0.11) * (1.0 + 0.3 * np.sin(2 * np.pi * swell * t + start[2]))
    wave: Floats = height * (np.sin(turn) + 0.3 * np.sin(2 * turn))
    return np.outer(F_WAVES, wave)
