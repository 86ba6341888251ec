from __future__ import annotations

import itertools
from pathlib import Path

import nibabel
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overread.errors import BadInput
from overread.media import volume

SPACING = (1.0, 2.0, 3.0)


def store(path: Path, voxels: np.ndarray, affine: np.ndarray | None = None) -> Path:
    affine = np.diag([*SPACING, 1.0]) if affine is None else affine
    nibabel.Nifti1Image(voxels, affine).to_filename(path)
    return path


@pytest.fixture
def ct() -> np.ndarray:
    """All air, and bone far right, front and up."""
    voxels = np.full((4, 5, 6), -1000, dtype=np.int16)
    voxels[3, 4, 5] = 700
    return voxels


@pytest.fixture
def path(tmp_path: Path, ct: np.ndarray) -> Path:
    return store(tmp_path / "v.nii.gz", ct)


def test_a_volume_in_ras_is_read_as_it_is(path: Path, ct: np.ndarray) -> None:
    study = volume.read(path)
    assert study.voxels.dtype == np.float32
    assert np.array_equal(study.voxels, ct)
    assert (study.spacing_mm, study.orientation) == (SPACING, "RAS")
    assert np.array_equal(study.affine, np.diag([*SPACING, 1.0]))


@pytest.mark.parametrize("axes", list(itertools.permutations("xyz")))
@pytest.mark.parametrize("flips", [(1, 1, 1), (-1, 1, 1), (1, -1, -1), (-1, -1, -1)])
def test_every_orientation_comes_to_the_same_voxels(
    tmp_path: Path, ct: np.ndarray, axes: tuple[str, ...], flips: tuple[int, ...]
) -> None:
    at = ["xyz".index(axis) for axis in axes]
    stored = ct.transpose(at)
    affine = np.zeros((4, 4))
    affine[3, 3] = 1
    for column, (row, flip) in enumerate(zip(at, flips, strict=True)):
        affine[row, column] = flip * SPACING[row]
        if flip < 0:
            stored = np.flip(stored, column)
            affine[row, 3] = SPACING[row] * (ct.shape[row] - 1)
    study = volume.read(store(tmp_path / "v.nii", np.ascontiguousarray(stored), affine))
    assert np.array_equal(study.voxels, ct)
    assert study.spacing_mm == SPACING
    assert np.allclose(study.affine, np.diag([*SPACING, 1.0]))


def test_scaled_numbers_are_put_into_units(tmp_path: Path) -> None:
    image = nibabel.Nifti1Image(np.arange(8, dtype=np.int16).reshape(2, 2, 2), np.eye(4))
    image.header.set_slope_inter(2.0, -1024.0)
    image.to_filename(tmp_path / "v.nii")
    assert volume.read(tmp_path / "v.nii").voxels[0, 0, 1] == -1022


def test_slices_show_the_right_of_the_patient_on_the_left_and_the_front_on_top(path: Path) -> None:
    delivered = volume.deliver(volume.read(path), "slices")
    assert delivered.data.dtype == np.uint8
    assert delivered.shape == (6, 5, 4, 3)
    assert delivered.indices == (0, 1, 2, 3, 4, 5)
    bright = np.argwhere(delivered.data[..., 0] == 255)
    assert bright.tolist() == [[5, 0, 0]]
    assert delivered.data.sum() == 3 * 255


def test_a_ct_is_shown_in_a_soft_tissue_window(tmp_path: Path) -> None:
    voxels = np.array([-1000, -160, 40, 240, 900], dtype=np.int16).reshape(5, 1, 1)
    shown = volume.deliver(volume.read(store(tmp_path / "v.nii", voxels)), "slices").data[0, 0, ::-1, 0]
    assert shown.tolist() == [0, 0, 128, 255, 255]


def test_other_volumes_are_shown_from_darkest_to_brightest_of_all_slices(tmp_path: Path) -> None:
    voxels = np.array([[0, 100], [50, 200]], dtype=np.int16).reshape(2, 1, 2)
    study = volume.read(store(tmp_path / "v.nii", voxels), (0,))
    assert volume.deliver(study, "slices").data[0, 0, :, 0].tolist() == [64, 0]


def test_selected_slices_are_counted_from_the_feet(path: Path, ct: np.ndarray) -> None:
    study = volume.read(path, (5, 1))
    slices = volume.deliver(study, "slices")
    assert slices.indices == (5, 1)
    assert [int(picture.max()) for picture in slices.data] == [255, 0]
    with pytest.raises(BadInput, match="beside each other"):
        volume.deliver(study, "tensor")
    part = volume.deliver(volume.read(path, (4, 5)), "tensor")
    assert np.array_equal(part.data, ct[:, :, 4:])
    assert part.facts["affine"][2] == (0.0, 0.0, 3.0, 12.0)
    with pytest.raises(BadInput, match="no slice 6"):
        volume.read(path, (6,))


def test_the_tensor_form_tells_what_its_numbers_mean(path: Path, ct: np.ndarray) -> None:
    delivered = volume.deliver(volume.read(path), "tensor")
    assert delivered.data.dtype == np.float32
    assert np.array_equal(delivered.data, ct)
    assert delivered.facts["spacing_mm"] == SPACING
    assert delivered.facts["orientation"] == "RAS"


def test_mirror_exchanges_left_and_right_and_keeps_the_affine(path: Path, ct: np.ndarray) -> None:
    study = volume.read(path)
    mirrored = volume.change(study, "mirror", 0)
    assert np.array_equal(mirrored.voxels, ct[::-1])
    assert np.array_equal(mirrored.affine, study.affine)


def test_blank_is_air_in_a_ct_and_nothing_elsewhere(path: Path, tmp_path: Path) -> None:
    study = volume.change(volume.read(path), "blank", 0)
    assert np.array_equal(study.voxels, np.full((4, 5, 6), -1000.0))
    assert not volume.deliver(study, "slices").data.any()
    other = store(tmp_path / "mr.nii", np.ones((2, 3, 4), dtype=np.int16))
    assert not volume.change(volume.read(other), "blank", 0).voxels.any()


def test_unknown_names_are_refused_and_a_changed_volume_has_no_path(path: Path) -> None:
    study = volume.read(path)
    assert volume.deliver(study, "path").data == path
    with pytest.raises(BadInput, match="path"):
        volume.deliver(volume.change(study, "mirror", 0), "path")
    with pytest.raises(BadInput, match="no form"):
        volume.deliver(study, "frames")
    with pytest.raises(BadInput, match="no change"):
        volume.change(study, "reverse", 0)


def test_a_last_axis_of_one_is_no_fourth_axis(tmp_path: Path) -> None:
    assert volume.read(store(tmp_path / "v.nii", np.ones((2, 3, 4, 1), np.int16))).voxels.shape == (2, 3, 4)


@pytest.mark.parametrize("shape", [(2, 3, 4, 2), (2, 3)])
def test_a_volume_without_three_axes_is_refused(tmp_path: Path, shape: tuple[int, ...]) -> None:
    with pytest.raises(BadInput, match="three axes"):
        volume.read(store(tmp_path / "v.nii", np.ones(shape, dtype=np.int16)))


def test_a_volume_without_an_affine_is_refused(tmp_path: Path) -> None:
    image = nibabel.Nifti1Image(np.ones((2, 3, 4), dtype=np.int16), None)
    image.to_filename(tmp_path / "v.nii")
    with pytest.raises(BadInput, match="no affine"):
        volume.read(tmp_path / "v.nii")


def test_a_degenerate_affine_and_voxels_without_numbers_are_refused(tmp_path: Path) -> None:
    path = store(tmp_path / "a.nii", np.ones((2, 3, 4), np.int16))
    data = bytearray(path.read_bytes())
    data[312:328] = bytes(16)  # the row of the affine that leads towards the head
    path.write_bytes(data)
    with pytest.raises(BadInput, match="degenerate"):
        volume.read(path)
    with pytest.raises(BadInput, match="no numbers"):
        volume.read(store(tmp_path / "b.nii", np.full((2, 3, 4), np.nan, np.float32)))


@pytest.mark.parametrize("name", ["v.nii", "v.nii.gz"])
@pytest.mark.parametrize("share", [0.0, 0.05, 0.5, 0.95])
def test_a_truncated_file_is_named_in_the_error(tmp_path: Path, name: str, share: float) -> None:
    voxels = np.random.default_rng(0).integers(-1000, 1000, (16, 16, 16)).astype(np.int16)
    path = store(tmp_path / name, voxels)
    data = path.read_bytes()
    path.write_bytes(data[: int(share * len(data))])
    with pytest.raises(BadInput) as caught:
        volume.read(path)
    assert str(path) in caught.value.where


@settings(max_examples=25, deadline=None)
@given(st.sets(st.integers(0, 5), min_size=1).map(sorted), st.floats(-500, 500), st.floats(1, 500))
def test_a_window_maps_its_ends_to_black_and_white(at: list[int], low: float, width: float) -> None:
    voxels = np.random.default_rng(0).normal(0, 300, (3, 4, 6)).astype(np.float32)
    study = volume.Volume(voxels, SPACING, np.eye(4), "RAS", tuple(at), Path("v"))
    shown = volume.display(study, (low, low + width))
    part = voxels[::-1, ::-1, at].transpose(2, 1, 0)
    assert (shown[part <= low] == 0).all()
    assert (shown[part >= low + width] == 255).all()


@pytest.mark.real
def test_all_real_volumes_are_read(real_data: Path) -> None:
    for file in sorted((real_data / "volume").glob("*.nii.gz")):
        study = volume.read(file)
        assert study.spacing_mm == pytest.approx((3, 3, 3))
        assert volume.deliver(study, "slices").data.std() > 5
        assert (study.voxels.min() < -1000) == ("_ct" in file.name)
