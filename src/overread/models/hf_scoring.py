"""Options by their log-probability: read off the states of the one pass that has run all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import torch

from overread.models.hf_shared import Pass

if TYPE_CHECKING:
    from overread.models.hf_batches import Sheaf

TOGETHER = 2048
"""So many states go through the model's head at once: each becomes as many numbers as the vocabulary has tokens."""


def option_logs(going: Pass, sheaves: Sequence[Sheaf]) -> dict[tuple[int, int], float]:
    """The log-probability of each line that holds an option, by sheaf and line: the sum over its tokens."""
    wanted = list(_wanted(sheaves))
    rows = torch.tensor([row for row, *_ in wanted], device=going.device)
    places = torch.tensor([going.place(row, line, depth) for row, line, depth, _ in wanted], device=going.device)
    states = going.states[rows, places]
    tokens = torch.tensor([token for *_, token in wanted], device=states.device)
    logs = torch.cat(
        [
            going.logits(some).log_softmax(-1).gather(1, which[:, None])[:, 0]
            for some, which in zip(states.split(TOGETHER), tokens.split(TOGETHER), strict=True)
        ]
    ).tolist()
    sums: dict[tuple[int, int], float] = {}
    for (row, line, _, _), log in zip(wanted, logs, strict=True):
        sums[row, line] = sums.get((row, line), 0.0) + log
    return sums


def _wanted(sheaves: Sequence[Sheaf]) -> Iterator[tuple[int, int, int, int]]:
    """(sheaf, line, depth of the state, token that follows it) for every token of every option."""
    for row, sheaf in enumerate(sheaves):
        for place, (line, branch) in enumerate(zip(sheaf.lines, sheaf.tree.branches, strict=True)):
            if line.option is None:
                continue
            for depth in range(line.length, branch.shared + len(branch.own)):
                own = depth - branch.shared
                token = sheaf.tree.trunk[depth] if own < 0 else branch.own[own]
                yield row, place, depth - 1, int(token)
