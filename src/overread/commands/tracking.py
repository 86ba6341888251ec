"""The tracking table: every named model, and the evidence that it has run."""

from __future__ import annotations

import dataclasses
from typing import Any

from overread.cards.card import Card
from overread.cards.environments import read_environment
from overread.cards.evidence import configuration_of, records
from overread.cards.finding import cards
from overread.catalog import Entry, entries
from overread.errors import OverreadError

NEVER = "written, never run"
LONGEST_NOTE = 110
HEADS = ("model", "kind", "code", "paper", "locked?", "sanity (phantom; real)", "where", "when", "notes")


@dataclasses.dataclass(frozen=True, slots=True)
class Row:
    """One model."""

    model: str
    title: str
    kind: str
    code: str
    paper: str
    locked: bool | None
    """Whether its environment is; None where it runs in overread's own."""
    phantom: bool
    real: bool
    where: str
    when: str
    notes: str


def rows() -> list[Row]:
    """The built-in solvers, then every card; floors and adapters that need to be told something have no row."""
    adapters = {card.adapter.partition(":")[0] for card in cards().values()}
    alone = [
        entry
        for name, entry in entries("models").items()
        if entry.constants.get("FORMS") and name not in adapters and "options" not in entry.card
    ]
    return [*map(_built_in, alone), *map(row_of, cards().values())]


def _built_in(entry: Entry) -> Row:
    found = _evidence(entry.name, configuration_of(entry.name, {}), "")
    return Row(entry.name, entry.title, "built in", "", "", None, *found)


def row_of(card: Card) -> Row:
    """The row of one card."""
    locked: bool | None = None
    lock = reason = ""
    if card.environment:
        try:
            environment = read_environment(card.environment)
        except OverreadError as error:
            locked, reason = False, error.what
        else:
            locked, lock = environment.lock is not None, environment.lock_hash
            reason = environment.unresolved
    found = _evidence(card.name, configuration_of(card.adapter, card.options), lock)
    notes = found[-1]
    if not card.adapter:
        notes = card.quirks[-1] if card.quirks else "published figures only"
    elif reason:
        notes = f"{notes}; no lock: {reason}"
    links = card.links
    return Row(
        card.name, card.title, card.kind, links.get("code", ""), links.get("paper", ""), locked, *found[:-1], notes
    )


def _evidence(name: str, configuration: str, lock: str) -> tuple[bool, bool, str, str, str]:
    """Passed on phantoms, passed on real data, where, when, and what there is to say."""
    passed = {"phantom": False, "real": False}
    where = when = ""
    notes = NEVER
    for kind, _, record in records(name):
        if record.configuration != configuration or record.lock not in (lock, ""):
            notes = notes if any(passed.values()) else f"checked {record.when}, and changed since"
            continue
        where, when = record.where, record.when
        passed[kind] = passed[kind] or not record.faults
        notes = "; ".join(record.faults)
    return passed["phantom"], passed["real"], where, when, notes


def documents() -> list[dict[str, Any]]:
    """The table as JSON, with all that the cards say."""
    told = {card.name: card for card in cards().values()}
    found = []
    for row in rows():
        document = dataclasses.asdict(row)
        if row.model in told:
            card = told[row.model]
            document |= {
                "weights": card.weights,
                "revision": card.revision,
                "adapter": card.adapter,
                "environment": card.environment,
                "licence": card.licence,
                "memory": card.memory,
                "media": list(card.media),
                "quirks": list(card.quirks),
                "options": dict(card.options),
                "input": dict(card.input),
                "links": dict(card.links),
                "variants": sorted(card.variants),
                "published": [dataclasses.asdict(figure) for figure in card.published],
            }
        found.append(document)
    return found


def cells(row: Row) -> list[str]:
    """A row as it stands in a terminal."""
    locked = {None: "own", True: "yes", False: "no"}[row.locked] if row.kind in RUNS else ""
    note = row.notes if len(row.notes) <= LONGEST_NOTE else f"{row.notes[: LONGEST_NOTE - 1]}\N{HORIZONTAL ELLIPSIS}"
    boxes = f"[{'x' if row.phantom else ' '}] [{'x' if row.real else ' '}]"
    return [row.model, row.kind, _short(row.code), _short(row.paper), locked, boxes, row.where, row.when, note]


RUNS = ("built in", "answerer", "contrastive", "slice-based")


def _short(link: str) -> str:
    return link.removeprefix("https://").removeprefix("www.").removeprefix("github.com/")
