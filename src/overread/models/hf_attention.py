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
    """As transformers' own, save that under a mask of `folded` the query heads (batch, heads, queries, width) fold."""
    batch, heads, queries, width = query.shape
    groups = heads // key.shape[1]
    if attention_mask is None or groups == 1 or attention_mask.shape[2] != groups * queries:
        told: tuple[torch.Tensor, None] = sdpa_attention_forward(module, query, key, value, attention_mask, **kwargs)
        return told
    found = torch.nn.functional.scaled_dot_product_attention(
        query.reshape(batch, key.shape[1], groups * queries, width),
        key,
        value,
        attn_mask=attention_mask,
        scale=kwargs.get("scaling"),
    )
    return found.reshape(batch, heads, queries, value.shape[3]).transpose(1, 2).contiguous(), None


def groups_of(model: Any) -> int:
    """How many query heads share one head of keys."""
    text = model.config.get_text_config()
    return int(text.num_attention_heads // (getattr(text, "num_key_value_heads", None) or text.num_attention_heads))


def additive(sees: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """(B, M, K) of what sees what -> (B, 1, M, K) to be added to the scores of attention."""
    mask = torch.zeros(sees.shape, dtype=dtype, device=sees.device)
    return mask.masked_fill_(~sees, float("-inf"))[:, None]


def folded(mask: torch.Tensor, groups: int) -> torch.Tensor:
    """(B, 1, M, K) -> (B, 1, groups * M, K): the mask of query heads that stand behind each other."""
    return mask.repeat(1, 1, groups, 1)


def register() -> str:
    """Makes the attention known to transformers; returns its name."""
    AttentionInterface.register(NAME, attention)
    AttentionMaskInterface.register(NAME, sdpa_mask)
    return NAME
