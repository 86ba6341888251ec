"""How well phantoms are measured: errors of intervals, heights and axis, and how often each diagnosis is decided right.

    python bench/ecg_phantoms.py [--seeds 12] [--first 100]

Every recipe at every seed: with no more noise than the phantom's own 10 uV, at 30 dB, and at 15 dB. A diagnosis
counts on the recipes that have it and on those that just miss it.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from overread.guidelines.diagnoses import Reading, diagnoses
from overread.guidelines.ecg_facts import EcgFacts
from overread.measure.ecg import measure_ecg
from overread.phantoms.ecg import EcgPhantom, ecg_phantom, recipes

INTERVALS = ("rr_ms", "p_ms", "pr_ms", "qrs_ms", "qt_ms")
HEIGHTS = ("q_mv", "r_mv", "s_mv", "r2_mv", "j_mv", "st_mv")
LEVELS: Mapping[str, float | None] = {"clean": None, "30 dB": 30.0, "15 dB": 15.0}


def made(name: str, seed: int, snr_db: float | None) -> EcgPhantom:
    return ecg_phantom(seed, name) if snr_db is None else ecg_phantom(seed, name, snr_db=snr_db)


def errors_of(found: EcgFacts, true: EcgFacts) -> dict[str, list[float]]:
    """Absolute errors by fact; facts that only one side knows are none."""
    errors: dict[str, list[float]] = defaultdict(list)
    for name in INTERVALS:
        one, other = getattr(found, name), getattr(true, name)
        if one is not None and other is not None:
            errors[name].append(abs(one - other))
    if found.axis_deg is not None and true.axis_deg is not None:
        errors["axis_deg"].append(abs((found.axis_deg - true.axis_deg + 180.0) % 360.0 - 180.0))
    for lead, facts in true.leads.items():
        if lead in found.leads:
            errors["heights_mv"] += [abs(getattr(found.leads[lead], name) - getattr(facts, name)) for name in HEIGHTS]
    return errors


def measure(snr_db: float | None, seeds: Sequence[int]) -> tuple[dict[str, list[float]], dict[str, list[bool]]]:
    """Errors by fact and whether each diagnosis was decided as it is, over all recipes and seeds."""
    errors: dict[str, list[float]] = defaultdict(list)
    right: dict[str, list[bool]] = {name: [] for name in diagnoses()}
    for name, recipe in recipes().items():
        for seed in seeds:
            phantom = made(name, seed, snr_db)
            found = measure_ecg(phantom.mv, phantom.rate_hz).facts
            for fact, values in errors_of(found, phantom.facts).items():
                errors[fact] += values
            if recipe.diagnosis is not None:
                present = Reading(found).decide(recipe.diagnosis).present
                right[recipe.diagnosis].append(present is (recipe.diagnosis in recipe.has))
    return errors, right


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=12, help="how many of each recipe")
    parser.add_argument("--first", type=int, default=100, help="the first seed")
    options = parser.parse_args(words)
    seeds = range(options.first, options.first + options.seeds)
    found = {level: measure(snr_db, seeds) for level, snr_db in LEVELS.items()}
    print("| absolute error: median / 95th percentile | " + " | ".join(found) + " |")
    print("|---|" + "---|" * len(found))
    for fact in (*INTERVALS, "axis_deg", "heights_mv"):
        digits = 3 if fact.endswith("mv") else 1
        cells = [
            f"{np.median(errors[fact]):.{digits}f} / {np.quantile(errors[fact], 0.95):.{digits}f}"
            for errors, _ in found.values()
        ]
        print(f"| {fact} | " + " | ".join(cells) + " |")
    print("\n| decided right, near misses included | n | " + " | ".join(found) + " |")
    print("|---|---|" + "---|" * len(found))
    for name in diagnoses():
        cells = [f"{100 * np.mean(right[name]):.1f} %" for _, right in found.values()]
        print(f"| {name} | {len(next(iter(found.values()))[1][name])} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
