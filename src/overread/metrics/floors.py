"""Which rows are floors: what a model scores without looking.

Floors of a model, in one protocol, judge and slice: the models `chance` and `prior` (any variant) as they are under
`plain`, and the model itself under each of the blind conditions.
"""

from __future__ import annotations

import re
from collections.abc import Container

import polars as pl

from overread.media.conditions import BLIND
from overread.metrics.sums import Group

PLAIN = "plain"
FLOOR_MODELS: tuple[str, ...] = ("chance", "prior")
NO_HEADLINE: tuple[str, ...] = (*FLOOR_MODELS, "oracle")
"""Models that get no lift: they are floors, or read the key."""


_FAMILY = re.compile(r"[:\[~]")


def family(model: str) -> str:
    """A model's name without variant, settings and identity (`prior:chain[x=1]~3f2a10`)."""
    return _FAMILY.split(model, maxsplit=1)[0]


def never_looks() -> pl.Expr:
    """Marks of the models that are floors to every other one."""
    return pl.col("model").str.extract(r"^([^:\[~]*)").is_in(FLOOR_MODELS)


def is_floor() -> pl.Expr:
    """Marks that are a floor to some model."""
    return pl.col("condition").is_in(BLIND) | ((pl.col("condition") == PLAIN) & never_looks())


def is_absent() -> pl.Expr:
    """Marks without a usable reply: never asked, not judged yet, or failed."""
    return pl.col("status").is_in(["missing", "failed"])


def floors_of(group: Group, groups: Container[Group], floor_models: list[str]) -> dict[str, Group]:
    """The floors of one plain group by name, of those that exist."""
    named = {model: group._replace(model=model) for model in floor_models}
    named |= {condition: group._replace(condition=condition) for condition in BLIND}
    return {name: floor for name, floor in named.items() if floor in groups}
