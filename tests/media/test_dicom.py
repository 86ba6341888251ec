from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pydicom
import pytest
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.encaps import encapsulate
from pydicom.uid import ExplicitVRLittleEndian, RLELossless, UltrasoundMultiFrameImageStorage, generate_uid

from overread.errors import BadInput
from overread.media import clip


def loop(pixels: np.ndarray, photometric: str, **tags: Any) -> Dataset:
    """A multi-frame ultrasound object of `pixels` (frames, rows, columns[, 3])."""
    dataset = Dataset()
    dataset.file_meta = FileMetaDataset()
    dataset.file_meta.TransferSyntaxUID = ExplicitVRLittleEndian
    dataset.file_meta.MediaStorageSOPClassUID = UltrasoundMultiFrameImageStorage
    dataset.file_meta.MediaStorageSOPInstanceUID = generate_uid(entropy_srcs=["x"])
    dataset.SOPClassUID = UltrasoundMultiFrameImageStorage
    dataset.SOPInstanceUID = dataset.file_meta.MediaStorageSOPInstanceUID
    dataset.NumberOfFrames, dataset.Rows, dataset.Columns = pixels.shape[:3]
    dataset.SamplesPerPixel = pixels.shape[3] if pixels.ndim == 4 else 1
    if pixels.ndim == 4:
        dataset.PlanarConfiguration = 0
    dataset.PhotometricInterpretation = photometric
    dataset.BitsAllocated = dataset.BitsStored = 8 * pixels.dtype.itemsize
    dataset.HighBit = dataset.BitsStored - 1
    dataset.PixelRepresentation = 0
    dataset.PixelData = pixels.tobytes()
    dataset["PixelData"].VR = "OB" if pixels.dtype == np.uint8 else "OW"
    for name, value in tags.items():
        setattr(dataset, name, value)
    return dataset


def store(dataset: Dataset, path: Path) -> Path:
    dataset.save_as(path, enforce_file_format=True)
    return path


@pytest.fixture
def grey() -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (3, 4, 6), dtype=np.uint8)


@pytest.fixture
def colour() -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (3, 4, 6, 3), dtype=np.uint8)


def test_the_file_is_known_by_its_magic_whatever_its_name(tmp_path: Path, colour: np.ndarray) -> None:
    study = clip.read(store(loop(colour, "RGB", FrameTime=20), tmp_path / "IM_0001"))
    assert np.array_equal(study.frames, colour)
    assert study.indices == (0, 1, 2)


def test_planes_one_after_the_other_are_put_together(tmp_path: Path, colour: np.ndarray) -> None:
    dataset = loop(colour, "RGB", PlanarConfiguration=1, PixelData=colour.transpose(0, 3, 1, 2).tobytes())
    assert np.array_equal(clip.read(store(dataset, tmp_path / "a.dcm")).frames, colour)


def test_brightness_and_colour_become_rgb(tmp_path: Path, colour: np.ndarray) -> None:
    ybr = np.empty_like(colour)
    ybr[:] = (81, 90, 240)  # a strong red: Y, Cb, Cr
    red, green, blue = clip.read(store(loop(ybr, "YBR_FULL"), tmp_path / "a.dcm")).frames[0, 0, 0]
    assert red > 200
    assert green < 60
    assert blue < 60


def test_grey_is_shown_as_it_is_and_turned_round_where_white_is_low(tmp_path: Path, grey: np.ndarray) -> None:
    shown = clip.read(store(loop(grey, "MONOCHROME2"), tmp_path / "a.dcm")).frames
    assert np.array_equal(shown, np.repeat(grey[..., None], 3, axis=-1))
    turned = clip.read(store(loop(grey, "MONOCHROME1"), tmp_path / "b.dcm")).frames
    assert np.array_equal(turned, 255 - shown)


def test_more_bits_go_through_the_window_or_from_darkest_to_brightest(tmp_path: Path) -> None:
    deep = np.arange(0, 4000, 1000, dtype=np.uint16).reshape(1, 2, 2)
    plain = clip.read(store(loop(deep, "MONOCHROME2"), tmp_path / "a.dcm")).frames
    assert plain[0, :, :, 0].ravel().tolist() == [0, 85, 170, 255]
    window = loop(deep, "MONOCHROME2", WindowCenter=["1500", "0"], WindowWidth=["1000", "1"])
    assert clip.read(store(window, tmp_path / "b.dcm")).frames[0, :, :, 0].ravel().tolist() == [0, 0, 255, 255]


@pytest.mark.parametrize("bits", [8, 16])
def test_a_palette_becomes_rgb(tmp_path: Path, bits: int) -> None:
    dataset = loop(np.array([[[0, 1]]], dtype=np.uint8), "PALETTE COLOR")
    for name, values in (("Red", (0, 200)), ("Green", (10, 100)), ("Blue", (255, 1))):
        table = np.array(values, dtype=np.uint8)
        data = table.tobytes() if bits == 8 else (table.astype("<u2") << 8).tobytes()
        setattr(dataset, f"{name}PaletteColorLookupTableDescriptor", [2, 0, bits])
        setattr(dataset, f"{name}PaletteColorLookupTableData", data)
    shown = clip.read(store(dataset, tmp_path / "a.dcm")).frames
    assert shown.tolist() == [[[[0, 10, 255], [200, 100, 1]]]]


@pytest.mark.parametrize(
    ("tags", "times"),
    [
        ({"FrameTime": 25, "CineRate": 10}, (0, 25, 50)),
        ({"FrameTimeVector": [0, 10, 30]}, (0, 10, 40)),
        ({"CineRate": 50, "RecommendedDisplayFrameRate": 10}, (0, 20, 40)),
        ({"RecommendedDisplayFrameRate": 10}, (0, 100, 200)),
        ({"FrameTime": 0, "CineRate": 50}, (0, 20, 40)),
        ({}, ()),
    ],
)
def test_times_are_what_the_file_tells_and_never_made_up(
    tmp_path: Path, grey: np.ndarray, tags: dict[str, Any], times: tuple[float, ...]
) -> None:
    study = clip.read(store(loop(grey, "MONOCHROME2", **tags), tmp_path / "a.dcm"))
    assert study.times_ms == times


def test_a_still_is_a_clip_of_one_frame(tmp_path: Path, grey: np.ndarray) -> None:
    dataset = loop(grey[:1], "MONOCHROME2")
    del dataset.NumberOfFrames
    study = clip.read(store(dataset, tmp_path / "a.dcm"))
    assert (study.frames.shape, study.times_ms) == ((1, 4, 6, 3), (0.0,))


def test_a_clip_without_times_can_be_selected_and_changed(tmp_path: Path, grey: np.ndarray) -> None:
    study = clip.read(store(loop(grey, "MONOCHROME2"), tmp_path / "a.dcm"), (2, 0))
    assert clip.deliver(clip.change(study, "reverse", 0), "frames").facts == {"times_ms": ()}


@pytest.mark.parametrize(
    "tags",
    [
        {"NumberOfFrames": 0},
        {"NumberOfFrames": 5},
        {"Rows": 9},
        {"Rows": 0},
        {"PhotometricInterpretation": "HSV"},
        {"NumberOfFrames": 2_000_000, "Rows": 60000, "Columns": 60000},
    ],
)
def test_a_header_that_does_not_fit_its_pixels_is_refused(
    tmp_path: Path, grey: np.ndarray, tags: dict[str, Any]
) -> None:
    path = store(loop(grey, "MONOCHROME2", **tags), tmp_path / "a.dcm")
    with pytest.raises(BadInput) as caught:
        clip.read(path)
    assert str(path) in caught.value.where


def test_an_object_without_pixels_is_refused(tmp_path: Path, grey: np.ndarray) -> None:
    dataset = loop(grey, "MONOCHROME2")
    del dataset.PixelData
    with pytest.raises(BadInput, match="no pixels"):
        clip.read(store(dataset, tmp_path / "a.dcm"))


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9, 0.99])
def test_a_truncated_file_is_named_in_the_error(tmp_path: Path, share: float) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (5, 64, 64), dtype=np.uint8)
    path = store(loop(pixels, "MONOCHROME2"), tmp_path / "a.dcm")
    data = path.read_bytes()
    path.write_bytes(data[: int(share * len(data))])
    with pytest.raises(BadInput) as caught:
        clip.read(path)
    assert str(path) in caught.value.where


def test_a_compressed_loop_that_lost_frames_is_refused(tmp_path: Path, grey: np.ndarray) -> None:
    dataset = loop(grey, "MONOCHROME2")
    dataset.compress(RLELossless)
    assert len(clip.read(store(dataset, tmp_path / "a.dcm")).frames) == 3
    kept = list(pydicom.encaps.generate_frames(dataset.PixelData, number_of_frames=3))[:2]
    dataset.PixelData = encapsulate(kept)
    with pytest.raises(BadInput):
        clip.read(store(dataset, tmp_path / "b.dcm"))
