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


def option_nearest(options: Sequence[str], value: float | None) -> int | None:
    """The option whose range holds a value, else the one whose range ends nearest to it; None where none is a range."""
    if value is None:
        return None
    ranges = ((index, range_of(option)) for index, option in enumerate(options))
    away = [(max(one.low - value, value - one.high, 0.0), index) for index, one in ranges if one is not None]
    inside = option_of_value(options, value)
    return inside if inside is not None or not away else min(away)[1]


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
    best, chosen = 0.0, None
    for index, option in enumerate(options):
        span = span_of_option(option, spans)
        share = 0.0 if span is None else fit(option, span)
        if share > best:
            best, chosen = share, index
    return chosen


def span_of_option(option: str, spans_s: Iterable[tuple[float, float]]) -> tuple[float, float] | None:
    """The span that fits an option, a stretch of time, best; None where none overlaps."""
    best = max(spans_s, key=lambda span: fit(option, span), default=None)
    return best if best is not None and fit(option, best) > 0 else None


def fit(option: str, span: tuple[float, float]) -> float:
    """How well a span fits an option, a stretch of time: what both share, as a part of what they cover together."""
    one = range_of(option)
    return 0.0 if one is None else _overlap(one, span)


def _overlap(one: Range, span: tuple[float, float]) -> float:
    """What both share, as a part of what they cover together."""
    shared = min(one.high, span[1]) - max(one.low, span[0])
    together = max(one.high, span[1]) - min(one.low, span[0])
    return max(0.0, shared / together) if together > 0 else 0.0


def _number(text: str) -> float:
    return float(text.replace("\u2212", "-"))
