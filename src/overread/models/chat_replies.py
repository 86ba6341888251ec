"""From what a server has sent to an answer: a text, a choice, probabilities of options, or why there is none."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from overread.models.chat_options import Options
from overread.models.chat_prompts import LETTERS, MOST_SCORED, is_scored
from overread.tables import Question, ReplyStatus

LONGEST_NAME = 100
"""Characters of a model's name, as servers tell it, that are kept."""
MOST_COUNTED = 1 << 40
"""No reply has so many tokens; a count below 0 or beyond this is none."""


class Malformed(ValueError):
    """What came is no chat completion."""


@dataclasses.dataclass(frozen=True, slots=True)
class Said:
    """What one reply says; the fields of an answer."""

    status: ReplyStatus = "answered"
    reason: str = ""
    text: str | None = None
    choice: tuple[int, ...] | None = None
    option_scores: tuple[float, ...] | None = None
    number: float | None = None


def failure(reason: str) -> Said:
    """There is no answer, and this is why."""
    return Said("failed", reason)


def parse(data: bytes) -> dict[str, Any]:
    """The body of a reply as it came; `Malformed` where it is no chat completion."""
    try:
        document = json.loads(data)
        choice = document["choices"][0]
        message = choice["message"]
        content = message.get("content")
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError) as error:
        raise Malformed(f"{type(error).__name__} in what was sent as a chat completion") from error
    if not isinstance(content, str | None) or not isinstance(document.get("usage") or {}, dict):
        raise Malformed("a chat completion without a text")
    whole: dict[str, Any] = document
    return whole


def read(document: Mapping[str, Any], question: Question, options: Options) -> Said:
    """The answer in a chat completion."""
    returned = document.get("model")
    if isinstance(returned, str) and returned and not options.is_asked_for(returned):
        return failure(f"the server answered with the model {returned[:LONGEST_NAME]!r}, not {options.model!r}")
    choice = document["choices"][0]
    message, finish = choice["message"], choice.get("finish_reason")
    if message.get("refusal"):
        return Said("refused", f"the model refused: {str(message['refusal'])[:300]}")
    if finish == "content_filter":
        return Said("refused", "the server's filter held the answer back")
    if is_scored(question, options):
        return _scores(choice, question)
    text = (message.get("content") or "").strip()
    if not text:
        return failure(f"the server sent an empty text (finish_reason {finish})")
    return _held(text, question, options.constrain)


def usage_of(document: Mapping[str, Any]) -> dict[str, Any]:
    """What the server counted, as far as it tells."""
    told = document.get("usage") or {}
    found = {"prompt_tokens": told.get("prompt_tokens"), "tokens": told.get("completion_tokens")}
    for name, group, key in (
        ("cached_tokens", "prompt_tokens_details", "cached_tokens"),
        ("reasoning_tokens", "completion_tokens_details", "reasoning_tokens"),
    ):
        details = told.get(group)
        found[name] = details.get(key) if isinstance(details, dict) else None
    counts = {name: count for name, count in found.items() if type(count) is int and 0 <= count < MOST_COUNTED}
    returned = document.get("model")
    return {**counts, "model": returned[:LONGEST_NAME]} if isinstance(returned, str) else counts


def _held(text: str, question: Question, constrain: str) -> Said:
    """A text that was held to the options, as the choice that it is; what is none of them stays a text."""
    if constrain in ("guided_choice", "structured_outputs") and question.kind == "choice" and text in question.options:
        return Said(text=text, choice=(question.options.index(text),))
    if constrain != "json_schema" or question.kind not in ("choice", "number"):
        return Said(text=text)
    try:
        answer = json.loads(text)["answer"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return Said(text=text)
    if question.kind == "number":
        return Said(text=text, number=_number(answer))
    chosen = answer if isinstance(answer, list) else [answer]
    if not all(isinstance(one, str) and one in question.options for one in chosen):
        return Said(text=text)
    return Said(text=", ".join(chosen), choice=tuple(question.options.index(one) for one in chosen))


def _number(answer: Any) -> float | None:
    """A finite number; None for anything else."""
    if type(answer) not in (int, float):
        return None
    try:
        number = float(answer)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _scores(choice: Mapping[str, Any], question: Question) -> Said:
    """Each option's share of the probability that the first token gives to their letters."""
    if len(question.options) > MOST_SCORED:
        return failure(f"no server tells the probabilities of {len(question.options)} options (at most {MOST_SCORED})")
    likely = _likely(choice)
    if likely is None:
        return failure("the server told no probabilities (logprobs): use mode=generate")
    sums = dict.fromkeys(LETTERS[: len(question.options)], 0.0)
    for token, log in likely:
        if token.strip() in sums:
            sums[token.strip()] += math.exp(min(log, 0.0))
    whole = sum(sums.values())
    if not whole > 0:
        return failure("none of the options' letters is among the tokens that the server told probabilities of")
    shares = tuple(one / whole for one in sums.values())
    return Said(choice=(max(range(len(shares)), key=shares.__getitem__),), option_scores=shares)


def _likely(choice: Mapping[str, Any]) -> Sequence[tuple[str, float]] | None:
    """The likeliest first tokens with the logarithm of their probability; blank tokens before the letter are passed."""
    told = choice.get("logprobs")
    tokens = told.get("content") if isinstance(told, Mapping) else None
    try:
        first = next(one for one in tokens or () if str(one["token"]).strip())
        return [(str(one["token"]), float(one["logprob"])) for one in first["top_logprobs"]]
    except (StopIteration, KeyError, TypeError, ValueError, AttributeError, OverflowError):
        return None
