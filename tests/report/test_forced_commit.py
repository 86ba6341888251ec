"""The figure of forced commitment, as what it is drawn of."""

from __future__ import annotations

import pytest
from matplotlib.colors import to_hex

from overread.report.curves import Curve
from overread.report.forced_commit import COLOURS, MARKERS, draw, rendered

BINS = ((0, 25), (25, 50), (50, 75), (75, 100))


def curve(model: str, *accuracies: float | None, first: float | None = 0.5) -> Curve:
    return Curve(model, first, tuple((*ends, accuracy) for ends, accuracy in zip(BINS, accuracies, strict=True)))


def test_a_curve_goes_through_the_middles_of_its_bins_and_passes_over_empty_ones() -> None:
    (axis,) = draw([curve("gem", None, 0.6, None, 0.9)], "combined").axes
    line, first = axis.get_lines()
    assert (line.get_xdata().tolist(), line.get_ydata().tolist()) == ([37.5, 87.5], [0.6, 0.9])
    assert set(first.get_ydata()) == {0.5} and first.get_linestyle() == "--"
    assert first.get_color() == line.get_color() and first.get_alpha() == pytest.approx(0.55)
    assert [label.get_text() for label in axis.get_xticklabels()] == ["(0, 25]", "(25, 50]", "(50, 75]", "(75, 100]"]
    assert (axis.get_xlabel(), axis.get_ylabel(), axis.get_ylim()) == (
        "Finding Coverage (%)", "Diagnosis Accuracy", (0.0, 1.0)
    )  # fmt: skip
    legend = axis.get_legend()
    assert legend is not None and [text.get_text() for text in legend.get_texts()] == ["gem", "IDQ baseline"]
    assert not axis.spines["top"].get_visible() and not axis.spines["right"].get_visible()


def test_models_differ_in_colour_and_in_marker_in_both_layouts() -> None:
    curves = [curve(f"m{n}", 0.1, 0.2, 0.3, 0.4) for n in range(10)]
    (axis,) = draw(curves, "combined").axes
    lines = [line for line in axis.get_lines() if line.get_linestyle() == "-"]
    assert len({to_hex(line.get_color()) for line in lines}) == len({line.get_marker() for line in lines}) == 10
    assert len(set(COLOURS)) == len(set(MARKERS)) == 10
    apart = draw(curves[:4], "separate", (0.2, 0.8))
    shown = [axis for axis in apart.axes if axis.axison]
    assert len(shown) == 4 and len(apart.axes) == 6
    assert {axis.get_ylim() for axis in shown} == {(0.2, 0.8)}
    colours = [to_hex(axis.get_lines()[0].get_color()) for axis in shown]
    assert colours == [to_hex(line.get_color()) for line in lines[:4]]


def test_a_model_without_a_first_question_has_no_dashed_line() -> None:
    (axis,) = draw([curve("gem", 0.1, 0.2, 0.3, 0.4, first=None)], "combined").axes
    assert len(axis.get_lines()) == 1


def test_the_files_are_made_with_truetype_fonts_and_are_the_same_each_time() -> None:
    curves = [curve("gem", 0.1, 0.2, 0.3, 0.4)]
    pdf, png = (rendered(draw(curves, "combined"), kind) for kind in ("pdf", "png"))  # type: ignore[arg-type]
    assert pdf.startswith(b"%PDF") and png.startswith(b"\x89PNG")
    assert b"/CIDFontType2" in pdf and b"/Type3" not in pdf, "TrueType, not Type 3"
    assert pdf == rendered(draw(curves, "combined"), "pdf")
