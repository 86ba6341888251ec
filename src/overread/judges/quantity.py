"""The one number that a text states, in the unit asked for; nothing where that is not certain.

Read are digits with sign, decimal point or comma, thousands separators and exponent, words from zero to twenty, units
of `UNITS`, and a range or `±` no wider than twice the tolerance, as its midpoint. Bounds (`above 240 ms`), fractions
(`12/40`), times, denied numbers and several different numbers are not; of several, the only one with a unit counts.
"""

from __future__ import annotations

import itertools
import math
import re
from functools import lru_cache
from typing import NamedTuple

from overread.judges.wording import bare, json_answer, plain, spoken

UNITS: dict[str, tuple[str, float]] = {
    **dict.fromkeys(("ns", "nanosecond", "nanoseconds"), ("time", 1e-6)),
    **dict.fromkeys(("us", "μs", "microsecond", "microseconds"), ("time", 0.001)),
    **dict.fromkeys(("ms", "msec", "msecs", "millisecond", "milliseconds"), ("time", 1.0)),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), ("time", 1000.0)),
    **dict.fromkeys(("min", "mins", "minute", "minutes"), ("time", 60_000.0)),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), ("time", 3_600_000.0)),
    **dict.fromkeys(("uv", "μv", "microvolt", "microvolts"), ("voltage", 0.001)),
    **dict.fromkeys(("mv", "millivolt", "millivolts"), ("voltage", 1.0)),
    **dict.fromkeys(("v", "volt", "volts"), ("voltage", 1000.0)),
    **dict.fromkeys(("um", "μm", "micrometer", "micrometers", "micrometre", "micrometres"), ("length", 0.001)),
    **dict.fromkeys(("mm", "millimeter", "millimeters", "millimetre", "millimetres"), ("length", 1.0)),
    **dict.fromkeys(("cm", "centimeter", "centimeters", "centimetre", "centimetres"), ("length", 10.0)),
    **dict.fromkeys(("m", "meter", "meters", "metre", "metres"), ("length", 1000.0)),
    **dict.fromkeys(("mm3", "mm^3", "ul", "μl", "microliter", "microliters"), ("volume", 0.001)),
    **dict.fromkeys(("ml", "cc", "cm3", "cm^3", "milliliter", "milliliters"), ("volume", 1.0)),
    **dict.fromkeys(("millilitre", "millilitres"), ("volume", 1.0)),
    **dict.fromkeys(("dl", "deciliter", "deciliters", "decilitre", "decilitres"), ("volume", 100.0)),
    **dict.fromkeys(("l", "liter", "liters", "litre", "litres"), ("volume", 1000.0)),
    **dict.fromkeys(("bpm", "/min"), ("rate", 1.0)),
    "hz": ("rate", 60.0),
    "khz": ("rate", 60_000.0),
    **dict.fromkeys(("%", "percent", "pct"), ("share", 1.0)),
    **dict.fromkeys(("°", "deg", "degree", "degrees"), ("angle", 1.0)),
    **dict.fromkeys(("hu", "hounsfield"), ("density", 1.0)),
    **dict.fromkeys(("g", "gram", "grams"), ("mass", 1.0)),
    **dict.fromkeys(("mg", "milligram", "milligrams"), ("mass", 0.001)),
    **dict.fromkeys(("kg", "kilogram", "kilograms"), ("mass", 1000.0)),
    "mmhg": ("pressure", 1.0),
    **dict.fromkeys(("frame", "frames"), ("frame", 1.0)),
    **dict.fromkeys(("slice", "slices"), ("slice", 1.0)),
    **dict.fromkeys(("beat", "beats"), ("beat", 1.0)),
}
"""Unit -> what it measures and how many of that measure's first unit it is."""

_PREFIX = re.compile(
    r"(?:(?:kilo|mega|giga|tera|hecto|deca|deci|centi|milli|micro|nano|pico)-?|[kmuμnpcdhgt])(?P<unit>.*)"
)
"""What multiplies a unit. Letter case is gone, so `m` may be milli or mega: what `UNITS` lacks is not converted."""
_OTHER = """day days week weeks month months year years yr yrs inch inches ft foot feet mile miles pa bar psi cmh2o torr
px pixel pixels voxel voxels rad rads radian radians lb lbs oz ounce ounces pound pounds mol mole moles cal joule joules
watt watts amp amps ampere amperes ohm ohms tesla gauss fps rpm db au mets"""
_OTHER_UNITS = frozenset(_OTHER.split())
_HEDGE = "about approx approximately roughly around exactly precisely total overall only or so"
_HEDGES = frozenset(_HEDGE.split())
"""Words that may stand alone behind a number and are no unit."""
LONGEST_LONE = 40
_LONE = re.compile(r"[^\w+.-]*[+-]?[\d.,]+ ?[a-zμ]+\W*")

MOST_NUMBERS = 60
"""A text with more numbers states none of them."""

_SMALL = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen twenty"""
_WORDS = {word: float(value) for value, word in enumerate(_SMALL.split())}
_ANY_WORD = "|".join(sorted(_WORDS, key=len, reverse=True))
_LARGE = re.compile(
    r"\b(?:thirty|forty|fifty|sixty|seventy|eighty|ninety|hundreds?|thousands?|millions?|billions?|dozens?|half|halves"
    rf"|quarters?|point (?:{_ANY_WORD}))\b"
)
_SPELT = (
    (re.compile(r"\bbeats? ?(?:per|/|a) ?min(?:ute)?\b|\b1/min\b|/ ?min(?:ute)?\b"), "bpm"),
    (re.compile(r"\bper ?cent\b"), "%"),
    (re.compile(r"\bhounsfield units?\b"), "hu"),
    (re.compile(r"\bcubic centimet(?:er|re)s?\b"), "cm3"),
    (re.compile(r"\bcubic millimet(?:er|re)s?\b"), "mm3"),
    (re.compile(r"\+ ?/? ?-"), "±"),
    (re.compile(r"\bminus (?=\d)"), "-"),
)
_SIMPLE = re.compile(r"\s*(?P<number>[+-]?[0-9]{1,15}(?:\.[0-9]{1,15})?)(?: ?(?P<unit>[A-Za-z]{1,12}|%))?\.?\s*")
_RAISED = re.compile(r"\d ?[⁰¹²³⁴-⁹₀-₉]|[¼-¾⅐-⅞⁄]")
_FOREIGN_DIGIT = re.compile(r"[^\W\D0-9]")
_NUMERAL = re.compile(
    r"(?<![\w.])(?<!\d,)(?:(?<![)\]%°])(?P<sign>[+-]))?(?P<digits>\d[\d.,]*(?:(?<=\d)e[+-]?\d{1,3})?|\.\d+)"
    rf"|(?<![\w'-])(?P<word>{_ANY_WORD})(?![\w'-])"
)
_UNIT = re.compile(r"[ -]?(?P<unit>[a-zμ%°][a-zμ%°0-9/^.]*)")
_POINT = re.compile(r"\d+(?:\.\d*)?|\.\d+|\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_COMMA = re.compile(r"\d+,\d{1,2}|\d+,\d{4,}|0,\d+|\d{4,},\d+|\d{1,3}(?:\.\d{3})+,\d+")
_FRACTION = re.compile(r"\d ?[a-zμ%°]{0,8} ?(?:[/×]|\b(?:out of|of|over|x)\b) ?\d|\d[:^]\d|\dx\d")
_BOUND = re.compile(
    r"(?:\b(?:above|below|over|under|beyond|outside|than|at least|at most|minimum|maximum|up to|exceed(?:s|ing)?"
    r"|within|until|not|never|no|isn't|instead of|cannot be)|[<>≤≥])[ =]*"
    r"(?:(?:about|around|the|a|an|be|of|equal|to|exactly|frame|between|from)\b ?){0,3}$"
)
_OPEN_END = re.compile(
    r" ?(?:or|and) (?:more|less|greater|higher|lower|above|below|over|under|fewer|so on)\b| ?\+(?! ?\d)|\?"
)
_JOIN = re.compile(r"[\s,;/&|:×*^=~≈-]*(?:\b(?:or|and|to|through|vs|versus|x|of|about)\b[\s,.;/&|:-]*)*")
_SPAN = re.compile(r" ?(?:-|to|through|until|and|±) ?")


class Number(NamedTuple):
    """A number in a text."""

    value: float
    """In the unit asked for where it has one; NaN where it has a unit of something else."""
    factor: float | None
    """What turned its own unit into the one asked for; None where it has no unit."""
    unit: bool
    """Whether it carries the unit asked for, or one that can be turned into it, before or after it."""
    start: int
    stop: int


class UnclearError(Exception):
    """The text holds something that makes any reading of its numbers a guess."""


def read(text: str, unit: str, tolerance: float | None, *, whole: bool) -> float | None:
    """The number that a reply's text states, in `unit`; None where it cannot be read."""
    wanted = _wanted(unit)
    simple = _SIMPLE.fullmatch(text)  # most replies are no longer than this
    name = (simple["unit"] or wanted).casefold() if simple else ""
    if simple and (name == wanted or name in UNITS):
        factor = _factor(name, wanted)
        return None if math.isnan(factor or 1.0) else _times(float(simple["number"]), factor)
    said = spoken(text)
    if not said or _RAISED.search(said):
        return None
    pieces = json_answer(said) if said[-1] in "}]`" else None
    if pieces is not None:
        if len(pieces) != 1:
            return None
        said = pieces[0]
    return _first_line(plain(said), wanted, tolerance, whole)


@lru_cache(maxsize=256)
def _wanted(unit: str) -> str:
    return _spelt(plain(unit))


def _spelt(text: str) -> str:
    for pattern, short in _SPELT:
        text = pattern.sub(short, text)
    return text


def _first_line(text: str, unit: str, tolerance: float | None, whole: bool) -> float | None:
    """The whole text; failing that its first line, where that is nothing but a number and no later line is."""
    value = _read(text, unit, tolerance, whole)
    if value is not None or "\n" not in text:
        return value
    first, *later = [line for line in text.split("\n") if line.strip()]
    if len(later) > MOST_NUMBERS or not _alone(first) or any(_alone(line) for line in later):
        return None
    return _read(first, unit, tolerance, whole)


def _alone(line: str) -> bool:
    line = bare(line)
    number = _NUMERAL.search(line)
    return bool(number) and len(line) < 40 and len(line.split()) <= 4


def _read(text: str, unit: str, tolerance: float | None, whole: bool) -> float | None:
    text = _spelt(text)
    if _FOREIGN_DIGIT.search(text) or _FRACTION.search(text) or _LARGE.search(text):
        return None
    try:
        numbers = _numbers(text, unit, whole)
        if len(numbers) == 2:
            span = _span(text, numbers, tolerance)
            if span is not None:
                return span
        _refuse_joined(text, numbers)
    except UnclearError:
        return None
    stated = [number for number in numbers if not _is_bound(text, number)]
    with_unit = [number for number in stated if number.unit]
    for candidates in (stated, with_unit):
        if candidates and all(_same(number.value, candidates[0].value) for number in candidates):
            return candidates[0].value
    return None


def _same(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)


def _numbers(text: str, unit: str, whole: bool) -> list[Number]:
    found: list[Number] = []
    for match in _NUMERAL.finditer(text):
        if len(found) == MOST_NUMBERS:
            raise UnclearError
        if match["word"]:
            value, stop = _WORDS[match["word"]], match.end()
        else:
            digits = match["digits"].rstrip(".,")
            stop = match.start("digits") + len(digits)
            value = _value(digits, whole) * (-1.0 if match["sign"] == "-" else 1.0)
            before = text[max(0, match.start() - 20) : match.start()]
            if before[-1:] == "-" and before[-2:-1].isalpha() and not (found and found[-1].stop == match.start() - 1):
                raise UnclearError  # `axis-30` is a name, a dash or a sign
        factor, stop = _unit(text, stop, unit)
        value = _times(value, factor)
        named = _is_named(text[max(0, match.start() - 20) : match.start()], unit)
        found.append(
            Number(value, factor, named or (factor is not None and not math.isnan(factor)), match.start(), stop)
        )
    return found


def _is_named(before: str, unit: str) -> bool:
    """Whether the unit stands before the number, as in `frame 12`."""
    return unit.isalpha() and len(unit) > 2 and before.rstrip(" :=#").endswith((unit, unit.rstrip("s")))


def _value(digits: str, whole: bool) -> float:
    """The value of a run of digits, points and commas."""
    mantissa, _, exponent = digits.partition("e")
    if _POINT.fullmatch(mantissa) and not mantissa.startswith("0,"):
        number = mantissa.replace(",", "")
    elif _COMMA.fullmatch(mantissa) and not whole:
        number = mantissa.replace(".", "").replace(",", ".")
    else:
        raise UnclearError
    value = float(f"{number}e{exponent or 0}")
    if not math.isfinite(value):
        raise UnclearError
    return value


def _unit(text: str, place: int, wanted: str) -> tuple[float | None, int]:
    """The factor to the wanted unit of what follows a number, and where the number with it ends.

    None: it has no unit; NaN: it has one that cannot be turned into the wanted one.
    """
    match = _UNIT.match(text, place)
    if not match:
        return (math.nan if text[place : place + 1] in ("_", "'") else None), place
    name = match["unit"].rstrip(".")
    stop = match.start("unit") + len(name)
    if name == wanted or name in UNITS:
        return _factor(name, wanted), stop
    # A word that stands alone behind the number stands where the unit would.
    alone = bool(wanted) and name not in _HEDGES and len(text) < LONGEST_LONE and bool(_LONE.fullmatch(text))
    strange = match.start("unit") == place or "/" in name or "^" in name or _is_other_unit(name) or alone
    return (math.nan, stop) if strange else (None, place)


def _is_other_unit(name: str) -> bool:
    """Whether a word is a unit that is not in the table, or one of the table with a prefix that it lacks there."""
    prefixed = _PREFIX.fullmatch(name)
    if prefixed is None:
        return name in _OTHER_UNITS
    of = prefixed["unit"]
    known = of in UNITS or of in _OTHER_UNITS or (not of and (name == "k" or len(name) > 1))  # `0.07 kilo bpm`
    return known or name in _OTHER_UNITS


def _factor(name: str, wanted: str) -> float | None:
    """The factor from one unit to another; NaN where there is none, None where no unit was asked for."""
    if name == wanted:
        return 1.0
    kind, size = UNITS.get(name, ("?", 1.0))
    if not wanted and kind != "?":
        return None
    wanted_kind, wanted_size = UNITS.get(wanted, ("", 1.0))
    return size / wanted_size if kind == wanted_kind else math.nan


def _times(value: float, factor: float | None) -> float:
    """A converted value, without the last digits that conversion invents."""
    return value if factor is None or factor == 1.0 else float(f"{value * factor:.12g}")


def _span(text: str, numbers: list[Number], tolerance: float | None) -> float | None:
    """The midpoint of a range that is no wider than twice the tolerance; unclear where it is wider."""
    first, second = numbers
    gap = text[first.stop : second.start].strip()
    if not _SPAN.fullmatch(gap) or (gap == "and" and "between" not in text[: first.start]):
        return None
    # In `0.12-0.13 s` the unit belongs to both.
    low = first.value * (second.factor if first.factor is None and second.factor is not None else 1.0)
    high = second.value * (first.factor if second.factor is None and first.factor is not None else 1.0)
    if gap == "±":
        low, high = low - high, low + high
    narrow = low <= high <= low + 2 * (tolerance or 0.0) + 1e-9
    if not narrow or _is_bound(text, first) or _is_bound(text, second):
        raise UnclearError
    return (low + high) / 2


def _refuse_joined(text: str, numbers: list[Number]) -> None:
    """Numbers joined into a list or a calculation are unclear, unless they all are the same."""
    for one, other in itertools.pairwise(numbers):
        gap = text[one.stop : other.start]
        joined = _JOIN.fullmatch(gap) or gap.strip() in ("+", "±", "-")
        if joined and not _same(one.value, other.value):
            raise UnclearError


def _is_bound(text: str, number: Number) -> bool:
    """Whether a number is only a bound, or denied."""
    return bool(_BOUND.search(text, max(0, number.start - 60), number.start) or _OPEN_END.match(text, number.stop))
