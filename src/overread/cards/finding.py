"""Finds cards by name or path, and makes of a card what its adapter is told."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from pathlib import Path

from overread.cards.card import Card, read_card
from overread.cards.environments import interpreter, read_environment
from overread.cards.places import CARDS, envs, staged
from overread.errors import BadInput
from overread.models.contract import Setting

_BY_PATH = re.compile(r"^(?P<path>.+\.toml)(?::(?P<variant>[^/\\:]+))?$")


@functools.cache
def cards() -> dict[str, Card]:
    """All cards of the package, by name."""
    return {path.stem: read_card(path) for path in sorted(CARDS.glob("*.toml"))}


def find_card(text: str) -> tuple[Card, str] | None:
    """The card of `NAME`, `NAME:variant` or the path of a .toml file, with the variant; None where it is no card's."""
    by_path = _BY_PATH.match(text)
    if by_path is not None:
        return read_card(Path(by_path["path"])), by_path["variant"] or ""
    name, _, variant = text.partition(":")
    if name not in {path.stem for path in CARDS.glob("*.toml")}:
        return None
    return cards()[name], variant


def setting_of(text: str, options: Mapping[str, str]) -> Setting | None:
    """What the adapter of a card is told, the user's own options first; None where the name is no card's."""
    found = find_card(text)
    if found is None:
        return None
    card = found[0].varied(found[1])
    if not card.adapter:
        raise BadInput(
            f"{card.title} cannot be asked: {_why(card)}",
            where=f"--model {text}",
            do="see `overread models` for others",
        )
    told = {key: value for key, value in card.options.items() if key not in options}
    filled = {key: _filled(value, card) for key, value in told.items()}
    name, _, variant = card.adapter.partition(":")
    return Setting(name, variant, {**{key: value for key, value in filled.items() if value}, **options})


def _why(card: Card) -> str:
    reasons = {"dataset only": "it is a dataset", "no public code": "there is no public code"}
    return reasons.get(card.kind, "nobody has written how; its card says what is known")


def _filled(value: str, card: Card) -> str:
    """An option with what stands in braces put in."""
    if "{weights}" in value:
        here = staged(card.weights)
        value = value.replace("{weights}", str(here) if (here / COMPLETE).exists() else card.weights)
    if "{python}" in value:
        value = value.replace("{python}", str(interpreter(card)))
    if "{sources}" in value:
        value = value.replace("{sources}", str(read_environment(card.environment).sources_at))
    return value.replace("{revision}", card.revision).replace("{environment}", str(envs() / card.environment))


COMPLETE = ".complete"
"""Stands in a folder of weights once all of it is there."""
