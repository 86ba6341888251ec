"""One beat of the ECG phantom as a recipe describes it: P wave, QRS complex, ST segment and T wave of the eight leads.

A beat is described as a table (`ecg_recipes.yaml`): for the frontal plane rows of [place, I, aVF], for a chest lead
rows of [place, mV], places being fractions of the QRS duration; `j` gives ST levels at the QRS offset, `t` heights of
T. What a recipe states of a lead is drawn nearly as stated; everything else varies more from seed to seed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from overread.phantoms.draws import drawn, even
from overread.phantoms.ecg_waves import CHEST, DRAWN, TO_AUGMENTED, Floats, p_lobes, rounded, st_t

P_HEIGHTS = np.array(
    # I     II    V1    V2    V3    V4    V5    V6
    [[0.06, 0.12, 0.07, 0.07, 0.06, 0.06, 0.06, 0.05], [0.06, 0.08, -0.05, 0.03, 0.05, 0.05, 0.05, 0.05]]
)
"""Heights of the right and of the left atrium in the drawn leads, in mV."""

PLANE = ("I", "aVF", *CHEST)
"""What tables of a beat are given for."""

T_PEAK = 0.58
P_MS = "84..112"
SHORTEST_ST_MS = 20


@dataclasses.dataclass(frozen=True, slots=True)
class Shape:
    """A drawn beat, one sample a ms. Durations are in ms."""

    p: Floats
    """(8, p_ms + 1) from its onset to its offset."""
    body: Floats
    """(8, qt_ms + 1) from the QRS onset to the T offset."""
    p_ms: int
    qrs_ms: int
    t_ms: int
    """From the QRS onset to the T onset."""
    qt_ms: int


@dataclasses.dataclass(frozen=True, slots=True)
class Times:
    """How long the parts of a beat last, in ms."""

    p: int
    qrs: int
    qt: int


def draw_times(rng: np.random.Generator, described: Mapping[str, Any], rr: float, room: tuple[float, float]) -> Times:
    """Durations for beats `rr` ms apart; `room` is what is left for P before the QRS complex and for QT."""
    p = min(drawn(rng, described.get("p_ms", P_MS)), room[0])
    qrs = even(drawn(rng, described["qrs_ms"]))
    wish = 1000.0 * rng.uniform(0.375, 0.425) * np.sqrt(rr / 1000.0) + max(0.0, qrs - 100.0)
    return Times(even(p), qrs, even(min(wish, room[1])))


def draw_shape(rng: np.random.Generator, described: Mapping[str, Any], times: Times) -> Shape:
    """A beat of the given durations."""
    levels = np.array([_level(rng, described.get("j", {}).get(name, 0.0)) for name in PLANE])
    qrs = _qrs(rng, described, levels[:, 0], times.qrs)
    t = even(min(0.47 * times.qt, times.qt - times.qrs - SHORTEST_ST_MS))
    st = times.qt - times.qrs - t
    early, late, wave = st_t(st, t, T_PEAK)
    top = st + round(T_PEAK * t)
    over = _t_heights(rng, described) - levels[:, 0] * early[top] - levels[:, 1] * late[top]
    rest = levels[:, :1] * early + levels[:, 1:] * late + over[:, None] * wave
    body = _drawn(np.concatenate([qrs[:, :-1], rest], axis=1))
    lobes = P_HEIGHTS * rng.uniform(0.8, 1.2) * rng.uniform(0.9, 1.1, (2, len(DRAWN)))
    return Shape(lobes.T @ p_lobes(times.p), body, times.p, times.qrs, times.qrs + st, times.qt)


def _drawn(plane: Floats) -> Floats:
    """The drawn leads from I, aVF and the chest leads: II is aVF and half of I."""
    return np.concatenate([plane[:1], plane[1:2] + plane[:1] / 2, plane[2:]])


def _level(rng: np.random.Generator, value: Any) -> tuple[float, float]:
    """Levels of an ST segment at the QRS offset and at the T onset; one number stands for both."""
    if isinstance(value, list):
        return drawn(rng, value[0]), drawn(rng, value[1])
    level = drawn(rng, value)
    return level, level


def _t_heights(rng: np.random.Generator, described: Mapping[str, Any]) -> Floats:
    stated, table = described.get("stated", frozenset()), described["t"]
    gain = rng.uniform(0.88, 1.15)
    own = gain * rng.uniform(0.92, 1.08, len(PLANE))
    kept = np.array([f"t {name}" in stated for name in PLANE])
    return np.array([drawn(rng, table[name]) for name in PLANE]) * np.where(kept, 1.0, own)


def _qrs(rng: np.random.Generator, described: Mapping[str, Any], levels: Floats, length: int) -> Floats:
    """The complexes in I, aVF and the chest leads, shape (8, length + 1), ending at the levels of the ST segment."""
    stated = described.get("stated", frozenset())
    gain, bend = rng.uniform(0.9, 1.12), rng.uniform(0.95, 1.05)
    complexes = []
    for lead in ("frontal", *CHEST):
        rows = np.array([[drawn(rng, number) for number in row] for row in described[lead]])
        at, heights, own = rows[:, 0], rows[:, 1:], rng.uniform(-1.0, 1.0)
        if lead in stated:
            heights = heights * (1.0 + 0.03 * own)
        else:
            at, heights = at**bend, heights * gain * (1.0 if lead == "frontal" else 1.0 + 0.07 * own)
        table = rounded(tuple(at.tolist()), length)
        complexes.append(heights.T @ table[:-1])
        if lead == "frontal":
            tail = table[-1]
            turn = _turn(rng, described, lead in stated, complexes[0], levels[:2, None] * tail)
            complexes[0] = _turned(complexes[0], turn) + levels[:2, None] * tail
        else:
            complexes[-1] = complexes[-1] + levels[len(complexes)] * table[-1]
    return np.concatenate(complexes)


def _turn(rng: np.random.Generator, described: Mapping[str, Any], stated: bool, plane: Floats, fixed: Floats) -> float:
    """How far the frontal plane is turned: to the `axis` of the recipe, or a little; what is `fixed` is not turned."""
    by = np.deg2rad(rng.uniform(-8.0, 8.0))
    if "axis" not in described:
        return 0.0 if stated else float(by)
    wanted, turn = np.deg2rad(drawn(rng, described["axis"])), 0.0
    # The way to a displaced ST segment is not turned, and pulls at the axis: a few steps allow for it.
    for _ in range(5):
        x, y = (_turned(plane, turn) + fixed).sum(axis=1)
        turn += wanted - float(np.arctan2(y * TO_AUGMENTED, x))
    return turn


def _turned(plane: Floats, angle: float) -> Floats:
    """I and aVF, shape (2, samples), with the electrical axis turned by `angle` (radians, clockwise as axes are)."""
    x, y = plane[0], plane[1] * TO_AUGMENTED
    cos, sin = np.cos(angle), np.sin(angle)
    return np.stack([cos * x - sin * y, (sin * x + cos * y) / TO_AUGMENTED])
