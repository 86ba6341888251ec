from __future__ import annotations

import io
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from overread.errors import BadInput
from overread.media import image


def store(path: Path) -> Path:
    noise = np.random.default_rng(0).integers(0, 256, (30, 40, 3), dtype=np.uint8)
    Image.fromarray(noise).save(path)
    return path


@pytest.mark.parametrize(("name", "kind"), [("a.png", "png"), ("a.jpg", "jpeg")])
def test_the_files_own_bytes_are_handed_over(tmp_path: Path, name: str, kind: str) -> None:
    path = store(tmp_path / name)
    delivered = image.deliver(image.read(path), "image")
    assert delivered.data == path.read_bytes()
    assert delivered.shape == (30, 40)
    assert delivered.facts == {"format": kind}
    assert len(delivered.hash) == 24


def test_blank_is_white_of_the_same_size_and_always_the_same_bytes(tmp_path: Path) -> None:
    study = image.read(store(tmp_path / "a.jpg"))
    one, two = (image.deliver(image.change(study, "blank", seed), "image") for seed in (0, 1))
    assert (one.data, one.hash) == (two.data, two.hash)
    with Image.open(io.BytesIO(one.data)) as picture:
        assert (picture.size, picture.format) == ((40, 30), "PNG")
        assert picture.convert("L").getextrema() == (255, 255)


def test_there_are_no_probes_no_selection_and_no_other_forms(tmp_path: Path) -> None:
    path = store(tmp_path / "a.png")
    study = image.read(path)
    with pytest.raises(BadInput, match="no change"):
        image.change(study, "mirror", 0)
    with pytest.raises(BadInput, match="no form"):
        image.deliver(study, "tensor")
    with pytest.raises(BadInput, match="select"):
        image.read(path, (0,))
    assert image.deliver(study, "path").data == path
    with pytest.raises(BadInput, match="path"):
        image.deliver(image.change(study, "blank", 0), "path")


@pytest.mark.parametrize("name", ["a.png", "a.jpg"])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9])
def test_a_truncated_file_is_named_in_the_error(tmp_path: Path, name: str, share: float) -> None:
    path = store(tmp_path / name)
    data = path.read_bytes()
    path.write_bytes(data[: int(share * len(data))])
    with pytest.raises(BadInput) as caught:
        image.read(path)
    assert str(path) in caught.value.where


@pytest.mark.parametrize("side", [9_000, 60_000])
def test_a_small_file_that_unpacks_to_a_huge_picture_is_refused(tmp_path: Path, side: int) -> None:
    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0)
    path = tmp_path / "bomb.png"
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(1000))) + chunk(b"IEND", b"")
    )
    with pytest.raises(BadInput) as caught:
        image.read(path)
    assert "large" in caught.value.what or "bomb" in caught.value.what


def test_other_kinds_of_pictures_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    Image.new("L", (4, 4)).save(path, "GIF")
    with pytest.raises(BadInput, match="picture"):
        image.read(path)
