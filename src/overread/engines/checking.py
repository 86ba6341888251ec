"""Makes plain types of what a model answers, or a failed answer where it cannot be one."""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import operator
from collections.abc import Iterable
from typing import Any

from overread.models.contract import Answer, Seen
from overread.tables import Evidence, Json, Media, canonical

LARGEST_WHOLE = 1 << 53
"""Whole numbers beyond this cannot be kept: tables and JSON would round them."""


def failed(slot: tuple[str, int, int], reason: str) -> Answer:
    """The answer that stands for a failure at one question, seed and sample."""
    question, seed, sample = slot
    return Answer(question, seed, sample, status="failed", reason=_clean(reason))


def is_answer(said: Any) -> bool:
    """Whether something that a model yielded names a question at all."""
    return (
        isinstance(said, Answer)
        and isinstance(said.question, str)
        and isinstance(said.seed, int)
        and isinstance(said.sample, int)
    )


def checked(answer: Answer) -> Answer:
    """The answer in plain types, or a failed one where it holds something that cannot be an answer."""
    slot = (answer.question, answer.seed, answer.sample)
    try:
        if answer.status == "answered" and _is_plain_text(answer) and all(map(_is_plain_seen, answer.seen)):
            return answer
        if answer.status not in ("answered", "refused", "failed"):
            return failed(slot, f"the model returned an unknown status {answer.status!r}")
        plain = _plain(answer)
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        return failed(slot, f"the model returned something that is no answer: {error}")
    numbers = [*(plain.option_scores or ()), *(plain.spread or ()), plain.seconds]
    if plain.number is not None:
        numbers.append(plain.number)
    if not all(math.isfinite(number) for number in numbers):
        return failed(slot, "the model returned a number that is not finite")
    said = (plain.text, plain.choice, plain.option_scores, plain.number, plain.spread, plain.blob)
    if plain.status == "answered" and all(part is None for part in said):
        return failed(slot, "the model returned an empty answer")
    return plain


def _plain(answer: Answer) -> Answer:
    return dataclasses.replace(
        answer,
        text=None if answer.text is None else _text(answer.text),
        reason=_text(answer.reason),
        choice=None if answer.choice is None else _wholes(answer.choice),
        option_scores=None if answer.option_scores is None else tuple(float(x) for x in answer.option_scores),
        number=None if answer.number is None else float(answer.number),
        spread=None if answer.spread is None else tuple(float(x) for x in answer.spread),
        blob=None if answer.blob is None else bytes(memoryview(answer.blob)),
        usage=Json(json.loads(canonical(answer.usage))) if answer.usage else Json(),
        seconds=float(answer.seconds),
        seen=tuple(_plain_seen(seen) for seen in answer.seen),
    )


def _plain_seen(seen: Seen) -> Seen:
    if not isinstance(seen, Seen) or not isinstance(seen.media, Media):
        raise TypeError("what it says it has seen is no receipt of a medium")
    if seen.level not in ("tensor", "sent", "none"):
        raise ValueError(f"a receipt of the unknown level {seen.level!r}")
    return dataclasses.replace(
        seen,
        indices=_wholes(seen.indices),
        shape=_wholes(seen.shape),
        hash=_text(seen.hash),
        form=_text(seen.form),
        tokens=None if seen.tokens is None else _whole(seen.tokens),
        evidence=tuple(Evidence(_text(e.about), _text(e.part), _whole(e.start), _whole(e.stop)) for e in seen.evidence),
    )


def _wholes(values: Iterable[Any]) -> tuple[int, ...]:
    return tuple(_whole(value) for value in values)


def _whole(value: Any) -> int:
    """A whole number of any library; 0.7 is none, and what no table can hold is none either."""
    number = operator.index(value)
    if abs(number) > LARGEST_WHOLE:
        raise ValueError("a whole number is beyond all measure")
    return number


def _is_plain_seen(seen: Seen) -> bool:
    try:
        return _unchanged(seen)
    except TypeError:
        return False  # it holds lists or arrays, which cannot be remembered


@functools.lru_cache(maxsize=1024)
def _unchanged(seen: Seen) -> bool:
    """Whether a receipt has plain types already; the same one comes with every question of a dialogue."""
    return type(seen.tokens) in (int, type(None)) and _plain_seen(seen) == seen


def _is_plain_text(answer: Answer) -> bool:
    """Whether an answer is nothing but a text that can be kept as it is: the common case, and a fast one."""
    if type(answer.text) is not str or not answer.text.isascii() or answer.reason != "" or answer.usage:
        return False
    other = (answer.choice, answer.option_scores, answer.number, answer.spread, answer.blob)
    return all(part is None for part in other) and answer.seconds == 0.0


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"a text is a {type(value).__name__}")
    return _clean(str(value))


def _clean(text: str) -> str:
    """The text without lone surrogates, which no file can hold."""
    return text.encode("utf-8", "replace").decode("utf-8") if not text.isascii() else text
