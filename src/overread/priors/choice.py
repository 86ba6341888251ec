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

from overread.priors.cells import Hashes, mix, token
from overread.priors.context import LEVELS, Context
from overread.priors.options import FEATURES, codes
from overread.priors.rows import LEAST, Numbers, OptionRows, Places, accuracy, elsewhere, everywhere, option_rows
from overread.tables import Question

LEAN = 2.0
"""A shorter history weighs as much as so many questions with the longer one."""

TEXT = 100
"""Texts are counted from this level on, features from 0."""

DEPTHS = ("text", *(f"text after {level}" for level in LEVELS))

CANDIDATES = (
    (0, False),
    (1, False),
    (0, True),
    *((d, f) for d in range(1, 6) for f in (False, True) if (d, f) != (1, False)),
)
"""Depths, without and with the best feature. Of equally good ones the first is taken: a text outlives another order of
the options, a place does not."""


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
    by_text: float
    """The same for the best cue that is not a feature alone."""
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
        for depth in range(1, cue.depth + 1):
            head = mix(mix(template, TEXT + depth), context[depth - 2] if depth > 1 else 0)
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

    plain = _start(rows)
    guesses = [plain, *(_lean_all(_held_out(rows, _feature_cells(rows, f), 1), plain) for f in FEATURES)]
    alone = np.array([by_template(guess) for guess in guesses])
    counts = _held_out(rows, _text_cells(rows, 1), LEAST)
    guesses = [_lean_all(counts, guess) for guess in guesses]
    below = np.array([by_template(guess) for guess in guesses])
    best_alone, best_below = _first_best(alone), _first_best(below)
    scores = {(0, False): alone[0], (0, True): alone.max(axis=0), (1, False): below[0], (1, True): below.max(axis=0)}
    plain, featured = guesses[0], np.choose(best_below[code][rows.of], guesses)
    for depth in range(2, len(DEPTHS) + 1):
        counts = _held_out(rows, _text_cells(rows, depth), LEAST)
        plain, featured = _lean_all(counts, plain), _lean_all(counts, featured)
        scores[depth, False], scores[depth, True] = by_template(plain), by_template(featured)
    tried = np.array([scores[candidate] for candidate in CANDIDATES])
    pick = _first_best(tried)
    depth_of = np.array([depth for depth, _ in CANDIDATES])[pick]
    feature = np.where(depth_of > 0, best_below, best_alone)
    feature_of = np.where(np.array([leans for _, leans in CANDIDATES])[pick], feature, 0)
    by_text = tried[[depth > 0 or not leans for depth, leans in CANDIDATES]].max(axis=0)
    rates = np.bincount(code[rows.of], weights=rows.right) / np.bincount(code[rows.of])
    best = tried.max(axis=0)
    cues = {
        str(name): Cue(
            feature=("", *FEATURES)[feature_of[i]],
            depth=int(depth_of[i]),
            rate=float(rates[i]),
            accuracy=float(best[i]),
            by_text=float(by_text[i]),
            n=int(seen[i]),
        )
        for i, name in enumerate(names)
    }
    return ChoicePrior(cues, _counts(rows, feature_of[code][rows.of], depth_of[code][rows.of]))


def _first_best(scores: Numbers) -> Places:
    """For each column the first row that is as good as the best."""
    result: Places = np.argmax(scores >= scores.max(axis=0) - 1e-9, axis=0)
    return result


def _start(rows: OptionRows) -> Numbers:
    offered, right = elsewhere(rows.template_q[rows.of], rows.right, rows.fold_q[rows.of])
    rate = (right + 0.5 * LEAN) / (offered + LEAN)
    return np.where(rows.many_q[rows.of], rate, 1.0 / rows.size_q[rows.of])


def _feature_cells(rows: OptionRows, name: str) -> Hashes:
    return rows.cells(FEATURES.index(name), rows.features[name])


def _text_cells(rows: OptionRows, depth: int) -> Hashes:
    return rows.cells(TEXT + depth, rows.token, rows.contexts_q[depth - 2] if depth > 1 else 0)


def _held_out(rows: OptionRows, cells: Hashes, least: int) -> tuple[Numbers, Numbers]:
    offered, right = elsewhere(cells, rows.right, rows.fold_q[rows.of])
    known = offered >= least
    return np.where(known, offered, 0.0), np.where(known, right, 0.0)


def _lean_all(counts: tuple[Numbers, Numbers], lower: Numbers) -> Numbers:
    offered, right = counts
    return (right + LEAN * lower) / (offered + LEAN)


def _counts(rows: OptionRows, feature: Places, depth: Places) -> dict[int, tuple[int, int]]:
    """Only what the chosen cues will look up."""
    counts: dict[int, tuple[int, int]] = {}
    for i, name in enumerate(FEATURES):
        used = feature == i + 1
        counts.update(everywhere(_feature_cells(rows, name)[used], rows.right[used], 1))
    for i in range(1, len(DEPTHS) + 1):
        used = depth >= i
        counts.update(everywhere(_text_cells(rows, i)[used], rows.right[used], LEAST))
    return counts
