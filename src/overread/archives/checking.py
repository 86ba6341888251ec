"""What of an archive lies on this machine, for `overread data`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.table import Table

from overread.archives.contract import Check, check
from overread.catalog import entries, load
from overread.errors import BadInput, unknown_name
from overread.report.texts import plain_table
from overread.roots import SETTINGS_FILE, Roots, variable_of


def _archive(alias: str) -> Any:
    archives = {module.ALIAS: module for module in map(_load, entries("archives"))}
    if alias not in archives:
        raise unknown_name("archive with the alias", alias, archives)
    return archives[alias]


def _load(name: str) -> Any:
    return load("archives", name)


def check_alias(alias: str, roots: Roots) -> Check:
    """Looks for the files of the archive behind an alias; an alias that is not set has none of them."""
    archive = _archive(alias)
    return check(archive, roots.root(alias) if roots.knows(alias) else None)


def how_to_get(alias: str) -> str:
    """Where to ask for an archive, under which terms, and how to use it then."""
    archive = _archive(alias)
    return f"{alias} ({archive.TERMS}): {archive.ACCESS}\nthen use it with --data {alias}=PATH"


def fetch(alias: str, out: Path) -> Path:
    """Gets an archive over the network into a folder."""
    archive = _archive(alias)
    if not hasattr(archive, "fetch"):
        raise BadInput(f"{alias} cannot be fetched from here", where="--out", do=how_to_get(alias))
    fetched: Path = archive.fetch(out)
    return fetched


def how_to_set(alias: str) -> str:
    """The ways to say where the data of an alias lie."""
    return (
        f"The alias {alias} is not set. Say where its data lie by --data {alias}=PATH, by the environment variable "
        f'{variable_of(alias)}, or in {SETTINGS_FILE}, below [data], as {alias} = "PATH".'
    )


def as_document(found: Check) -> dict[str, Any]:
    """A check as plain data."""
    return {
        "alias": found.alias,
        "root": None if found.root is None else str(found.root),
        "expected": found.expected,
        "found": found.found,
        "missing": list(found.missing),
        "terms": found.terms,
        "access": found.access,
    }


def as_table(found: Check) -> Table:
    """A check as a table for the terminal."""
    place = "is not set" if found.root is None else f"at {found.root}"
    title = f"{found.alias} {place}; terms: {found.terms}; access: {found.access}"
    rows = (
        [pattern, what, str(found.found[pattern]) if found.found[pattern] else "missing"]
        for pattern, what in found.expected.items()
    )
    return plain_table(title, ("files", "what they are", "found"), rows)


def overview(roots: Roots) -> Table:
    """All archives, and where their data lie."""
    rows = []
    for name, entry in entries("archives").items():
        archive = _load(name)
        where = (
            str(roots.root(archive.ALIAS)) if roots.knows(archive.ALIAS) else f"not set: --data {archive.ALIAS}=PATH"
        )
        rows.append([archive.ALIAS, entry.title, archive.TERMS, where])
    return plain_table("archives", ("alias", "what it is", "terms", "where"), rows)
