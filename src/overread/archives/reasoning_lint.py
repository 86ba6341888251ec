"""What is wrong in samples of ECG-Reasoning-Benchmark, beyond what keeps them from being read."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path

from overread.archives.reasoning_files import read_all, releases
from overread.archives.reasoning_samples import CRITERION, DECISION, FURTHER, YES_NO, Fault, Sample, Step
from overread.errors import BadInput

SECONDS = 10.0
"""How long the ECGs last that segments lie in."""

_SEGMENT = re.compile(r"\[\s*(\d+(?:\.\d+)?)\s*s\s*-\s*(\d+(?:\.\d+)?)\s*s\s*\]")


def lint(path: Path) -> tuple[int, list[Fault]]:
    """How many samples could be read, and all faults of all files below a path."""
    faults: list[Fault] = []
    samples: list[Sample] = []
    for found in read_all(path):
        faults += found.faults
        if found.sample is not None:
            samples.append(found.sample)
            faults += doubts(found.sample)
    try:
        releases(samples)
    except BadInput as error:
        faults.append(Fault("releases", error.where, "", error.what))
    return len(samples), faults


def doubts(sample: Sample) -> Iterator[Fault]:
    """What can be asked and yet should not stand there."""
    for place, step in sample.steps():
        for kind, what in _of_step(step):
            yield Fault(kind, sample.name, place, what)
    for number, loop in enumerate(sample.loops, start=1):
        last = number == len(sample.loops)
        wanted = YES_NO[not sample.label] if last else FURTHER
        decisions = [step.answer for step in loop if step.stage == DECISION]
        if decisions != [(wanted,)]:
            yield Fault("decision", sample.name, f"loop {number} {DECISION}", f"its answer should be {wanted!r}")
        if loop[0].stage != CRITERION or loop[-1].stage != DECISION:
            yield Fault("order", sample.name, f"loop {number}", "its steps stand in another order")


def _of_step(step: Step) -> Iterator[tuple[str, str]]:
    twice = sorted({option for option in step.options if step.options.count(option) > 1})
    if twice:
        yield "duplicate_option", f"the option {twice[0]!r} stands there twice"
    spans = segments(step.offered)
    for (one, (_, end)), (other, (start, _)) in itertools.pairwise(sorted(spans.items(), key=lambda item: item[1])):
        if start < end:
            yield "overlapping_segments", f"{one} and {other} overlap"
    for option, (start, end) in spans.items():
        if not start < end <= SECONDS:
            yield "segment", f"{option} is no segment within {SECONDS:g} s"


def segments(options: tuple[str, ...]) -> dict[str, tuple[float, float]]:
    """Start and end, in seconds, of the options that are segments of the ECG."""
    return {option: (float(m[1]), float(m[2])) for option in options if (m := _SEGMENT.fullmatch(option.strip()))}
