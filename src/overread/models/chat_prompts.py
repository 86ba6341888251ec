"""From messages to the body of a request: who says what, with which pictures, and held to which options."""

from __future__ import annotations

import dataclasses
import functools
import json
import string
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from overread.exam.framing import PROMPTS
from overread.models.chat_options import Options
from overread.models.chat_pictures import Sent
from overread.models.contract import Message, Pending
from overread.tables import Media, Question, content_id

LETTERS = string.ascii_uppercase
MOST_SCORED = 20
"""Servers tell the probabilities of so many tokens at most."""
ANOTHER_SAMPLE = 1 << 31

Shown = Mapping[Media, Sent]


@functools.cache
def words() -> Mapping[str, str]:
    """Our own texts, and their version."""
    found: dict[str, str] = yaml.safe_load((PROMPTS / "chat.yaml").read_text(encoding="utf-8"))
    return found


def is_scored(question: Question, options: Options) -> bool:
    """Whether a question is answered by probabilities: one of few options. Others are written also under `score`."""
    return options.mode == "score" and question.kind == "choice" and not question.many and len(question.options) > 1


def body_of(messages: Sequence[Message], shown: Shown, pending: Pending, options: Options) -> dict[str, Any]:
    """The whole request, as it is sent."""
    scored = is_scored(pending.question, options)
    if scored:
        messages = [*messages[:-1], dataclasses.replace(messages[-1], text=_lettered(messages[-1], pending.question))]
    body: dict[str, Any] = {"model": options.model, "messages": _turns(messages, shown, options.system)}
    body[options.limit_name] = options.new_tokens
    for name, value in (("temperature", options.temperature), ("top_p", options.top_p)):
        if value is not None:
            body[name] = value
    if options.reasoning:
        body["reasoning_effort"] = options.reasoning
    if options.seeds == "send":
        body["seed"] = seed_of(pending)
    more: dict[str, Any] = json.loads(options.extra or "{}")
    if scored:
        body.update(logprobs=True, top_logprobs=MOST_SCORED)
    elif pending.question.kind in ("choice", "number"):
        body.update(_held(pending.question, options.constrain))
    return {**body, **more}


def seed_of(pending: Pending) -> int:
    """The seed that a server is sent: the question's own, and for further samples one drawn from both."""
    if not pending.sample:
        return pending.seed
    return int(content_id(str(pending.seed), str(pending.sample))[:12], 16) % ANOTHER_SAMPLE


def _lettered(asked: Message, question: Question) -> str:
    pairs = zip(LETTERS, question.options, strict=False)
    lines = [words()["line"].replace("{letter}", letter).replace("{option}", option) for letter, option in pairs]
    return words()["letters"].replace("{question}", asked.text).replace("{lines}", "\n".join(lines))


def _held(question: Question, constrain: str) -> dict[str, Any]:
    """What holds a server to the options."""
    one = question.kind == "choice" and not question.many
    if constrain == "guided_choice" and one:
        return {"guided_choice": list(question.options)}
    if constrain == "structured_outputs" and one:
        return {"structured_outputs": {"choice": list(question.options)}}
    if constrain != "json_schema":
        return {}
    answer: dict[str, Any] = {"type": "number"}
    if question.kind == "choice":
        answer = {"type": "string", "enum": list(question.options)}
        answer = {"type": "array", "items": answer} if question.many else answer
    schema = {"type": "object", "properties": {"answer": answer}, "required": ["answer"], "additionalProperties": False}
    named = {"name": "answer", "strict": True, "schema": schema}
    return {"response_format": {"type": "json_schema", "json_schema": named}}


def _turns(messages: Sequence[Message], shown: Shown, system: str) -> list[dict[str, Any]]:
    turns: list[dict[str, Any]] = []
    before = ""
    for message in messages:
        if message.role == "system" and system != "keep":
            before += f"{message.text}\n\n" if system == "user" else ""
            continue
        text = message.text
        if message.role == "user":
            text, before = before + text, ""
        parts = [part for medium in message.media for part in shown[medium].parts]
        content = [*parts, {"type": "text", "text": text}] if parts else text
        turns.append({"role": message.role, "content": content})
    return turns
