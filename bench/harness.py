"""What the harness costs beside the models: prints a table of ratios, all measured in one run on one machine.

    python bench/harness.py [--quick] [--json FILE]

Every measure runs in a process of its own; the two sides of the first take turns. Wall time and processor time stand
beside each other: on a machine that does other things too, processor time is the steadier one. What is measured and
what was set on the other side is told in README.md.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import platform
import shutil
import statistics
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from sides import call, python_of, say

HERE = Path(__file__).resolve().parent
GIB = 1 << 30
SIDES = ("wall", "cpu")


@dataclasses.dataclass(frozen=True)
class Size:
    """How much is measured."""

    dialogues: int = 500
    rounds: int = 3
    resumed: int = 200
    streamed: tuple[int, ...] = (10_000, 100_000, 1_000_000)


QUICK = Size(dialogues=60, rounds=1, resumed=40, streamed=(2_000, 20_000, 100_000))


@dataclasses.dataclass(frozen=True)
class Line:
    """One line of the table."""

    what: str
    target: str
    wall: str
    cpu: str
    kept: bool | None
    """Whether the target is met, by processor time; None: there is none."""


def ours(*words: str | Path) -> dict[str, Any]:
    return call([sys.executable, HERE / "our_side.py", *words])


def write_data(folder: Path, counts: Mapping[str, int]) -> Path:
    """For each name a made-up archive of so many records; returns the picture that all show, of about 300 kB."""
    noise = np.random.default_rng(0).integers(0, 256, (316, 316, 3), dtype=np.uint8)
    for name, count in counts.items():
        (folder / name).mkdir(parents=True)
        Image.fromarray(noise).save(folder / name / "record.png")
        (folder / name / "count.txt").write_text(str(count), encoding="ascii")
    return folder / next(iter(counts)) / "record.png"


def middle(found: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The medians of several measurements."""
    return {side: statistics.median(one[side] for one in found) for side in SIDES}


def one_in(part: Mapping[str, float], whole: Mapping[str, float]) -> dict[str, float]:
    """How many times `part` goes into `whole`."""
    return {side: whole[side] / part[side] for side in SIDES}


def ratio_line(what: str, ratios: Mapping[str, float], target: float | None) -> Line:
    wall, cpu = (f"1/{ratios[side]:.3g}" for side in SIDES)
    kept = None if target is None else ratios["cpu"] > target
    return Line(what, "" if target is None else f"< 1/{target:g}", wall, cpu, kept)


def cost_line(what: str, costs: Mapping[str, float], number: int) -> Line:
    wall, cpu = (f"{1e6 * costs[side] / number:.3g} us" for side in SIDES)
    return Line(what, "", wall, cpu, None)


def measure_pipeline(size: Size, folder: Path) -> tuple[list[Line], dict[str, Any]]:
    """The whole pipeline a question, beside Inspect AI as its documentation recommends for speed, and as it comes."""
    python = python_of("inspect")
    png = write_data(folder / "data", {"few": 5, "many": size.dialogues})
    sides: dict[str, Callable[[int], dict[str, Any]]] = {
        "overread": lambda turn: ours("pipeline", folder / "data", folder / f"run{turn}"),
        "inspect": lambda turn: call([python, HERE / "inspect_side.py", png, "--dialogues", str(size.dialogues)]),
        "inspect_default": lambda turn: call(
            [python, HERE / "inspect_side.py", png, "--dialogues", str(size.dialogues), "--default"]
        ),
    }
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in sides}
    for turn in range(size.rounds):
        for name, side in sides.items():
            found[name].append(side(turn))
            say(f"pipeline, round {turn + 1}, {name}: {found[name][-1]['wall']:.2f} s")
    said = {round(one["accuracy"], 6) for every in found.values() for one in every}
    if len(said) > 1:
        raise SystemExit(f"the sides do not play the same exam: accuracies {said}")
    costs = {name: middle(every) for name, every in found.items()}
    questions = size.dialogues * 15
    lines = [
        cost_line("a question: overread, compile + ask + judge + score", costs["overread"], questions),
        cost_line("a question: Inspect AI, settings for speed", costs["inspect"], questions),
        cost_line("a question: Inspect AI, images not logged, else as it comes", costs["inspect_default"], questions),
        ratio_line("overread / Inspect AI as it comes", one_in(costs["overread"], costs["inspect_default"]), 50),
        ratio_line("overread / Inspect AI set for speed", one_in(costs["overread"], costs["inspect"]), 50),
    ]
    return lines, {"questions": questions, "rounds": found}


def measure_resume(size: Size, folder: Path) -> tuple[list[Line], dict[str, Any]]:
    """Going on with a run of which ten replies are missing, beside the first run."""
    write_data(folder / "data", {"few": 5, "some": size.resumed})
    lines, kept = [], {}
    questions = size.resumed * 15
    for label, seconds in (("5 ms an answer", 0.005), ("answers at once", 0.0)):
        found = ours("resume", folder / "data", folder / f"run{seconds:g}", "--seconds", f"{seconds:g}")
        wrong = [one["asked"] for one in found["again"] if one["asked"] != 10]
        if wrong:
            raise SystemExit(f"a resumed run asked {wrong[0]} questions instead of 10")
        ratios = one_in(middle(found["again"]), found["first"])
        # A model that waits uses no processor: what its answers cost is wall time.
        line = ratio_line(f"resume, 10 of {questions:,} missing / first run, {label}", ratios, 100)
        lines.append(dataclasses.replace(line, kept=ratios["wall"] > 100))
        kept[label] = found
        say(f"resume, {label}: first {found['first']['wall']:.2f} s, again {middle(found['again'])['wall']:.3f} s")
    return lines, kept


def measure_stream(size: Size, folder: Path) -> tuple[list[Line], dict[str, Any]]:
    """Judging and scoring runs of several sizes, each asked of two models."""
    from synthetic import write_run

    costs: dict[int, dict[str, Any]] = {}
    for questions in size.streamed:
        write_run(folder / "run", questions, str(HERE / "toys" / "chain_exam.py"))
        costs[questions] = ours("stream", folder / "run")
        shutil.rmtree(folder / "run")
        say(f"stream, {questions:,} questions: {costs[questions]['wall']:.2f} s")
    least, most = size.streamed[0], size.streamed[-1]
    peak = costs[most]["peak_bytes"] / GIB
    growth = {side: (costs[most][side] / most) / (costs[least][side] / least) for side in SIDES}
    lines = [cost_line(f"judge + score, {n:,} questions, 2 models: a question", costs[n], n) for n in size.streamed]
    target, kept = "linear: <= 1.1", growth["cpu"] <= 1.1
    lines.append(
        Line(f"cost a question at {most:,} / at {least:,}", target, *(f"{growth[s]:.2f}" for s in SIDES), kept)
    )
    lines.append(Line(f"peak memory at {most:,} questions", "< 1 GiB", f"{peak:.2f} GiB", "", peak < 1))
    return lines, {str(n): cost for n, cost in costs.items()}


MEASURES = {"pipeline": measure_pipeline, "resume": measure_resume, "stream": measure_stream}


def table(lines: Sequence[Line]) -> str:
    rows = [("", "target", "wall", "processor", "")]
    verdict = {True: "met", False: "NOT MET", None: ""}
    rows += [(line.what, line.target, line.wall, line.cpu, verdict[line.kept]) for line in lines]
    widths = [max(len(row[n]) for row in rows) for n in range(5)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes, one round: to see that it runs")
    parser.add_argument("--only", choices=tuple(MEASURES), action="append", help="only this measure (may be repeated)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything that was measured")
    options = parser.parse_args(words)
    size = QUICK if options.quick else Size()
    lines: list[Line] = []
    found: dict[str, Any] = {}
    for name in options.only or MEASURES:
        with tempfile.TemporaryDirectory() as folder:
            more, found[name] = MEASURES[name](size, Path(folder))
        lines += more
    print(table(lines))
    if options.json:
        machine = {"python": platform.python_version(), "cores": os.cpu_count(), "machine": platform.machine()}
        document = {"machine": machine, "lines": [dataclasses.asdict(line) for line in lines], "measured": found}
        options.json.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
