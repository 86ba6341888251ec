"""How fast a sheet is drawn beside ecg_plot 0.2.8, and how near it comes to its picture.

    python bench/sheet.py [--quick] [--record RECORD] [--json FILE]

Without a record it draws a phantom of 10 s with as much noise as real records have: above 60 Hz, nine records of PTB-XL
and LUDB had 0.6 to 6 uV (root mean square, median of the leads), half of them less than 1.8. The more noise, the more
a trace costs to draw, so a line without a target tells of a phantom with 10 uV as well. Both sides run in processes of
their own and take turns; each round is the median of its drawings, the table shows the median of the rounds. Targets
are held against processor time.

Their environment, `bench/.env-ecg-plot`, is made once from `requirements-ecg-plot.txt`. To compile that anew:

    printf 'ecg-plot==0.2.8\\nmatplotlib\\nnumpy\\nwfdb\\n' | uv pip compile - --universal --generate-hashes \\
        --python-version 3.11 --no-emit-index-url --no-emit-find-links \\
        --custom-compile-command "see bench/sheet.py" -o bench/requirements-ecg-plot.txt
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import platform
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from environments import python_of
from harness import HERE, SIDES, Line, call, say, table
from overread.media.ecg import LEADS
from overread.media.wfdb import write_record
from overread.phantoms.ecg import ecg_phantom


@dataclasses.dataclass(frozen=True)
class Way:
    """One thing that both sides do."""

    words: str
    what: str
    """What the sides are told to do."""
    target: float | None = None
    """How many times faster is wanted."""
    noise_uv: float = 1.5
    """The noise of the phantom, from 0 to 250 Hz."""


WAYS = (
    Way("signal to RGB", "draw", 80.0),
    Way("signal to RGB, noisy", "draw", noise_uv=10.0),
    Way("signal to pixels, nothing compressed", "raw"),
    Way("file to PNG", "file", 35.0),
)
MOST_APART = 0.05
"""Grey levels of 255, in the mean over all pixels and colours."""


@dataclasses.dataclass(frozen=True)
class Size:
    """How often each side draws."""

    rounds: int = 3
    ours: int = 20
    theirs: int = 3


QUICK = Size(rounds=1, ours=5, theirs=1)


def make_record(folder: Path, noise_uv: float) -> Path:
    """A phantom as a WFDB record."""
    made = ecg_phantom(0, "normal", noise_mv=noise_uv / 1000)
    name = f"noise{noise_uv:g}".replace(".", "_")
    write_record(folder, name, made.mv.astype(np.float64), float(made.rate_hz), LEADS)
    return folder / name


def middle(found: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The medians of several measurements."""
    return {side: statistics.median(one[side] for one in found) for side in SIDES}


def apart(one: Path, other: Path) -> float:
    """The mean absolute difference of two pictures, in grey levels; infinite where their sizes differ."""
    first, second = np.load(one).astype(np.int16), np.load(other).astype(np.int16)
    return float(np.abs(first - second).mean()) if first.shape == second.shape else float("inf")


def measure(size: Size, given: Path | None, folder: Path) -> tuple[list[Line], dict[str, Any]]:
    """All ways through both sides, taking turns, and how far the pictures are apart."""
    sides = {
        "ours": ([sys.executable, HERE / "sheet_ours.py"], size.ours),
        "theirs": ([python_of("ecg-plot"), HERE / "sheet_theirs.py"], size.theirs),
    }
    ways = [way for way in WAYS if given is None or way.noise_uv == WAYS[0].noise_uv]
    found: dict[str, dict[str, list[dict[str, float]]]] = {way.words: {side: [] for side in sides} for way in ways}
    for turn in range(size.rounds):
        for way in ways:
            record = given or make_record(folder, way.noise_uv)
            for side, (command, times) in sides.items():
                keep = ["--keep", folder / f"{side}.npy"] if turn == 0 and way is WAYS[0] else []
                told = call([*command, way.what, record, str(times), *keep])
                found[way.words][side].append(middle(told["rounds"]))
                spent = found[way.words][side][-1]["cpu"]
                say(f"{way.words}, round {turn + 1}, {side}: {1e3 * spent:.1f} ms of processor time")
    lines = [line for way in ways for line in compare(way, found[way.words])]
    grey = apart(folder / "ours.npy", folder / "theirs.npy")
    text = "mean difference of the pictures, grey levels"
    lines.append(Line(text, f"<= {MOST_APART:g}", f"{grey:.2g}", "", grey <= MOST_APART))
    return lines, {"rounds": found, "grey_levels_apart": grey}


def compare(way: Way, found: Mapping[str, Sequence[Mapping[str, float]]]) -> list[Line]:
    """What each side takes, and how many times faster ours is."""
    ours, theirs = middle(found["ours"]), middle(found["theirs"])
    lines = []
    for name, cost in (("overread", ours), ("ecg_plot 0.2.8", theirs)):
        wall, cpu = (f"{1e3 * cost[side]:.3g} ms" for side in SIDES)
        lines.append(Line(f"sheet, {way.words}: {name}", "", wall, cpu, None))
    ratio = {side: theirs[side] / ours[side] for side in SIDES}
    wall, cpu = (f"{ratio[side]:.0f} x" for side in SIDES)
    wanted, kept = ("", None) if way.target is None else (f">= {way.target:g} x", ratio["cpu"] >= way.target)
    return [*lines, Line(f"sheet, {way.words}: times faster", wanted, wall, cpu, kept)]


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one round: to see that it runs")
    parser.add_argument("--record", type=Path, help="draw this WFDB record instead of a phantom")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything that was measured")
    options = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        lines, found = measure(QUICK if options.quick else Size(), options.record, folder)
    print(table(lines))
    if options.json:
        machine = {"python": platform.python_version(), "machine": platform.machine()}
        document = {"machine": machine, "lines": [dataclasses.asdict(line) for line in lines], "measured": found}
        options.json.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
