from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from scipy import ndimage

from overread.errors import BadInput
from overread.phantoms.draws import generator
from overread.phantoms.echo import echo_phantom
from overread.phantoms.echo_heart import draw_heart, extremes, shape_at, volume_at
from overread.phantoms.echo_image import fit_sector


def discs_ml(rows: list[list[float]], spacing_mm: float) -> float:
    """The method of discs, as the annotation of such clips defines it."""
    x1, y1, x2, y2 = np.array(rows).T
    lengths = np.hypot(x2 - x1, y2 - y1) * spacing_mm
    return float((np.pi * (lengths[1:] / 2) ** 2 * lengths[0] / (len(rows) - 1)).sum() / 1000)


@pytest.fixture(scope="module")
def truths() -> list[dict[str, Any]]:
    return [echo_phantom(seed, size=32).truth for seed in range(40)]


def test_the_method_of_discs_gives_the_volume_within_one_percent() -> None:
    for seed in range(8):
        truth = echo_phantom(seed, size=48).truth
        for name, told in (("ed", "edv_ml"), ("es", "esv_ml")):
            tracing = truth["tracings"][name]
            assert len(tracing["rows"]) == 21
            assert truth["volume_ml"][tracing["frame"]] == truth[told]
            assert discs_ml(tracing["rows"], truth["spacing_mm"]) == pytest.approx(truth[told], rel=0.01)


def test_chords_run_from_apex_to_valve_and_lie_in_the_cavity() -> None:
    phantom = echo_phantom(3)
    for name in ("ed", "es"):
        tracing = phantom.truth["tracings"][name]
        axis, chords = np.array(tracing["rows"][0]), np.array(tracing["rows"][1:])
        assert axis[1] < axis[3]
        middles = (chords[:, :2] + chords[:, 2:]) / 2
        assert (np.diff(np.hypot(*(middles - axis[:2]).T)) > 0).all()
        columns, rows = np.rint(middles).astype(int).T
        assert phantom.cavity[tracing["frame"]][rows, columns].all()
        lengths = np.hypot(*(chords[:, 2:] - chords[:, :2]).T)
        area = lengths.sum() * np.hypot(*(axis[2:] - axis[:2])) / 20
        assert phantom.cavity[tracing["frame"]].sum() == pytest.approx(area, rel=0.03)


def test_extremes_are_the_local_ones_and_every_clip_has_both(truths: list[dict[str, Any]]) -> None:
    for truth in truths:
        v = truth["volume_ml"]
        assert len(v) == truth["frames"]
        inner = range(1, len(v) - 1)
        assert truth["ed_frames"] == [i for i in inner if v[i] > v[i - 1] and v[i] >= v[i + 1]]
        assert truth["es_frames"] == [i for i in inner if v[i] < v[i - 1] and v[i] <= v[i + 1]]
        assert truth["ed_frames"] and truth["es_frames"]
        both = sorted([(i, "ed") for i in truth["ed_frames"]] + [(i, "es") for i in truth["es_frames"]])
        assert all(a[1] != b[1] for a, b in itertools.pairwise(both))
        assert truth["ef_percent"] == pytest.approx(100 * (1 - truth["esv_ml"] / truth["edv_ml"]), abs=0.01)


def test_hearts_and_clips_stay_within_their_ranges(truths: list[dict[str, Any]]) -> None:
    starts = []
    for truth in truths:
        beats = truth["frames"] / truth["fps"] * truth["heart_rate_bpm"] / 60
        assert 1.25 <= beats <= 2.5
        assert truth["frames"] in (32, 64, 128)
        assert 50 <= truth["heart_rate_bpm"] <= 110
        assert 25 <= truth["fps"] <= 60
        assert 20 <= truth["ef_percent"] <= 70
        beat = truth["fps"] * 60 / truth["heart_rate_bpm"]
        starts.append(truth["ed_frames"][0] / beat)
        gaps = np.diff(truth["ed_frames"])
        assert (np.abs(gaps - beat) <= 1.5).all()
    assert np.ptp(starts) > 0.8


def test_the_volume_falls_in_systole_and_rises_until_the_next_beat() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        heart = draw_heart(rng)
        phase = np.linspace(0, 1, 2001)
        steps = np.diff(volume_at(heart, phase))
        falling = phase[1:] <= heart.ejection
        assert (steps[falling] < 0).all() and (steps[~falling][1:] > 0).all()
        ends = volume_at(heart, np.array([0.0, heart.ejection, 1.0 - 1e-9]))
        assert ends == pytest.approx([heart.edv_ml, heart.esv_ml, heart.edv_ml], rel=1e-6)
        assert 0.25 <= 1 - heart.esv_ml / heart.edv_ml <= 0.70


def test_the_wall_thickens_and_keeps_its_volume() -> None:
    heart = draw_heart(np.random.default_rng(1))
    radius, length, wall = shape_at(heart, np.linspace(heart.esv_ml, heart.edv_ml, 30))
    assert radius**2 * length * 2 / 3 * np.pi / 1000 == pytest.approx(np.linspace(heart.esv_ml, heart.edv_ml, 30))
    muscle = (radius + wall) ** 2 * (length + wall) - radius**2 * length
    assert muscle == pytest.approx(np.full(30, muscle[-1]))
    assert (np.diff(wall) < 0).all() and wall[-1] == pytest.approx(heart.wall)


def test_the_cavity_is_largest_at_end_diastole_dark_and_inside_the_fan() -> None:
    for seed in range(4):
        phantom = echo_phantom(seed)
        area = phantom.cavity.sum(axis=(1, 2))
        volume = np.array(phantom.truth["volume_ml"])
        assert np.corrcoef(area, volume)[0, 1] > 0.99
        assert volume[area.argmax()] > 0.99 * volume.max()
        grey = phantom.frames[..., 0].astype(float)
        fan = ndimage.binary_fill_holes(ndimage.binary_closing(grey.max(axis=0) > 0, iterations=2))
        assert not (phantom.cavity & ~fan).any()
        ring = ndimage.binary_dilation(phantom.cavity[0], iterations=3) & ~ndimage.binary_dilation(phantom.cavity[0])
        upper = np.arange(112)[:, None] < phantom.truth["tracings"]["es"]["rows"][0][3] - 4
        assert grey[0][phantom.cavity[0] & upper].mean() < 0.3 * grey[0][ring & upper].mean()


def test_speckle_stays_with_the_tissue_and_is_new_in_blood() -> None:
    phantom = echo_phantom(2, frames=40, rate_hz=200)
    grey = phantom.frames[..., 0].astype(float)
    rows, _ = np.mgrid[:112, :112]
    blood = ndimage.binary_erosion(phantom.cavity.all(axis=0), iterations=6) & (rows < 60)
    around = ndimage.binary_dilation(phantom.cavity[0], iterations=4) & ~ndimage.binary_dilation(phantom.cavity[0])
    tissue = around & (rows < 60)
    slow = int(np.abs(np.diff(phantom.truth["volume_ml"])).argmin())

    def likeness(where: np.ndarray) -> float:
        return float(np.corrcoef(grey[slow][where], grey[slow + 1][where])[0, 1])

    assert likeness(tissue) > 0.9
    assert abs(likeness(blood)) < 0.5


def test_speckle_of_the_wall_follows_it_as_it_thickens() -> None:
    phantom = echo_phantom(0, size=224, rate_hz=50)
    heart = draw_heart(generator("echo", 0))
    sector = fit_sector(heart, 224)
    angles, depths = np.meshgrid(np.linspace(0.8, 1.35, 60), np.linspace(0.2, 0.8, 12))

    def wall(frame: int) -> np.ndarray:
        """Grey levels at the same points of the muscle: by the angle around and by the share of the thickness."""
        volume = np.array([phantom.truth["volume_ml"][frame]])
        radius, length, thick = (float(v[0]) for v in shape_at(heart, volume))
        away = 1 + depths * thick / radius
        off, reach = away * radius * np.sin(angles), length - away * length * np.cos(angles)
        x = heart.apex[0] + reach * np.sin(heart.tilt) + off * np.cos(heart.tilt)
        z = heart.apex[1] + reach * np.cos(heart.tilt) - off * np.sin(heart.tilt)
        column, row = sector.pixel(x, z)
        grey = ndimage.map_coordinates(phantom.frames[frame, :, :, 0].astype(float), [row, column], order=1)
        # What is left is the speckle: the walls' brightness differs by place and would look alike in any case.
        return (grey - ndimage.gaussian_filter(grey, 4)).ravel()

    ed = phantom.truth["tracings"]["ed"]["frame"]
    assert phantom.truth["volume_ml"][ed + 5] < 0.9 * phantom.truth["volume_ml"][ed]
    assert np.corrcoef(wall(ed), wall(ed + 5))[0, 1] > 0.8


def test_tissue_at_the_base_moves_towards_the_apex_in_systole() -> None:
    phantom = echo_phantom(0, rate_hz=50)
    ed = next(f for f in phantom.truth["ed_frames"] if f + 8 < phantom.truth["frames"])
    x1, _, _, base = phantom.truth["tracings"]["ed"]["rows"][0]
    column = int(phantom.truth["tracings"]["ed"]["rows"][-1][2]) + 12
    first = phantom.frames[ed, int(base) - 6 : int(base) + 10, column - 5 : column + 6, 0].astype(float)
    assert x1 < column

    def match(shift: int) -> float:
        top = int(base) - 6 + shift
        later = phantom.frames[ed + 8, top : top + 16, column - 5 : column + 6, 0].astype(float)
        return float(np.corrcoef(first.ravel(), later.ravel())[0, 1])

    assert max(range(-8, 9), key=match) < 0


def test_frames_are_grey_and_the_same_for_the_same_seed() -> None:
    one, two, other = echo_phantom(5, frames=6), echo_phantom(5, frames=6), echo_phantom(6, frames=6)
    assert one.frames.shape == (6, 112, 112, 3) and one.frames.dtype == np.uint8
    assert (one.frames == one.frames[..., :1]).all()
    assert one.frames.tobytes() == two.frames.tobytes() and one.truth == two.truth
    assert one.frames.tobytes() != other.frames.tobytes()
    assert one.cavity.shape == (6, 112, 112)


def test_frames_rate_and_size_leave_the_heart_as_it_is() -> None:
    one, two = echo_phantom(5), echo_phantom(5, frames=200, size=64, rate_hz=90)
    assert one.truth["heart_rate_bpm"] == two.truth["heart_rate_bpm"]
    assert one.truth["edv_ml"] == pytest.approx(two.truth["edv_ml"], rel=0.01)
    assert two.frames.shape == (200, 64, 64, 3)
    mm = [p.cavity[p.truth["tracings"]["ed"]["frame"]].sum() * p.truth["spacing_mm"] ** 2 for p in (one, two)]
    assert mm[0] == pytest.approx(mm[1], rel=0.03)


def test_a_single_frame_has_volumes_and_no_extremes() -> None:
    truth = echo_phantom(1, frames=1).truth
    assert truth["ed_frames"] == truth["es_frames"] == []
    assert truth["tracings"]["ed"]["frame"] == 0 and truth["ef_percent"] == 0


def test_equal_neighbours_count_once() -> None:
    assert extremes(np.array([1.0, 2.0, 2.0, 1.0, 1.0, 3.0])) == ([1], [3])


@pytest.mark.parametrize("bad", [{"frames": 0}, {"size": 8}, {"rate_hz": 0.0}, {"seed": -3}])
def test_settings_out_of_range_are_refused(bad: dict[str, int]) -> None:
    with pytest.raises(BadInput):
        echo_phantom(**({"seed": 0} | bad))  # type: ignore[arg-type]
