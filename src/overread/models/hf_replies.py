"""All questions of a batch write their replies together, one token each a step.

Nothing in a step depends on what Python knows: counts, places and masks are tensors that the step itself moves on, at
addresses that stay. On an accelerator the step is recorded once and then played back, so that its many small kernels
follow each other without Python between them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import torch

from overread.models.hf_attention import additive, folded, groups_of
from overread.models.hf_draws import Draw, drawn
from overread.models.hf_shared import Pass

LOOK_EVERY = 8
"""After so many steps it is looked whether all replies are over; each look waits for the accelerator."""

RECORD_FROM = 6
"""Recording a step takes about as long as two; fewer steps than this are not worth it."""


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


@dataclasses.dataclass(frozen=True, slots=True)
class Said:
    """What came of it."""

    tokens: torch.Tensor
    """(B, Q, steps), `pad` behind the end of each reply."""
    ties: torch.Tensor
    """(B, Q): so many tokens were the first of several that were exactly as likely."""
    recorded: str
    """`yes`, or why the steps were not recorded."""


class Replies:
    """The replies of one pass, while they are being written. Shapes as in `Pass`."""

    def __init__(self, going: Pass, stop: Stop, draw: Draw | None = None, numbers: torch.Tensor | None = None) -> None:
        """Greedy; with `draw` tokens are drawn, by uniform `numbers` (B, Q, longest) in [0, 1)."""
        self.going, self.stop, self.draw = going, stop, draw
        device = going.device
        batch, questions = going.next.shape
        self.groups = groups_of(going.model)
        self.ends = torch.tensor(stop.ends, device=device, dtype=torch.long)
        self.banned = torch.tensor(stop.banned, device=device, dtype=torch.long)
        numbers = torch.zeros(batch, questions, stop.longest) if numbers is None else numbers
        self.numbers = numbers.permute(2, 0, 1).contiguous().to(device)
        self.over = ~going.there
        self.ties = torch.zeros(batch, questions, dtype=torch.long, device=device)
        self.said = torch.full((stop.longest, batch, questions), stop.pad, device=device)
        self.count = torch.zeros(1, dtype=torch.long, device=device)
        self.token = torch.zeros(batch, questions, dtype=torch.long, device=device)
        self.position = going.next.clone()
        self.where = going.filled + torch.arange(questions, device=device)
        sees = going.sees.clone()
        sees[..., 0] = True  # questions that a tree does not have see something, so that their rows are not empty
        self.mask = folded(additive(sees, going.last.dtype), self.groups)

    def write(self, *, record: bool = True) -> Said:
        """Writes all replies to their ends."""
        self._decide(self.going.last)
        left = self.stop.longest - 1
        recorded = "no: there is no accelerator"
        step: Callable[[], None] = self._step
        if left >= RECORD_FROM and record and self.going.device.type == "cuda":
            self._step()
            left -= 1
            step, recorded = _recorded(self._step)
        elif self.going.device.type == "cuda":
            recorded = "no: too few steps" if record else "no: not wanted"
        while left and not bool(self.over.all()):
            for _ in range(min(LOOK_EVERY, left)):
                step()
                left -= 1
        steps = int(self.count)
        return Said(self.said[:steps].permute(1, 2, 0), self.ties, recorded)

    def _step(self) -> None:
        """One further token of every question."""
        batch, questions = self.token.shape
        mask = self.mask.view(batch, self.groups, questions, -1)
        mask.scatter_(3, self.where[None, None, :, None].expand(batch, self.groups, -1, 1), 0.0)
        self.going.room.step(self.where)
        hidden = self.going.further(self.token, self.position, self.mask)
        self.where += questions
        self.position += 1
        self._decide(hidden)

    def _decide(self, hidden: torch.Tensor) -> None:
        """The next token of every question, from the state that it follows."""
        logits = self.going.logits(hidden)
        if len(self.banned):
            logits = logits.index_fill(-1, self.banned, float("-inf"))
        if self.draw is None:
            token = logits.argmax(-1)
            top = logits.gather(-1, token[..., None])
            tied = (logits == top).sum(-1) > 1
            self.ties += (tied & ~self.over).long()
        else:
            token = drawn(logits, self.draw, self.numbers.index_select(0, self.count)[0])
        token = token.masked_fill(self.over, self.stop.pad)
        self.said.index_copy_(0, self.count, token[None])
        self.over |= (token[..., None] == self.ends).any(-1)
        self.count += 1
        self.token.copy_(token)


def _recorded(step: Callable[[], None]) -> tuple[Callable[[], None], str]:
    """The step, recorded to be played back; or itself, and why it could not be recorded."""
    graph = torch.cuda.CUDAGraph()
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    try:
        with torch.cuda.stream(stream):
            graph.capture_begin(capture_error_mode="thread_local")
            try:
                step()
            finally:
                graph.capture_end()
    except torch.OutOfMemoryError:
        raise
    except RuntimeError as error:
        return step, f"no: {str(error).splitlines()[0]}"
    torch.cuda.current_stream().wait_stream(stream)
    return graph.replay, "yes"
