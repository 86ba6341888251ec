"""A uniform guess over everything that a question allows, written out as probabilities."""

from __future__ import annotations

import functools
import math

from overread.tables import Question

FEW_WHOLE = 400
"""Up to so many whole numbers are listed one by one."""
MANY_WHOLE = 401
CONTINUOUS = 101


@functools.lru_cache(maxsize=4096)
def option_scores(count: int, many: bool) -> tuple[float, ...]:
    """The probability of each of `count` options: 1/count where one is right, a half each where many may be."""
    return (0.5 if many else 1.0 / count,) * count


@functools.lru_cache(maxsize=4096)
def whole_range(low: float | None, high: float | None) -> tuple[int, int] | None:
    """First and last whole number of a range, both included; None where there is none."""
    if low is None or high is None or not (math.isfinite(low) and math.isfinite(high)):
        return None
    first, last = math.ceil(low), math.floor(high)
    return (first, last) if first <= last else None


@functools.lru_cache(maxsize=65536)
def spread(low: float | None, high: float | None, whole: bool) -> tuple[float, ...] | None:
    """Equally likely numbers that stand for the uniform distribution over a range; None where there is no range.

    A range too long to list is cut into equal parts and each part is represented by its midpoint: end points would
    get twice their weight and make the mean error of a guess too large.
    """
    if whole:
        ends = whole_range(low, high)
        if ends is None:
            return None
        first, count = ends[0], ends[1] - ends[0] + 1
        if count <= FEW_WHOLE:
            return tuple(float(first + i) for i in range(count))
        return tuple(float(first + (2 * i + 1) * count // (2 * MANY_WHOLE)) for i in range(MANY_WHOLE))
    if low is None or high is None or not (math.isfinite(low) and math.isfinite(high)) or low > high:
        return None
    return tuple(low + (high - low) * (2 * i + 1) / (2 * CONTINUOUS) for i in range(CONTINUOUS))


def nothing_to_say(question: Question) -> str:
    """Why a uniform guess is impossible for a question; empty where it is possible."""
    if question.kind == "choice":
        return "" if question.options else "the question has no options"
    if question.kind == "number":
        if spread(question.low, question.high, question.whole) is None:
            return "the question gives no range of numbers to guess from"
        return ""
    return f"chance has nothing to say to a {question.kind} question"
