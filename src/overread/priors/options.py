"""What can be read off a list of options without understanding it: place, length, and the numbers inside."""

from __future__ import annotations

import re
from collections.abc import Sequence

FEATURES = ("position", "length", "width", "middle")
"""Place of the option; rank by length of its text; rank by width of the range of numbers in it (`[1.20 s - 1.44 s]` is
0.24 wide); rank by the middle of that range."""

NO_NUMBER = 0xFFFFFF

# A minus only counts where it cannot be the dash of a range: "120-130" is two positive numbers.
_NUMBER = re.compile(r"(?<!\w)[-−]?\d+(?:\.\d+)?")


def codes(options: Sequence[str], feature: str) -> list[int]:
    """One small code an option; equal codes of different questions mean the same thing.

    A code holds the number of options, how many options are greater, and how many are equal (itself included), so that
    a tie for the longest is not mistaken for a second place.
    """
    if feature == "position":
        return [len(options) << 48 | i for i in range(len(options))]
    if feature == "length":
        return _ranks([len(text) for text in options])
    ends = [_ends(text) for text in options]
    if feature == "width":
        return _ranks([e and (round(e[1] - e[0], 6) if e[2] else None) for e in ends])
    if feature == "middle":
        return _ranks([e and round(e[0] + e[1], 6) for e in ends])
    raise ValueError(f"no feature of options is named {feature!r}")


def _ends(text: str) -> tuple[float, float, bool] | None:
    """Smallest and largest number in a text, and whether there are several."""
    found = [float(n.replace("−", "-")) for n in _NUMBER.findall(text)]
    return (min(found), max(found), len(found) > 1) if found else None


def _ranks(values: Sequence[float | None]) -> list[int]:
    greater: dict[float, int] = {}
    equal: dict[float, int] = {}
    for place, value in enumerate(sorted((v for v in values if v is not None), reverse=True)):
        greater.setdefault(value, place)
        equal[value] = equal.get(value, 0) + 1
    head = len(values) << 48
    return [head | (NO_NUMBER if v is None else greater[v] << 24 | equal[v]) for v in values]
