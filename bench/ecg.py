"""How fast and how well 12 leads are delineated, beside neurokit2 on one of them.

    python bench/ecg.py [--quick] [--ludb FOLDER] [--json FILE]

Both sides get the same recordings of 10 s at 500 Hz: with `--ludb` the records of LUDB with even numbers (ours was
tuned on the others), else phantoms with noise at 25 dB. They run in processes of their own and take turns; each
round is the median over the recordings, the table shows the median of the rounds. Targets are held against processor
time. neurokit2 delineates lead II (with wavelets; its other methods give no boundaries of the QRS complex), overread
all twelve leads. The ratios of drawn sheets are made by `bench/sheet.py`.

With `--ludb` a second table tells how well: F1 and errors (mean and standard deviation, ms) against the waves that
cardiologists drew in lead II, for both, and for overread against the consensus of twelve leads. Waves match whose
middles are at most 150 ms apart; what was found outside of the stretch in which anything was drawn does not count.

Their environment, `bench/.env-neurokit`, is made once from `requirements-neurokit.txt`.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import platform
import statistics
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from environments import python_of
from harness import HERE, SIDES, Line, call, say, table
from overread.archives.ludb import boundaries
from overread.measure.ecg.agreement import Agreement, agreement, consensus, drawn_spans, drawn_within
from overread.media import ecg
from overread.media.leads import LEADS
from overread.phantoms.ecg import RHYTHMS, ecg_phantom

LEAD = LEADS.index("II")
RATE_HZ = 500.0
MOST_CPU_S = 0.025
KINDS = ("p", "qrs", "t")


@dataclasses.dataclass(frozen=True)
class Size:
    """How often, and how many recordings."""

    rounds: int = 5
    recordings: int = 24


QUICK = Size(rounds=1, recordings=4)


def write_phantoms(folder: Path, count: int) -> None:
    for number in range(count):
        made = ecg_phantom(number, RHYTHMS[number % len(RHYTHMS)], snr_db=25.0)
        np.save(folder / f"{number:03d}.npy", made.mv)


def write_records(folder: Path, ludb: Path) -> list[str]:
    """The records of LUDB with even numbers; gives their numbers."""
    numbers = sorted(int(path.stem) for path in (ludb / "data").glob("*.hea"))
    names = [str(number) for number in numbers if number % 2 == 0]
    for name in names:
        np.save(folder / f"{name}.npy", ecg.read(ludb / "data" / f"{name}.hea").mv)
    return names


def measure_speed(size: Size, folder: Path) -> tuple[list[Line], dict[str, Any]]:
    """What a recording costs each side; they take turns."""
    ours, theirs = [sys.executable, HERE / "ecg_ours.py"], [python_of("neurokit"), HERE / "ecg_theirs.py"]
    costs: dict[str, list[dict[str, float]]] = {"delineate": [], "measure": [], "theirs": [], "last": []}
    for turn in range(size.rounds):
        told = call([*ours, "speed", folder, "1", str(LEAD)])["rounds"][0]
        for what in ("delineate", "measure"):
            costs[what].append(middle([one[what] for one in told]))
        told = call([*theirs, "speed", folder, "1", str(LEAD)])["rounds"][0]
        costs["theirs"].append(middle(told))
        costs["last"].append({"wall": math.nan, "cpu": statistics.median(one["last_cpu"] for one in told)})
        cpu = {what: f"{1e3 * found[-1]['cpu']:.1f}" for what, found in costs.items()}
        say(f"round {turn + 1}: 12 leads {cpu['delineate']} ms, one lead with neurokit2 {cpu['theirs']} ms (processor)")
    found = {what: middle(rounds) for what, rounds in costs.items()}
    lines = [
        cost_line("12 leads delineated: overread", found["delineate"], MOST_CPU_S),
        cost_line("12 leads delineated and all facts measured: overread", found["measure"], MOST_CPU_S),
        cost_line("lead II delineated: neurokit2", found["theirs"], None),
        cost_line("of that `ecg_delineate` alone", found["last"], None),
        ratio_line("neurokit2 on one lead / overread on twelve", found["theirs"], found["delineate"]),
        ratio_line("`ecg_delineate` alone on one lead / overread on twelve", found["last"], found["delineate"]),
    ]
    return lines, {"rounds": costs}


def middle(found: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The medians of several measurements."""
    return {side: statistics.median(one[side] for one in found) for side in SIDES}


def cost_line(what: str, cost: Mapping[str, float], most: float | None) -> Line:
    wall, cpu = ("" if math.isnan(cost[side]) else f"{1e3 * cost[side]:.3g} ms" for side in SIDES)
    if most is None:
        return Line(what, "", wall, cpu, None)
    return Line(what, f"<= {1e3 * most:g} ms", wall, cpu, cost["cpu"] <= most)


def ratio_line(what: str, slow: Mapping[str, float], fast: Mapping[str, float]) -> Line:
    wall, cpu = ("" if math.isnan(slow[side]) else f"{slow[side] / fast[side]:.1f} x" for side in SIDES)
    return Line(what, "> 1 x", wall, cpu, slow["cpu"] > fast["cpu"])


def measure_accuracy(ludb: Path, folder: Path, names: Sequence[str]) -> dict[str, Any]:
    """Agreement of both sides with drawn waves, by side and kind of wave, and what failed."""
    ours = call([sys.executable, HERE / "ecg_ours.py", "waves", folder, "1", str(LEAD)])
    theirs = call([python_of("neurokit"), HERE / "ecg_theirs.py", "waves", folder, "1", str(LEAD)])
    failed = {name: found["failed"] for name, found in theirs.items() if "failed" in found}
    sides: dict[str, Callable[[str, str], Any]] = {
        "overread, 12-lead consensus": lambda name, kind: ours[name]["joint"][kind],
        "overread, lead II": lambda name, kind: ours[name]["lead"][kind],
        "neurokit2, lead II": lambda name, kind: theirs[name].get(kind, []),
    }
    found = {side: {kind: Agreement() for kind in KINDS} for side in sides}
    for name in names:
        waves = boundaries(ludb, name)
        for side, spans_of in sides.items():
            for kind in KINDS:
                by_lead = drawn_spans(waves, kind)
                drawn = consensus(by_lead, RATE_HZ) if side.endswith("consensus") else by_lead[LEAD]
                spans = np.array(spans_of(name, kind), dtype=float).reshape(-1, 2)
                found[side][kind] += agreement(drawn, spans, RATE_HZ, drawn_within(waves))
    return {"failed": failed, "records": len(names), "agreement": found}


def accuracy_table(found: Mapping[str, Any]) -> str:
    """The table in Markdown, as docs/results.md has it."""
    rows = ["| wave | side, beside | F1 | onset, ms | offset, ms |", "|---|---|---|---|---|"]
    for kind in KINDS:
        for side, by_kind in found["agreement"].items():
            one = by_kind[kind]
            onset, offset = (f"{bias:+.1f} \u00b1 {spread:.1f}" for bias, spread in (one.onset, one.offset))
            rows.append(f"| {kind} | {side} | {one.f1:.4f} | {onset} | {offset} |")
    rows.append(f"\n{found['records']} records; neurokit2 failed on {len(found['failed'])}, overread on none.")
    return "\n".join(rows)


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one round, few recordings: to see that it runs")
    parser.add_argument("--ludb", type=Path, help="the folder of LUDB: its records instead of phantoms, and accuracy")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything that was measured")
    options = parser.parse_args(words)
    size = QUICK if options.quick else Size()
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        names: list[str] = []
        if options.ludb is None:
            write_phantoms(folder, size.recordings)
        else:
            names = write_records(folder, options.ludb)
        lines, found = measure_speed(size, folder)
        print(table(lines))
        if options.ludb is not None:
            found["accuracy"] = measure_accuracy(options.ludb, folder, names)
            print("\n" + accuracy_table(found["accuracy"]))
    if options.json:
        machine = {"python": platform.python_version(), "machine": platform.machine()}
        document = {"machine": machine, "lines": [dataclasses.asdict(line) for line in lines], "measured": found}
        text = json.dumps(document, indent=2, default=lambda one: {"f1": one.f1, **dataclasses.asdict(one)})
        options.json.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
