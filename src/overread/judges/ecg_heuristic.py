"""The string rules of ECG-Reasoning-Benchmark, with their faults, for scores that can be compared with published ones

Small letters throughout; what counts by stage:

    first question, finding     begins or ends with yes, else with no (bold or not): `normal` is a no
    decision                    the same; where it is neither, the whole text must be the key's
    criterion                   the whole text, without hyphens around it; 0.0.1 also takes it without `presence of `
                                and 25 sentences, and so only for these criteria
    leads                       the set of leads named after `lead` or `leads` anywhere; if there are none, the pieces
                                between commas (or and), else semicolons, slashes, line ends
    segment                     the whole text
    measurement                 the whole text, or a range at its beginning, with or without brackets

A final full stop, a bullet, bold letters or a lead-in sentence often make a right answer wrong here, and `leads V1-V4`
is V1 alone. The judge `option` is the fair one. Stages of other exams: the whole text.
"""

from __future__ import annotations

import functools
import hashlib
import re
from importlib import resources

import polars as pl
import yaml

from overread.judges.rows import UNREADABLE, Finding, Row, by_row, only

KINDS = ("choice",)
VARIANTS = ("0.0.1", "0.0.2")

LEADS = ("i", "ii", "iii", "avr", "avl", "avf", *(f"v{number}" for number in range(1, 7)))

_YES_NO = ("initial_diagnostic_question", "finding_identification")
_DECISIONS = ("diagnostic_decision", "forced_commit")
_LEAD = r"\b(?:iii|ii|i|avr|avl|avf|v[1-6])\b"
_NAMED = re.compile(rf"\bleads?\s+{_LEAD}(?:(?:\s*,\s*(?:and\s+)?|\s+and\s+){_LEAD})*")
_ONE_LEAD = re.compile(_LEAD)
_NUMBER = r"-?\d+\.?\d*\s*[^\d\s]*"
_RANGE = re.compile(rf"\[?\s*{_NUMBER}\s*-\s*{_NUMBER}\s*\]?")
LONGEST = 10_000
"""Characters of a reply that are looked at: the pattern of a range takes long on long runs of digits."""


def judge(table: pl.DataFrame, variant: str = VARIANTS[-1]) -> pl.DataFrame:
    """One finding a reply; `variant` is the release whose rules are meant."""
    only(table, KINDS, "ecg_heuristic")
    return by_row(table, functools.partial(_find, release=variant))


def _find(row: Row, release: str) -> Finding:
    said = row.text
    if said is None and row.choice is not None and all(0 <= index < len(row.options) for index in row.choice):
        said = ", ".join(row.options[index] for index in row.choice)
    if said is None or not said.strip() or not row.answer:
        return UNREADABLE
    read, correct = verdict(row.stage or "", row.answer, said[:LONGEST], release)
    return Finding("read", read, correct, credit=float(correct))


def verdict(stage: str, answer: tuple[str, ...], said: str, release: str = VARIANTS[-1]) -> tuple[str, bool]:
    """What was read, and whether it is right: `answer` is the key, `said` the whole reply."""
    key = answer[0].strip().lower()
    if stage in (*_YES_NO, *_DECISIONS):
        read = _yes_no(said)
        return read, read == key and (stage in _DECISIONS or read in ("yes", "no"))
    if stage == "criterion_selection":
        read = said.strip("-").strip().lower()
        return read, read == key or (release == "0.0.1" and _once_accepted(key, read))
    if stage == "lead_grounding":
        leads = _leads(said.lower())
        return ", ".join(sorted(leads)), leads == {lead.strip().lower() for lead in answer}
    read = said.strip().lower()
    if stage == "measurement_grounding" and read != key and _RANGE.match(key):
        found = _RANGE.match(read)
        return read, found is not None and _bracketed(found[0]) == key
    return read, read == key


def _yes_no(said: str) -> str:
    """yes, no, or the text where it is neither; `no` also catches none, not, normal and notched."""
    text = said.strip().strip(".").lower()
    for word in ("yes", "no"):
        if text.startswith((word, f"**{word}**")) or text.endswith((word, f"**{word}**")):
            return word
    return text


def _once_accepted(key: str, read: str) -> bool:
    """What the older rules took for a criterion beside itself."""
    if read and read in key:
        return "presence" in key and read == key.replace("presence of ", "")
    return hashlib.blake2b(f"{key}\n{read}".encode("utf-8", "surrogatepass"), digest_size=8).hexdigest() in _accepted()


@functools.cache
def _accepted() -> frozenset[str]:
    text = (resources.files("overread.judges") / "ecg_heuristic.yaml").read_text(encoding="utf-8")
    return frozenset(map(str, yaml.safe_load(text)["accepted"]))


def _leads(text: str) -> set[str]:
    if text.startswith(("ads ", "ad ")):
        text = f"le{text}"  # some models lose the first letters of their reply
    before = ""
    while text != before:
        before, text = text, text.strip("-").strip(":").strip()
    phrases = _NAMED.findall(text)
    if phrases:
        found = {lead for phrase in phrases for lead in _ONE_LEAD.findall(phrase)}
    else:
        text = text.replace("and", ",").replace("leads", "lead")
        mark = next((mark for mark in ",;/\n" if mark in text), None)
        pieces = [piece for piece in text.split(mark) if piece.strip()] if mark else [text]
        found = {piece.strip("-").strip() if mark else piece for piece in pieces}
    return {f"lead {name}" if name in LEADS else name for name in found}


def _bracketed(text: str) -> str:
    return f"{'' if text.startswith('[') else '['}{text}{'' if text.endswith(']') else ']'}"
