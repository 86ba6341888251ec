"""Attention of many short continuations over one shared history, under a mask of their own.

Of a model whose query heads share keys, transformers repeats keys and values once a query head where there is a mask.
Here the query heads of a group stand behind each other as further queries instead, and nothing is copied.
"""

from __future__ import annotations

from typing import Any

import torch
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

NAME = "overread_shared"


def attention(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    **kwargs: Any,
) -> tuple[torch.Tensor, None]:
    """As transformers' own; with a mask over shared keys, `query` (batch, heads, queries, width) is folded."""
    batch, heads, queries, width = query.shape
    groups = heads // key.shape[1]
    if attention_mask is None or groups == 1 or attention_mask.shape[1] != 1:
        told: tuple[torch.Tensor, None] = sdpa_attention_forward(module, query, key, value, attention_mask, **kwargs)
        return told
    folded = query.reshape(batch, key.shape[1], groups * queries, width)
    mask = attention_mask.expand(batch, 1, queries, key.shape[2]).repeat(1, 1, groups, 1)
    found = torch.nn.functional.scaled_dot_product_attention(
        folded, key, value, attn_mask=mask, scale=kwargs.get("scaling")
    )
    return found.reshape(batch, heads, queries, value.shape[3]).transpose(1, 2).contiguous(), None


def register() -> str:
    """Makes the attention known to transformers; returns its name."""
    AttentionInterface.register(NAME, attention)
    AttentionMaskInterface.register(NAME, sdpa_mask)
    return NAME
