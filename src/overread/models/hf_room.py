"""The keys and values of a batch of dialogues, in memory that is taken once.

The cache of transformers grows by copying all of it at every step; this one knows beforehand how much will come.
"""

from __future__ import annotations

from typing import Any

import torch
from transformers.cache_utils import Cache, DynamicLayer


class RoomLayer(DynamicLayer):
    """One layer's keys and values, (batch, heads, room, width); what is filled is handed out as a view."""

    def __init__(self, room: int) -> None:
        super().__init__()
        self.room, self.filled = room, 0

    def lazy_initialization(self, key_states: torch.Tensor, value_states: torch.Tensor) -> None:
        """Takes the memory, shaped by the first states."""
        self.dtype, self.device = key_states.dtype, key_states.device
        self.keys, self.values = (
            states.new_empty((*states.shape[:2], self.room, states.shape[3])) for states in (key_states, value_states)
        )
        self.is_initialized = True

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Adds states and returns all that there are."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        stop = self.filled + key_states.shape[2]
        self.keys[:, :, self.filled : stop] = key_states
        self.values[:, :, self.filled : stop] = value_states
        self.filled = stop
        return self.keys[:, :, :stop], self.values[:, :, :stop]

    def get_seq_length(self) -> int:
        """How many positions are filled."""
        return self.filled


def room_for(model: Any, positions: int) -> Cache:
    """An empty cache of a model's text part for so many positions."""
    layers = model.config.get_text_config().num_hidden_layers
    return Cache(layers=[RoomLayer(positions) for _ in range(layers)])
