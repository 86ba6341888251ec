"""Which release a sample of ECG-Reasoning-Benchmark belongs to, and what must be asked again when it changes."""

from __future__ import annotations

import functools
from importlib import resources
from typing import Any, Literal

import yaml

from overread.archives.reasoning_samples import Sample

RELEASES = ("0.0.1", "0.0.2")

Again = Literal["must", "should", ""]


@functools.cache
def _book() -> dict[str, Any]:
    text = (resources.files("overread.archives") / "reasoning_releases.yaml").read_text(encoding="utf-8")
    found: dict[str, Any] = yaml.safe_load(text)
    return found


def release_of(sample: Sample) -> str:
    """The release that a sample tells by its words; empty where all releases have these words."""
    for rule in _book()["told_by"]:
        if sample.diagnosis not in rule["diagnoses"] or len(sample.loops) < rule["loop"]:
            continue
        asked = " ".join(step.question for step in sample.loops[rule["loop"] - 1] if step.stage == rule["stage"])
        for release in RELEASES:
            if release in rule and rule[release] in asked:
                return release
    return ""


def again(source: str, diagnosis: str, number: int) -> tuple[Again, str]:
    """Whether a result on the data of release 0.0.1 is to be made again on those of 0.0.2, and why."""
    if diagnosis in _book()["regenerated"]:
        return "must", "all samples of this diagnosis were made anew in 0.0.2"
    if number in _book()["resampled"].get(diagnosis, {}).get(source, ()):
        return "should", "the sample was drawn anew in 0.0.2"
    return "", ""
