"""Evidence that a model has run: what `overread models check` found, and whether it still holds.

A record lies in `envs/MODEL/status.json` of the repository, or in the user's own cache. Nothing in it says "passed":
that is worked out from its counts whenever it is read, and counts only while the model's configuration, and the lock of
its environment, are what they were.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from overread.cards.places import cache, envs
from overread.errors import BadInput
from overread.tables import canonical, content_id

STATUS = "status.json"
SCHEMA = 1
KINDS = ("phantom", "real")
CONDITIONS = ("plain", "blank", "swap")
PLACES = ("python", "device", "batch")
"""Options that say where a model runs and not what it is."""


@dataclasses.dataclass(frozen=True, slots=True)
class Tally:
    """What became of the questions about one medium under one condition."""

    asked: int
    answered: int
    refused: int
    failed: int
    inputs: int
    """Different inputs that reached the model."""


@dataclasses.dataclass(frozen=True, slots=True)
class Record:
    """What one check found."""

    model: str
    configuration: str
    """Hash of adapter and options."""
    lock: str
    when: str
    where: str
    seconds: Mapping[str, float]
    media: Mapping[str, Mapping[str, Tally]]
    """By medium and condition."""
    told: Mapping[str, Any]
    """The whole record, as it was written."""

    @property
    def faults(self) -> tuple[str, ...]:
        """Why the check does not count as passed; empty where it does."""
        found = [] if self.media else ["no medium was shown"]
        for medium, conditions in self.media.items():
            plain = conditions.get("plain")
            if plain is None or not plain.asked:
                found.append(f"{medium}: nothing was asked")
                continue
            if plain.answered < plain.asked:
                found.append(f"{medium}: {plain.answered} of {plain.asked} questions were answered")
            if plain.inputs < 2:
                found.append(f"{medium}: the studies did not reach it as different inputs")
            for name in CONDITIONS[1:]:
                blind = conditions.get(name)
                if blind is None or not blind.asked:
                    found.append(f"{medium}: not asked under {name}")
                elif blind.failed:
                    found.append(f"{medium}: {blind.failed} of {blind.asked} questions failed under {name}")
        return tuple(found)


def configuration_of(adapter: str, options: Mapping[str, str]) -> str:
    """The hash by which a record knows what it was about: options as a card has them, before places are filled in."""
    told = {name: value for name, value in options.items() if name not in PLACES}
    return content_id(canonical({"adapter": adapter, "options": told}))


def read_status(path: Path) -> dict[str, Record]:
    """The records of one file, by kind of data."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if document["schema"] != SCHEMA:
            raise ValueError(f"its schema is {document['schema']}, not {SCHEMA}")
        return {kind: _record(document[kind]) for kind in KINDS if kind in document}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        what = f"the record of a check cannot be read: {type(error).__name__}: {error}"
        raise BadInput(what, where=str(path), do="delete it, and check the model again") from error


def _record(told: Mapping[str, Any]) -> Record:
    media = {
        medium: {name: Tally(**counts) for name, counts in conditions.items()}
        for medium, conditions in told["media"].items()
    }
    return Record(
        told["model"],
        told["configuration"],
        told["lock"],
        told["when"],
        told["where"],
        told["seconds"],
        media,
        told,
    )


def records(name: str) -> Iterator[tuple[str, Path, Record]]:
    """The records of a model: kind of data, file, record; those of the repository first."""
    for folder in (envs(), cache() / "envs"):
        path = folder / name / STATUS
        if path.is_file():
            yield from ((kind, path, record) for kind, record in read_status(path).items())
