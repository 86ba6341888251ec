"""The first pass over an exam: which originals enter it, who is asked blind, and whose study is swapped in.

Conditions cost model calls, so the blind ones are asked on a fixed fifth of the exam (at least 200 questions), chosen
by patient and by nothing else. Swap partners match in geometry and in the number of positions, belong to another
patient, and have another key; where the key of one question is the same all the same, that question is not scored.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from overread.exam.script import Script
from overread.media.conditions import seeded
from overread.tables import TERMS, Media, Terms

BLIND_SHARE = 0.2
BLIND_QUESTIONS = 200
"""At least so many questions are asked blind, if the exam has them."""

TRIES = 48
"""So many candidates are looked at for each swap; the one that differs in the most questions is taken."""


def rank(seed: int, *parts: str) -> int:
    """A number by which things are drawn in an order that depends on the seed and on themselves alone."""
    text = "\x1f".join((str(seed), *parts))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


Asked = tuple[str, str, int]
"""A question within its item: script name, template, and the how-manieth of that template in its dialogue."""


@dataclasses.dataclass(slots=True)
class Partner:
    """Another patient's study, as its own dialogues use it, and their answers."""

    patient: str
    media: dict[str, tuple[Media, ...]] = dataclasses.field(default_factory=dict)
    answers: dict[Asked, int] = dataclasses.field(default_factory=dict)
    terms: Terms = "open"
    """The strictest of its cases'."""

    def add(self, script: Script) -> None:
        """Takes up one more script of the same item."""
        self.terms = max(self.terms, script.case.terms, key=TERMS.index)
        self.media[script.name] = script.shown_media()
        self.answers.update(answers_of(script))

    def differs(self, answers: dict[Asked, int]) -> int:
        """In how many of these questions the answer is known to be another."""
        mine = self.answers
        return sum(1 for asked, answer in answers.items() if asked in mine and mine[asked] != answer)

    def media_for(self, script: Script) -> tuple[Media, ...]:
        """The study in place of this script's, under the names that this script uses."""
        mine = script.shown_media()
        other = self.media.get(script.name) or next(iter(self.media.values()))
        return tuple(dataclasses.replace(theirs, name=own.name) for own, theirs in zip(mine, other, strict=False))


@dataclasses.dataclass(slots=True)
class Survey:
    """What the first pass found."""

    items: int = 0
    questions: int = 0
    chosen: set[str] | None = None
    """The originals that enter the exam; None: all."""
    blind: set[str] = dataclasses.field(default_factory=set)
    """Patients who are asked under the blind conditions too."""
    unpaired: int = 0
    """Items for which no swap partner was found."""
    pool: dict[tuple[object, ...], list[Partner]] = dataclasses.field(default_factory=lambda: defaultdict(list))

    def partner(self, scripts: Sequence[Script], seed: int) -> Partner | None:
        """The study that is swapped in for all dialogues of an item."""
        first = next((script for script in scripts if script.shown_media()), None)
        if first is None:
            return None
        pool = self.pool.get(_geometry(first), [])
        picks: Iterable[int] = range(len(pool))
        if len(pool) > TRIES:
            picks = seeded("swap", seed, first.item).choice(len(pool), TRIES, replace=False)
        answers = {asked: answer for script in scripts for asked, answer in answers_of(script).items()}
        best, most = None, 0
        for pick in picks:
            other = pool[int(pick)]
            count = 0 if other.patient == first.case.patient else other.differs(answers)
            if count > most:
                best, most = other, count
        if best is None:
            self.unpaired += 1
        return best


def answers_of(script: Script) -> dict[Asked, int]:
    """For the n-th question of each template, a hash of its answer."""
    seen: Counter[str] = Counter()
    answers = {}
    for ask in script.asks():
        answers[script.name, ask.template, seen[ask.template]] = hash(ask.answer)
        seen[ask.template] += 1
    return answers


def _geometry(script: Script) -> tuple[object, ...]:
    media, facts = script.shown_media(), script.case.facts
    kinds = tuple((m.kind, len(m.select)) for m in media)
    whole = any(not m.select for m in media)
    return (kinds, str(facts.get("geometry", "")), str(facts.get("length", "")) if whole else "")


def survey(scripts: Iterable[Script], seed: int, limit: int | None, *, everyone: bool, swap: bool) -> Survey:
    """Reads all scripts once. `everyone`: the blind conditions are asked of all patients."""
    found = Survey()
    per_item: dict[str, tuple[str, int]] = {}
    last, partner = "", Partner("")
    for script in scripts:
        asked = sum(1 for _ in script.asks())
        patient, before = per_item.get(script.item, (script.case.patient, 0))
        per_item[script.item] = (patient, before + asked)
        if swap and script.shown_media():
            if script.item != last:
                last, partner = script.item, Partner(script.case.patient)
                found.pool[_geometry(script)].append(partner)
            partner.add(script)
    if limit is not None and limit < len(per_item):
        found.chosen = set(sorted(per_item, key=lambda item: rank(seed, "limit", item))[:limit])
    counts: Counter[str] = Counter()
    for item, (patient, asked) in per_item.items():
        if found.chosen is None or item in found.chosen:
            counts[patient] += asked
            found.items += 1
    found.questions = sum(counts.values())
    found.blind = set(counts) if everyone else _fifth(counts, seed)
    return found


def _fifth(counts: Counter[str], seed: int) -> set[str]:
    enough = max(BLIND_SHARE * sum(counts.values()), BLIND_QUESTIONS)
    chosen: set[str] = set()
    asked = 0
    for patient in sorted(counts, key=lambda patient: rank(seed, "blind", patient)):
        if asked >= enough:
            break
        chosen.add(patient)
        asked += counts[patient]
    return chosen
