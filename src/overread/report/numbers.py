"""How values with intervals are written: shares as per cent, everything else with two decimals or so."""

from __future__ import annotations

import math

MINUS = "\N{MINUS SIGN}"
DASH = "\N{EN DASH}"


def number(value: float, *, share: bool = False, signed: bool = False, like: float | None = None) -> str:
    """One value; a share in per cent, without its sign for per cent. `like` is the value whose decimals it takes."""
    scaled = value * 100 if share else value
    text = f"{abs(scaled):.{_decimals(value if like is None else like, share)}f}"
    if not float(text):
        return text
    return (MINUS if scaled < 0 else "+" if signed else "") + text


def span(low: float | None, high: float | None, value: float, *, share: bool = False, signed: bool = False) -> str:
    """The interval of a value in brackets; empty where there is none."""
    if low is None or high is None:
        return ""
    ends = (number(end, share=share, signed=signed, like=value) for end in (low, high))
    return f"[{', '.join(ends)}]"


def with_interval(
    value: float | None, low: float | None, high: float | None, *, share: bool = False, signed: bool = False
) -> str:
    """The value with its interval: `0.62 [0.55, 0.69]`, or as a share `62.0 % [55.0, 69.0]`."""
    if value is None:
        return DASH
    text = number(value, share=share, signed=signed) + (" %" if share else "")
    return f"{text} {span(low, high, value, share=share, signed=signed)}".strip()


def percent(share: float) -> str:
    """A share in whole per cent; 100 % and 0 % are said only of all and none."""
    if 0.995 <= share < 1:
        return "> 99 %"
    return "< 1 %" if 0 < share < 0.005 else f"{share * 100:.0f} %"


def count(number_of: int) -> str:
    """A whole number, its thousands set apart by a thin space."""
    return f"{number_of:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")


def _decimals(value: float, share: bool) -> int:
    """Few enough to be read, and the same for most values of a column, so that they stand below each other."""
    if share:
        return 1
    size = math.floor(math.log10(abs(value))) if value else 0
    return 1 if size >= 2 else 2 if size >= -1 else min(4, 1 - size)
