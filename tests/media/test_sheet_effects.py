from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from overread.errors import BadInput
from overread.media import sheet
from overread.media.drawing import effects
from overread.media.drawing.boxes import Box, compose, inverse
from overread.media.ecg import LEADS
from overread.media.sheet import Effects

SHEET = "clinical,dpi=101.6"
EACH = {
    "rotation_deg": 8.0, "crop": 0.1, "crease": 1.0, "noise": 20.0, "temperature": 1.0, "blur_px": 3.0, "shadow": 1.0,
    "shrink": 0.5, "jpeg": 1.0, "black_and_white": 1.0,
}  # fmt: skip
number = st.floats(-50, 50).map(lambda one: round(one, 3))


@pytest.fixture(scope="module")
def peaked() -> sheet.Drawn:
    """A sheet whose only dark blob that is neither text nor a flat line is the spike of V2 at 5.9 s."""
    mv = np.full((12, 5000), np.nan)
    mv[LEADS.index("V2"), 2930:2970] = 0.8
    return sheet.draw(mv, 500, LEADS, f"{SHEET},grid=none,header=none,footer=no,axis=no,pulse=no")


@pytest.fixture(scope="module")
def plain() -> sheet.Drawn:
    return sheet.draw(np.zeros((12, 5000)), 500, LEADS, SHEET)


@given(st.tuples(number, number, number, number, number, number), number, number)
def test_a_box_maps_to_pixels_and_back(affine: tuple[float, ...], seconds: float, mv: float) -> None:
    a, b, c, d, e, f = affine
    assume(abs(a * e - b * d) > 0.1)
    box = Box("I", (0, 10), (-2, 2), (a, b, c, d, e, f), (0, 0))
    back = box.to_signal(*box.to_px(seconds, mv))
    assert np.allclose([float(one) for one in back], [seconds, mv], atol=1e-5)
    x, y = box.to_px(seconds, mv)
    assert np.allclose(box.to_px(*box.to_signal(x, y)), [x, y], atol=1e-5)


@given(st.tuples(number, number, number, number, number, number), st.floats(-math.pi, math.pi))
def test_moving_a_box_and_moving_it_back_changes_nothing(affine: tuple[float, ...], angle: float) -> None:
    a, b, c, d, e, f = affine
    assume(abs(a * e - b * d) > 0.1)
    by = (math.cos(angle), -math.sin(angle), 5.0, math.sin(angle), math.cos(angle), -7.0)
    box = Box("I", (0, 10), (-2, 2), (a, b, c, d, e, f), (0, 0))
    moved = box.moved(by)
    assert moved.px_per_s == pytest.approx(box.px_per_s)
    assert np.allclose(moved.moved(inverse(by)).affine, box.affine, atol=1e-6)
    assert np.allclose(compose(by, inverse(by)), (1, 0, 0, 0, 1, 0), atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_boxes_move_with_rotation_crop_and_size(peaked: sheet.Drawn, seed: int) -> None:
    worn = effects.after(peaked, Effects(rotation_deg=8, crop=0.05, shrink=0.4), seed)
    box = worn.box("V2")
    (x0, x1), (y0, y1) = box.to_px([2930 / 500, 2969 / 500], [0.8, 0.8])
    for part in (0.1, 0.5, 0.9):
        x, y = x0 + part * (x1 - x0), y0 + part * (y1 - y0)
        window = worn.image[int(y) - 6 : int(y) + 7, int(x)].astype(int).max(axis=1)
        assert int(y) - 6 + int(np.argmin(window)) + 0.5 == pytest.approx(y, abs=1.5)
        assert window.min() < 160
    assert worn.image.shape != peaked.image.shape
    assert worn.dpi < peaked.dpi
    assert box.px_per_s == pytest.approx(100 * (1 - worn.wear["shrink"]), rel=0.01)


def test_the_polygon_of_a_turned_box_is_turned(plain: sheet.Drawn) -> None:
    worn = effects.after(plain, Effects(rotation_deg=20), 1)
    (x0, y0), (x1, y1), *_ = worn.boxes[0].polygon
    assert math.degrees(math.atan2(y1 - y0, x1 - x0)) == pytest.approx(worn.wear["rotation_deg"])
    assert abs(worn.wear["rotation_deg"]) > 1


@pytest.mark.parametrize("name", EACH)
def test_each_effect_changes_the_picture_by_its_seed_alone(plain: sheet.Drawn, name: str) -> None:
    strength = Effects(**{name: EACH[name]})
    one, again, other = (effects.after(plain, strength, seed) for seed in (1, 1, 2))
    assert np.array_equal(one.image, again.image) and one.boxes == again.boxes
    geometry = ("crop", "rotation") if name in ("crop", "rotation_deg") else (name,)
    assert one.wear and all(key.startswith(geometry) for key in one.wear)
    assert one.image.shape != plain.image.shape or not np.array_equal(one.image, plain.image)
    if name != "black_and_white":
        assert one.image.shape != other.image.shape or not np.array_equal(one.image, other.image)
    if name not in ("rotation_deg", "crop", "shrink"):
        assert one.boxes == plain.boxes
    assert one.image.dtype == np.uint8 and one.image.shape[2] == 3


def test_no_effect_is_no_change(plain: sheet.Drawn) -> None:
    same = effects.after(plain, Effects(), 5)
    assert np.array_equal(same.image, plain.image) and same.wear == {}


def test_one_more_effect_leaves_the_others_as_they_were(plain: sheet.Drawn) -> None:
    one = effects.after(plain, Effects(rotation_deg=5, noise=5), 3).wear
    more = effects.after(plain, Effects(rotation_deg=5, noise=5, shadow=0.5, blur_px=1), 3).wear
    assert one.items() <= more.items()


def test_strength_is_an_upper_bound(plain: sheet.Drawn) -> None:
    for seed in range(5):
        wear = effects.after(plain, Effects(temperature=0.2, blur_px=2), seed).wear
        assert abs(wear["temperature"]) <= 0.2 and 0 <= wear["blur_px"] <= 2


def test_black_and_white_has_no_colours(plain: sheet.Drawn) -> None:
    image = effects.after(plain, Effects(black_and_white=1), 0).image
    assert (image[..., 0] == image[..., 2]).all()


def test_without_a_grid_only_the_paper_is_left_between_the_traces() -> None:
    mv = np.zeros((12, 5000))
    drawn = sheet.draw_worn(mv, 500, LEADS, SHEET, Effects(no_grid=1), 0)
    left, _, right, bottom = (round(edge) for edge in drawn.boxes[-1].rectangle)
    assert len(np.unique(drawn.image[bottom - 30 : bottom - 5, left + 20 : right - 20].reshape(-1, 3), axis=0)) == 1
    with pytest.raises(BadInput, match="upstream"):
        sheet.draw_worn(mv, 500, LEADS, "upstream", Effects(no_grid=1), 0)


@pytest.mark.parametrize("name", ["scan", "photo"])
def test_named_effects_wear_any_sheet_and_say_what_they_did(name: str) -> None:
    mv = np.zeros((12, 5000))
    drawn = sheet.draw_worn(mv, 500, LEADS, SHEET, name, 4)
    assert {"rotation_deg", "noise", "jpeg"} <= set(drawn.facts()["wear"])
    assert np.array_equal(drawn.image, sheet.draw_worn(mv, 500, LEADS, SHEET, name, 4).image)


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(Effects)])
@pytest.mark.parametrize("value", [-0.1, 1000.0, float("nan"), "much"])
def test_a_strength_out_of_range_is_refused(name: str, value: float) -> None:
    with pytest.raises(BadInput, match=name):
        Effects(**{name: value})


def test_unknown_names_and_seeds_are_refused(plain: sheet.Drawn) -> None:
    with pytest.raises(BadInput, match="no set of effects"):
        sheet.effects_of("rain")
    with pytest.raises(BadInput, match="seed"):
        effects.after(plain, Effects(noise=1), -1)
