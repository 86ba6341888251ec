from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import nibabel
import numpy as np
import pytest
from PIL import Image

from overread.errors import BadInput
from overread.media import clip, ecg
from overread.media.deliver import digest
from overread.media.reader import MediaReader
from overread.media.wfdb import write_record
from overread.roots import Roots
from overread.tables import Media

FORMS = {"ecg": "signal", "clip": "frames", "volume": "tensor", "image": "image"}
CLIP_BYTES = 6 * 16 * 32 * 3


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("media")
    mv = np.random.default_rng(0).normal(size=(12, 300)).round(3)
    write_record(made / "sub", "r", mv, 100, ecg.LEADS)
    for i in range(6):
        with av.open(str(made / f"c{i}.avi"), "w") as container:
            stream = container.add_stream("ffv1", rate=Fraction(50))
            stream.width, stream.height, stream.pix_fmt = 32, 16, "bgr0"
            for shade in range(6):
                picture = np.full((16, 32, 3), 10 * i + shade, dtype=np.uint8)
                container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
            container.mux(stream.encode())
    nibabel.Nifti1Image(np.zeros((2, 3, 4), dtype=np.int16), np.eye(4)).to_filename(made / "v.nii")
    Image.new("L", (5, 4)).save(made / "p.png")
    (made / "bad.avi").write_bytes(b"no clip")
    return made


@pytest.fixture
def roots(folder: Path) -> Roots:
    return Roots({"d": folder})


@pytest.fixture
def reader(roots: Roots) -> Iterator[MediaReader]:
    with MediaReader(roots, FORMS) as made:
        yield made


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Which clips were decoded, and in which thread."""
    seen: list[tuple[str, str]] = []
    plain = clip.read

    def counting(path: Path, select: Any = ()) -> clip.Clip:
        seen.append((path.name, threading.current_thread().name))
        return plain(path, select)

    monkeypatch.setattr(clip, "read", counting)
    return seen


def a_clip(i: int = 0, select: tuple[int, ...] = (), change: str = "") -> Media:
    return Media("clip", "clip", f"d://c{i}.avi", select, change)


def wait_for(condition: Any) -> None:
    end = time.monotonic() + 5
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.002)


def test_every_kind_is_handed_over_in_its_form(reader: MediaReader) -> None:
    assert reader.look(Media("a", "ecg", "d://sub/r", (0, 100))).shape == (12, 100)
    assert reader.look(Media("a", "ecg", "d://sub/r.hea")).shape == (12, 300)
    assert reader.look(a_clip()).shape == (6, 16, 32, 3)
    assert reader.look(Media("a", "volume", "d://v.nii")).shape == (2, 3, 4)
    assert reader.look(Media("a", "image", "d://p.png")).shape == (4, 5)


def test_a_clip_is_decoded_once_for_all_selections_and_changes(
    reader: MediaReader, decoded: list[tuple[str, str]]
) -> None:
    whole = reader.look(a_clip())
    part = reader.look(a_clip(0, (4, 1)))
    back = reader.look(a_clip(0, (4, 1), "reverse"))
    assert len(decoded) == 1
    assert np.array_equal(part.data, whole.data[[4, 1]])
    assert part.indices == (4, 1)
    assert back.indices == (1, 4)
    assert reader.look(a_clip()) is whole


def test_what_is_handed_over_cannot_be_written_into(reader: MediaReader) -> None:
    for media in (a_clip(), a_clip(0, (), "blank"), Media("a", "ecg", "d://sub/r"), Media("a", "volume", "d://v.nii")):
        with pytest.raises(ValueError, match="read-only"):
            reader.look(media).data[0] = 0


def test_chance_follows_the_seed_and_the_address_only(roots: Roots) -> None:
    def drawn(seed: int, i: int) -> tuple[int, ...]:
        with MediaReader(roots, FORMS, seed=seed) as reader:
            return reader.look(a_clip(i, (), "shuffle")).indices

    assert drawn(1, 0) == drawn(1, 0)
    assert len({drawn(1, i) for i in range(6)} | {drawn(2, i) for i in range(6)}) > 8


def test_memory_stays_within_the_room_and_the_last_used_stay(roots: Roots, decoded: list[tuple[str, str]]) -> None:
    # Each clip counts twice: decoded, and as it is handed over.
    with MediaReader(roots, FORMS, room_bytes=4 * CLIP_BYTES) as reader:
        for i in (0, 1, 0, 2, 0, 3, 0):
            reader.look(a_clip(i))
            assert reader._used <= 4 * CLIP_BYTES
        assert [name for name, _ in decoded] == ["c0.avi", "c1.avi", "c2.avi", "c3.avi"]
        reader.look(a_clip(1))
        assert len(decoded) == 5
        assert reader._used == sum(size for _, size in reader._kept.values())


def test_a_medium_larger_than_the_room_is_handed_over_and_not_kept(roots: Roots) -> None:
    with MediaReader(roots, FORMS, room_bytes=10) as reader:
        assert reader.look(a_clip()).shape == reader.look(a_clip()).shape
        assert not reader._kept


def test_media_ahead_are_decoded_in_one_other_thread_before_they_are_looked_at(
    reader: MediaReader, decoded: list[tuple[str, str]]
) -> None:
    reader.ahead([a_clip(i) for i in range(4)])
    reader.ahead([a_clip(3), a_clip(4)])
    wait_for(lambda: len(reader._waiting) == 5)
    shades = [int(reader.look(a_clip(i)).data[0, 0, 0, 0]) for i in range(5)]
    assert shades == [0, 10, 20, 30, 40]
    assert len(decoded) == 5
    assert {thread for _, thread in decoded} == {"overread-media"}
    assert not reader._waiting


def test_decoding_ahead_stops_at_half_the_room_and_goes_on_when_media_are_used(
    roots: Roots, decoded: list[tuple[str, str]]
) -> None:
    with MediaReader(roots, FORMS, room_bytes=6 * CLIP_BYTES) as reader:
        reader.ahead([a_clip(i) for i in range(6)])
        wait_for(lambda: len(reader._waiting) == 4)
        time.sleep(0.05)
        assert len(decoded) == 4
        for i in range(6):
            wait_for(lambda i=i: reader._key(a_clip(i)) in reader._waiting)  # type: ignore[misc]
            assert reader.look(a_clip(i)).data[0, 0, 0, 0] == 10 * i
        assert len(decoded) == 6


def test_what_waits_is_not_pushed_out_by_the_large_clips_it_was_cut_from(
    roots: Roots, decoded: list[tuple[str, str]]
) -> None:
    with MediaReader(roots, FORMS, room_bytes=3 * CLIP_BYTES) as reader:
        reader.ahead([a_clip(i, (5,)) for i in range(6)])
        wait_for(lambda: len(reader._waiting) == 6)
        for i in range(6):
            assert reader.look(a_clip(i, (5,))).data[0, 0, 0, 0] == 10 * i + 5
        assert len(decoded) == 6


def test_what_goes_wrong_ahead_is_raised_where_it_is_looked_at(reader: MediaReader) -> None:
    bad = Media("clip", "clip", "d://bad.avi")
    reader.ahead([bad, Media("x", "sound", "d://x"), a_clip(1)])
    wait_for(lambda: len(reader._waiting) == 1)
    for _ in range(2):
        with pytest.raises(BadInput, match="neither AVI"):
            reader.look(bad)
    with pytest.raises(BadInput, match="kind of medium"):
        reader.look(Media("x", "sound", "d://x"))
    assert reader.look(a_clip(1)).shape[0] == 6


def test_many_threads_share_one_decoding(reader: MediaReader, decoded: list[tuple[str, str]]) -> None:
    found: list[Any] = []
    threads = [threading.Thread(target=lambda: found.append(reader.look(a_clip(2)))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(decoded) == 1
    assert len({id(delivered) for delivered in found}) == 1


def test_closing_ends_the_thread_and_is_allowed_twice(roots: Roots) -> None:
    reader = MediaReader(roots, FORMS)
    reader.ahead([a_clip(i) for i in range(6)])
    reader.close()
    reader.close()
    assert reader._thread is not None
    assert not reader._thread.is_alive()
    with pytest.raises(RuntimeError, match="closed"):
        reader.look(a_clip())


def test_the_path_form_decodes_nothing_and_hashes_the_address(
    roots: Roots, folder: Path, decoded: list[tuple[str, str]]
) -> None:
    with MediaReader(roots, dict.fromkeys(FORMS, "path")) as reader:
        delivered = reader.look(a_clip(0, (1,)))
        assert (delivered.data, delivered.indices) == (folder / "c0.avi", (1,))
        assert delivered.hash == digest("d://c0.avi")
        assert not decoded
        assert reader.look(Media("a", "ecg", "d://sub/r")).data == folder / "sub" / "r"
        with pytest.raises(BadInput, match="path"):
            reader.look(a_clip(0, (), "blank"))


def test_kinds_forms_and_changes_that_do_not_exist_are_refused(roots: Roots) -> None:
    with MediaReader(roots, {"clip": "slices"}) as reader:
        with pytest.raises(BadInput, match="takes no medium of kind 'ecg'"):
            reader.look(Media("a", "ecg", "d://sub/r"))
        with pytest.raises(BadInput, match="no form of kind 'clip' named 'slices'"):
            reader.look(a_clip())
        with pytest.raises(BadInput, match="no kind of medium named 'contract'"):
            reader.look(Media("a", "contract", "d://x"))
    with MediaReader(roots, FORMS) as reader, pytest.raises(BadInput, match="no change of kind 'clip' named 'mirror'"):
        reader.look(a_clip(0, (), "mirror"))


def test_every_file_of_a_record_must_lie_below_the_root(roots: Roots, folder: Path, tmp_path: Path) -> None:
    inside = folder / "linked"
    write_record(tmp_path, "s", np.zeros((12, 10)), 100, ecg.LEADS)
    inside.mkdir()
    (inside / "s.hea").write_bytes((tmp_path / "s.hea").read_bytes())
    (inside / "s.dat").symlink_to(tmp_path / "s.dat")
    (inside / "t.hea").symlink_to(tmp_path / "s.hea")
    with MediaReader(roots, FORMS) as reader:
        for name in ("s", "s.hea", "t"):
            with pytest.raises(BadInput, match="symbolic link"):
                reader.look(Media("a", "ecg", f"d://linked/{name}"))
        with pytest.raises(BadInput, match="no such file"):
            reader.look(Media("a", "ecg", "d://linked/none"))


def test_importing_the_reader_imports_no_decoder() -> None:
    code = "import sys, overread.media.reader; sys.exit(bool({'av', 'pydicom', 'nibabel', 'PIL'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
