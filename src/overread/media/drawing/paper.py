"""Sheets on millimetre paper: where everything stands, and how it is drawn.

Positions on the paper are millimetres from its upper left corner. Columns go on in time, as a recorder prints them;
where the signal ends before a column does, that column moves back to the last seconds there are, and says so.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from overread.errors import BadInput
from overread.media.drawing.boxes import Affine, Box
from overread.media.drawing.canvas import Canvas, colour_of
from overread.media.drawing.settings import MOST_PIXELS, Paper
from overread.media.drawing.strip import Strip

BORDER_MM = 13.5
HEADER_MM, BARE_MM, FOOTER_MM = 30.0, 10.0, 20.0
LARGE_MM = 5.0
"""A large square of the grid."""
PULSE_S, PULSE_MV = 0.2, 1.0
FOOT_MM = 2.5
"""The flat line before and after the pulse."""
AIR_MM = 0.5
"""So much stays free above and below a trace that is fitted into its row."""
NAME_MM = 10.0
"""The room of a name that stands before its row."""
EDGE_MM = 5.0
"""A zero line comes no nearer to the edge of its row than this."""
MINOR_MM, MAJOR_MM = 0.125, 0.25


@dataclasses.dataclass(frozen=True, slots=True)
class Page:
    """Where rows and columns stand; the same for all signals of one length."""

    width: int
    height: int
    left: float
    """x of the grid's left edge in pixels, on the middle of a pixel; so are the others."""
    top: float
    right: float
    bottom: float
    body: float
    """x at which the traces begin."""
    starts: tuple[float, ...]
    """The second at which each column begins."""
    seconds: float
    """How many seconds of the signal the sheet has room for and gets."""


def page(sheet: Paper, strip: Strip) -> Page:
    """The layout of a sheet for so long a signal."""
    if sheet.start_s >= strip.seconds:
        raise BadInput(
            f"the sheet is to begin at {sheet.start_s:g} s and the signal lasts {strip.seconds:g} s",
            where="start_s of the sheet",
            do="begin earlier",
        )
    mm = sheet.px_per_mm
    before = 2 * FOOT_MM + PULSE_S * sheet.speed_mm_s if sheet.pulse else 0.0
    before += NAME_MM if sheet.names == "before" else 0.0
    before = LARGE_MM * math.ceil((before + LARGE_MM) / LARGE_MM)
    across = LARGE_MM * math.ceil((before + sheet.seconds * sheet.speed_mm_s + LARGE_MM) / LARGE_MM)
    down = sheet.row_mm * (len(sheet.rows) + len(sheet.rhythm))
    above = BARE_MM if sheet.header == "none" else HEADER_MM
    below = FOOTER_MM if sheet.footer or sheet.axis else BARE_MM
    width, height = round((across + 2 * BORDER_MM) * mm), round((above + down + below) * mm)
    if width * height > MOST_PIXELS:
        raise BadInput(f"the sheet has {width} x {height} pixels", where="dpi of the sheet", do="take a lower dpi")
    left, top = math.floor(BORDER_MM * mm) + 0.5, math.floor(above * mm) + 0.5
    rest = strip.seconds - sheet.start_s
    column = sheet.seconds / len(sheet.rows[0])
    steps = [0.0 if sheet.together else column * number for number in range(len(sheet.rows[0]))]
    starts = tuple(sheet.start_s + max(0.0, min(step, rest - column)) for step in steps)
    room = column if sheet.together and not sheet.rhythm else sheet.seconds
    return Page(
        width,
        height,
        left,
        top,
        left + across * mm,
        top + down * mm,
        left + before * mm,
        starts,
        min(rest, room),
    )


def boxes(sheet: Paper, strip: Strip, on: Page) -> tuple[Box, ...]:
    """Row by row; a row's leads share their zero line, which is moved by whole millimetres where the traces need it."""
    mm = sheet.px_per_mm
    found: list[Box] = []
    for number, (leads, starts, lasts) in enumerate(_rows(sheet, on)):
        spans = [(start, start + lasts) for start in starts]
        up_mm = _zero(sheet, strip, list(zip(leads, spans, strict=True)))
        band = (-(sheet.row_mm - up_mm) / sheet.gain_mm_mv, up_mm / sheet.gain_mm_mv)
        zero = on.top + (number * sheet.row_mm + up_mm) * mm
        per_s, per_mv = sheet.speed_mm_s * mm, sheet.gain_mm_mv * mm
        for place, (lead, span) in enumerate(zip(leads, spans, strict=True)):
            begins = on.body + place * lasts * per_s
            affine: Affine = (per_s, 0.0, begins - span[0] * per_s, 0.0, -per_mv, zero)
            found.append(_box(strip, Box(lead, span, band, affine, (0, 0))))
    return tuple(found)


def _box(strip: Strip, box: Box) -> Box:
    """The box with what of the signal it shows."""
    values = strip.rows.get(box.lead)
    if values is None:
        return dataclasses.replace(box, state="missing")
    first, last = (min(math.ceil(one * strip.rate_hz - 1e-6), strip.samples) for one in box.seconds)
    if np.isnan(values[first:last]).all():
        return dataclasses.replace(box, state="empty")
    return dataclasses.replace(box, samples=(first, last))


def _zero(sheet: Paper, strip: Strip, row: list[tuple[str, tuple[float, float]]]) -> float:
    """How far below the upper edge of its row the zero line stands, in whole millimetres.

    In the middle, unless the traces need it elsewhere; one that finds no room anyway does not push the others away.
    """
    up, down = 0.0, 0.0
    for lead, (start, stop) in row:
        values = strip.rows.get(lead)
        shown = np.empty(0) if values is None else values[strip.place(start) : strip.place(stop)]
        shown = shown[~np.isnan(shown)]
        if shown.size:
            above = AIR_MM + float(shown.max()) * sheet.gain_mm_mv
            below = AIR_MM - float(shown.min()) * sheet.gain_mm_mv
            if above + below <= sheet.row_mm:
                up, down = max(up, above), max(down, below)
    half = sheet.row_mm / 2
    if up + down > sheet.row_mm:
        wanted = round(half + (up - down) / 2)
    else:
        wanted = math.ceil(up) if up > half else math.floor(min(half, sheet.row_mm - down))
    least = min(half, max(EDGE_MM, PULSE_MV * sheet.gain_mm_mv))
    return float(min(max(wanted, least), sheet.row_mm - EDGE_MM))


def paint_back(canvas: Canvas, sheet: Paper, on: Page) -> None:
    """Paper, grid, names and seconds: what lies under the traces and is the same for every signal of one length."""
    mm = sheet.px_per_mm
    text, quiet = colour_of(sheet.colours.text), colour_of(sheet.colours.quiet)
    canvas.rgba[:] = 255
    canvas.fill((0, 0, canvas.width, canvas.height), colour_of(sheet.colours.paper))
    grid = (on.left, on.top, on.right, on.bottom)
    if sheet.grid == "fine":
        canvas.stripes(grid, (mm, mm), (colour_of(sheet.colours.minor), MINOR_MM * mm))
    if sheet.grid != "none":
        canvas.stripes(grid, (LARGE_MM * mm, LARGE_MM * mm), (colour_of(sheet.colours.major), MAJOR_MM * mm))
    rows = _rows(sheet, on)
    for number, (leads, starts, lasts) in enumerate(rows):
        for place, (lead, start) in enumerate(zip(leads, starts, strict=True)):
            said = f"{start:.4g}\u2013{start + lasts:.4g} s" if sheet.axis else ""
            if sheet.names == "before":
                x, y = on.left + 1.5 * mm, on.top + (number + 0.5) * sheet.row_mm * mm
                canvas.text((x, y), lead, 4.2 * mm, text, bold=True)
                canvas.text((x, y + 3.6 * mm), said, 2.4 * mm, quiet)
                continue
            x = on.body + (place * lasts * sheet.speed_mm_s + 1.2) * mm
            y = on.top + (number * sheet.row_mm + 4.6) * mm
            canvas.text((x, y), lead, 4.2 * mm, text, bold=True)
            x += canvas.text_width(lead, 4.2 * mm, bold=True) + 1.4 * mm
            canvas.text((x, y), said, 2.4 * mm, quiet)
    if sheet.axis:
        _, starts, lasts = rows[-1]
        for place, start in enumerate(starts):
            _axis(canvas, sheet, on, (on.body + place * lasts * sheet.speed_mm_s * mm, start, lasts))


def _rows(sheet: Paper, on: Page) -> list[tuple[tuple[str, ...], tuple[float, ...], float]]:
    """For each row its leads, the second at which each begins, and how long each lasts."""
    column = sheet.seconds / len(sheet.rows[0])
    return [
        *((row, on.starts, column) for row in sheet.rows),
        *(((lead,), (sheet.start_s,), sheet.seconds) for lead in sheet.rhythm),
    ]


def _axis(canvas: Canvas, sheet: Paper, on: Page, part: tuple[float, float, float]) -> None:
    """The seconds below one box of the last row; `part` is its left edge, its first second and how long it lasts."""
    left, start, lasts = part
    mm = sheet.px_per_mm
    text, quiet = colour_of(sheet.colours.text), colour_of(sheet.colours.quiet)
    for second in range(math.ceil(start - 1e-9), math.floor(start + lasts + 1e-9) + 1):
        x = left + (second - start) * sheet.speed_mm_s * mm
        canvas.line([(x, on.bottom), (x, on.bottom + 1.6 * mm)], text, 0.25 * mm)
        said = f"{second} s"
        canvas.text((x - canvas.text_width(said, 2.6 * mm) / 2, on.bottom + 4.6 * mm), said, 2.6 * mm, quiet)


def paint_traces(canvas: Canvas, sheet: Paper, on: Page, strip: Strip, placed: tuple[Box, ...]) -> None:
    """Pulses, short lines between columns, and the traces; a lead that is not there is told in words."""
    mm = sheet.px_per_mm
    trace = colour_of(sheet.colours.trace)
    pen = (trace, sheet.trace_mm * mm)
    for box in placed:
        zero = box.affine[5]
        left, top, right, bottom = box.rectangle
        if left <= on.body + 1:
            if sheet.pulse:
                _pulse(canvas, sheet, on, zero)
        else:
            canvas.line([(left, zero - 2.5 * mm), (left, zero + 2.5 * mm)], trace, 0.2 * mm)
        if box.state != "drawn":
            said = "not recorded" if box.state == "missing" else "no signal"
            canvas.text((left + 4 * mm, zero + mm), f"{box.lead} {said}", 3.2 * mm, colour_of(sheet.colours.quiet))
            continue
        first, last = box.samples
        points = np.empty((last - first, 2))
        points[:, 0] = np.arange(first, last) / strip.rate_hz
        points[:, 1] = strip.rows[box.lead][first:last]
        spill = sheet.row_mm / 2 * mm
        clip = (left - mm, max(top - spill, on.top), right + mm, min(bottom + spill, on.bottom))
        canvas.trace(points, box.affine, pen, clip)


def _pulse(canvas: Canvas, sheet: Paper, on: Page, zero: float) -> None:
    mm = sheet.px_per_mm
    wide, high = PULSE_S * sheet.speed_mm_s, PULSE_MV * sheet.gain_mm_mv
    x = (on.body - on.left) / mm - 2 * FOOT_MM - wide - 2.5
    shape = [
        (0, 0),
        (FOOT_MM, 0),
        (FOOT_MM, high),
        (FOOT_MM + wide, high),
        (FOOT_MM + wide, 0),
        (2 * FOOT_MM + wide, 0),
    ]
    points = np.array([(x + across, up) for across, up in shape])
    affine: Affine = (mm, 0.0, on.left, 0.0, -mm, zero)
    canvas.trace(points, affine, (colour_of(sheet.colours.trace), sheet.trace_mm * mm))


def clipped(strip: Strip, placed: tuple[Box, ...]) -> tuple[str, ...]:
    """The leads that reach beyond the room that is left to them: half a row into the next ones."""
    found: dict[str, None] = {}
    for box in placed:
        if box.state == "drawn":
            shown = strip.rows[box.lead][slice(*box.samples)]
            spill = (box.mv[1] - box.mv[0]) / 2
            if np.nanmin(shown) < box.mv[0] - spill or np.nanmax(shown) > box.mv[1] + spill:
                found[box.lead] = None
    return tuple(found)
