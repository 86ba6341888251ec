from __future__ import annotations

import tempfile
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overread.errors import BadInput
from overread.media import clip

COUNT = 8
FAST = [("clip.avi", "ffv1", "bgr0"), ("clip.avi", "mjpeg", "yuvj420p"), ("clip.mp4", "mpeg4", "yuv420p")]


def frames() -> np.ndarray:
    """Frame i has brightness 20 + 20 i, and a bright red square on the left."""
    made = np.empty((COUNT, 48, 64, 3), dtype=np.uint8)
    made[:] = (20 + 20 * np.arange(COUNT))[:, None, None, None]
    made[:, 8:40, 4:20] = (220, 30, 30)
    return made


def store(path: Path, codec: str = "ffv1", pixels: str = "bgr0", rate: Fraction = Fraction(50)) -> Path:
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=rate)
        stream.width, stream.height, stream.pix_fmt = 64, 48, pixels
        stream.thread_count = 1
        for picture in frames():
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode())
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return store(tmp_path / "clip.avi")


@pytest.mark.parametrize(("name", "codec", "pixels"), FAST)
def test_frames_come_as_rgb_in_order(tmp_path: Path, name: str, codec: str, pixels: str) -> None:
    study = clip.read(store(tmp_path / name, codec, pixels))
    assert study.frames.dtype == np.uint8
    assert study.frames.shape == (COUNT, 48, 64, 3)
    off = np.abs(study.frames.astype(int) - frames())[:, 12:36, 40:]
    assert off.max() <= (0 if codec == "ffv1" else 8)
    red, green, _ = study.frames[0, 24, 12]
    assert red > 180
    assert green < 70
    assert study.indices == tuple(range(COUNT))


@pytest.mark.parametrize(("name", "codec", "pixels"), FAST)
def test_times_are_those_of_the_container(tmp_path: Path, name: str, codec: str, pixels: str) -> None:
    study = clip.read(store(tmp_path / name, codec, pixels, rate=Fraction(40)))
    assert study.times_ms == pytest.approx([25.0 * i for i in range(COUNT)])


def test_frames_are_selected_in_any_order_with_their_times(path: Path) -> None:
    study = clip.read(path, (5, 0, 5))
    assert np.array_equal(study.frames, frames()[[5, 0, 5]])
    assert study.indices == (5, 0, 5)
    assert study.times_ms == (100.0, 0.0, 100.0)


@pytest.mark.parametrize("select", [(COUNT,), (-1,), (0, 99)])
def test_a_frame_that_is_not_there_is_named(path: Path, select: tuple[int, ...]) -> None:
    with pytest.raises(BadInput, match=f"no frame {select[-1]}") as caught:
        clip.read(path, select)
    assert "0 to 7" in caught.value.do


def test_blank_is_black_and_keeps_shape_places_and_times(path: Path) -> None:
    study = clip.read(path)
    blank = clip.change(study, "blank", 0)
    assert not blank.frames.any()
    assert blank.frames.shape == study.frames.shape
    assert (blank.indices, blank.times_ms) == (study.indices, study.times_ms)


@pytest.mark.parametrize("change", clip.CHANGES)
@pytest.mark.parametrize("select", [(), (1, 2, 4, 6)])
def test_a_probe_tells_which_native_frame_stands_where(path: Path, change: str, select: tuple[int, ...]) -> None:
    study = clip.read(path, select)
    changed = clip.change(study, change, 9)
    assert np.array_equal(changed.frames, frames()[list(changed.indices)])
    assert len(changed.indices) == len(study.indices)
    assert changed.indices != study.indices
    assert changed.times_ms == study.times_ms


def test_probes_do_what_they_are_named_after(path: Path) -> None:
    study = clip.read(path)
    assert clip.change(study, "reverse", 0).indices == tuple(range(COUNT))[::-1]
    assert clip.change(study, "frozen", 0).indices == (COUNT // 2,) * COUNT
    shuffled = clip.change(study, "shuffle", 4).indices
    assert sorted(shuffled) == list(range(COUNT))
    assert shuffled == clip.change(study, "shuffle", 4).indices
    assert any(shuffled != clip.change(study, "shuffle", seed).indices for seed in range(5, 9))
    assert len(clip.change(clip.read(path, (3,)), "shuffle", 1).frames) == 1


def test_the_frames_form_is_read_only_and_hashes_its_bytes(path: Path) -> None:
    one, two = (clip.deliver(clip.read(path, select), "frames") for select in ((0, 1), (1, 0)))
    assert one.shape == (2, 48, 64, 3)
    assert one.facts == {"times_ms": (0.0, 20.0)}
    assert one.indices == (0, 1)
    assert len(one.hash) == 24
    assert one.hash != two.hash
    with pytest.raises(ValueError, match="read-only"):
        one.data[0] = 0


def test_a_path_is_handed_over_only_unchanged(path: Path) -> None:
    study = clip.read(path)
    assert clip.deliver(study, "path").data == path
    with pytest.raises(BadInput, match="path"):
        clip.deliver(clip.change(study, "reverse", 0), "path")
    with pytest.raises(BadInput, match="no form"):
        clip.deliver(study, "tensor")
    with pytest.raises(BadInput, match="no change"):
        clip.change(study, "mirror", 0)


@pytest.mark.parametrize(("name", "codec", "pixels"), FAST)
@pytest.mark.parametrize("share", [0.02, 0.3, 0.6, 0.97])
def test_a_truncated_file_is_named_in_the_error(
    tmp_path: Path, name: str, codec: str, pixels: str, share: float
) -> None:
    path = store(tmp_path / name, codec, pixels)
    data = path.read_bytes()
    path.write_bytes(data[: int(share * len(data))])
    with pytest.raises(BadInput) as caught:
        clip.read(path)
    assert str(path) in caught.value.where


def test_an_avi_cut_between_two_frames_is_refused(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: data.rindex(b"00dc", 0, data.rindex(b"idx1"))])
    with pytest.raises(BadInput, match="cut short"):
        clip.read(path)


def test_an_mp4_with_its_index_in_front_is_refused_when_cut_short(tmp_path: Path) -> None:
    path = tmp_path / "clip.mp4"
    with av.open(str(path), "w", options={"movflags": "faststart"}) as container:
        stream = container.add_stream("mpeg4", rate=50)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for picture in frames():
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode())
    assert len(clip.read(path).frames) == COUNT
    data = path.read_bytes()
    assert data.index(b"moov") < data.index(b"mdat")
    path.write_bytes(data[:-40])
    with pytest.raises(BadInput, match="cut short"):
        clip.read(path)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"hello",
        b"#EXTM3U\n#EXTINF:1,\nother.avi\n",
        b"ffconcat version 1.0\nfile other.avi\n",
        bytes(500),
        b"RIFF\0\0\0\0AVI ",
        b"\0\0\0\x08ftyp",
        b"\x1aE\xdf\xa3" + bytes(60),
    ],
)
@pytest.mark.parametrize("name", ["clip.avi", "clip.mp4", "clip.dcm"])
def test_what_is_no_clip_is_refused(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(BadInput) as caught:
        clip.read(tmp_path / name)
    assert name in caught.value.where


def test_a_clip_without_frames_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "clip.avi"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("rawvideo", rate=50)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "bgr24"
        container.start_encoding()
    with pytest.raises(BadInput):
        clip.read(path)


@pytest.fixture(scope="module")
def whole() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        return store(Path(folder) / "clip.avi", "mjpeg", "yuvj420p").read_bytes()


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_damaged_file_gives_frames_or_the_readers_own_error(data: st.DataObject, whole: bytes) -> None:
    damaged = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 4))):
        damaged[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "clip.avi"
        path.write_bytes(damaged)
        try:
            assert clip.read(path).frames.ndim == 4
        except BadInput as error:
            assert str(path) in error.where


@pytest.mark.real
def test_all_real_clips_and_loops_are_read(real_data: Path) -> None:
    files = [f for f in sorted((real_data / "echo").iterdir()) if f.suffix in (".mp4", ".dcm")]
    assert len(files) >= 7
    for file in files:
        study = clip.read(file)
        assert study.frames.std() > 5
        assert len(study.times_ms) == len(study.frames)
        assert list(study.times_ms) == sorted(set(study.times_ms))
        if file.suffix == ".mp4":
            assert study.frames.shape[1:] == (600, 800, 3)
            assert study.times_ms[1] == pytest.approx(1000 / 30)
