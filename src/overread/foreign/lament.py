"""What a worker wrote to stderr, as far as it may be told: patient text must reach neither a log nor an error."""

from __future__ import annotations

from collections.abc import Iterable

KEPT_BYTES = 64 * 1024
LINES = 20
CHARACTERS = 500
SHORTEST_WITHHELD = 6
"""Shorter lines of a prompt tell nothing, and would blot out half of a traceback."""
WITHHELD = "[withheld]"


class Lament:
    """The end of a worker's stderr since the last `clear`."""

    def __init__(self) -> None:
        self._data = b""
        self._cut = False

    def add(self, data: bytes) -> None:
        """More of stderr."""
        joined = self._data + data
        self._cut = self._cut or len(joined) > KEPT_BYTES
        self._data = joined[-KEPT_BYTES:]

    def clear(self) -> None:
        """Forgets what was said up to now."""
        self._data = b""
        self._cut = False

    def told(self, texts: Iterable[str] = ()) -> str:
        """The last lines, without the lines of these texts."""
        text = self._data.decode("utf-8", "replace")
        if self._cut:
            text = text.partition("\n")[2]
        return tell(text, texts)


def tell(text: str, texts: Iterable[str] = ()) -> str:
    """The last 20 lines of `text`, cut to their last 500 characters, with every line of `texts` withheld."""
    lines = {line.strip() for sent in texts for line in sent.splitlines()}
    for line in sorted((line for line in lines if len(line) >= SHORTEST_WITHHELD), key=len, reverse=True):
        text = text.replace(line, WITHHELD)
    printable = "".join(c if c.isprintable() or c in "\n\t" else "?" for c in text)
    return "\n".join(printable.strip().splitlines()[-LINES:])[-CHARACTERS:]
