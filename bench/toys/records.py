"""A made-up archive of records that all show one picture

terms: open
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from overread.tables import Case, Json, Media

ALIAS = "records"
TERMS = "open"
ACCESS = "bench/harness.py makes it"
EXPECTED = (("record.png", "the picture"), ("count.txt", "how many records there are"))


def cases(root: Path) -> Iterator[Case]:
    """As many records as count.txt says."""
    picture = Media("record", "image", "records://record.png")
    for n in range(int((root / "count.txt").read_text(encoding="ascii"))):
        yield Case(f"records/{n}", "records", f"records/p{n}", (picture,), Json(geometry="record"), "open")
