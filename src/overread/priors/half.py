"""All that one half of the patients taught, and the answers that follow from it."""

from __future__ import annotations

import dataclasses
import math
from typing import NamedTuple

import polars as pl

from overread.models.contract import Answer, Pending
from overread.priors import uniform
from overread.priors.chain import BESIDE, KEPT, Chain, fit_chain
from overread.priors.choice import ChoicePrior, fit_choice, taken
from overread.priors.context import Context
from overread.priors.number import NumberPrior, fit_number
from overread.priors.whole import WholePrior, fit_whole, placed, said
from overread.tables import Question

AGAIN = 3
"""A template takes part in chains where each of its answers comes so often, on average."""


class Finding(NamedTuple):
    """How a template can be answered without looking."""

    template: str
    cue: str
    """In words."""
    accuracy: float
    """Share right on held-out patients of the half that was learned from; for numbers, within the key's tolerance."""
    n: int
    """Questions learned from."""


@dataclasses.dataclass(frozen=True, slots=True)
class Half:
    """What was learned from one half; it answers the patients of the other."""

    choice: ChoicePrior
    whole: WholePrior
    number: NumberPrior
    as_one: frozenset[str]
    """Templates with many right options whose sets are better guessed whole."""
    chain: Chain | None

    def answer(self, pending: Pending, ordinal: int, context: Context) -> Answer:
        """The answer to one question, the `ordinal`-th of its dialogue, after the history `context`."""
        question, seed, sample = pending.question, pending.seed, pending.sample
        if question.kind == "choice" and question.options:
            return self._choose(pending, ordinal, context)
        if question.kind == "number":
            number = self.number.number(question, context)
            if number is not None:
                return Answer(question.id, seed, sample, number=number)
        if question.kind == "text":
            text = self._as_one(question, ordinal, context)
            if text is not None:
                return Answer(question.id, seed, sample, text=text)
            return Answer(question.id, seed, sample, "refused", "the prior has seen no such template")
        reason = uniform.nothing_to_say(question)
        if reason:
            return Answer(question.id, seed, sample, "refused", reason.replace("chance", "the prior"))
        spread = uniform.spread(question.low, question.high, question.whole)
        return Answer(question.id, seed, sample, spread=spread)

    def _choose(self, pending: Pending, ordinal: int, context: Context) -> Answer:
        question, seed, sample = pending.question, pending.seed, pending.sample
        step = self.choice.probabilities(question, context)
        if step is None:
            scores = uniform.option_scores(len(question.options), question.many)
            return Answer(question.id, seed, sample, option_scores=scores)
        choice: tuple[int, ...] | None
        if question.many:
            text = self._as_one(question, ordinal, context)
            choice = None if text is None else placed(text, question.options)
            choice = taken(step) if choice is None else choice
            return Answer(question.id, seed, sample, choice=choice, option_scores=tuple(step))
        total = sum(step)
        at = self.chain.option(question, ordinal, context, step) if self.chain else None
        best = max(step)
        if at is None and best - min(step) > 1e-12:
            at = step.index(best)
        # No choice where all options are alike: the answer is then scored by expectation, not by the first place.
        choice = None if at is None else (at,)
        return Answer(question.id, seed, sample, choice=choice, option_scores=tuple([p / total for p in step]))

    def _as_one(self, question: Question, ordinal: int, context: Context) -> str | None:
        found = self.chain.whole(question, ordinal, context) if self.chain else None
        if found is None and (question.kind == "text" or question.template in self.as_one):
            return self.whole.answer(question, context)
        return found

    def findings(self) -> list[Finding]:
        """One row a template."""
        rows = [
            Finding(template, cue.words, cue.accuracy, cue.n)
            for template, cue in self.choice.cues.items()
            if template not in self.as_one
        ]
        rows += [
            Finding(template, habit.words, habit.accuracy, habit.n)
            for template, habit in self.whole.habits.items()
            if template in self.as_one or template not in self.choice.cues
        ]
        rows += [Finding(template, c.words, c.accuracy, c.n) for template, c in self.number.constants.items()]
        return rows


EMPTY = Half(ChoicePrior({}, {}), WholePrior({}, {}), NumberPrior({}, {}), frozenset(), None)
"""Nothing learned: every answer is a uniform guess."""


def learn(frame: pl.DataFrame, chained: bool) -> Half:
    """Learns from the questions of one half (rows of `overread.priors.read`)."""
    choice = fit_choice(frame.filter(pl.col("kind") == "choice"))
    whole = fit_whole(frame.filter((pl.col("kind") == "text") | ((pl.col("kind") == "choice") & pl.col("many"))))
    number = fit_number(frame.filter(pl.col("kind") == "number"))
    as_one = frozenset(
        template
        for template, habit in whole.habits.items()
        if template in choice.cues and habit.accuracy > choice.cues[template].accuracy + 1e-9
    )
    half = Half(choice, whole, number, as_one, None)
    if not chained:
        return half
    told = pl.when(pl.col("kind") == "choice").then(said()).otherwise(pl.col("answer").list.join("\n"))
    frame = frame.with_columns(told.alias("said"))
    shares = {finding.template: finding.accuracy for finding in half.findings()}
    return dataclasses.replace(half, chain=fit_chain(frame, _modes(half, frame), shares))


def _modes(half: Half, frame: pl.DataFrame) -> dict[str, int]:
    """Which templates have answers that come back and are no worse guessed by their text than by anything else."""
    counts = frame.group_by("template").agg(pl.len().alias("n"), pl.col("said").n_unique().alias("different"))
    modes = dict.fromkeys(half.number.constants, BESIDE)
    for template, n, different in counts.iter_rows():
        cue, habit = half.choice.cues.get(template), half.whole.habits.get(template)
        by_text = habit.accuracy if habit else cue.by_text if cue else 0.0
        clearly_worse = cue is not None and cue.accuracy - by_text > 1 / math.sqrt(n)
        kept = n >= AGAIN * different and not clearly_worse
        modes.setdefault(template, KEPT if kept else BESIDE)
    return modes
