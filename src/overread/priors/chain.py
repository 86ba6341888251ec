"""The blind policy that gets the most whole dialogues right, worked out backwards from their last questions.

A node is what is known when a question is asked: its place among the questions, its template, and all answers shown
before (numbers in them left aside). Which question comes next, and which answer is right, is chance; which answer to
give is ours. The value of a node is the share of dialogues that are right from there to the end:

    asked, key shown later        max over answers of: sum over dialogues with that key of the next value / dialogues
    asked, key not shown later    share of the most frequent key * mean of the next value
    not answered by its text      share right of the step-wise cue * mean of the next value
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from overread.priors.cells import Hashes, mix, mix_all, token
from overread.priors.context import Context
from overread.priors.read import CONTEXT_COLUMNS
from overread.tables import Question

KEPT, HIDDEN, BESIDE = 0, 1, 2
"""The three rows of the table above."""

LEAST = 2
"""A node counts from its second appearance on."""

_LEVEL = 2000
_CONTEXT = 2
_SMALL = 0.01
"""A step that the cue never gets right still leaves an order among the paths through it."""

Numbers = NDArray[np.float64]
Places = NDArray[np.int64]


@dataclasses.dataclass(frozen=True, slots=True)
class Chain:
    """The policy that one half taught."""

    modes: dict[str, int]
    """For each template whether its answers are told apart by their text (`KEPT`) or not (`BESIDE`)."""
    values: dict[int, float]
    """The value of giving an answer at a node."""
    best: dict[int, str]
    """The best whole answer at a node."""

    def _node(self, question: Question, ordinal: int, context: Context) -> int | None:
        if question.shows != "key" or self.modes.get(question.template, BESIDE) == BESIDE:
            return None
        return mix(mix(mix(token(question.template), _LEVEL + ordinal), KEPT), context[_CONTEXT])

    def option(self, question: Question, ordinal: int, context: Context, step: Sequence[float]) -> int | None:
        """The place of the option to choose, of equal ones that with the greater `step`; None off every known path."""
        node = self._node(question, ordinal, context)
        if node is None:
            return None
        values = [self.values.get(mix(node, token(option))) for option in question.options]
        if all(value is None for value in values):
            return None
        return max(range(len(values)), key=lambda i: (values[i] or 0.0, step[i], -i))

    def whole(self, question: Question, ordinal: int, context: Context) -> str | None:
        """The whole answer to give; None off every known path."""
        node = self._node(question, ordinal, context)
        return None if node is None else self.best.get(node)


def fit_chain(frame: pl.DataFrame, modes: dict[str, int], shares: dict[str, float]) -> Chain:
    """Learns from one half: rows of `overread.priors.read` in their order, with the column `said`.

    `modes` tells `KEPT` from `BESIDE` templates, `shares` how often the step-wise answer to a template is right.
    """
    if frame.is_empty():
        return Chain(modes, {}, {})
    policy = _Backwards(frame, modes, shares)
    for ordinal in sorted(set(policy.ordinal.tolist()), reverse=True):
        policy.step(np.flatnonzero(policy.ordinal == ordinal))
    return Chain(modes, policy.values, policy.best)


class _Backwards:
    """One pass over the questions, the last ones first."""

    def __init__(self, frame: pl.DataFrame, modes: dict[str, int], shares: dict[str, float]) -> None:
        templates = frame["template"]
        names = templates.unique().to_list()

        def of(values: list[Any], dtype: type[pl.DataType]) -> NDArray[Any]:
            return templates.replace_strict(names, values, return_dtype=dtype).to_numpy()

        self.ordinal: Places = frame["ordinal"].cast(pl.Int64).to_numpy()
        kept = of([modes.get(n, BESIDE) for n in names], pl.Int64)
        shown = (frame["shows"] == "key").to_numpy()
        self.mode: Places = np.where((kept == KEPT) & ~shown, HIDDEN, kept)
        self.share: Numbers = of([max(_SMALL, shares.get(n, _SMALL)) for n in names], pl.Float64)
        level = (self.ordinal + _LEVEL).astype(np.uint64)
        hashed: Hashes = of([token(n) for n in names], pl.UInt64)
        place = mix_all(mix_all(hashed, level), self.mode.astype(np.uint64))
        self.node = mix_all(place, frame[CONTEXT_COLUMNS[_CONTEXT]].to_numpy())
        self.said = frame["said"].to_list()
        tokens = np.fromiter((token(text) for text in self.said), dtype=np.uint64, count=len(self.said))
        self.act = mix_all(self.node, np.where(self.mode == BESIDE, np.uint64(0), tokens))
        self.whole = (frame["many"] | (frame["kind"] == "text")).to_numpy()
        dialogue = frame["dialogue"].to_numpy()
        self.last = np.append(dialogue[1:] != dialogue[:-1], True)
        self.value: Numbers = np.ones(len(dialogue) + 1)
        self.values: dict[int, float] = {}
        self.best: dict[int, str] = {}

    def step(self, at: Places) -> None:
        """Values all nodes of one ordinal; those of later ordinals are known."""
        after = np.where(self.last[at], 1.0, self.value[at + 1])
        _, first, node = np.unique(self.node[at], return_index=True, return_inverse=True)
        acts, first_act, act = np.unique(self.act[at], return_index=True, return_inverse=True)
        n, mode, share = np.bincount(node), self.mode[at][first], self.share[at][first]
        of = node[first_act]
        worth = np.bincount(act, weights=after) / n[of]
        often = np.bincount(act) / n[of]
        best, most = np.zeros(len(n)), np.zeros(len(n))
        np.maximum.at(best, of, worth)
        np.maximum.at(most, of, often)
        mean = np.bincount(node, weights=after) / n
        value = np.select([mode == KEPT, mode == HIDDEN], [best, most * mean], share * mean)
        self.value[at] = value[node]
        keep = (mode[of] == KEPT) & (n[of] >= LEAST)
        self.values.update(zip(acts[keep].tolist(), worth[keep].tolist(), strict=True))
        top = np.flatnonzero(keep & self.whole[at][first_act] & (worth >= best[of]))
        for i in top[::-1]:
            row = at[first_act[i]]
            self.best[int(self.node[row])] = self.said[row]
