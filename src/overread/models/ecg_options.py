"""Which of the options of a question a measured value, a set of leads or a stretch of time is."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterable, Sequence

from overread.media.leads import LEADS

_NUMBER = r"[-+\u2212]?\d+(?:\.\d+)?"
_UNIT = r"\s*(?!to\b)[^\d\s\[\]\u2013-]*\s*"
_BELOW = re.compile(rf"(?:below|under|less than|<)\s*({_NUMBER}){_UNIT}", re.IGNORECASE)
_ABOVE = re.compile(rf"(?:above|over|more than|>)\s*({_NUMBER}){_UNIT}", re.IGNORECASE)
_UP = re.compile(rf"({_NUMBER}){_UNIT}(?:and|or)\s+(?:above|more)", re.IGNORECASE)
_BETWEEN = re.compile(rf"[\[(]?\s*({_NUMBER}){_UNIT}(?:to|\.\.|-|\u2013)\s*({_NUMBER}){_UNIT}[\])]?", re.IGNORECASE)
_LEAD = re.compile(r"(?:leads?\s+)?(\S+)", re.IGNORECASE)
_BY_NAME = {lead.casefold(): lead for lead in LEADS}


@dataclasses.dataclass(frozen=True, slots=True)
class Range:
    """Numbers from `low` on and below `high`."""

    low: float
    high: float

    def __contains__(self, value: float) -> bool:
        return self.low <= value < self.high


def range_of(option: str) -> Range | None:
    """`below 40 bpm`, `40 to 50 bpm`, `140 bpm and above`, `120-130ms`, `[1.20s - 1.85s]`; None for anything else."""
    text = option.strip()
    if found := _BELOW.fullmatch(text):
        return Range(-math.inf, _number(found[1]))
    if found := _ABOVE.fullmatch(text) or _UP.fullmatch(text):
        return Range(_number(found[1]), math.inf)
    if found := _BETWEEN.fullmatch(text):
        return Range(_number(found[1]), _number(found[2]))
    return None


def option_of_value(options: Sequence[str], value: float | None) -> int | None:
    """The option whose range holds a value; None where none does."""
    if value is None:
        return None
    ranges = [range_of(option) for option in options]
    return next((index for index, one in enumerate(ranges) if one is not None and value in one), None)


def options_of_leads(options: Sequence[str], leads: Iterable[str]) -> tuple[int, ...]:
    """The options that name one of the leads: `lead V1` or `V1`."""
    wanted = set(leads)
    return tuple(index for index, option in enumerate(options) if lead_named(option) in wanted)


def lead_named(option: str) -> str | None:
    """The lead that an option names."""
    found = _LEAD.fullmatch(option.strip())
    return None if found is None else _BY_NAME.get(found[1].casefold())


def option_of_spans(options: Sequence[str], spans_s: Iterable[tuple[float, float]]) -> int | None:
    """The option, a stretch of time in seconds, that one of the spans fits best; None where none overlaps."""
    spans = list(spans_s)
    ranges = [range_of(option) for option in options]
    best, chosen = 0.0, None
    for index, one in enumerate(ranges):
        fit = 0.0 if one is None else max((_overlap(one, span) for span in spans), default=0.0)
        if fit > best:
            best, chosen = fit, index
    return chosen


def _overlap(one: Range, span: tuple[float, float]) -> float:
    """What both share, as a part of what they cover together."""
    shared = min(one.high, span[1]) - max(one.low, span[0])
    together = max(one.high, span[1]) - min(one.low, span[0])
    return max(0.0, shared / together) if together > 0 else 0.0


def _number(text: str) -> float:
    return float(text.replace("\u2212", "-"))
