"""The picture of ecg_plot 0.2.8, held against what was measured on the real one; slow/ compares all of it."""

from __future__ import annotations

import numpy as np
import pytest

from overread.media import sheet
from overread.media.drawing import upstream
from overread.media.drawing.strip import strip_of
from overread.media.ecg import LEADS


@pytest.fixture(scope="module")
def flat() -> sheet.Drawn:
    return sheet.draw(np.zeros((12, 5000)), 500, LEADS, "upstream")


@pytest.mark.parametrize(("seconds", "width"), [(10, 2072), (5, 1072), (12.25, 2528), (20.25, 4128)])
def test_the_picture_is_as_large_as_theirs(seconds: float, width: int) -> None:
    strip = strip_of(np.zeros((1, round(seconds * 400))), 400, ["I"])
    page = upstream.page(strip)
    assert (page.width, page.height) == (width, 1003)


def test_leads_stand_where_they_were_measured(flat: sheet.Drawn) -> None:
    for number, lead in enumerate(LEADS):
        x, y = flat.box(lead).to_px(2.0, 0.5)
        assert float(x) == pytest.approx(62.72 + 200 + 1000 * (number // 6), abs=0.01)
        assert float(y) == pytest.approx(9.38 + 40 * (2 - (0.5 - 4 * (number % 6))), abs=0.02)


def test_the_grid_stands_every_four_pixels_and_bolder_every_twenty(flat: sheet.Drawn) -> None:
    row = flat.image[200].astype(int)
    green = row[66:1056, 1]
    bold, fine = np.flatnonzero(green < 150), np.flatnonzero((green >= 150) & (green < 250))
    assert set(np.diff(bold)) == {20}
    assert len(fine) == pytest.approx(4 * len(bold), abs=4)
    assert {int(step) for step in np.diff(np.union1d(bold, fine))} == {4}


def test_the_first_trace_runs_over_the_grid_in_their_blue(flat: sheet.Drawn) -> None:
    y = int(flat.box("I").affine[5])
    for column in (300, 777, 1000):
        pixels = flat.image[y - 1 : y + 2, column].astype(int)
        red, green, blue = pixels[np.argmin(pixels[:, 1])]
        assert blue > 1.5 * max(red, green)


def test_the_line_before_a_right_lead_stands_at_the_first_sample_of_the_lead_before_it() -> None:
    mv = np.zeros((12, 5000))
    plain = sheet.draw(mv, 500, LEADS, "upstream")
    mv[LEADS.index("V1"), 0] = 0.5
    moved = sheet.draw(mv, 500, LEADS, "upstream")
    x, y = (int(one) for one in moved.box("V2").to_px(0, 0.5))
    region = (slice(y - 14, y + 15), slice(x - 2, x + 2))
    assert (plain.image[region] != moved.image[region]).any()
    x, y = (int(one) for one in moved.box("V3").to_px(0, 0.5))
    region = (slice(y - 14, y + 15), slice(x - 2, x + 2))
    assert (plain.image[region] == moved.image[region]).all()


def test_names_and_title_lie_over_the_traces(flat: sheet.Drawn) -> None:
    wild = np.tile(np.array([2.0, -2.0]), (12, 200))
    over = sheet.draw(wild, 40, LEADS, "upstream").image
    black = (flat.image == 0).all(axis=2)
    assert black.sum() > 3000
    assert (over[black] == 0).all()


def test_the_title_can_be_changed_and_left_out(flat: sheet.Drawn) -> None:
    bare = sheet.draw(np.zeros((12, 5000)), 500, LEADS, "upstream,title=").image
    rows, columns = np.nonzero((bare != flat.image).any(axis=2))
    assert rows.min() > 20 and rows.max() < 50
    assert columns.min() > 1000 and columns.max() < 1120
