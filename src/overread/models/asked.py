"""Reads the question and its options back from the text of a turn, by the words that framed it."""

from __future__ import annotations

import functools
import re

from overread.exam.framing import Framing, load_framings

_FRAMES = ("choice", "choice_many")


class Asked:
    """One framing, read backwards."""

    def __init__(self, framing: Framing) -> None:
        words = framing.words
        self._option = re.compile(_pattern(words["option"], "option"))
        self._frames = [re.compile(_pattern(words[name], "question", "options"), re.DOTALL) for name in _FRAMES]

    def read(self, text: str) -> tuple[str, list[str]] | None:
        """Question and options; None where the text was framed otherwise."""
        for frame in self._frames:
            match = frame.fullmatch(text)
            if match is None:
                continue
            lines = [self._option.fullmatch(line) for line in match["options"].split("\n")]
            if all(lines):
                return match["question"], [line["option"] for line in lines if line]
        return None


def _pattern(words: str, *names: str) -> str:
    pattern = re.escape(words)
    for name in names:
        pattern = pattern.replace(re.escape(f"{{{name}}}"), f"(?P<{name}>.+)", 1)
    return pattern


@functools.cache
def _framings() -> tuple[Asked, ...]:
    return tuple(Asked(framing) for framing in load_framings().values())


def read_asked(text: str) -> tuple[str, list[str]] | None:
    """Question and options of a turn that overread's own words framed; None for any other."""
    return next((found for asked in _framings() if (found := asked.read(text)) is not None), None)
