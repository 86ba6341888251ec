"""A 12-lead ECG as a drawn sheet, and where on it each lead stands.

    drawn = draw(mv, 500, LEADS, "clinical")
    drawn.image                       (height, width, 3) uint8
    drawn.png()                       the same as PNG
    drawn.box("V2").to_px(1.2, 0.5)   where 0.5 mV at 1.2 s lies, in pixels
    drawn.box("V2").to_signal(x, y)   and back

Profiles: `clinical` (3 x 4 and a rhythm strip), `6x2`, `12x1`, and `upstream`, the picture that
ECG-Reasoning-Benchmark shows its models. This module is no kind of medium: it draws for `ecg`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy.typing as npt

from overread.media.drawing import effects as effects_
from overread.media.drawing import paper, upstream
from overread.media.drawing.boxes import Box
from overread.media.drawing.canvas import Canvas
from overread.media.drawing.drawn import Drawn
from overread.media.drawing.effects import Effects, effects_of
from overread.media.drawing.lettering import Heading, paint_footer, paint_header
from overread.media.drawing.marks import Mark, check_marks, paint_key, paint_marks
from overread.media.drawing.settings import Colours, Paper, Plot, Sheet, colours_of, profiles, sheet_of
from overread.media.drawing.stage import Stage, Stages
from overread.media.drawing.strip import Strip, strip_of

__all__ = [
    "Box", "Colours", "Drawn", "Effects", "Heading", "Mark", "Paper", "Plot", "Sheet",
    "colours_of", "draw", "draw_worn", "effects_of", "profiles", "sheet_of",
]  # fmt: skip

DEFAULT = "clinical"

_STAGES = Stages()
_MARK_UNIT_PX = 4.0
"""What counts as a millimetre for marks on a picture that has none."""


def draw(
    mv: npt.ArrayLike,
    rate_hz: float,
    leads: Sequence[str],
    sheet: Sheet | str = DEFAULT,
    *,
    heading: Heading | None = None,
    marks: Sequence[Mark] = (),
) -> Drawn:
    """Draws (leads, samples) in mV; NaN is left out.

    `sheet` is a profile, with settings behind it where some are to differ (`clinical,dpi=150`), or settings made in
    code. Same input, same picture. Safe to use from several threads.
    """
    chosen = sheet_of(sheet) if isinstance(sheet, str) else sheet
    strip = strip_of(mv, rate_hz, leads)
    check_marks(marks, strip.samples)
    if isinstance(chosen, Plot):
        return _draw_plot(chosen, strip, marks)
    return _draw_paper(chosen, strip, heading or Heading(), marks)


def draw_worn(
    mv: npt.ArrayLike, rate_hz: float, leads: Sequence[str], sheet: Sheet | str, effects: Effects | str, seed: int
) -> Drawn:
    """Draws as `draw` does and then wears the paper, as scanners, cameras and pockets do; the boxes move along.

    `effects` are strengths, or a name (`scan`, `photo`); how much of each is applied is drawn from the seed. A sheet
    that was drawn with heading or marks is worn by `drawing.effects.after`.
    """
    chosen = sheet_of(sheet) if isinstance(sheet, str) else sheet
    strengths = effects_of(effects) if isinstance(effects, str) else effects
    before = effects_.before(chosen, strengths, seed)
    return effects_.after(draw(mv, rate_hz, leads, before), strengths, seed)


def _draw_plot(sheet: Plot, strip: Strip, marks: Sequence[Mark]) -> Drawn:
    on = upstream.page(strip)
    placed = upstream.boxes(strip, on)

    def make() -> Stage:
        canvas = Canvas(on.width, on.height, upstream.DPI)
        upstream.paint_back(canvas, on)
        return Stage(canvas, lambda blank: upstream.paint_front(blank, on, sheet))

    with _STAGES.on((sheet, on), make) as stage:
        paint_marks(stage.canvas, placed, marks, strip.rate_hz, _MARK_UNIT_PX)
        upstream.paint_traces(stage.canvas, on, strip)
        image = stage.picture()
    return Drawn(image, placed, sheet, (0, strip.samples), upstream.DPI)


def _draw_paper(sheet: Paper, strip: Strip, heading: Heading, marks: Sequence[Mark]) -> Drawn:
    on = paper.page(sheet, strip)
    placed = paper.boxes(sheet, strip, on)

    def make() -> Stage:
        canvas = Canvas(on.width, on.height)
        paper.paint_back(canvas, sheet, on)
        return Stage(canvas)

    with _STAGES.on((sheet, on), make) as stage:
        canvas = stage.canvas
        paint_marks(canvas, placed, marks, strip.rate_hz, sheet.px_per_mm)
        paper.paint_traces(canvas, sheet, on, strip, placed)
        if sheet.header != "none":
            paint_header(canvas, sheet, heading)
        if sheet.footer:
            paint_footer(canvas, sheet, on, strip, placed)
        if marks:
            paint_key(canvas, (on.right, on.bottom + 10.5 * sheet.px_per_mm), marks, sheet.px_per_mm)
        image = stage.picture()
    shown = strip.place(sheet.start_s), strip.place(sheet.start_s + on.seconds)
    return Drawn(image, placed, sheet, shown, sheet.dpi)
