"""What is written above and below the rows of a sheet on paper: whose it is, its scale, and what is missing."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from overread.media.drawing.boxes import Box
from overread.media.drawing.canvas import Canvas, colour_of
from overread.media.drawing.paper import BORDER_MM, Page, clipped
from overread.media.drawing.settings import Paper
from overread.media.drawing.strip import Strip

MOST_LETTERS = 400
TITLE = "12-lead ECG"


@dataclasses.dataclass(frozen=True, slots=True)
class Heading:
    """Whose ECG it is; everything may be left out."""

    patient: str = ""
    identifier: str = ""
    sex: str = ""
    age: str = ""
    recorded: str = ""
    """Date and time."""
    lines: tuple[str, ...] = ()
    """What stands on the right, such as measured intervals; at most four."""


def heading_lines(heading: Heading, header: str) -> tuple[str, list[str]]:
    """The headline and the lines below it; an anonymous header tells sex and age and nothing else."""
    told = [f"{name}: {value}" for name, value in (("Sex", heading.sex), ("Age", heading.age)) if value]
    if header == "anonymous":
        return "Anonymous", [" \u00b7 ".join(told)] if told else []
    if heading.identifier:
        told.insert(0, f"ID: {heading.identifier}")
    lines = [" \u00b7 ".join(told)] if told else []
    if heading.recorded:
        lines.append(f"Recorded: {heading.recorded}")
    return heading.patient or TITLE, lines


def paint_header(canvas: Canvas, sheet: Paper, heading: Heading) -> None:
    """Writes the header, each text cut to the room it has."""
    mm = sheet.px_per_mm
    text, quiet = colour_of(sheet.colours.text), colour_of(sheet.colours.quiet)
    first, lines = heading_lines(heading, sheet.header)
    left, half = BORDER_MM * mm, canvas.width / 2
    canvas.text((left, 10 * mm), fitted(canvas, first, 4.6 * mm, half - left, bold=True), 4.6 * mm, text, bold=True)
    for number, line in enumerate(lines):
        canvas.text((left, (15.5 + 4.6 * number) * mm), fitted(canvas, line, 3.2 * mm, half - left), 3.2 * mm, quiet)
    for number, line in enumerate(heading.lines[:4]):
        at = half + 5 * mm, (9.5 + 4.6 * number) * mm
        canvas.text(at, fitted(canvas, line, 3.2 * mm, half - left - 5 * mm), 3.2 * mm, text)


def paint_footer(canvas: Canvas, sheet: Paper, on: Page, strip: Strip, placed: tuple[Box, ...]) -> None:
    """Writes scale, sampling rate, and all that a reader must know of what is not shown."""
    mm = sheet.px_per_mm
    text, quiet = colour_of(sheet.colours.text), colour_of(sheet.colours.quiet)
    y = on.bottom + 10.5 * mm
    said = " \u00b7 ".join(scale(sheet, strip))
    canvas.text((on.left, y), said, 3.0 * mm, text)
    if found := list(notes(sheet, on, strip, placed)):
        line = fitted(canvas, "; ".join(found), 3.0 * mm, on.right - on.left)
        canvas.text((on.left, y + 4.6 * mm), line, 3.0 * mm, quiet)


def scale(sheet: Paper, strip: Strip) -> list[str]:
    """The scale in words."""
    square = f"large square {5 / sheet.speed_mm_s:g} s x {5 / sheet.gain_mm_mv:g} mV"
    found = [f"{sheet.speed_mm_s:g} mm/s", f"{sheet.gain_mm_mv:g} mm/mV", f"{strip.rate_hz:g} Hz"]
    return found if sheet.grid == "none" else [*found[:2], square, found[2]]


def notes(sheet: Paper, on: Page, strip: Strip, placed: tuple[Box, ...]) -> Iterator[str]:
    """What is missing, cut off, or not as a reader expects it."""
    if strip.seconds > on.seconds + 0.5 / strip.rate_hz:
        yield f"{sheet.start_s:g}\u2013{sheet.start_s + on.seconds:g} s of {strip.seconds:.4g} s are shown"
    for state, said in (("missing", "not recorded"), ("empty", "without signal")):
        leads = dict.fromkeys(box.lead for box in placed if box.state == state)
        if leads:
            yield f"{said}: {', '.join(leads)}"
    if leads_cut := clipped(strip, placed):
        yield f"cut off at the edge of the room: {', '.join(leads_cut)}"
    column = sheet.seconds / len(sheet.rows[0])
    if not sheet.together and any(b - a < column - 1e-9 for a, b in zip(on.starts, on.starts[1:], strict=False)):
        yield "columns overlap in time: see the seconds of each box"


def fitted(canvas: Canvas, said: str, size: float, room: float, *, bold: bool = False) -> str:
    """The text, cut with three dots where it is longer than its room in pixels."""
    said = " ".join(said[:MOST_LETTERS].split())
    if canvas.text_width(said, size, bold=bold) <= room:
        return said
    low, high = 0, len(said)
    while low < high:
        middle = (low + high + 1) // 2
        fits = canvas.text_width(said[:middle] + "\u2026", size, bold=bold) <= room
        low, high = (middle, high) if fits else (low, middle - 1)
    return said[:low] + "\u2026"
