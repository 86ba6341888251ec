"""Prompts that begin alike: what they share is a trunk, what each has of its own is a branch.

In a teacher-forced dialogue every prompt is the beginning of the next one, so the longest is the trunk and all others
end on it. Where prompts differ before their end (a condensed history, options that are asked and not shown), each
shares the trunk as far as it is equal and keeps the rest as a branch.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Sequence

import numpy as np
import numpy.typing as npt

from overread.errors import ModelFault

Ids = npt.NDArray[np.int64]


@dataclasses.dataclass(frozen=True, slots=True)
class Branch:
    """Where one prompt leaves the trunk."""

    prompt: int
    """Its number among the prompts."""
    shared: int
    """So many of its first tokens are the trunk's, at least one."""
    own: Ids
    """The tokens that follow; empty where the prompt ends on the trunk."""


@dataclasses.dataclass(frozen=True, slots=True)
class Tree:
    """Prompts that share a trunk."""

    trunk: Ids
    trunk_prompt: int
    """The prompt that the trunk is."""
    branches: tuple[Branch, ...]
    """One a prompt, the trunk's own included, in the order of the prompts."""


def grow(
    prompts: Sequence[Ids], media_tokens: frozenset[int], shows: Sequence[tuple[Hashable, ...]] | None = None
) -> list[Tree]:
    """Trees of prompts; `shows` are the media of each in order (left out: all show the same).

    A prompt whose own part shows media cannot hang on a trunk and is a tree of its own; nor can one whose media are not
    the trunk's first ones, though its tokens may be the same: tokens say that there is a picture, not which.
    """
    left = list(range(len(prompts)))
    trees = []
    while left:
        longest = max(left, key=lambda n: (len(prompts[n]), -n))
        trunk = prompts[longest]
        branches = []
        for n in left:
            if shows is not None and shows[longest][: len(shows[n])] != shows[n]:
                continue
            shared = _alike(prompts[n], trunk)
            own = prompts[n][shared:]
            if shared and (n == longest or media_tokens.isdisjoint(own.tolist())):
                branches.append(Branch(n, shared, own))
        trees.append(Tree(trunk, longest, tuple(branches)))
        taken = {branch.prompt for branch in branches}
        left = [n for n in left if n not in taken]
    return trees


def _alike(one: Ids, other: Ids) -> int:
    """How many first tokens two prompts share."""
    length = min(len(one), len(other))
    differing = np.flatnonzero(one[:length] != other[:length])
    return int(differing[0]) if len(differing) else length


def expansions(plain: Sequence[int], whole: Sequence[int], media_tokens: frozenset[int]) -> list[list[int]] | None:
    """What a processor made of each run of media tokens: `plain` are a text's own tokens, `whole` those with media.

    The text around media is tokenised alike in both, because media tokens are special ones. Nothing where the two do
    not fit together: some processors write further text beside media, such as the times of frames.
    """
    if media_tokens.isdisjoint(whole):
        raise ModelFault("the processor ignores its media: the prompt holds no media tokens")
    texts = _between(plain, media_tokens)
    found: list[list[int]] = []
    at = len(texts[0])
    if list(whole[:at]) != texts[0]:
        return None
    for n, text in enumerate(texts[1:], start=1):
        last = n == len(texts) - 1
        stop = len(whole) - len(text) if last else _next(whole, text, at + 1)
        if stop <= at or list(whole[stop : stop + len(text)]) != text:
            return None
        found.append(list(whole[at:stop]))
        at = stop + len(text)
    return None if any(media_tokens.isdisjoint(one) for one in found) else found


def expanded(plain: Sequence[int], found: Sequence[Sequence[int]], media_tokens: frozenset[int]) -> Ids:
    """The tokens of a text with its runs of media tokens replaced by what `expansions` found, in their order."""
    texts = _between(plain, media_tokens)
    if len(texts) != len(found) + 1:
        raise ModelFault(f"a prompt has {len(texts) - 1} places for media, and {len(found)} were processed")
    whole = list(texts[0])
    for medium, text in zip(found, texts[1:], strict=True):
        whole += [*medium, *text]
    return np.asarray(whole, dtype=np.int64)


def _between(plain: Sequence[int], media_tokens: frozenset[int]) -> list[list[int]]:
    """The stretches of text before, between and after runs of media tokens."""
    texts: list[list[int]] = [[]]
    inside = False
    for token in plain:
        if token not in media_tokens:
            texts[-1].append(token)
        elif not inside:
            texts.append([])
        inside = token in media_tokens
    return texts


def _next(whole: Sequence[int], text: Sequence[int], start: int) -> int:
    """Where a text stands next."""
    for at in range(start, len(whole) - len(text) + 1):
        if list(whole[at : at + len(text)]) == list(text):
            return at
    return -1
