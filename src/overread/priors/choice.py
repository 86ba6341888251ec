"""Which option is right, guessed from the cue that works best for a template.

A cue is a feature of the options (place, length, width or middle of the range in them, or none) and above it a depth:
the text of the option, and the text after ever longer histories. A longer history is only trusted as far as it was
seen: its rates lean on those of the next shorter one, the shortest on the feature.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import polars as pl

from overread.priors.cells import mix, token
from overread.priors.context import LEVELS, Context
from overread.priors.options import FEATURES, codes
from overread.priors.rows import LEAST, Flags, Numbers, OptionRows, accuracy, elsewhere, everywhere, option_rows
from overread.tables import Question

LEAN = 2.0
"""A shorter history weighs as much as so many questions with the longer one."""

TEXT = 100
"""The level of the text alone; the contexts follow it, the features stand from 0."""

DEPTHS = ("text", *(f"text after {level}" for level in LEVELS))


@dataclasses.dataclass(frozen=True, slots=True)
class Cue:
    """What a template is answered by."""

    feature: str
    """One of the features of options, or empty."""
    depth: int
    """0: the feature alone; 1: the text; above: the text after the levels of context up to this one."""
    rate: float
    """How often an option of this template is right."""
    accuracy: float
    """On patients held out within the half that was learned from."""
    n: int

    @property
    def words(self) -> str:
        """The cue as an audit names it."""
        if not self.depth:
            return self.feature or "uniform"
        return DEPTHS[self.depth - 1] + (f", else {self.feature}" if self.feature else "")


@dataclasses.dataclass(frozen=True, slots=True)
class ChoicePrior:
    """What one half taught about choices."""

    cues: dict[str, Cue]
    counts: dict[int, tuple[int, int]]

    def probabilities(self, question: Question, context: Context) -> list[float] | None:
        """For each option how probable it is to be right, not normalised; None for a template never seen."""
        cue = self.cues.get(question.template)
        if cue is None:
            return None
        options, counts, template = question.options, self.counts, token(question.template)
        start = cue.rate if question.many else 1.0 / len(options)
        result = [start] * len(options)
        if cue.feature:
            head = mix(mix(template, FEATURES.index(cue.feature)), 0)
            result = _lean(counts, head, codes(options, cue.feature), result)
        tokens = [token(option) for option in options] if cue.depth else []
        for depth in range(cue.depth):
            head = mix(mix(template, TEXT + depth), context[depth - 1] if depth else 0)
            result = _lean(counts, head, tokens, result)
        return result


def _lean(counts: dict[int, tuple[int, int]], head: int, own: list[int], lower: list[float]) -> list[float]:
    result: list[float] = []
    for code, below in zip(own, lower, strict=True):
        offered, right = counts.get(mix(head, code), (0, 0))
        result.append((right + LEAN * below) / (offered + LEAN))
    return result


def taken(probabilities: Sequence[float]) -> tuple[int, ...]:
    """The most probable set of options, each on its own; never empty."""
    best = max(probabilities)
    if best > 0.5:
        return tuple(i for i, p in enumerate(probabilities) if p > 0.5)
    return tuple(i for i, p in enumerate(probabilities) if p >= best - 1e-12)


def fit_choice(frame: pl.DataFrame) -> ChoicePrior:
    """Learns from the choice questions of one half (rows of `overread.priors.read`)."""
    frame = frame.filter(pl.col("options").list.len() > 0)
    if frame.is_empty():
        return ChoicePrior({}, {})
    rows = option_rows(frame)
    names, code = np.unique(frame["template"].to_numpy().astype(str), return_inverse=True)
    seen = np.bincount(code)

    def by_template(probability: Numbers) -> Numbers:
        return np.bincount(code, weights=accuracy(rows, probability)) / seen

    start = _start(rows)
    guesses = [start, *(_held_out(rows, _feature_cells(rows, name), start, 1) for name in FEATURES)]
    scores = np.array([by_template(guess) for guess in guesses])
    feature = _first_best(scores)
    best_guess = np.choose(feature[code][rows.of], guesses)
    depths = [scores.max(axis=0)]
    guess = best_guess
    for depth in range(len(DEPTHS)):
        guess = _held_out(rows, _text_cells(rows, depth), guess, LEAST)
        depths.append(by_template(guess))
    depth_scores = np.array(depths)
    depth_of = _first_best(depth_scores)
    rates = np.bincount(code[rows.of], weights=rows.right) / np.bincount(code[rows.of])
    cues = {
        str(name): Cue(("", *FEATURES)[feature[i]], int(depth_of[i]), float(rates[i]), float(best), int(seen[i]))
        for i, (name, best) in enumerate(zip(names, depth_scores.max(axis=0), strict=True))
    }
    return ChoicePrior(cues, _counts(rows, feature[code][rows.of], depth_of[code][rows.of]))


def _first_best(scores: Numbers) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """For each column the first row that is as good as the best: the simplest of equal cues."""
    result: np.ndarray[tuple[int, ...], np.dtype[np.int64]] = np.argmax(scores >= scores.max(axis=0) - 1e-9, axis=0)
    return result


def _start(rows: OptionRows) -> Numbers:
    offered, right = elsewhere(rows.template_q[rows.of], rows.right, rows.fold_q[rows.of])
    rate = (right + 0.5 * LEAN) / (offered + LEAN)
    return np.where(rows.many_q[rows.of], rate, 1.0 / rows.size_q[rows.of])


def _feature_cells(rows: OptionRows, name: str) -> np.ndarray[tuple[int, ...], np.dtype[np.uint64]]:
    return rows.cells(FEATURES.index(name), rows.features[name])


def _text_cells(rows: OptionRows, depth: int) -> np.ndarray[tuple[int, ...], np.dtype[np.uint64]]:
    return rows.cells(TEXT + depth, rows.token, rows.contexts_q[depth - 1] if depth else 0)


def _held_out(
    rows: OptionRows, cells: np.ndarray[tuple[int, ...], np.dtype[np.uint64]], lower: Numbers, least: int
) -> Numbers:
    offered, right = elsewhere(cells, rows.right, rows.fold_q[rows.of])
    known = offered >= least
    result: Numbers = (np.where(known, right, 0.0) + LEAN * lower) / (np.where(known, offered, 0.0) + LEAN)
    return result


def _counts(
    rows: OptionRows,
    feature: np.ndarray[tuple[int, ...], np.dtype[np.int64]],
    depth: np.ndarray[tuple[int, ...], np.dtype[np.int64]],
) -> dict[int, tuple[int, int]]:
    """Only what the chosen cues will look up."""
    counts: dict[int, tuple[int, int]] = {}
    for i, name in enumerate(FEATURES):
        used: Flags = feature == i + 1
        counts.update(everywhere(_feature_cells(rows, name)[used], rows.right[used], 1))
    for i in range(len(DEPTHS)):
        used = depth > i
        counts.update(everywhere(_text_cells(rows, i)[used], rows.right[used], LEAST))
    return counts
