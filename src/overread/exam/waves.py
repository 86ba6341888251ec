"""The planner: which questions of an exam wait for which replies.

A question whose history shows only keys waits for nobody. One whose history shows a reply waits for that reply, so
the exam is asked in waves: wave 0 first, then all questions whose history holds replies of wave 0, and so on.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence


@dataclasses.dataclass(frozen=True, slots=True)
class Step:
    """One question-bearing turn of a dialogue, as the planner sees it."""

    asks: str | None
    """The question asked in this turn."""
    shows_reply_of: str | None
    """The question whose reply later turns see here: its own, or one of another dialogue."""


def plan(steps: Sequence[Step], waves: dict[str, int]) -> list[tuple[str, int, tuple[str, ...]]]:
    """For each question of a dialogue: (question, wave, parents).

    `waves` knows the questions of the dialogues before; those of this dialogue are added to it.
    """
    planned: list[tuple[str, int, tuple[str, ...]]] = []
    parents: tuple[str, ...] = ()
    after = 0
    for step in steps:
        if step.asks is not None:
            waves[step.asks] = after
            planned.append((step.asks, after, parents))
        if step.shows_reply_of is not None:
            parents = (*parents, step.shows_reply_of)
            after = max(after, waves[step.shows_reply_of] + 1)
    return planned
