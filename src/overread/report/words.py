"""The sentences of `words.yaml`: what measures, conditions, receipt levels and models are."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from overread.catalog import entries

LIFT = ":lift"


@functools.cache
def _words() -> Mapping[str, Any]:
    words: Mapping[str, Any] = yaml.safe_load(Path(__file__).with_name("words.yaml").read_text(encoding="utf-8"))
    return words


def is_share(metric: str) -> bool:
    """Whether a metric, its lift or a measure is a share or a difference of shares."""
    entry = entries("metrics").get(metric.removesuffix(LIFT))
    return is_measure(metric) or (entry is not None and entry.constants.get("SHARE") is True)


def is_measure(metric: str) -> bool:
    """Whether a score compares conditions or models, instead of being a metric of one."""
    return bool(measure(metric))


def measure(metric: str) -> str:
    """What a measure of validity says, in a sentence; empty for what is none."""
    measures: Mapping[str, str] = _words()["measures"]
    if metric in measures:
        return measures[metric]
    return next((said for name, said in measures.items() if name[0] == "*" and metric.endswith(name[1:])), "")


def metric_title(metric: str) -> str:
    """What a metric is, as its file says; its name where it came from elsewhere."""
    entry = entries("metrics").get(metric)
    return metric if entry is None else entry.title


def condition(name: str) -> str:
    """What a condition does, in a sentence."""
    return str(_words()["conditions"].get(name, _words()["conditions"]["other"]))


def level(name: str) -> str:
    """What a receipt level proves, in a sentence."""
    return str(_words()["levels"][name])


def reference(family: str) -> str:
    """What a model that is no candidate does, in a sentence."""
    return str(_words()["references"][family])
