"""The recipes of the ECG phantom: each diagnosis on each way that leads to it, near misses, rhythms and labels.

A recipe is known by its name. `inferior_myocardial_infarction/q_waves` has the diagnosis on that path;
`.../but_q_inferior` is a near miss: it has what the diagnosis asks for but for that finding, which lies on the other
side of its threshold by one to two steps (a yes or no simply is the other way). The tables are in `ecg_recipes.yaml`.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from importlib import resources
from types import MappingProxyType
from typing import Any

import yaml

from overread.guidelines.diagnoses import Reading, diagnoses
from overread.guidelines.rules import PLAIN_MARGIN
from overread.phantoms.ecg_waves import CHEST

LEAST_MARGIN = 1.0
"""No decision on a phantom lies nearer to a threshold, in steps."""

MISSED_BY = (1.0, 2.0)
"""By how many steps a near miss misses."""

ROUNDING = 1e-6


@dataclasses.dataclass(frozen=True, slots=True)
class Recipe:
    """One kind of ECG."""

    name: str
    diagnosis: str | None
    """The diagnosis it is about: it has it, or just misses it; None for a rhythm without a graph."""
    misses: str | None
    """Of a near miss the finding that is missing, or there where it must not be."""
    has: frozenset[str]
    """All diagnoses that it has; of the others it has none."""
    path: tuple[str, ...]
    """Of a diagnosis it has, the findings that hold on the way."""
    labels: tuple[str, ...]
    """What CODE-15 and CPSC-2018 would call it, of: normal, 1dAVb, RBBB, LBBB, SB, ST, AF, PAC, PVC, STD, STE."""
    beat: Mapping[str, Any]
    """The table of its ordinary beats; `ectopic` holds that of its premature ventricular ones."""
    rhythm: Mapping[str, Any]

    def fits(self, reading: Reading) -> bool:
        """Whether an ECG has just the diagnoses that the recipe claims, clear of every threshold."""
        for decision in reading.all():
            if decision.present is not (decision.diagnosis in self.has) or decision.margin < LEAST_MARGIN - ROUNDING:
                return False
            if decision.diagnosis == self.diagnosis and not self._as_claimed(decision.path, reading):
                return False
        return True

    def _as_claimed(self, path: Any, reading: Reading) -> bool:
        if self.misses is None:
            return not self.path or tuple(name for name, outcome in path if outcome.holds) == self.path
        by = reading.finding(self.misses).margin
        return by == PLAIN_MARGIN or MISSED_BY[0] - ROUNDING <= by <= MISSED_BY[1] + ROUNDING


@functools.cache
def recipes() -> Mapping[str, Recipe]:
    """All recipes by name."""
    text = (resources.files("overread.phantoms") / "ecg_recipes.yaml").read_text(encoding="utf-8")
    book = yaml.safe_load(text)
    return MappingProxyType({name: _recipe(name, book) for name in book["recipes"]})


def _recipe(name: str, book: Mapping[str, Any]) -> Recipe:
    entry, stated = _entry(name, book["recipes"])
    beat = _laid_over(book["beats"][entry["beat"]], {k: v for k, v in entry.items() if k in _DESCRIBES})
    beat |= {"stated": frozenset(stated)}
    if "ectopic" in entry:
        beat["ectopic"] = book["beats"][entry["ectopic"]]
    diagnosis, _, way = name.partition("/")
    misses = way.removeprefix("but_").partition("+")[0] if way.startswith("but_") else None
    known = diagnosis if diagnosis in diagnoses() else None
    has = set(entry.get("has", [known] if known else []))
    if misses is not None and "has" not in book["recipes"][name]:
        has.discard(diagnosis)
    return Recipe(
        name=name,
        diagnosis=known,
        misses=misses,
        has=frozenset(has),
        path=tuple(entry.get("path", ())) if misses is None else (),
        labels=tuple(entry.get("labels", ())),
        beat=MappingProxyType(beat),
        rhythm=MappingProxyType(entry["rhythm"]),
    )


_DESCRIBES = {"frontal", *CHEST, "j", "t", "qrs_ms", "p_ms", "axis"}


def _entry(name: str, entries: Mapping[str, Any]) -> tuple[dict[str, Any], set[str]]:
    """An entry laid over the one it is `like`, and what both state of leads."""
    own = entries[name]
    stated = {key for key in own if key in ("frontal", *CHEST)} | {f"t {lead}" for lead in own.get("t", {})}
    if "like" not in own:
        return own, stated
    other, before = _entry(own["like"], entries)
    kept = {key: value for key, value in other.items() if key not in ("path", "labels")}
    return _laid_over(kept, own), stated | before


def _laid_over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Both tables; where both have a table of their own (`j`, `t`, `rhythm`), those laid over each other too."""
    merged = dict(below)
    for key, value in above.items():
        inner = merged.get(key)
        merged[key] = {**inner, **value} if isinstance(inner, dict) and isinstance(value, dict) else value
    return merged
