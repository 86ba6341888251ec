"""The keys and values of a batch of dialogues, in memory that is taken once.

The cache of transformers grows by copying all of it at every step; this one knows beforehand how much will come. It
is filled in two ways: some rows at a time, place after place, while media and scripts are run; and then all rows at
once at places that a tensor names, so that a step always has the same shapes and addresses and can be recorded.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import torch
from transformers.cache_utils import Cache, DynamicLayer

ALIGNED = 64
"""Places are taken in such numbers: attention under a mask copies it where its rows do not end on 16 bytes."""


def aligned(places: int) -> int:
    """So many places, rounded up."""
    return -(-places // ALIGNED) * ALIGNED


@dataclasses.dataclass(slots=True)
class Stand:
    """Where all layers write next, and what they hand out."""

    batch: int
    places: int
    rows: slice = dataclasses.field(default_factory=lambda: slice(None))
    start: int = 0
    upto: int = 0
    """Places that are handed out, from the first."""
    where: torch.Tensor | None = None
    """(M,) places of the M next tokens of every row; all places are handed out then."""


class RoomLayer(DynamicLayer):
    """One layer's keys and values, (batch, heads, places, width)."""

    def __init__(self, stand: Stand) -> None:
        super().__init__()
        self.stand = stand

    def lazy_initialization(self, key_states: torch.Tensor, value_states: torch.Tensor) -> None:
        """Takes the memory, shaped by the first states; zeros, because what is masked is still multiplied by zero."""
        self.dtype, self.device = key_states.dtype, key_states.device
        self.keys, self.values = (
            states.new_zeros((self.stand.batch, states.shape[1], self.stand.places, states.shape[3]))
            for states in (key_states, value_states)
        )
        self.is_initialized = True

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Puts states where they belong and returns those that may be seen."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        stand = self.stand
        if stand.where is not None:
            where = stand.where.to(self.keys.device)
            self.keys.index_copy_(2, where, key_states)
            self.values.index_copy_(2, where, value_states)
            return self.keys, self.values
        stop = stand.start + key_states.shape[2]
        self.keys[stand.rows, :, stand.start : stop] = key_states
        self.values[stand.rows, :, stand.start : stop] = value_states
        if stand.start == 0:
            return key_states, value_states
        return self.keys[stand.rows, :, : stand.upto], self.values[stand.rows, :, : stand.upto]

    def get_seq_length(self) -> int:
        """How many places are filled before what comes."""
        return self.stand.start


class Room(Cache):
    """An empty cache of a model's text part for so many rows and places."""

    def __init__(self, model: Any, batch: int, places: int) -> None:
        self.stand = Stand(batch, aligned(places))
        layers = model.config.get_text_config().num_hidden_layers
        super().__init__(layers=[RoomLayer(self.stand) for _ in range(layers)])

    def fill(self, rows: slice, start: int, upto: int = 0) -> None:
        """What comes next belongs to these rows and begins at this place."""
        self.stand.rows, self.stand.start, self.stand.upto, self.stand.where = rows, start, upto, None

    def step(self, where: torch.Tensor) -> None:
        """What comes next belongs to all rows, at these places."""
        self.stand.where = where
