"""Brings weights to where nodes without a network can read them."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from overread.cards.card import Card
from overread.cards.finding import COMPLETE
from overread.cards.places import staged
from overread.errors import BadInput


def stage(card: Card) -> Path | None:
    """The folder with a card's weights, fetched from the hub where they are not there yet; None where it names none.

    A card whose weights are a local folder is taken as it is.
    """
    if not card.weights:
        return None
    local = Path(card.weights).expanduser()
    if local.is_dir():
        return local
    place = staged(card.weights)
    if (place / COMPLETE).exists():
        return place
    _fetch(card, place)
    (place / COMPLETE).touch()
    return place


def command_of(card: Card, place: Path) -> str:
    """The command that fetches a card's weights by hand."""
    revision = f" --revision {card.revision}" if card.revision else ""
    return f"hf download {card.weights}{revision} --local-dir {place} && touch {place / COMPLETE}"


def _fetch(card: Card, place: Path) -> None:
    try:
        hub: Any = importlib.import_module("huggingface_hub")
    except ImportError as error:
        raise _unreachable(card, place, "huggingface_hub is not installed") from error
    try:
        hub.snapshot_download(card.weights, revision=card.revision or None, local_dir=str(place))
    except Exception as error:  # whatever a network can do: what matters is what to do about it
        raise _unreachable(card, place, _first(error)) from error


def _unreachable(card: Card, place: Path, reason: str) -> BadInput:
    return BadInput(
        f"the weights of {card.name} are not on this machine and cannot be fetched: {reason}",
        where=card.weights,
        do=f"on a machine with a network: {command_of(card, place)}\n"
        "         and bring that folder here; or name a folder that has them in brackets, or with --weights",
    )


def _first(error: Exception) -> str:
    """The first line of what an error says."""
    return f"{type(error).__name__}: {(str(error).strip() or 'no reason given').splitlines()[0][:200]}"
