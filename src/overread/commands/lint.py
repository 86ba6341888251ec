"""What is wrong in the files of an exam, as a document and as a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.table import Table

from overread.archives import reasoning_lint
from overread.archives.reasoning_samples import Fault
from overread.errors import unknown_name
from overread.report.texts import cell, plain_table

FORMATS: dict[str, Callable[[Path], tuple[int, list[Fault]]]] = {"ecg_reasoning": reasoning_lint.lint}
"""For each format what gives the number of samples and their faults."""


def lint(format_: str, path: Path) -> dict[str, Any]:
    """How many samples were read, how many faults of each kind there are, and each with its place."""
    if format_ not in FORMATS:
        raise unknown_name("format of exam files", format_, FORMATS)
    samples, faults = FORMATS[format_](path)
    counts = Counter(fault.kind for fault in faults)
    return {
        "format": format_,
        "samples": samples,
        "left_out": sorted({fault.sample for fault in faults if fault.fatal}),
        "counts": dict(sorted(counts.items())),
        "faults": [
            {"kind": f.kind, "sample": f.sample, "step": f.step, "what": f.what, "fatal": f.fatal} for f in faults
        ],
    }


def as_table(document: dict[str, Any]) -> Table:
    """One line a fault."""
    title = f"{document['format']}: {document['samples']} samples, {len(document['faults'])} faults"
    table = plain_table(title, ("kind", "sample", "step", "what"))
    for fault in document["faults"]:
        table.add_row(*(cell(fault[name]) for name in ("kind", "sample", "step", "what")))
    return table
