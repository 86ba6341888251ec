"""A reply that is a distribution, as the draws that it stands for, each with its probability."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

from overread.errors import BadInput

MOST_OPTIONS = 12
"""Of many-of options, every choice of some of them is a draw; of more options than this there are too many."""

Draw = tuple[float, tuple[int, ...] | None, float | None]
"""Probability, choice, number."""


def draws_of(
    scores: Sequence[float] | None, spread: Sequence[float] | None, options: int, *, many: bool
) -> Iterator[Draw]:
    """The draws of a reply without a choice and without a number; none where it is no distribution.

    One-of scores are normalised; many-of scores are independent probabilities; numbers of a spread are equally likely.
    """
    if scores is not None:
        if len(scores) != options or not all(score >= 0 and math.isfinite(score) for score in scores):
            return
        yield from _some_of(scores) if many else _one_of(scores)
    elif spread is not None and all(map(math.isfinite, spread)):
        yield from ((1.0 / len(spread), None, number) for number in spread)


def _one_of(scores: Sequence[float]) -> Iterator[Draw]:
    whole = sum(scores)
    if 0 < whole < math.inf:
        yield from ((score / whole, (place,), None) for place, score in enumerate(scores) if score > 0)


def _some_of(scores: Sequence[float]) -> Iterator[Draw]:
    if any(score > 1.0 + 1e-9 for score in scores):
        return
    if len(scores) > MOST_OPTIONS:
        raise BadInput(
            f"probabilities of {len(scores)} options, of which several may be right, cannot be judged one by one",
            do="give the judge a way of its own for them: see in_parts in overread/judges/rows.py",
        )
    for taken in itertools.product((False, True), repeat=len(scores)):
        weight = math.prod(score if chosen else 1.0 - score for score, chosen in zip(scores, taken, strict=True))
        if weight > 0:
            yield weight, tuple(place for place, chosen in enumerate(taken) if chosen), None
