"""Messages out of a stream of bytes: one JSON object a line, of bounded length."""

from __future__ import annotations

import json
from typing import Any

from overread.errors import ModelFault
from overread.worker import MAX_LINE


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def parse_line(line: bytes) -> dict[str, Any]:
    """One line as a message; anything else than a JSON object with a `type` is a fault of the worker."""
    try:
        message = json.loads(line, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ModelFault("sent a line that is no JSON") from error
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise ModelFault("sent a line that is no message")
    return message


class Lines:
    """Collects bytes as they come and gives the messages that are complete."""

    def __init__(self, longest: int = MAX_LINE) -> None:
        self._longest = longest
        self._parts: list[bytes] = []
        self._held = 0

    def feed(self, data: bytes) -> list[dict[str, Any]]:
        """The messages that `data` completes; a line longer than `longest` bytes is a fault of the worker."""
        messages = []
        *whole, rest = data.split(b"\n")
        for part in whole:
            messages.append(parse_line(self._take(part)))
        self._hold(rest)
        return messages

    def _hold(self, part: bytes) -> None:
        if part:
            self._parts.append(part)
            self._held += len(part)
        if self._held > self._longest:
            raise ModelFault(f"sent a line longer than {self._longest} bytes")

    def _take(self, part: bytes) -> bytes:
        self._hold(part)
        line = b"".join(self._parts)
        self._parts.clear()
        self._held = 0
        return line
