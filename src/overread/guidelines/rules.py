"""Decides rules on facts, and says how far from their thresholds the facts lie.

A rule's `Outcome` is an interval of margins, in steps: above 0 the rule holds, and a fact that is not known makes the
interval reach from one side to the other. So a rule over several facts is decided wherever the known ones suffice.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

from overread.guidelines.ecg_facts import EcgFacts

PLAIN_MARGIN = 5.0
"""The margin of a yes or no, which has no threshold to be near to."""


@dataclasses.dataclass(frozen=True, slots=True)
class Outcome:
    """What a rule came to."""

    low: float
    """The least margin that is possible, in steps."""
    high: float
    """The greatest."""
    sure: float = 1.0
    """How sure the deciding fact is, 0 to 1."""
    leads: tuple[str, ...] = ()
    """For a rule about leads, those in which it holds."""

    @property
    def holds(self) -> bool | None:
        """Whether the rule holds; None where what is not known could decide it either way."""
        if self.low > 0:
            return True
        return None if self.high > 0 else False

    @property
    def margin(self) -> float:
        """How many steps the facts are away from deciding otherwise; 0 where nothing is decided."""
        return max(self.low, 0.0) if self.low > 0 else max(-self.high, 0.0)


UNKNOWN = Outcome(-math.inf, math.inf, 0.0)


class Rules:
    """Decides rules on the facts of one ECG; `steps` gives the size of a step by unit."""

    def __init__(self, facts: EcgFacts, steps: Mapping[str, float]) -> None:
        self._facts, self._steps = facts, steps

    def decide(self, rule: Mapping[str, Any], lead: str = "") -> Outcome:
        """The outcome of a rule; within `lead`, names of facts are those of that lead."""
        if "all" in rule:
            return both([self.decide(part, lead) for part in rule["all"]])
        if "any" in rule:
            return either([self.decide(part, lead) for part in rule["any"]])
        if "leads" in rule:
            return self._in_leads(rule)
        if "sum" in rule or "product" in rule:
            value, sure = self._value(rule, lead)
            return self._against(value, sure, rule, float(rule["step"]), lead)
        value, sure = self._value(rule, lead)
        if "is" in rule:
            return _plainly(value, sure, wanted=rule["is"])
        step = self._steps[rule["fact"].rsplit("_", 1)[-1]]
        if "arc" in rule:
            return _inside(value, sure, rule["arc"], step)
        return self._against(value, sure, rule, step, lead)

    def _in_leads(self, rule: Mapping[str, Any]) -> Outcome:
        found = {name: self.decide(rule["rule"], name) for name in rule["leads"]}
        needed = int(rule["at_least"])
        lows = sorted((one.low for one in found.values()), reverse=True)
        highs = sorted(found.values(), key=lambda one: one.high, reverse=True)
        held = tuple(name for name, one in found.items() if one.holds)
        return Outcome(lows[needed - 1], highs[needed - 1].high, highs[needed - 1].sure, held)

    def _against(self, value: float | None, sure: float, rule: Mapping[str, Any], step: float, lead: str) -> Outcome:
        """A number against a threshold."""
        side = "above" if "above" in rule else "below"
        limit: Any = rule.get(f"{side}_in", {}).get(lead, rule[side])
        if isinstance(limit, Mapping):
            limit, other = self._value(limit, lead)
            sure = min(sure, other)
        if value is None or limit is None:
            return UNKNOWN
        margin = (value - limit) / step if side == "above" else (limit - value) / step
        return Outcome(margin, margin, sure)

    def _value(self, term: Mapping[str, Any], lead: str) -> tuple[Any, float]:
        """A fact, or what is computed from facts; None where one of them is not known. And how sure it is."""
        for kind, join in (("sum", math.fsum), ("product", math.prod), ("most", max)):
            if kind in term:
                parts = [self._value(part, lead) for part in term[kind]]
                known = [value for value, _ in parts if value is not None]
                sure = min(sure for _, sure in parts)
                return (None if len(known) < len(parts) else join(known)), sure
        name, lead = term["fact"], term.get("lead", lead)
        value = self._fact(name, lead)
        if value is None or "times" not in term:
            return value, self._facts.sure(f"{lead}.{name}" if lead else name)
        return value * term["times"], self._facts.sure(f"{lead}.{name}" if lead else name)

    def _fact(self, name: str, lead: str) -> Any:
        if not lead:
            return getattr(self._facts, name)
        found = self._facts.leads.get(lead)
        return None if found is None else getattr(found, name)


def both(parts: Sequence[Outcome]) -> Outcome:
    """All of them hold: the margin is that of the weakest."""
    weakest = min(parts, key=lambda one: one.high)
    return Outcome(min(one.low for one in parts), weakest.high, weakest.sure)


def either(parts: Sequence[Outcome]) -> Outcome:
    """One of them holds: the margin is that of the strongest."""
    strongest = max(parts, key=lambda one: one.low)
    return Outcome(strongest.low, max(one.high for one in parts), strongest.sure)


def _plainly(value: object, sure: float, *, wanted: object) -> Outcome:
    if value is None:
        return UNKNOWN
    margin = PLAIN_MARGIN if value == wanted else -PLAIN_MARGIN
    return Outcome(margin, margin, sure)


def _inside(value: float | None, sure: float, arc: Sequence[float], step: float) -> Outcome:
    """An angle within an arc of the circle; the margin is the way to its nearer end."""
    if value is None:
        return UNKNOWN
    low, high = arc
    half = ((high - low) % 360.0) / 2.0
    off = abs((value - low - half + 180.0) % 360.0 - 180.0)
    return Outcome((half - off) / step, (half - off) / step, sure)
