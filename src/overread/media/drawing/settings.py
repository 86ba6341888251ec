"""What a sheet looks like: settings, and the named profiles of `profiles.yaml`.

A profile is named by text, with settings behind it where some are to differ: `clinical`, `clinical,dpi=150,grid=none`,
`6x2,rhythm=II+V1`, `upstream,title=`.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import re
from collections.abc import Mapping
from importlib import resources
from typing import Any

import yaml

from overread.errors import BadInput, unknown_name
from overread.media.drawing.strip import lead_name

GRIDS = ("fine", "coarse", "none")
"""Lines every 1 mm and 5 mm, every 5 mm, or none."""
NAMES = ("inside", "before")
HEADERS = ("full", "anonymous", "none")
MM_PER_INCH = 25.4
MOST_PIXELS = 24_000_000

_HEX = re.compile(r"#[0-9a-fA-F]{6}\Z")
_YES_NO = {"true": True, "yes": True, "false": False, "no": False}


@dataclasses.dataclass(frozen=True, slots=True)
class Colours:
    """Each as `#rrggbb`."""

    paper: str
    minor: str
    major: str
    trace: str
    text: str
    quiet: str
    """Text that tells less, such as the seconds of a box."""

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            if not _HEX.match(str(getattr(self, field.name))):
                raise BadInput(
                    f"{getattr(self, field.name)!r} is no colour", where=field.name, do="write it as #rrggbb"
                )


@dataclasses.dataclass(frozen=True, slots=True)
class Paper:
    """A sheet on millimetre paper."""

    rows: tuple[tuple[str, ...], ...]
    """The leads of each row, from left to right; all rows have as many."""
    colours: Colours
    rhythm: tuple[str, ...] = ()
    """Leads that are drawn once more, over the whole width, below the others."""
    seconds: float = 10.0
    """What the whole width has room for; the columns share it."""
    start_s: float = 0.0
    """Where in the signal the sheet begins."""
    together: bool = False
    """Whether all columns show the same seconds; else each goes on where the one before it ended."""
    speed_mm_s: float = 25.0
    gain_mm_mv: float = 10.0
    row_mm: float = 40.0
    """The height of a row: whole large squares of 5 mm, so that its zero lies on a line."""
    dpi: float = 203.2
    """8 pixels a millimetre: every line of the grid lies on whole pixels."""
    trace_mm: float = 0.3
    grid: str = "fine"
    pulse: bool = True
    """Whether each row begins with a pulse of 1 mV and 0.2 s."""
    names: str = "inside"
    """Where the leads' names stand: inside their boxes, or before the row (for rows of one lead)."""
    axis: bool = True
    """Whether the seconds stand below the rows and in each box."""
    header: str = "full"
    footer: bool = True

    def __post_init__(self) -> None:
        if not self.rows or not self.rows[0] or len({len(row) for row in self.rows}) > 1:
            raise BadInput(
                "the rows of a sheet have no leads, or not all as many", where="rows", do="give each as many"
            )
        for lead in (*(lead for row in self.rows for lead in row), *self.rhythm):
            if lead_name(lead, "rows and rhythm") != lead:
                raise BadInput(f"write lead {lead!r} as {lead_name(lead)!r}", where="rows and rhythm")
        _one_of("grid", self.grid, GRIDS)
        _one_of("names", self.names, NAMES)
        if self.names == "before" and len(self.rows[0]) > 1:
            raise BadInput("names can stand before rows of one lead only", where="names of a sheet", do="take 'inside'")
        _one_of("header", self.header, HEADERS)
        _within("seconds", self.seconds, 0.2, 120)
        _within("start_s", self.start_s, 0, math.inf)
        _within("speed_mm_s", self.speed_mm_s, 5, 200)
        _within("gain_mm_mv", self.gain_mm_mv, 1, 80)
        _within("row_mm", self.row_mm, 10, 200)
        _within("dpi", self.dpi, 40, 800)
        _within("trace_mm", self.trace_mm, 0.05, 2)
        if self.row_mm % 5:
            raise BadInput(f"row_mm is {self.row_mm:g}", where="row_mm", do="give whole large squares: 20, 25, 30, ...")

    @property
    def px_per_mm(self) -> float:
        """Pixels that a millimetre of the paper takes."""
        return self.dpi / MM_PER_INCH


@dataclasses.dataclass(frozen=True, slots=True)
class Plot:
    """The picture of ecg_plot 0.2.8; everything in it is given but its title."""

    title: str = "ECG 12"


Sheet = Paper | Plot


def profiles() -> tuple[str, ...]:
    """The names of the profiles."""
    return tuple(_table()["profiles"])


@functools.lru_cache(maxsize=256)
def sheet_of(text: str) -> Sheet:
    """The settings behind `NAME` or `NAME,KEY=VALUE,...`."""
    name, *given = (part.strip() for part in text.split(","))
    known = _table()["profiles"]
    if name not in known:
        raise unknown_name("sheet", name, known)
    values: dict[str, Any] = dict(known[name])
    kind = Plot if values.pop("drawn_as", "paper") == "ecg_plot" else Paper
    fields = {field.name: field for field in dataclasses.fields(kind)}
    for part in given:
        key, equals, value = part.partition("=")
        if key not in fields or not equals:
            raise unknown_name("setting of a sheet", key, fields, where=f"sheet {text!r}")
        values[key] = value
    read = {key: _value(key, value, str(fields[key].type)) for key, value in values.items()}
    return kind(**read)


def colours_of(name: str) -> Colours:
    """Named colours of `profiles.yaml`: red, blue, grey, ..."""
    known = _table()["colours"]
    if name not in known:
        raise unknown_name("set of colours", name, known)
    return Colours(**known[name])


def mark_colours() -> Mapping[str, str]:
    """By kind of mark: its colour; `other` for kinds that are not named."""
    found: Mapping[str, str] = _table()["marks"]
    return found


def _value(key: str, value: Any, kind: str) -> Any:
    """A value of the YAML or of a text, as its field has it."""
    if key == "rows":
        rows = value.split("/") if isinstance(value, str) else value
        return tuple(_leads(row) for row in rows)
    if key == "rhythm":
        return _leads(value)
    if key == "colours":
        return colours_of(value)
    if kind == "float":
        try:
            return float(value)
        except ValueError as error:
            raise BadInput(f"{value!r} is no number", where=f"{key} of a sheet", do="give a number") from error
    if kind == "bool" and not isinstance(value, bool):
        return _YES_NO[_one_of(key, str(value).lower(), tuple(_YES_NO))]
    return value


def _leads(text: str) -> tuple[str, ...]:
    return tuple(lead_name(lead, "rows and rhythm") for lead in text.replace("+", " ").split())


def _one_of(what: str, value: str, known: tuple[str, ...]) -> str:
    if value not in known:
        raise unknown_name(f"value of {what}", value, known, where="the settings of a sheet")
    return value


def _within(what: str, value: float, low: float, high: float) -> None:
    if not (math.isfinite(value) and low <= value <= high):
        raise BadInput(f"{what} is {value!r}", where="the settings of a sheet", do=f"give {low:g} to {high:g}")


@functools.cache
def _table() -> Any:
    text = (resources.files("overread.media.drawing") / "profiles.yaml").read_text(encoding="utf-8")
    return yaml.safe_load(text)
