"""Many questions answered from one pass over what they share: the media and the scripted dialogue are run once.

The trunks of a batch of trees go through the model some at a time, and their keys and values stay. What prompts have
of their own goes through next, all branches of a tree in one pass. Then all questions of all trees go on together
(`hf_replies.py`): in every further pass each of them gives one token, sees its own part of the trunk, its own branch
and its own tokens, and takes the position that follows. So the memory of a dialogue is kept and read once, however
many questions it has.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from overread.models.hf_attention import additive
from overread.models.hf_room import Room, aligned
from overread.models.hf_trees import Branch, Tree


@dataclasses.dataclass(frozen=True, slots=True)
class Portion:
    """Trees whose trunks go through the model together."""

    trees: tuple[Tree, ...]
    inputs: Mapping[str, torch.Tensor]
    """The trunks' tokens (padded behind) and media, as the model takes them."""


def own_width(tree: Tree) -> int:
    """Tokens that a tree's prompts have beside its trunk."""
    return sum(len(branch.own) for branch in tree.branches)


class Pass:
    """A batch of trees on its way through the model.

    Shapes: B trees, Q questions (the most that a tree of the batch has), K places of the room.
    """

    def __init__(self, model: Any, portions: Sequence[Portion], room: int, *, keep: bool = False) -> None:
        """`room`: tokens to come for each tree; `keep` keeps the states of all tokens."""
        self.model = model
        self.device = model.get_input_embeddings().weight.device
        self.trees = [tree for portion in portions for tree in portion.trees]
        self.questions = max(len(tree.branches) for tree in self.trees)
        self.length = max(int(portion.inputs["input_ids"].shape[1]) for portion in portions)
        """Places that trunks take; branches begin behind them."""
        self.filled = self.length + max(own_width(tree) for tree in self.trees)
        self.room = Room(model, len(self.trees), self.filled + room)
        shape = (len(self.trees), self.questions)
        self.sees = torch.zeros(*shape, self.room.stand.places, dtype=torch.bool, device=self.device)
        """(B, Q, K): which places each question sees."""
        self.next = torch.zeros(shape, dtype=torch.long, device=self.device)
        """(B, Q): the position of each question's next token."""
        self.there = self._per_question(self.trees, lambda branch: 1, 0).bool()
        """(B, Q): which questions there are."""
        self.last: torch.Tensor = torch.empty(0)
        """(B, Q, width): the state at the end of each prompt, from which its first token follows."""
        self.states: torch.Tensor | None = None
        """(B, trunk and branches, width), where they were to be kept."""
        start = 0
        for portion in portions:
            rows = slice(start, start + len(portion.trees))
            self._fill(rows, portion, keep=keep)
            start = rows.stop

    def _per_question(self, trees: Sequence[Tree], what: Callable[[Branch], int], missing: int) -> torch.Tensor:
        """(trees, Q) of a whole number a branch; trees with fewer questions hold `missing` in their other places."""
        rows = [[what(b) for b in tree.branches] + [missing] * (self.questions - len(tree.branches)) for tree in trees]
        return torch.tensor(rows, device=self.device)

    def _fill(self, rows: slice, portion: Portion, *, keep: bool) -> None:
        """Runs the trunks and the branches of some trees."""
        inputs = {name: value.to(self.device, non_blocking=True) for name, value in portion.inputs.items()}
        positions = self._positions(inputs)
        self.room.fill(rows, 0)
        hidden = self._run(inputs, positions, None)
        if not len(self.last):
            self.last = hidden.new_zeros(*self.next.shape, hidden.shape[2])
        shared = self._per_question(portion.trees, lambda branch: branch.shared, 1)
        at = positions.amax(0) if positions.ndim == 3 else positions
        self.last[rows] = hidden.gather(1, (shared - 1)[..., None].expand(-1, -1, hidden.shape[2]))
        self.next[rows] = at.gather(1, shared - 1) + 1
        self.sees[rows] = torch.arange(self.sees.shape[2], device=self.device) < shared[..., None]
        if keep:
            self._keep(rows, 0, hidden)
        if any(own_width(tree) for tree in portion.trees):
            self._branch(rows, portion.trees, keep=keep)

    def _keep(self, rows: slice, start: int, hidden: torch.Tensor) -> None:
        if self.states is None:
            self.states = hidden.new_zeros(len(self.trees), self.filled, hidden.shape[2])
        self.states[rows, start : start + hidden.shape[1]] = hidden

    def _positions(self, inputs: Mapping[str, torch.Tensor]) -> torch.Tensor:
        """(B, L) positions of the trunks, or (3, B, L) of models that place images in time, height and width."""
        index = getattr(self.model.model, "get_rope_index", None)
        if index is None:
            batch, length = inputs["input_ids"].shape
            return torch.arange(length, device=self.device).expand(batch, length)
        named = inspect.signature(index).parameters.keys() & inputs.keys() - {"input_ids", "attention_mask"}
        positions, _ = index(inputs["input_ids"], **{name: inputs[name] for name in named})
        return torch.as_tensor(positions)

    def _run(self, inputs: Mapping[str, torch.Tensor], positions: torch.Tensor, mask: Any) -> torch.Tensor:
        """Runs tokens through the model and keeps their keys and values; (B, tokens, width) states."""
        given = {name: value for name, value in inputs.items() if name != "attention_mask"}
        ran = self.model.model(
            **given, attention_mask=mask, position_ids=positions, past_key_values=self.room, use_cache=True
        )
        hidden: torch.Tensor = ran.last_hidden_state
        return hidden.to(self.device)

    def further(self, tokens: torch.Tensor, positions: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Runs (B, M) further tokens at (B, M) positions under a mask that is added to scores."""
        if getattr(self.model.model, "get_rope_index", None) is not None:
            positions = positions.expand(3, *positions.shape)
        return self._run({"input_ids": tokens}, positions, mask)

    def _branch(self, rows: slice, trees: Sequence[Tree], *, keep: bool) -> None:
        """Runs what the prompts of some trees have of their own, all in one pass."""
        tokens, owner, depth = (part.to(self.device) for part in _laid_out(trees))
        upto = min(aligned(self.length + tokens.shape[1]), self.room.stand.places)
        whose = owner.clamp(min=0)
        there = owner >= 0
        # A padded place sees the first one, so that its row of the mask is not empty; nothing sees it.
        sees = self.sees[rows, :, :upto].gather(1, whose[..., None].expand(-1, -1, upto)) & there[..., None]
        sees[..., 0] = True
        same = (owner[:, :, None] == owner[:, None, :]) & there[:, :, None]
        sees[..., self.length : self.length + tokens.shape[1]] = same & (depth[:, None, :] <= depth[:, :, None])
        positions = self.next[rows].gather(1, whose) + depth
        self.room.fill(rows, self.length, upto)
        hidden = self.further(tokens, positions, additive(sees, self.last.dtype))
        if keep:
            self._keep(rows, self.length, hidden)
        self._go_on(rows, trees, (owner, depth, positions), hidden)

    def _go_on(
        self,
        rows: slice,
        trees: Sequence[Tree],
        laid: tuple[torch.Tensor, torch.Tensor, torch.Tensor],
        hidden: torch.Tensor,
    ) -> None:
        """After the branches: each question goes on from the end of its own."""
        owner, depth, positions = laid
        lengths = self._per_question(trees, lambda branch: len(branch.own), 0)
        mine = owner[:, None, :] == torch.arange(self.questions, device=self.device)[None, :, None]
        self.sees[rows, :, self.length : self.length + owner.shape[1]] = mine
        last = (mine & (depth[:, None, :] == lengths[..., None] - 1)).long().argmax(2)
        has = lengths > 0
        found = hidden.gather(1, last[..., None].expand(-1, -1, hidden.shape[2]))
        self.last[rows] = torch.where(has[..., None], found, self.last[rows])
        self.next[rows] = torch.where(has, positions.gather(1, last) + 1, self.next[rows])

    def logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """(.., vocabulary) from states, as the model's own head gives them."""
        found: torch.Tensor = self.model.get_output_embeddings()(hidden)
        cap = getattr(self.model.config.get_text_config(), "final_logit_softcapping", None)
        return (torch.tanh(found / cap) * cap if cap else found).to(self.device)


def _laid_out(trees: Sequence[Tree]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """(B, M) tokens of all branches one behind the other, the question that owns each (-1: none), its depth in it."""
    width = max(own_width(tree) for tree in trees)
    tokens = torch.zeros(len(trees), width, dtype=torch.long)
    owner = torch.full((len(trees), width), -1)
    depth = torch.zeros(len(trees), width, dtype=torch.long)
    for row, tree in enumerate(trees):
        start = 0
        for question, branch in enumerate(tree.branches):
            stop = start + len(branch.own)
            tokens[row, start:stop] = torch.from_numpy(branch.own)
            owner[row, start:stop] = question
            depth[row, start:stop] = torch.arange(len(branch.own))
            start = stop
    return tokens, owner, depth
