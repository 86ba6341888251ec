"""The options of many questions side by side, as arrays, and how often each was right elsewhere."""

from __future__ import annotations

import dataclasses
from array import array

import numpy as np
import polars as pl
from numpy.typing import NDArray

from overread.priors.cells import FOLDS, Hashes, mix_all, token
from overread.priors.options import FEATURES, codes
from overread.priors.read import CONTEXT_COLUMNS

Numbers = NDArray[np.float64]
Places = NDArray[np.int64]
Flags = NDArray[np.bool_]

LEAST = 2
"""A text or a history counts from its second appearance on: single ones never come again and would fill the memory."""


@dataclasses.dataclass(frozen=True, slots=True)
class OptionRows:
    """One row an option; the rows of a question follow each other. Arrays of `questions` length end in `_q`."""

    template_q: Hashes
    contexts_q: tuple[Hashes, ...]
    fold_q: Places
    many_q: Flags
    start_q: Places
    of: Places
    """The question of each row."""
    token: Hashes
    features: dict[str, Hashes]
    right: Flags

    @property
    def size_q(self) -> Places:
        """How many options each question has."""
        return np.diff(self.start_q, append=len(self.of))

    def cells(self, level: int, codes: Hashes, context_q: Hashes | int = 0) -> Hashes:
        """What a row is counted under: its template, the level, a context, and a code of its own."""
        return mix_all(mix_all(mix_all(self.template_q, level), context_q)[self.of], codes)


def option_rows(frame: pl.DataFrame) -> OptionRows:
    """The rows of choice questions with at least one option, as `overread.priors.read` gives them."""
    tokens, right, sizes = array("Q"), array("b"), array("q")
    features = {name: array("Q") for name in FEATURES}
    for part in frame.select("options", "answer").iter_slices(50_000):
        for options, answer in part.iter_rows():
            sizes.append(len(options))
            tokens.extend(map(token, options))
            right.extend(option in answer for option in options)
            for name, into in features.items():
                into.extend(codes(options, name))
    size = np.array(sizes, dtype=np.int64)
    templates = frame["template"]
    names = templates.unique().to_list()
    hashed = templates.replace_strict(names, [token(n) for n in names], return_dtype=pl.UInt64)
    return OptionRows(
        template_q=hashed.to_numpy(),
        contexts_q=tuple(frame[name].to_numpy() for name in CONTEXT_COLUMNS),
        fold_q=frame["fold"].cast(pl.Int64).to_numpy(),
        many_q=frame["many"].to_numpy(),
        start_q=np.cumsum(size) - size,
        of=np.repeat(np.arange(len(size)), size),
        token=np.array(tokens, dtype=np.uint64),
        features={name: np.array(values, dtype=np.uint64) for name, values in features.items()},
        right=np.array(right, dtype=np.bool_),
    )


def elsewhere(cells: Hashes, right: Flags, fold: Places) -> tuple[Numbers, Numbers]:
    """For each row, how often its cell was offered, and how often right, in the folds of other patients."""
    _, code = np.unique(cells, return_inverse=True)
    slot = code * FOLDS + fold
    length = (int(code.max()) + 1) * FOLDS if len(code) else 0
    result: list[Numbers] = []
    for weights in (None, right.astype(np.float64)):
        by_fold = np.bincount(slot, weights=weights, minlength=length)
        result.append(by_fold.reshape(-1, FOLDS).sum(axis=1)[code] - by_fold[slot])
    return result[0], result[1]


def everywhere(cells: Hashes, right: Flags, least: int) -> dict[int, tuple[int, int]]:
    """For each cell that appears at least so often: how often it was offered and how often right."""
    unique, code = np.unique(cells, return_inverse=True)
    offered = np.bincount(code, minlength=len(unique))
    hits = np.bincount(code, weights=right.astype(np.float64), minlength=len(unique)).astype(np.int64)
    keep = offered >= least
    counts = zip(offered[keep].tolist(), hits[keep].tolist(), strict=True)
    return dict(zip(unique[keep].tolist(), counts, strict=True))


def accuracy(rows: OptionRows, probability: Numbers) -> Numbers:
    """The share of each question that its most probable answer gets right; ties are split."""
    if not len(rows.start_q):
        return np.zeros(0)
    best = np.maximum.reduceat(probability, rows.start_q)
    tied = probability >= best[rows.of] - 1e-12
    single = np.add.reduceat(tied & rows.right, rows.start_q, dtype=np.float64)
    single /= np.add.reduceat(tied, rows.start_q, dtype=np.float64)
    taken = np.where(best[rows.of] > 0.5, probability > 0.5, tied)
    many = np.logical_and.reduceat(taken == rows.right, rows.start_q)
    return np.where(rows.many_q, many.astype(np.float64), single)
