"""Judging and scoring ECG-Reasoning-Benchmark, beside the way of one JSON file a sample, read and matched in a loop.

    python bench/ecg_reasoning.py SAMPLES [--questions 72441] [--rounds 3] [--json FILE]

The samples below SAMPLES (`*.jsonl`) are taken again and again up to so many questions, with made-up replies of one
model. The loop reads a file, marks each step by the rules of release 0.0.2 (those of our judge `ecg_heuristic`, so both
sides find the same) and counts accuracies, completion, depth and GT-RDA. Ours is a run with the same replies, imported
before the clock starts: it decides which replies count, judges, writes the verdicts, and makes all scores, in total and
by diagnosis, source and loop, once without intervals (one resample) and once with intervals by patient (1,000). The
sides take turns, each in a process of its own; a bench whose sides disagree stops.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from sides import HERE, call, say

SIDES = {"loop": "theirs", "ours, no intervals": "1", "ours, 1,000 resamples": "1000"}
TARGET, MOST_MB = 10.0, 500.0


def measure(samples: Path, questions: int, rounds: int) -> dict[str, list[dict[str, Any]]]:
    """The costs of each side, round by round."""
    side = [sys.executable, HERE / "reasoning_sides.py"]
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in SIDES}
    with tempfile.TemporaryDirectory() as folder:
        results, run = Path(folder) / "results", Path(folder) / "run"
        say(str(call([*side, "write", samples, results, str(questions)])))
        call([*side, "bring", results, run])
        for turn in range(rounds):
            for name, what in SIDES.items():
                words = ["theirs", results] if what == "theirs" else ["ours", run, what]
                found[name].append(call([*side, *words]))
                say(f"round {turn + 1}: {name}: {found[name][-1]['wall']:.2f} s")
            agree(found["loop"][-1]["found"], *(found[name][-1]["found"] for name in list(SIDES)[1:]))
    return found


def agree(counts: dict[str, float], *ours: dict[str, float]) -> None:
    """Stops where the sides found different things."""
    theirs = {
        "first_accuracy": counts["first"] / counts["samples"],
        "completion_hard": counts["hard"] / counts["samples"],
        "gt_rda": counts["gt_rda"] / counts["samples"],
        "reasoning_depth": counts["depth"] / counts["loops with groundings"],
    }
    for one in ours:
        wrong = {
            name: (value, one.get(name)) for name, value in theirs.items() if abs(one.get(name, -1) - value) > 1e-9
        }
        if wrong:
            raise SystemExit(f"the sides disagree: {wrong}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("samples", type=Path)
    parser.add_argument("--questions", type=int, default=72_441)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    found = measure(given.samples, given.questions, given.rounds)
    middle = {
        n: {k: statistics.median(o[k] for o in rounds) for k in ("wall", "cpu", "peak_mb")}
        for n, rounds in found.items()
    }
    print("| side | wall s | processor s | loop / side, wall | peak MB |\n|---|---|---|---|---|")
    for name, one in middle.items():
        ratio = middle["loop"]["wall"] / one["wall"]
        print(f"| {name} | {one['wall']:.2f} | {one['cpu']:.2f} | {ratio:.2f} x | {one['peak_mb']:.0f} |")
    best = middle["ours, no intervals"]
    kept = ("missed", "kept")
    fast, small = middle["loop"]["wall"] / best["wall"] >= TARGET, best["peak_mb"] < MOST_MB
    print(f"\ntarget {TARGET:g} x: {kept[fast]}; {MOST_MB:g} MB: {kept[small]}")
    if given.json:
        given.json.write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main()
