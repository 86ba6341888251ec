"""ECGs whose findings are known: phantoms by their truth, recordings of archives by what was measured on them.

A recording is kept only where it is as long as an exam's recordings are and can be measured; each fact comes with how
sure it is, and what it is decided on must be surer than `LEAST_SURE` and clear of its threshold by `LEAST_MARGIN`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from overread.archives.ecg_reasoning import RATE_HZ, SAMPLES
from overread.builders.ecg_items import Span
from overread.errors import BadInput
from overread.guidelines.diagnoses import Decision, Reading, book
from overread.guidelines.ecg_facts import EcgFacts, LeadFacts
from overread.guidelines.rules import Rules
from overread.measure.ecg import UNSEEN, Measured, measure_ecg
from overread.measure.ecg.evidence import evidence
from overread.media import ecg
from overread.roots import Roots
from overread.tables import Case

LEAST_MARGIN = 1.0
"""No finding on the way lies nearer to its threshold, in steps."""
LEAST_SURE = 0.6
"""No finding on the way, and no number asked for, is less sure."""


@dataclasses.dataclass(frozen=True, slots=True)
class Study:
    """An ECG whose findings are known."""

    case: Case
    reading: Reading
    facts: EcgFacts
    waves: Mapping[str, tuple[Span, ...]]
    """qrs, t, p, early, blocked: where they lie, in samples."""
    size: tuple[int, float]
    """Samples, and samples a second."""
    measured: Measured | None = None
    """None: known by the truth of a phantom."""

    def clear(self, decision: Decision) -> bool:
        """Whether a diagnosis is decided, by findings that are sure and clear of their thresholds."""
        return decision.present is not None and decision.margin >= LEAST_MARGIN and decision.sure >= LEAST_SURE

    def number(self, thing: Mapping[str, Any]) -> float | None:
        """The number that a thing asks for; None where it is not known surely."""
        lead, fact = thing.get("lead", ""), thing["fact"]
        holder: Any = self.facts.leads.get(lead) if lead else self.facts
        value = None if holder is None else getattr(holder, fact)
        sure = self.facts.sure(f"{lead}.{fact}" if lead else fact) >= LEAST_SURE
        return float(value) if value is not None and sure else None

    def leads(self, finding: str) -> dict[str, bool]:
        """For each lead whether a finding about leads holds in it, where that is sure and clear."""
        rules, rule = Rules(self.facts, book()["step"]), book()["findings"][finding]["rule"]
        outcomes = {lead: rules.decide(rule, lead) for lead in self.facts.leads}
        return {
            lead: bool(one.holds)
            for lead, one in outcomes.items()
            if one.holds is not None and one.margin >= LEAST_MARGIN and one.sure >= LEAST_SURE
        }

    def seen(self, fact: str) -> list[Span]:
        """The samples that a number was measured at; of phantoms nothing was measured."""
        return [] if self.measured is None else list(evidence(self.measured, fact)[:1])


def phantom_study(case: Case) -> Study:
    """A phantom with what its truth says."""
    truth = case.facts
    leads = {name: LeadFacts(**lead) for name, lead in truth["lead_facts"].items()}
    known = {field.name: truth[field.name] for field in dataclasses.fields(EcgFacts) if field.name in truth}
    facts = EcgFacts(**{**known, "leads": leads})
    spans = {
        wave: tuple((first, last) for first, last in filter(None, found)) for wave, found in truth["waves"].items()
    }
    early = zip(truth["beat_types"], truth["waves"]["qrs"], strict=True)
    spans["early"] = tuple(tuple(span) for kind, span in early if kind in ("A", "V") and span)
    spans["blocked"] = tuple((first, last) for first, last in truth["lone_p"])
    spans["p"] += spans["blocked"]
    return Study(case, Reading(facts), facts, spans, (int(truth["samples"]), float(truth["rate_hz"])))


def measured_study(case: Case, roots: Roots) -> Study:
    """A recording with what is measured on it; `BadInput` where it cannot be, or has not the length of an exam's."""
    uri = case.media[0].uri
    signal = ecg.read(roots.resolve(uri, must_exist=False))
    if (signal.mv.shape[1], signal.rate_hz) != (SAMPLES, RATE_HZ):
        what = f"the recording has {signal.mv.shape[1]} samples at {signal.rate_hz:g} Hz, not {SAMPLES} at {RATE_HZ} Hz"
        raise BadInput(what, where=uri)
    found = measure_ecg(signal.mv, signal.rate_hz)
    marks = found.boundaries
    spans = {
        "qrs": marks.qrs.joint,
        "t": marks.t.joint,
        "p": np.concatenate([marks.p.joint, marks.lone_p]),
        "early": marks.qrs.joint[found.rhythm.early],
        "blocked": marks.lone_p,
    }
    waves = {name: _spans(places) for name, places in spans.items()}
    return Study(case, Reading(found.facts), found.facts, waves, (SAMPLES, float(RATE_HZ)), found)


def _spans(places: Any) -> tuple[Span, ...]:
    return tuple((int(first), int(last)) for first, last in places.tolist() if first != UNSEEN)


def studies(source: Sequence[Case], archive: str, roots: Roots | None, left_out: list[str]) -> Iterator[Study]:
    """The ECGs of an archive; what cannot be used is named in `left_out`, with the reason."""
    for case in source:
        if case.media[0].kind != "ecg":
            continue
        if archive == "phantoms":
            yield phantom_study(case)
            continue
        if roots is None:
            raise BadInput("it was not said where the recordings lie", where=archive, do=f"--data {archive}=PATH")
        try:
            yield measured_study(case, roots)
        except BadInput as error:
            left_out.append(f"{case.media[0].uri}: {error.what}")
