"""A uniform guess, as an exact expectation.

A choice is answered by equal probabilities and a number by equally likely numbers over its range, without a single
answer, so that judges score the mean of all guesses and no seed is needed. The variant `chance:draw` draws one guess
from seed, sample and question, for metrics that need an answer.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from overread.errors import unknown_name
from overread.models.contract import Answer, Pending, Posed, Setting
from overread.priors import uniform

KINDS = ("choice", "number")
FORMS: dict[str, str] = {}
VARIANTS = ("draw",)
SAMPLES = False

ADAPTER = 1
"""Raised whenever the same question may get another answer than before."""


class Chance:
    """Guesses uniformly; with `draw`, one guess a sample."""

    def __init__(self, draw: bool) -> None:
        self.draw = draw
        self.samples = draw

    def identity(self) -> Mapping[str, Any]:
        """The variant and the version of this file."""
        return {"name": "chance", "variant": "draw" if self.draw else "", "adapter": ADAPTER, "options": {}}

    def answer(self, dialogues: Iterable[Posed]) -> Iterator[Answer]:
        """One answer a pending question, in order."""
        one = _drawn if self.draw else _expected
        for posed in dialogues:
            for pending in posed.questions:
                yield one(pending)


def _expected(pending: Pending) -> Answer:
    question = pending.question
    if question.kind == "choice" and question.options:
        scores = uniform.option_scores(len(question.options), question.many)
        return Answer(question.id, pending.seed, pending.sample, option_scores=scores)
    if question.kind == "number":
        spread = uniform.spread(question.low, question.high, question.whole)
        if spread is not None:
            return Answer(question.id, pending.seed, pending.sample, spread=spread)
    return Answer(question.id, pending.seed, pending.sample, "refused", uniform.nothing_to_say(question))


def _drawn(pending: Pending) -> Answer:
    question, seed, sample = pending.question, pending.seed, pending.sample
    reason = uniform.nothing_to_say(question)
    if reason:
        return Answer(question.id, seed, sample, "refused", reason)
    # Sixteen bytes more than are needed to name every answer keep the remainder's bias out of sight.
    size = 16 + len(question.options) // 8
    noise = hashlib.shake_128(f"{seed}:{sample}:{question.id}".encode("utf-8", "surrogatepass")).digest(size)
    bits = int.from_bytes(noise, "little")
    if question.kind == "choice":
        count = len(question.options)
        choice = tuple(i for i in range(count) if bits >> i & 1) if question.many else (bits % count,)
        return Answer(question.id, seed, sample, choice=choice)
    low, high = question.low or 0.0, question.high or 0.0
    ends = uniform.whole_range(question.low, question.high)
    if question.whole and ends is not None:
        return Answer(question.id, seed, sample, number=float(ends[0] + bits % (ends[1] - ends[0] + 1)))
    share = (bits >> 11 & (1 << 53) - 1) / (1 << 53)
    return Answer(question.id, seed, sample, number=low + (high - low) * share)


def check(setting: Setting) -> None:
    """Refuses variants that are not there, and options: there are none."""
    if setting.variant not in ("", *VARIANTS):
        raise unknown_name("variant of chance", setting.variant, VARIANTS)
    for name in setting.options:
        raise unknown_name("option of chance", name, ())


def load(setting: Setting) -> Chance:
    """A uniform guesser; it has no options."""
    check(setting)
    return Chance(setting.variant == "draw")
