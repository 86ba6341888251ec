"""The picture that ECG-Reasoning-Benchmark shows its models: ecg_plot 0.2.8 with row_height 8, saved with a tight box.

Drawn anew from what can be measured on such a picture, line for line, in the order in which matplotlib draws it. Its
faults are kept: seconds run on from the left column into the right one, the millivolts of all rows are numbered as one
axis, labels of the seconds overlap, and the short line before a right lead stands at the first sample of the lead
drawn before it.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from overread.errors import BadInput
from overread.media.drawing.boxes import Affine, Box
from overread.media.drawing.canvas import Canvas, Colour
from overread.media.drawing.settings import Plot
from overread.media.drawing.strip import Strip
from overread.media.ecg import LEADS

PX_PER_S, PX_PER_MV = 100.0, 40.0
ROWS, COLUMNS = 6, 2
ROW_MV = 4.0
LOW_MV, HIGH_MV = -22.0, 2.0
"""The range of the one axis on which all rows stand; the first row's zero is 0."""
LEFT, TOP = 62 + 13 / 18, 9 + 7 / 18
"""Where the frame begins: the tight box leaves so much for labels and margin."""
BELOW, MARGIN = 33 + 11 / 18, 10.0
DPI = 100.0
POINT = DPI / 72
MOST_PX = 10_000
"""Wider pictures are refused; this is a little less than 50 s."""

BLACK: Colour = (0.0, 0.0, 0.0)
MAJOR: Colour = (1.0, 0.0, 0.0)
MINOR: Colour = (1.0, 0.7, 0.7)
TRACE: Colour = (0.0, 0.0, 0.7)
LINE, FRAME = 0.5 * POINT, 0.8 * POINT
SEPARATOR_MV = 0.3


@dataclasses.dataclass(frozen=True, slots=True)
class Page:
    """What of the picture depends on the length of the signal alone."""

    seconds: float
    width: int
    height: int

    @property
    def right(self) -> float:
        """Where the frame ends."""
        return LEFT + COLUMNS * self.seconds * PX_PER_S

    @property
    def bottom(self) -> float:
        """The lower edge of the frame."""
        return self.height - BELOW

    def x(self, seconds: float) -> float:
        """The column of a moment on the axis of both columns."""
        return LEFT + PX_PER_S * seconds

    def y(self, mv: float) -> float:
        """The row of a voltage on the axis of all rows."""
        return self.bottom - PX_PER_MV * (mv - LOW_MV)


def page(strip: Strip) -> Page:
    """The size of the picture for so long a signal."""
    last = (_count(strip.seconds) - 1) * 0.2
    label = 15.5 if last >= 10 else 11.0
    right = max(COLUMNS * strip.seconds * PX_PER_S, PX_PER_S * last + label)
    width = int(LEFT + right + MARGIN)
    if width > MOST_PX:
        raise BadInput(
            f"a signal of {strip.seconds:g} s makes a sheet of {width} pixels in width",
            where="sheet 'upstream', which shows the whole signal",
            do=f"select at most {(MOST_PX - 100) / PX_PER_S / COLUMNS:.0f} s of it, or take the sheet 'clinical'",
        )
    return Page(strip.seconds, width, int(MARGIN + (HIGH_MV - LOW_MV) * PX_PER_MV + BELOW))


def boxes(strip: Strip, on: Page) -> tuple[Box, ...]:
    """Twelve boxes: limb leads left, V leads right."""
    found = []
    for number, lead in enumerate(LEADS):
        column, row = divmod(number, ROWS)
        zero = on.y(-ROW_MV * row)
        affine: Affine = (PX_PER_S, 0.0, on.x(column * strip.seconds), 0.0, -PX_PER_MV, zero)
        span, band = (0.0, strip.seconds), (-ROW_MV / 2, ROW_MV / 2)
        values = strip.rows.get(lead)
        if values is None:
            found.append(Box(lead, span, band, affine, (0, 0), "missing"))
        elif np.isnan(values).all():
            found.append(Box(lead, span, band, affine, (0, 0), "empty"))
        else:
            found.append(Box(lead, span, band, affine, (0, strip.samples)))
    return tuple(found)


def paint_back(canvas: Canvas, on: Page) -> None:
    """Grid, ticks and labels: what lies under the traces."""
    canvas.rgba[:] = 255
    end = COLUMNS * on.seconds
    seconds = [0.2 * number for number in range(_count(on.seconds))]
    for moment in seconds:
        _upright(canvas, on, moment, MAJOR)
        said = f"{moment:.1f}"
        canvas.text(
            (on.x(moment) - canvas.text_width(said, 10 * POINT) / 2, on.bottom + 20.274), said, 10 * POINT, BLACK
        )
    # Where the last of the coarse lines falls onto the edge it has no label, and so counts among the fine ones.
    fine = [0.04 * number for number in range(int(end / 0.04 + 1e-6) + 1) if number % 5 or number >= 5 * len(seconds)]
    for moment in fine:
        _upright(canvas, on, moment, MINOR)
    volts = [LOW_MV + 0.5 * number for number in range(round((HIGH_MV - LOW_MV) / 0.5))]
    for mv in volts:
        canvas.line([(LEFT, on.y(mv)), (on.right, on.y(mv))], MAJOR, LINE, cap="projecting")
        said = f"{mv:.1f}".replace("-", "\u2212")
        at = LEFT - 7 * POINT - canvas.text_width(said, 10 * POINT), on.y(mv) + 5.276
        canvas.text(at, said, 10 * POINT, BLACK)
    tenths = [LOW_MV + 0.1 * number for number in range(241) if number % 5 or number == 240]
    for mv in tenths:
        canvas.line([(LEFT, on.y(mv)), (on.right, on.y(mv))], MINOR, LINE, cap="projecting")
    for moments, length, width in ((seconds, 3.5, 0.8), (fine, 2.0, 0.6)):
        canvas.ticks([(on.x(one), on.bottom) for one in moments], (0, length * POINT), BLACK, width * POINT)
    for voltages, length, width in ((volts, 3.5, 0.8), (tenths, 2.0, 0.6)):
        canvas.ticks([(LEFT, on.y(one)) for one in voltages], (-length * POINT, 0), BLACK, width * POINT)


def paint_traces(canvas: Canvas, on: Page, strip: Strip) -> None:
    """The curves, each right one with its short line before it."""
    clip = (LEFT, on.bottom - (HIGH_MV - LOW_MV) * PX_PER_MV, on.right, on.bottom)
    affine: Affine = (PX_PER_S, 0.0, LEFT, 0.0, -PX_PER_MV, on.y(0.0))
    points = np.empty((strip.samples, 2))
    step = 1.0 / strip.rate_hz
    before: float | None = None
    for number, lead in enumerate(LEADS):
        column, row = divmod(number, ROWS)
        values = strip.rows.get(lead)
        offset = column * strip.seconds
        if column and before is not None:
            middle = before - ROW_MV * row
            mark = np.array([(offset, middle - SEPARATOR_MV), (offset, middle + SEPARATOR_MV)])
            canvas.trace(mark, affine, (TRACE, LINE), clip, simplified=True)
        before = None if values is None else float(values[0])
        if values is None or np.isnan(values).all():
            said = f"{lead} {'not recorded' if values is None else 'no signal'}"
            canvas.text((on.x(offset + 0.5), on.y(-ROW_MV * row)), said, 9 * POINT, BLACK)
            continue
        points[:, 0] = np.arange(strip.samples) * step + offset
        points[:, 1] = values - np.float32(ROW_MV * row)
        canvas.trace(points, affine, (TRACE, LINE), clip, simplified=True)


def paint_front(canvas: Canvas, on: Page, sheet: Plot) -> None:
    """Frame, names and title: what lies over the traces."""
    top = on.y(HIGH_MV)
    for line in (
        [(LEFT, on.bottom), (LEFT, top)],
        [(on.right, on.bottom), (on.right, top)],
        [(LEFT, on.bottom), (on.right, on.bottom)],
        [(LEFT, top), (on.right, top)],
    ):
        canvas.line(line, BLACK, FRAME, cap="projecting")
    for number, lead in enumerate(LEADS):
        column, row = divmod(number, ROWS)
        canvas.text((on.x(column * on.seconds + 0.07), on.y(-ROW_MV * row - 0.5)), lead, 9 * POINT, BLACK)
    middle = (LEFT + on.right) / 2
    width = canvas.text_width(sheet.title, 12 * POINT)
    canvas.text((middle - width / 2, top + 31.863), sheet.title, 12 * POINT, BLACK)


def _upright(canvas: Canvas, on: Page, moment: float, colour: Colour) -> None:
    canvas.line([(on.x(moment), on.bottom), (on.x(moment), on.y(HIGH_MV))], colour, LINE, cap="projecting")


def _count(seconds: float) -> int:
    """How many labels the axis of the seconds has."""
    return max(1, math.ceil(COLUMNS * seconds / 0.2))
