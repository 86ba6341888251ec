"""Which forms of results overread reads and writes beside its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from rich.table import Table

from overread.commands.export import FORMATS, export_run
from overread.compat import reasoning_export, reasoning_import
from overread.errors import unknown_name
from overread.report.texts import cell, plain_table
from overread.runs.folder import Run

IMPORTS: dict[str, Callable[[Path, str, Mapping[str, str], str], reasoning_import.Brought]] = {
    "ecg_reasoning": reasoning_import.import_results
}
EXPORTS: dict[str, Callable[[Run, Path], Iterator[Path]]] = {"ecg_reasoning": reasoning_export.export_results}
ALL_EXPORTS = (*FORMATS, *EXPORTS)


def bring(format_: str, path: Path, out: str, settings: Mapping[str, str], code: str) -> reasoning_import.Brought:
    """Results made elsewhere -> a run."""
    if format_ not in IMPORTS:
        raise unknown_name("import format", format_, IMPORTS)
    return IMPORTS[format_](path, out, settings, code)


def take(run: Run, format_: str, out: Path) -> Iterator[Path]:
    """A run -> files of another form; yields their paths."""
    if format_ in EXPORTS:
        return EXPORTS[format_](run, out)
    if format_ not in FORMATS:
        raise unknown_name("export format", format_, ALL_EXPORTS, where="--format")
    return export_run(run, format_, out)


def again_table(document: Mapping[str, Any]) -> Table:
    """Which results of an import are to be made again, counted."""
    table = plain_table("results to be made again", ("model", "how", "results", "why"))
    groups: dict[tuple[str, ...], int] = {}
    for one in document["again"]:
        key = tuple(str(one[name]) for name in ("model", "how", "why"))
        groups[key] = groups.get(key, 0) + 1
    for (model, how, why), count in sorted(groups.items()):
        table.add_row(*map(cell, (model, how, str(count), why)))
    return table
