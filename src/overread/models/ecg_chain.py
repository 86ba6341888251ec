"""Answers the steps of a chain of reasoning about one ECG: which criterion, what is found, where, how large, and so.

Criteria and decisions follow the graph of the diagnosis from what the conversation tells was found; findings, leads,
segments and ranges follow from what was measured, whatever the conversation says of them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from overread.guidelines.diagnoses import DECISIONS, book, follow
from overread.models.contract import Message
from overread.models.ecg_options import lead_named, option_nearest, option_of_spans, span_of_option
from overread.models.ecg_reading import EcgReading
from overread.models.ecg_spoken import GAP, SEGMENT, YES_NO, Told, spoken, stage, told
from overread.tables import Evidence


@dataclasses.dataclass(frozen=True, slots=True)
class Said:
    """An answer: the options chosen, and where it was read."""

    choice: tuple[int, ...]
    evidence: tuple[Evidence, ...] = ()


def said(messages: Sequence[Message], text: str, options: Sequence[str], reading: EcgReading) -> Said | str:
    """The answer to a question, after the messages that precede it; or why there is none."""
    before = told(messages, text)
    step = stage(options, before)
    if before.diagnosis is None or step is None:
        return "the question names no diagnosis that the solver knows" if step else "the solver has no such question"
    asked = _Asked(before, text, options, reading)
    found: Said | None = getattr(asked, step)()
    return found if found is not None else f"this recording does not tell the {step}, or no option says it"


class _Asked:
    """One question, and the ECG; a method a step."""

    def __init__(self, before: Told, text: str, options: Sequence[str], reading: EcgReading) -> None:
        self.before, self.text, self.options, self.reading = before, text, options, reading
        self.diagnosis = str(before.diagnosis)

    def first(self) -> Said | None:
        read = self.reading.diagnosis(self.diagnosis)
        return self._yes(read.holds, read.evidence)

    def criterion(self) -> Said | None:
        node = self._node()
        named = (spoken().criterion(option, self.diagnosis) for option in self.options)
        index = next((index for index, name in enumerate(named) if name == node), None)
        return None if index is None else Said((index,))

    def finding(self) -> Said | None:
        read = self.reading.finding(str(self.before.open))
        return self._yes(read.holds, read.evidence)

    def decision(self) -> Said | None:
        node = self._node()
        if node in DECISIONS:
            return self._yes(DECISIONS[str(node)], ())
        wanted = spoken().further
        index = next((n for n, option in enumerate(self.options) if option.casefold().startswith(wanted)), None)
        # Where the findings told do not suffice and waiting is not offered, the recording itself decides.
        return self.first() if index is None else Said((index,))

    def leads(self) -> Said | None:
        thing, name = spoken().thing("leads", self.text), self.before.open
        named = [lead_named(option) for option in self.options]
        if thing is None or name is None:
            return None
        if "own" not in thing:
            return self._extreme(named, thing)
        rule = book()["findings"][name]
        meant = [lead for lead in named if lead and ("leads" not in rule or not thing["own"] or lead in rule["leads"])]
        holding = self.reading.holding(name, meant)
        if not holding:
            return None
        chosen = tuple(n for n, lead in enumerate(named) if lead in holding)
        return Said(chosen, self.reading.in_leads(name, tuple(holding)))

    def _extreme(self, named: Sequence[str | None], thing: Mapping[str, Any]) -> Said | None:
        """The lead in which a fact is greatest, or least."""
        sign, fact = (1.0, thing["most"]) if "most" in thing else (-1.0, thing["least"])
        values = ((self.reading.value(f"{lead}.{fact}"), index) for index, lead in enumerate(named))
        known = [(sign * value, index) for value, index in values if value is not None]
        return Said((max(known)[1],), self._shown(f"{named[max(known)[1]]}.{fact}")) if known else None

    def wave(self) -> Said | None:
        thing = spoken().thing("wave", self.text)
        spans = () if thing is None else self.reading.waves_s(thing["wave"])
        index = option_of_spans(self.options, spans)
        span = None if index is None else span_of_option(self.options[index], spans)
        if thing is None or index is None or span is None:
            return None
        return Said((index,), (self.reading.seen(thing["wave"], span),))

    def gap(self) -> Said | None:
        """The longest of some intervals between beats, counted from the beat that the question points at."""
        beats = self.reading.waves_s("qrs")
        pointed = SEGMENT.search(self.text)
        first = None if pointed is None else span_of_option(pointed[0], beats)
        if first is None:
            return None
        lengths: list[tuple[float, int, tuple[float, float]]] = []
        for index, option in enumerate(self.options):
            found = GAP.fullmatch(option.strip())
            one, other = (beats.index(first) + int(number) - 1 for number in found.groups()) if found else (0, 0)
            if 0 <= one < other < len(beats):
                lengths.append((beats[other][0] - beats[one][0], index, (beats[one][0], beats[other][1])))
        return Said((max(lengths)[1],), (self.reading.seen("rr_ms", max(lengths)[2]),)) if lengths else None

    def number(self) -> Said | None:
        thing = spoken().thing("number", self.text)
        if thing is None or (thing.get("in_lead") and not self.before.leads):
            return None
        fact = f"{self.before.leads[-1]}.{thing['fact']}" if thing.get("in_lead") else str(thing["fact"])
        index = option_nearest(self.options, self.reading.value(fact))
        return None if index is None else Said((index,), self._shown(fact))

    def _node(self) -> str | None:
        """Where the graph leads from what was told; of what was left open, from what is seen."""
        findings = dict(self.before.findings)
        for name, holds in findings.items():
            findings[name] = self.reading.finding(name).holds if holds is None else holds
        return follow(self.diagnosis, findings)

    def _yes(self, holds: bool | None, evidence: tuple[Evidence, ...]) -> Said | None:
        plain = [option.casefold().strip(" .*") for option in self.options]
        wanted = YES_NO[not holds]
        return Said((plain.index(wanted),), evidence) if holds is not None and wanted in plain else None

    def _shown(self, fact: str) -> tuple[Evidence, ...]:
        return self.reading.shown(fact)
