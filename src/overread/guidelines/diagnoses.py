"""Walks the decision graphs of `ecg.yaml`: which findings a diagnosis is decided on, and what it comes to."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Mapping
from importlib import resources
from typing import Any

import yaml

from overread.errors import unknown_name
from overread.guidelines.ecg_facts import EcgFacts
from overread.guidelines.rules import UNKNOWN, Outcome, Rules

DECISIONS = {"Yes": True, "No": False}


@dataclasses.dataclass(frozen=True, slots=True)
class Decision:
    """What a diagnosis came to."""

    diagnosis: str
    present: bool | None
    """None where a finding on the way is not known."""
    path: tuple[tuple[str, Outcome], ...]
    """The findings that were looked at, in order."""

    @property
    def margin(self) -> float:
        """How many steps the nearest threshold on the way is away."""
        return min(outcome.margin for _, outcome in self.path)

    @property
    def sure(self) -> float:
        """How sure the least sure fact on the way is, 0 to 1."""
        return min(outcome.sure for _, outcome in self.path)


@functools.cache
def book() -> Mapping[str, Any]:
    """The findings and graphs, as they stand in `ecg.yaml`."""
    text = (resources.files("overread.guidelines") / "ecg.yaml").read_text(encoding="utf-8")
    found: Mapping[str, Any] = yaml.safe_load(text)
    return found


def diagnoses() -> tuple[str, ...]:
    """The names of the diagnoses that have a graph."""
    return tuple(book()["diagnoses"])


def follow(diagnosis: str, told: Mapping[str, bool | None]) -> str | None:
    """Where the graph of a diagnosis leads from some findings: to the next finding, or to a decision, Yes or No.

    None where a finding on the way is told to be unknown.
    """
    graph = book()["diagnoses"][diagnosis]
    node: str = next(iter(graph))
    if node == "count":
        count = graph[node]
        missing = [name for name in count["of"] if name not in told]
        if missing:
            return str(missing[0])
        held = [told[name] for name in count["of"]]
        if None in held:
            return None
        node = count["none" if not any(held) else "one" if sum(map(bool, held)) == 1 else "more"]
    while node not in DECISIONS and node in told:
        holds = told[node]
        if holds is None:
            return None
        node = graph[node][holds]
    return node


class Reading:
    """All findings and decisions on one ECG."""

    def __init__(self, facts: EcgFacts) -> None:
        self._rules = Rules(facts, book()["step"])

    def finding(self, name: str) -> Outcome:
        """The outcome of a finding."""
        rules = book()["findings"]
        if name not in rules:
            raise unknown_name("finding", name, rules)
        rule = rules[name]
        return _overall(self.decide(rule["diagnosis"])) if "diagnosis" in rule else self._rules.decide(rule)

    def decide(self, diagnosis: str) -> Decision:
        """Walks the graph of a diagnosis from its first finding to its decision."""
        graphs = book()["diagnoses"]
        if diagnosis not in graphs:
            raise unknown_name("diagnosis", diagnosis, graphs)
        path: list[tuple[str, Outcome]] = []
        return Decision(diagnosis, self._walk(diagnosis, path), tuple(path))

    def _walk(self, diagnosis: str, path: list[tuple[str, Outcome]]) -> bool | None:
        while (node := follow(diagnosis, {name: outcome.holds for name, outcome in path})) in book()["findings"]:
            path.append((str(node), self.finding(str(node))))
        return None if node is None else DECISIONS[node]

    def all(self) -> Iterator[Decision]:
        """The decisions of all diagnoses."""
        return (self.decide(name) for name in diagnoses())


def _overall(decision: Decision) -> Outcome:
    """A whole decision as the outcome of one finding: how far the way is from leading elsewhere."""
    if decision.present is None:
        return UNKNOWN
    margin = decision.margin if decision.present else -decision.margin
    return Outcome(margin, margin, decision.sure)
