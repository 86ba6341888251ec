"""The figure of forced commitment: how much of the findings is shown, and how many diagnoses are right then.

One curve a model through the middles of its bins, and a dashed line of the same colour at its accuracy on the first
question. A bin without decisions has no point: the line goes from the one before to the one after. Ten colours that the
colour-blind can tell apart, each with a marker of its own; from the eleventh model on the line is dotted too.
"""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from typing import Any, Literal

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from overread.report.curves import Curve, Layout

COLOURS = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#7f5f3f", "#8c8c8c", "#b3b300",
)  # fmt: skip
MARKERS = ("o", "s", "D", "^", "v", "P", "X", "*", "h", "<")
BASELINE = "#666666"
DASHES = (0, (5, 3))
COLUMNS = 3
"""Axes side by side at most, where each model has its own."""

STYLE: Any = {
    "pdf.fonttype": 42,  # TrueType: what publishers ask for
    "ps.fonttype": 42,
    "font.family": "DejaVu Sans",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.hashsalt": "overread",
}


def draw(curves: Sequence[Curve], layout: Layout, limits: tuple[float, float] = (0.0, 1.0)) -> Figure:
    """The figure; `limits` are those of the accuracy."""
    with matplotlib.rc_context(STYLE):
        if layout == "combined":
            figure = Figure(figsize=(8.0, 5.2), layout="constrained")
            grid = [figure.add_subplot()]
            groups = [list(enumerate(curves))]
        else:
            columns = min(COLUMNS, len(curves))
            rows = math.ceil(len(curves) / columns)
            figure = Figure(figsize=(4.6 * columns, 3.6 * rows), layout="constrained")
            axes = figure.subplots(rows, columns, sharey=True, squeeze=False).flatten().tolist()
            for empty in axes[len(curves) :]:
                empty.set_axis_off()
            grid, groups = axes[: len(curves)], [[one] for one in enumerate(curves)]
        for place, (axis, group) in enumerate(zip(grid, groups, strict=True)):
            _axes(axis, group, limits)
            if layout == "combined" or place % COLUMNS == 0:
                axis.set_ylabel("Diagnosis Accuracy")
        return figure


def _axes(axis: Axes, group: Sequence[tuple[int, Curve]], limits: tuple[float, float]) -> None:
    handles: list[Line2D] = []
    for number, curve in group:
        colour, marker = COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]
        points = [((low + high) / 2, accuracy) for low, high, accuracy in curve.bins if accuracy is not None]
        middles, heights = [x for x, _ in points], [y for _, y in points]
        style = "-" if number < len(COLOURS) else ":"
        look: Any = {"color": colour, "marker": marker, "linestyle": style, "clip_on": False, "zorder": 3}
        handles += axis.plot(middles, heights, label=curve.model, **look)
        if curve.first is not None:
            axis.axhline(curve.first, color=colour, linestyle=DASHES, linewidth=1.2, alpha=0.55, zorder=1)
    bins = group[0][1].bins
    axis.set_xticks([(low + high) / 2 for low, high, _ in bins], [f"({low:g}, {high:g}]" for low, high, _ in bins])
    axis.set_xlim(bins[0][0], bins[-1][1])
    axis.set_ylim(*limits)
    axis.set_xlabel("Finding Coverage (%)")
    axis.grid(axis="y", linestyle="--", linewidth=0.6, color="#cccccc")
    axis.set_axisbelow(True)
    if any(curve.first is not None for _, curve in group):
        handles.append(Line2D([], [], color=BASELINE, linestyle=DASHES, linewidth=1.2, label="IDQ baseline"))
    axis.legend(handles=handles, fontsize="small", frameon=False)


def rendered(figure: Figure, kind: Literal["pdf", "png"]) -> bytes:
    """The figure as a file; the same figure gives the same bytes."""
    out = io.BytesIO()
    with matplotlib.rc_context(STYLE):
        told = {"CreationDate": None, "Creator": "overread"} if kind == "pdf" else {"Software": "overread"}
        figure.savefig(out, format=kind, dpi=200, metadata=told)
    return out.getvalue()
