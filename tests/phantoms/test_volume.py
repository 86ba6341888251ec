from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import ndimage

from overread.errors import BadInput
from overread.phantoms.volume import NAMES, VolumePhantom, _lesions, volume_phantom

CORNERS = np.ones((3, 3, 3))
COARSE = {"shape": (48, 40, 32), "spacing_mm": (7.5, 7.5, 7.5)}
LABEL = {name: label for label, name in NAMES.items()}


@pytest.fixture(scope="module")
def phantoms() -> list[VolumePhantom]:
    return [volume_phantom(seed, **COARSE) for seed in range(40)]  # type: ignore[arg-type]


def test_measures_are_those_of_the_voxels(phantoms: list[VolumePhantom]) -> None:
    for phantom in phantoms[:5]:
        for name, told in phantom.truth["structures"].items():
            where = np.stack(np.nonzero(phantom.labels == LABEL[name]))
            assert told["voxels"] == where.shape[1]
            assert told["volume_ml"] == pytest.approx(where.shape[1] * 7.5**3 / 1000, abs=1e-3)
            world = (phantom.affine @ np.vstack([where, np.ones(where.shape[1])]))[:3]
            assert told["centroid_mm"] == pytest.approx(world.mean(axis=1), abs=1e-2)
            assert told["box"] == [where.min(axis=1).tolist(), where.max(axis=1).tolist()]


def test_left_is_below_right_along_x(phantoms: list[VolumePhantom]) -> None:
    for phantom in phantoms:
        x = {name: told["centroid_mm"][0] for name, told in phantom.truth["structures"].items()}
        assert x["kidney_left"] < x["aorta"] < x["kidney_right"]
        assert x["spleen"] < 0 < x["liver"]
        assert phantom.affine[0, 0] > 0


def test_every_organ_is_there_whole_and_in_one_piece(phantoms: list[VolumePhantom]) -> None:
    ranges = {"liver": (600, 2000), "spleen": (90, 400), "kidney_left": (70, 260), "kidney_right": (70, 260)}
    for phantom in phantoms:
        for name, (low, high) in ranges.items():
            told = phantom.truth["structures"][name]
            assert low < told["volume_ml"] < high
            assert not told["truncated"]
            assert ndimage.label(phantom.labels == LABEL[name], structure=CORNERS)[1] == 1
        assert phantom.truth["structures"]["aorta"]["truncated"]


def test_lesions_are_separate_and_inside_the_kidney_of_their_side(phantoms: list[VolumePhantom]) -> None:
    for phantom in phantoms:
        told = phantom.truth["lesions"]
        pieces, count = ndimage.label(phantom.labels == LABEL["kidney_lesion"], structure=CORNERS)
        assert told["count"] == count == len(told["volume_ml"])
        assert (told["side"] is None) == (count == 0) == ("kidney_lesion" not in phantom.truth["structures"])
        for piece, volume in enumerate(told["volume_ml"], start=1):
            assert volume == pytest.approx((pieces == piece).sum() * 7.5**3 / 1000, abs=1e-3)
            rim = ndimage.binary_dilation(pieces == piece) & (pieces == 0)
            other = "left" if told["side"] == "right" else "right"
            assert (phantom.labels[rim] == LABEL[f"kidney_{told['side']}"]).mean() > 0.6
            assert LABEL[f"kidney_{other}"] not in phantom.labels[rim]
    counts = [phantom.truth["lesions"]["count"] for phantom in phantoms]
    assert set(counts) == {0, 1, 2, 3}
    assert {phantom.truth["lesions"]["side"] for phantom in phantoms} == {None, "left", "right"}


def test_lesions_are_placed_apart_and_within_the_kidney() -> None:
    kidney, radii = np.array([60.0, -48.0, -36.0]), np.array([25.0, 23.0, 50.0])
    for seed in range(200):
        placed = _lesions(np.random.default_rng(seed), kidney, radii)
        for (one, r), (two, s) in itertools.combinations(placed, 2):
            assert np.linalg.norm(one - two) > r + s + 14
        assert all(np.linalg.norm((centre - kidney) / (radii - r)) < 1.1 for centre, r in placed)


def test_the_number_of_lesions_does_not_depend_on_the_voxels(phantoms: list[VolumePhantom]) -> None:
    for seed in range(6):
        assert volume_phantom(seed).truth["lesions"]["count"] == phantoms[seed].truth["lesions"]["count"]


def test_the_anatomy_does_not_depend_on_the_voxels(phantoms: list[VolumePhantom]) -> None:
    fine = volume_phantom(3)
    for name in ("liver", "spleen", "kidney_left"):
        coarse = phantoms[3].truth["structures"][name]
        assert fine.truth["structures"][name]["volume_ml"] == pytest.approx(coarse["volume_ml"], rel=0.08)
        assert fine.truth["structures"][name]["centroid_mm"] == pytest.approx(coarse["centroid_mm"], abs=2.0)


def test_organs_have_the_density_of_organs() -> None:
    phantom = volume_phantom(1)
    assert phantom.voxels.dtype == np.int16 and phantom.labels.dtype == np.uint8
    for name, hu in (("liver", 110), ("spleen", 125), ("kidney_left", 165)):
        inside = ndimage.binary_erosion(phantom.labels == LABEL[name], iterations=2)
        assert phantom.voxels[inside].mean() == pytest.approx(hu, abs=4)
    assert phantom.voxels[0, 0, 0] < -900


def test_the_same_seed_gives_the_same_bytes() -> None:
    one, two, other = (volume_phantom(seed, **COARSE) for seed in (4, 4, 5))  # type: ignore[arg-type]
    assert one.voxels.tobytes() == two.voxels.tobytes() and one.labels.tobytes() == two.labels.tobytes()
    assert one.truth == two.truth
    assert one.labels.tobytes() != other.labels.tobytes()


def test_a_field_too_small_says_what_it_cuts_off() -> None:
    truth = volume_phantom(0, shape=(24, 24, 12), spacing_mm=(7.5, 7.5, 7.5)).truth
    assert truth["structures"]["liver"]["truncated"]


@pytest.mark.parametrize(
    "bad", [{"shape": (4, 64, 48)}, {"spacing_mm": (0.0, 1.0, 1.0)}, {"spacing_mm": (1, 1, 50)}, {"seed": -1}]
)
def test_settings_out_of_range_are_refused(bad: dict[str, object]) -> None:
    with pytest.raises(BadInput):
        volume_phantom(**({"seed": 0} | bad))  # type: ignore[arg-type]
