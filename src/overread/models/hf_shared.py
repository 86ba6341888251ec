"""Many questions answered from one pass over what they share: the media and the scripted dialogue are run once.

The trunks of a batch of trees go through the model together, and their keys and values stay. Then all questions go on
at the same time: in every further pass each of them gives one token, sees its own part of the trunk, its own branch and
its own tokens, and takes the position that follows. So the memory of a dialogue is kept and read once, however many
questions it has.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Sequence
from typing import Any

import torch

from overread.models.hf_room import room_for
from overread.models.hf_trees import Tree


@dataclasses.dataclass(frozen=True, slots=True)
class Stop:
    """When and with what a reply may go on."""

    longest: int
    """New tokens at most."""
    ends: tuple[int, ...]
    """Tokens that end a reply."""
    banned: tuple[int, ...] = ()
    """Tokens that never come."""
    pad: int = 0


class Pass:
    """A batch of trees on its way through the model.

    Shapes: B trees, Q questions (the most that a tree of the batch has), K filled positions of the cache.
    """

    def __init__(self, model: Any, trees: Sequence[Tree], inputs: dict[str, torch.Tensor], room: int) -> None:
        """`inputs` are the trunks' tokens (padded behind) and media as the model takes them; `room`: tokens to come."""
        self.model, self.trees = model, trees
        self.device = inputs["input_ids"].device
        self.filled = int(inputs["input_ids"].shape[1])
        own = max((sum(len(branch.own) for branch in tree.branches) for tree in trees), default=0)
        self.cache = room_for(model, self.filled + own + room)
        self.questions = max(len(tree.branches) for tree in trees)
        positions = self._positions(inputs)
        hidden = self._run(inputs, positions, None)
        self.length = self.filled
        self.states = hidden
        """(B, tokens, width): the states of the trunks, then those of the branches."""
        ends = self._per_question(lambda branch: branch.shared - 1, 0)
        self.last = hidden.gather(1, ends[..., None].expand(-1, -1, hidden.shape[2]))
        """(B, Q, width): the state at the end of each prompt, from which its first token follows."""
        at = positions.amax(0) if positions.ndim == 3 else positions
        self.next = at.gather(1, ends) + 1
        """(B, Q): the position of each question's next token."""
        places = torch.arange(self.filled, device=self.device)
        shared = self._per_question(lambda branch: branch.shared, 0)
        self.sees = places < shared[..., None]
        """(B, Q, K): which positions of the cache each question sees."""
        if own:
            self._run_branches()

    def _per_question(self, what: Any, missing: int) -> torch.Tensor:
        """(B, Q) of a whole number a branch; the places of trees with fewer questions hold `missing`."""
        rows = [
            [what(b) for b in tree.branches] + [missing] * (self.questions - len(tree.branches)) for tree in self.trees
        ]
        return torch.tensor(rows, device=self.device)

    def _positions(self, inputs: dict[str, torch.Tensor]) -> torch.Tensor:
        """(B, L) positions of the trunks, or (3, B, L) of models that place images in time, height and width."""
        index = getattr(self.model.model, "get_rope_index", None)
        if index is None:
            batch, length = inputs["input_ids"].shape
            return torch.arange(length, device=self.device).expand(batch, length)
        named = inspect.signature(index).parameters.keys() & inputs.keys() - {"input_ids"}
        positions, _ = index(inputs["input_ids"], **{name: inputs[name] for name in named})
        return torch.as_tensor(positions)

    def _run(self, inputs: dict[str, torch.Tensor], positions: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
        """Runs tokens through the model and keeps their keys and values; (B, tokens, width) states."""
        given = {name: value for name, value in inputs.items() if name != "attention_mask"}
        ran = self.model.model(
            **given, attention_mask=mask, position_ids=positions, past_key_values=self.cache, use_cache=True
        )
        hidden: torch.Tensor = ran.last_hidden_state
        return hidden

    def _extend(self, tokens: torch.Tensor, positions: torch.Tensor, sees: torch.Tensor) -> torch.Tensor:
        """Runs (B, M) further tokens that see (B, M, K + M) positions."""
        if getattr(self.model.model, "get_rope_index", None) is not None:
            positions = positions.expand(3, *positions.shape)
        self.filled += tokens.shape[1]
        return self._run({"input_ids": tokens}, positions, sees[:, None])

    def _run_branches(self) -> None:
        """Runs what the prompts have of their own, all in one pass."""
        batch, width = len(self.trees), max(sum(len(b.own) for b in tree.branches) for tree in self.trees)
        tokens = torch.zeros(batch, width, dtype=torch.long)
        owner = torch.full((batch, width), -1)
        depth = torch.zeros(batch, width, dtype=torch.long)
        for row, tree in enumerate(self.trees):
            at = 0
            for question, branch in enumerate(tree.branches):
                stop = at + len(branch.own)
                tokens[row, at:stop] = torch.from_numpy(branch.own)
                owner[row, at:stop] = question
                depth[row, at:stop] = torch.arange(len(branch.own))
                at = stop
        tokens, owner, depth = (part.to(self.device) for part in (tokens, owner, depth))
        whose = owner.clamp(min=0)
        same = (owner[:, :, None] == owner[:, None, :]) & (owner[:, :, None] >= 0)
        own = same & (depth[:, None, :] <= depth[:, :, None])
        # A padded place sees the first position, so that its row of the mask is not empty; nothing sees it.
        trunk = self.sees.gather(1, whose[..., None].expand(-1, -1, self.sees.shape[2])) & (owner >= 0)[..., None]
        trunk[..., 0] = True
        positions = self.next.gather(1, whose) + depth
        hidden = self._extend(tokens, positions, torch.cat([trunk, own], dim=2))
        self.states = torch.cat([self.states, hidden], dim=1)
        self._go_on(owner, depth, positions, hidden)

    def _go_on(self, owner: torch.Tensor, depth: torch.Tensor, positions: torch.Tensor, hidden: torch.Tensor) -> None:
        """After the branches: each question goes on from the end of its own."""
        lengths = self._per_question(lambda branch: len(branch.own), 0)
        mine = owner[:, None, :] == torch.arange(self.questions, device=self.device)[None, :, None]
        self.sees = torch.cat([self.sees, mine], dim=2)
        last = (mine & (depth[:, None, :] == lengths[..., None] - 1)).long().argmax(2)
        has = lengths > 0
        found = hidden.gather(1, last[..., None].expand(-1, -1, hidden.shape[2]))
        self.last = torch.where(has[..., None], found, self.last)
        self.next = torch.where(has, positions.gather(1, last) + 1, self.next)

    def place(self, row: int, question: int, depth: int) -> int:
        """Where among `states` the token of a prompt stands, by its place in the prompt."""
        branches = self.trees[row].branches
        if depth < branches[question].shared:
            return depth
        before = sum(len(branch.own) for branch in branches[:question])
        return self.length + before + depth - branches[question].shared

    def logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """(.., vocabulary) from states, as the model's own head gives them, in float32."""
        found = self.model.get_output_embeddings()(hidden).float()
        cap = getattr(self.model.config.get_text_config(), "final_logit_softcapping", None)
        return torch.tanh(found / cap) * cap if cap else found

    def reply(self, stop: Stop) -> tuple[torch.Tensor, torch.Tensor]:
        """Greedy replies: (B, Q, steps) tokens, `pad` behind the end, and (B, Q) whether two tokens were exact ties."""
        ends = torch.tensor(stop.ends, device=self.device)
        banned = torch.tensor(stop.banned, device=self.device, dtype=torch.long)
        tied = torch.zeros(self.last.shape[:2], dtype=torch.bool, device=self.device)
        over = self._per_question(lambda branch: 0, 1).bool()
        said: list[torch.Tensor] = []
        while True:
            logits = self.logits(self.last)
            logits[..., banned] = float("-inf")
            top = logits.topk(2).values
            tied |= (top[..., 0] == top[..., 1]) & ~over
            token = logits.argmax(-1).masked_fill(over, stop.pad)
            said.append(token)
            over = over | torch.isin(token, ends)
            if len(said) == stop.longest or bool(over.all()):
                return torch.stack(said, dim=2), tied
            self._step(token)

    def _step(self, token: torch.Tensor) -> None:
        """One further token of every question."""
        one = torch.eye(self.questions, dtype=torch.bool, device=self.device).expand(len(self.trees), -1, -1)
        self.sees = torch.cat([self.sees, one], dim=2)
        sees = self.sees.clone()
        sees[..., 0] = True  # questions that a tree does not have see something, so that their rows are not empty
        self.last = self._extend(token, self.next, sees)
        self.next = self.next + 1
