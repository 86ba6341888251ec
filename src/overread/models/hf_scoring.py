"""Options by their log-probability: read off the states of the one pass that has run all of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch

from overread.models.hf_shared import Pass
from overread.models.hf_trees import Branch, Ids, Tree

Logs = npt.NDArray[np.float32]

TOGETHER = 2048
"""So many states go through the model's head at once: each becomes as many numbers as the vocabulary has tokens."""


@dataclasses.dataclass(frozen=True, slots=True)
class Ending:
    """What of a branch is to be scored: its last tokens, those behind a prompt."""

    row: int
    """The tree, by its place in the pass."""
    branch: int
    length: int
    """Tokens of the prompt; those behind it are the option's."""


def option_logs(going: Pass, endings: Sequence[Ending]) -> list[float]:
    """The log-probability of each ending: the sum over its tokens."""
    logs, lengths = token_logs(going, endings)
    firsts = np.cumsum([0, *lengths[:-1]])
    sums: list[float] = np.add.reduceat(logs, firsts).tolist()
    return sums


def token_logs(going: Pass, endings: Sequence[Ending], *, likeliest: bool = False) -> tuple[Logs, list[int]]:
    """The log-probability of each token of all endings, or that of the likeliest in its place; how many each has."""
    if going.states is None:
        raise ValueError("the pass was not told to keep its states")
    starts = _starts(going.trees)
    parts = [_wanted(going, ending, starts[ending.row][ending.branch]) for ending in endings]
    rows, places, tokens = (
        torch.from_numpy(np.concatenate(some)).to(going.device) for some in zip(*parts, strict=True)
    )
    logs = [
        _logs(going, going.states[some, there], None if likeliest else which)
        for some, there, which in zip(rows.split(TOGETHER), places.split(TOGETHER), tokens.split(TOGETHER), strict=True)
    ]
    return torch.cat(logs).cpu().numpy(), [len(part[0]) for part in parts]


def _logs(going: Pass, states: torch.Tensor, tokens: torch.Tensor | None) -> torch.Tensor:
    logits = going.logits(states).float()
    found = logits.amax(-1) if tokens is None else logits.gather(-1, tokens[:, None])[:, 0]
    return found - logits.logsumexp(-1)


def _starts(trees: Sequence[Tree]) -> list[list[int]]:
    """Where each branch of each tree begins among the branches of its tree."""
    return [np.cumsum([0, *(len(branch.own) for branch in tree.branches)]).tolist() for tree in trees]


def _wanted(going: Pass, ending: Ending, start: int) -> tuple[Ids, Ids, Ids]:
    """(tree, place of the state, token that follows it) for every token of an ending."""
    tree = going.trees[ending.row]
    branch = tree.branches[ending.branch]
    depths = np.arange(ending.length - 1, branch.shared + len(branch.own) - 1)
    places = np.where(depths < branch.shared, depths, going.length + start + depths - branch.shared)
    return np.full_like(depths, ending.row), places, whole(tree, branch)[ending.length :]


def whole(tree: Tree, branch: Branch) -> Ids:
    """All tokens of a branch's prompt."""
    return np.concatenate([tree.trunk[: branch.shared], branch.own])
