"""What a measured ECG answers by the findings of `overread.guidelines`: yes, no or not evaluable, and where seen."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from overread.errors import unknown_name
from overread.guidelines.diagnoses import Reading, book
from overread.guidelines.ecg_facts import EcgFacts, LeadFacts
from overread.guidelines.rules import Rules
from overread.measure.ecg import UNSEEN, Measured
from overread.measure.ecg.evidence import Spans, evidence
from overread.tables import Evidence

FEW = 4
"""So many beats are pointed at for one fact."""


@dataclasses.dataclass(frozen=True, slots=True)
class Read:
    """What a finding or a diagnosis came to."""

    name: str
    holds: bool | None
    """None: it cannot be told from this recording."""
    sure: float
    """0 to 1."""
    margin: float
    """How many steps the nearest threshold is away."""
    leads: tuple[str, ...] = ()
    """For a finding about leads, those in which it holds."""
    evidence: tuple[Evidence, ...] = ()
    """Samples counted from the first that was measured."""


class EcgReading:
    """Answers about one measured ECG."""

    def __init__(self, measured: Measured) -> None:
        self.measured = measured
        self._reading = Reading(measured.facts)
        self._rules = Rules(measured.facts, book()["step"])

    def finding(self, name: str) -> Read:
        """A finding of `ecg.yaml`: does it hold, how surely, in which leads, and where is that seen?"""
        outcome = self._reading.finding(name)
        shown = tuple(self._of_rule(book()["findings"][name], outcome.leads))
        return Read(name, outcome.holds, outcome.sure, outcome.margin, outcome.leads, shown)

    def diagnosis(self, name: str) -> Read:
        """A diagnosis, with the evidence of the findings that it was decided on."""
        decision = self._reading.decide(name)
        shown = [one for found, _ in decision.path for one in self.finding(found).evidence]
        return Read(name, decision.present, decision.sure, decision.margin, (), tuple(dict.fromkeys(shown)))

    def path(self, diagnosis: str) -> tuple[Read, ...]:
        """The findings that a diagnosis is decided on, in order."""
        return tuple(self.finding(name) for name, _ in self._reading.decide(diagnosis).path)

    def holding(self, name: str, leads: Iterable[str]) -> tuple[str, ...]:
        """Those of some leads in which a finding about leads holds; where in none, the one that is nearest to it."""
        rule = book()["findings"][name].get("rule")
        outcomes = {lead: self._rules.decide(rule, lead) for lead in leads} if rule else {}
        held = tuple(lead for lead, one in outcomes.items() if one.holds)
        known = [lead for lead, one in outcomes.items() if one.holds is not None]
        return held or tuple(sorted(known, key=lambda lead: -outcomes[lead].low)[:1])

    def in_leads(self, name: str, leads: tuple[str, ...]) -> tuple[Evidence, ...]:
        """Where a finding about leads is seen in some of them."""
        return tuple(self._of_rule(book()["findings"][name], leads))

    def waves_s(self, kind: str) -> tuple[tuple[float, float], ...]:
        """Where waves lie, in seconds from the first sample that was measured.

        `qrs`, `t`, `p` (those that lead to no beat included), `early` (QRS complexes of premature beats), `blocked` (P
        waves that lead to no beat).
        """
        marks = self.measured.boundaries
        found = {
            "qrs": marks.qrs.joint,
            "t": marks.t.joint,
            "p": np.concatenate([marks.p.joint, marks.lone_p]),
            "early": marks.qrs.joint[self.measured.rhythm.early],
            "blocked": marks.lone_p,
        }[kind]
        return tuple((first / marks.rate_hz, last / marks.rate_hz) for first, last in found.tolist() if first != UNSEEN)

    def seen(self, about: str, span_s: tuple[float, float]) -> Evidence:
        """A stretch of the recording as evidence."""
        rate_hz = self.measured.boundaries.rate_hz
        return Evidence(about, "", round(span_s[0] * rate_hz), round(span_s[1] * rate_hz) + 1)

    def value(self, fact: str) -> Any:
        """A fact (`pr_ms`) or that of a lead (`V1.r_mv`); None where it is not known."""
        lead, dot, name = fact.rpartition(".")
        facts = self.measured.facts
        if name not in (LeadFacts if dot else EcgFacts).__dataclass_fields__:
            raise unknown_name("fact", fact, [*EcgFacts.__dataclass_fields__, *LeadFacts.__dataclass_fields__])
        if not dot:
            return getattr(facts, name)
        return getattr(facts.leads[lead], name) if lead in facts.leads else None

    def spans_s(self, fact: str) -> tuple[tuple[float, float], ...]:
        """Where a fact is seen, in seconds from the first sample that was measured."""
        rate_hz = self.measured.boundaries.rate_hz
        return tuple((first / rate_hz, last / rate_hz) for first, last in evidence(self.measured, fact))

    def shown(self, fact: str) -> tuple[Evidence, ...]:
        """Where a fact is seen, for a receipt."""
        lead, _, name = fact.rpartition(".")
        return tuple(_as_evidence(name, lead, evidence(self.measured, fact)))

    def _of_rule(self, rule: Mapping[str, Any], leads: tuple[str, ...]) -> Iterator[Evidence]:
        """The evidence of all facts that a rule looks at; of a rule about leads, in those in which it holds."""
        if "diagnosis" in rule:
            yield from self.diagnosis(rule["diagnosis"]).evidence
            return
        named = leads or tuple(rule.get("leads", ()))
        facts = [f"{lead}.{name}" if lead else name for name, lead in _facts_of(rule) if lead or "leads" not in rule]
        facts += [f"{lead}.{name}" for lead in named for name, own in _facts_of(rule.get("rule", {})) if not own]
        for fact in dict.fromkeys(facts):
            yield from self.shown(fact)


def _facts_of(rule: Any) -> Iterator[tuple[str, str]]:
    """The facts that a rule names, each with its lead where the rule gives one."""
    if isinstance(rule, Mapping):
        if "fact" in rule:
            yield rule["fact"], rule.get("lead", "")
        for key, part in rule.items():
            if key not in ("fact", "lead"):
                yield from _facts_of(part)
    elif isinstance(rule, list):
        for part in rule:
            yield from _facts_of(part)


def _as_evidence(about: str, part: str, spans: Spans) -> Iterator[Evidence]:
    for first, last in spans[:FEW]:
        yield Evidence(about, part, first, last + 1)
