"""What a question about an ECG asks, told from its words, its options and the conversation before it; no key is read.

The words are those of `guidelines/ecg_spoken.yaml` and of `builders/ecg_questions.yaml`, so that generated exams and
the published samples of ECG-Reasoning-Benchmark are understood alike.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from typing import Any

import yaml

from overread.guidelines.diagnoses import book
from overread.models.contract import Message
from overread.models.ecg_options import lead_named, range_of

YES_NO = ("yes", "no")
FILES = (("overread.guidelines", "ecg_spoken.yaml"), ("overread.builders", "ecg_questions.yaml"))
GAP = re.compile(r"\[?(\d+)(?:st|nd|rd|th) QRS wave - (\d+)(?:st|nd|rd|th) QRS wave\]?", re.IGNORECASE)
"""An option that is the interval between two beats, counted from 1."""
LEAD = re.compile(r"\b(aV[RLF]|V[1-6]|I{1,3})\b")
SEGMENT = re.compile(r"\[\s*\d+(?:\.\d+)?\s*s\s*-\s*\d+(?:\.\d+)?\s*s\s*\]", re.IGNORECASE)


@dataclasses.dataclass(frozen=True, slots=True)
class Spoken:
    """The words, letters in lower case."""

    names: Mapping[str, str]
    """By what a diagnosis is called: its name."""
    criteria: Mapping[str, tuple[str, ...]]
    """By what a criterion is called: the findings that it can be."""
    belongs: Mapping[str, str]
    """By what a criterion is called: the one diagnosis in which it is called so."""
    things: Mapping[str, Sequence[Mapping[str, Any]]]
    """By `wave`, `number`, `leads`: what words mean, first match first."""
    further: str

    def diagnosis(self, text: str) -> str | None:
        """The diagnosis that a text speaks of first."""
        folded = _plain(text)
        found = [(folded.find(words), -len(words), name) for words, name in self.names.items() if words in folded]
        return min(found)[2] if found else None

    def criterion(self, text: str, diagnosis: str) -> str | None:
        """The finding that a text names whole, among those of a diagnosis."""
        label, own = _plain(text), findings_of(diagnosis)
        if self.belongs.get(label, diagnosis) != diagnosis:
            return None
        return next((name for name in self.criteria.get(label, ()) if name in own), None)

    def thing(self, kind: str, text: str) -> Mapping[str, Any] | None:
        """What a text says is looked for."""
        folded = text.casefold()
        return next((one for one in self.things[kind] if one["says"].casefold() in folded), None)


@functools.cache
def spoken() -> Spoken:
    """The words of both files."""
    ours, built = (yaml.safe_load(text) for text in _texts())
    names = {_plain(words): name for name, all_ in ours["names"].items() for words in all_}
    names |= {_plain(words): name for name, words in built["names"].items()}
    criteria: dict[str, tuple[str, ...]] = {}
    for name, labels in ours["criteria"].items():
        for label in (*labels, built["findings"][name]["label"]):
            criteria[_plain(label)] = (*criteria.get(_plain(label), ()), name)
    belongs = {_plain(label): name for label, name in ours["belongs"].items()}
    return Spoken(names, criteria, belongs, ours["things"], ours["further"])


def words() -> str:
    """The text of the files, to tell one edition from another."""
    return "\n".join(_texts())


def _texts() -> Iterator[str]:
    for package, name in FILES:
        yield (resources.files(package) / name).read_text(encoding="utf-8")


@functools.cache
def findings_of(diagnosis: str) -> frozenset[str]:
    """The findings in the graph of a diagnosis."""
    graph = book()["diagnoses"][diagnosis]
    return frozenset([*graph, *graph.get("count", {}).get("of", ())]) - {"count"}


@dataclasses.dataclass(frozen=True, slots=True)
class Told:
    """What a conversation tells: the diagnosis that it is about, and criteria with what was found."""

    diagnosis: str | None
    findings: Mapping[str, bool | None]
    """In the order in which they came up; None: nothing was said of it yet."""
    leads: tuple[str, ...]
    """The leads named last, by a question or by an answer."""

    @property
    def open(self) -> str | None:
        """The criterion that was named last."""
        return next(reversed(list(self.findings)), None)


def told(messages: Sequence[Message], question: str) -> Told:
    """Reads what precedes a question, and the question."""
    known = spoken()
    users = [message.text for message in messages if message.role == "user"]
    diagnosis = next(filter(None, map(known.diagnosis, [*users, question])), None)
    if diagnosis is None:
        return Told(None, {}, ())
    findings: dict[str, bool | None] = {}
    for message in messages:
        if message.role != "assistant":
            continue
        text = _plain(message.text)
        named = known.criterion(text, diagnosis)
        last = next(reversed(findings), None)
        if named is not None:
            findings.setdefault(named, None)
        elif last is not None and findings[last] is None and text in YES_NO:
            findings[last] = text == "yes"
    texts = [question, *(message.text for message in reversed(messages) if message.role != "system")]
    leads = next((found for text in texts if (found := tuple(dict.fromkeys(LEAD.findall(text))))), ())
    return Told(diagnosis, findings, leads)


def stage(options: Sequence[str], before: Told) -> str | None:
    """Which step a question is: first, criterion, finding, leads, wave, gap, number or decision."""
    plain = [_plain(option) for option in options]
    if any(option.startswith(spoken().further) for option in plain):
        return "decision"
    if set(plain) == set(YES_NO):
        if before.open is None:
            return "first"
        return "finding" if before.findings[before.open] is None else "decision"
    if all(lead_named(option) for option in options):
        return "leads"
    for name, form in (("gap", GAP), ("wave", SEGMENT)):
        if all(form.fullmatch(option.strip()) for option in options):
            return name
    if before.diagnosis and any(spoken().criterion(option, before.diagnosis) for option in options):
        return "criterion"
    return "number" if any(map(range_of, options)) else None


def _plain(text: str) -> str:
    """Without the case of letters, marks around it and doubled spaces."""
    return " ".join(text.casefold().strip().strip(".*").split())
