from __future__ import annotations

from pathlib import Path

import nibabel
import numpy as np
import pydicom
import pytest

from overread.media import clip, volume
from overread.phantoms.echo import EchoPhantom, echo_phantom
from overread.phantoms.files import write_avi, write_dicom, write_nifti
from overread.phantoms.volume import volume_phantom


@pytest.fixture(scope="module")
def beating() -> EchoPhantom:
    return echo_phantom(9, frames=12, rate_hz=30)


def grey(phantom: EchoPhantom) -> np.ndarray:
    return np.ascontiguousarray(phantom.frames[..., 0])


def test_a_clip_comes_back_unchanged_from_avi_and_dicom(tmp_path: Path, beating: EchoPhantom) -> None:
    write_avi(tmp_path / "a.avi", grey(beating), 30)
    write_dicom(tmp_path / "a.dcm", grey(beating), 30, beating.truth["spacing_mm"], "p0001")
    for name in ("a.avi", "a.dcm"):
        back = clip.read(tmp_path / name)
        assert np.array_equal(back.frames, beating.frames)
        assert back.times_ms == pytest.approx([i * 1000 / 30 for i in range(12)], abs=0.01)


def test_a_loop_carries_its_scale_and_its_clock(tmp_path: Path, beating: EchoPhantom) -> None:
    write_dicom(tmp_path / "a.dcm", grey(beating), 30, 1.5, "p0007")
    loop = pydicom.dcmread(tmp_path / "a.dcm")
    assert loop.SOPClassUID.name == "Ultrasound Multi-frame Image Storage"
    assert float(loop.FrameTime) == pytest.approx(1000 / 30)
    assert loop.SequenceOfUltrasoundRegions[0].PhysicalDeltaX == pytest.approx(0.15)
    assert (loop.PatientID, loop.NumberOfFrames) == ("p0007", 12)
    assert loop.SOPInstanceUID.is_valid


def test_a_volume_comes_back_unchanged_in_ras(tmp_path: Path) -> None:
    made = volume_phantom(2, shape=(32, 32, 24), spacing_mm=(10.0, 8.0, 9.0))
    write_nifti(tmp_path / "v.nii.gz", made.voxels, made.affine)
    image = nibabel.load(tmp_path / "v.nii.gz")
    assert nibabel.aff2axcodes(image.affine) == ("R", "A", "S")
    assert image.get_data_dtype() == np.int16
    back = volume.read(tmp_path / "v.nii.gz")
    assert np.array_equal(back.voxels, made.voxels)
    assert back.spacing_mm == pytest.approx((10.0, 8.0, 9.0))
    assert np.allclose(back.affine, made.affine)


def test_a_compressed_volume_does_not_tell_when_it_was_written(tmp_path: Path) -> None:
    write_nifti(tmp_path / "v.nii.gz", np.zeros((4, 4, 4), dtype=np.int16), np.eye(4))
    head = (tmp_path / "v.nii.gz").read_bytes()[:8]
    assert head[3] == 0 and head[4:] == bytes(4)


def test_files_are_the_same_whenever_and_wherever_written(tmp_path: Path, beating: EchoPhantom) -> None:
    made = volume_phantom(2, shape=(16, 16, 12), spacing_mm=(20.0, 16.0, 18.0))
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        write_avi(tmp_path / folder / f"{folder}.avi", grey(beating), 30)
        write_dicom(tmp_path / folder / f"{folder}.dcm", grey(beating), 30, 1.5, "p")
        write_nifti(tmp_path / folder / f"{folder}.nii.gz", made.voxels, made.affine)
    for kind in ("avi", "dcm", "nii.gz"):
        assert (tmp_path / f"one/one.{kind}").read_bytes() == (tmp_path / f"two/two.{kind}").read_bytes()
