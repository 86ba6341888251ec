"""Text that others wrote, made fit to be shown: nothing invisible, nothing that turns a line round, nothing endless.

On the page `clean` is enough, as templates escape. In a terminal brackets are markup to the library that draws tables,
and control characters speak to the terminal itself: tables are made by `plain_table`, JSON by `json_text`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

LIMIT = 4_000
"""Characters of a text on the page, unless a shorter limit is given."""

_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    "\U000e0000-\U000e0fff]"
)
"""Control and format characters (right-to-left marks among them), halves of surrogate pairs, tags."""

_ACCENT = "[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]"
_HEAP = re.compile(f"({_ACCENT}{{3}}){_ACCENT}+")
"""Accents heaped on one letter would reach over the lines above."""


def clean(text: str, limit: int = LIMIT) -> str:
    """The text with invisible characters named, such as <U+202E>, and cut after `limit` characters, which it says."""
    whole = len(text)
    shown = text[:limit].replace("\r\n", "\n")
    shown = _INVISIBLE.sub(lambda found: f"<U+{ord(found[0]):04X}>", shown)
    shown = _HEAP.sub(r"\1", shown)
    return shown if whole <= limit else f"{shown} \N{HORIZONTAL ELLIPSIS} (the first {limit:,} of {whole:,} characters)"


def cell(text: str) -> Text:
    """A text as it stands in a table of the terminal: nothing in it is markup, nothing reaches the terminal."""
    return Text(clean(text))


def plain_table(title: str, heads: Sequence[str], rows: Iterable[Sequence[str]] = ()) -> Table:
    """A table for the terminal, whatever its texts say."""
    table = Table(title=cell(title), title_justify="left")
    for head in heads:
        table.add_column(cell(head))
    for row in rows:
        table.add_row(*map(cell, row))
    return table


def json_text(document: Any) -> str:
    """A document as JSON, all letters readable, and what is invisible escaped."""
    text = json.dumps(document, indent=2, ensure_ascii=False, default=str)
    return _INVISIBLE.sub(lambda found: json.dumps(found[0])[1:-1], text)
