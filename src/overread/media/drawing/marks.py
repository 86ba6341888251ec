"""Spans that are drawn onto a sheet: where a wave begins and ends, and what it is."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from overread.errors import BadInput
from overread.media.drawing.boxes import Box
from overread.media.drawing.canvas import Canvas, colour_of
from overread.media.drawing.settings import mark_colours
from overread.media.drawing.strip import lead_name

BAND = 0.22
"""How opaque a span is."""
EDGE = 0.75


@dataclasses.dataclass(frozen=True, slots=True)
class Mark:
    """A span of one lead."""

    lead: str
    """Empty: a span of all leads."""
    start: int
    """First sample, counted from the first that is drawn from."""
    stop: int
    """Last sample; as `start` for a single moment."""
    kind: str
    """`P`, `QRS` and `T` have colours of their own, others share one."""
    label: str = ""
    """What stands over the span; the colours are explained by themselves."""


def check_marks(marks: Sequence[Mark], samples: int) -> None:
    """BadInput for a mark that lies nowhere on the signal."""
    for mark in marks:
        if mark.lead:
            lead_name(mark.lead, "a mark")
        if not 0 <= mark.start <= mark.stop < samples:
            raise BadInput(
                f"a mark reaches from sample {mark.start} to {mark.stop}",
                where=f"mark {mark.kind!r} of lead {mark.lead or 'all'}",
                do=f"give samples from 0 to {samples - 1}, the first one first",
            )


def paint_marks(canvas: Canvas, boxes: Sequence[Box], marks: Sequence[Mark], rate_hz: float, unit: float) -> None:
    """Draws the spans behind the traces; `unit` is a millimetre in pixels, by which labels and lines are sized."""
    known = mark_colours()
    for mark in marks:
        colour = colour_of(known.get(mark.kind, known["other"]))
        for box in boxes:
            first, last = max(mark.start, box.samples[0]), min(mark.stop, box.samples[1] - 1)
            if first > last or (mark.lead and lead_name(mark.lead) != box.lead):
                continue
            (left, right), (bottom, top) = box.to_px([first / rate_hz, last / rate_hz], box.mv)
            line = max(1.0, 0.15 * unit)
            upper, lower = float(top) + unit, float(bottom) - unit
            canvas.fill((left, upper, right, lower), colour, BAND)
            for edge, whole in ((left, first == mark.start), (right, last == mark.stop)):
                if whole:
                    canvas.fill((edge - line / 2, upper, edge + line / 2, lower), colour, EDGE)
            if mark.label:
                canvas.text((float(left), lower - 0.6 * unit), mark.label, 2.6 * unit, colour, bold=True)


def paint_key(canvas: Canvas, at: tuple[float, float], marks: Sequence[Mark], unit: float) -> None:
    """Says which colour is which kind, to the left of a point on the baseline."""
    known = mark_colours()
    x, y = at
    found = {mark.kind for mark in marks}
    for kind in reversed([*(one for one in known if one in found), *sorted(found - set(known))]):
        colour = colour_of(known.get(kind, known["other"]))
        x -= canvas.text_width(kind, 2.8 * unit)
        canvas.text((x, y), kind, 2.8 * unit, colour)
        canvas.fill((x - 3.2 * unit, y - 2.2 * unit, x - 0.9 * unit, y + 0.1 * unit), colour, 0.6)
        x -= 6 * unit
