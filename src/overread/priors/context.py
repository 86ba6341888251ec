"""What a dialogue has shown before a question: the only thing besides the question that a prior may use.

A dialogue is walked as steps `(question asked or None, answer shown afterwards or None)`. Learning reads the steps from
the exam's tables, answering from the script of a posed dialogue; `contexts` is the one function that turns either into
contexts, so both sides agree. Replies of the model that is being examined are wildcards on both sides: nothing can be
learned from them before they exist.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator

from overread.errors import ModelFault
from overread.models.contract import Message, Posed
from overread.priors.cells import mix, token
from overread.tables import Turn

WILDCARD = "\x00"
"""Stands for a reply."""

Step = tuple[str | None, str | None]
Context = tuple[int, int, int, int]
"""Hashes of, in this order, the levels of `LEVELS`."""

LEVELS = ("the last answer", "the last two answers", "all answers but for their numbers", "all answers")
"""From the shortest to the longest memory. A number in an answer (a time, a frame) makes a long history unique, so two
of the levels replace numbers by a sign."""

START: Context = (0, 0, 0, 0)

# "V5" is the name of a lead, not a number that differs from case to case.
_NUMBER = re.compile(r"(?<!\w)\d+(?:[.,]\d+)*")


@functools.lru_cache(maxsize=1 << 16)
def _shape(text: str) -> int:
    return token(_NUMBER.sub("#", text))


def contexts(steps: Iterable[Step]) -> Iterator[tuple[str, int, Context]]:
    """For each question its id, its ordinal in the dialogue (from 0) and its context."""
    context, before, ordinal = START, 0, 0
    for question, shown in steps:
        if question is not None:
            yield question, ordinal, context
            ordinal += 1
        if shown is not None:
            exact, shape = token(shown), _shape(shown)
            context = (exact, mix(before, shape), mix(context[2], shape), mix(context[3], exact))
            before = shape


def steps_of(posed: Posed) -> Iterator[Step]:
    """The steps of a posed dialogue up to its last pending question.

    Raises `ModelFault` where the script does not follow the turns of its dialogue.
    """
    pending = {p.question.id: p for p in posed.questions}
    replied = {parent for p in posed.questions for parent in p.question.parents}
    script, at, left = posed.script, 0, len(pending)
    for turn in posed.dialogue.turns:
        if turn.question is None and turn.source is None:
            shown = script[at].text if turn.role == "assistant" and at < len(script) else None
            yield None, shown
            at += 1
            continue
        asked = pending.get(turn.question) if turn.question is not None else None
        if asked is not None:
            left -= 1
            if asked.upto != at:
                what = (
                    f"question {asked.question.id} stands after {asked.upto} messages, its dialogue has {at} before it"
                )
                raise ModelFault(what, where=f"dialogue {posed.dialogue.id}")
            if not left:
                yield turn.question, None
                return
        hidden = asked.question.shows == "nothing" if asked is not None else not _stands(turn, script, at)
        if hidden:
            yield turn.question, None
            continue
        at += 1 if turn.role == "assistant" else 2
        own = turn.question in replied or turn.source is not None
        own = own or (asked is not None and asked.question.shows == "reply")
        yield turn.question, WILDCARD if own or at > len(script) else script[at - 1].text
    if left:
        raise ModelFault("a question is asked that its dialogue does not hold", where=f"dialogue {posed.dialogue.id}")


def _stands(turn: Turn, script: tuple[Message, ...], at: int) -> bool:
    """Whether a question that is not asked now stands in the script at this place; otherwise its turn was left out."""
    if turn.source is not None:
        return True
    return at + 1 < len(script) and script[at].text == turn.text and script[at + 1].role == "assistant"
