"""Moving pictures: AVI and MP4 by PyAV, DICOM by pydicom (see `dicom`), as RGB frames with their times.

Probes: `reverse` and `shuffle` put the frames into another order, `frozen` repeats the middle one; `indices` tells
which native frame stands where, while the times stay with the places: the clip keeps its clock, its motion changes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from overread.errors import BadInput
from overread.media.contract import Delivered
from overread.media.deliver import (
    MOST_BYTES,
    as_path,
    chosen,
    digest,
    order,
    reading,
    sealed,
    wrong_change,
    wrong_form,
)

FORMS = ("frames", "path")
CHANGES = ("reverse", "shuffle", "frozen")

_MP4_BOXES = (b"ftyp", b"moov", b"mdat", b"free", b"skip", b"wide", b"pnot")
_ADVICE = "fetch or export the file again"


@dataclasses.dataclass(frozen=True, slots=True)
class Clip:
    """Decoded frames."""

    frames: npt.NDArray[np.uint8]
    """(frames, height, width, 3), RGB."""
    indices: tuple[int, ...]
    """The native frame at each place."""
    times_ms: tuple[float, ...]
    """When each place is shown, from the clip's first frame; empty where the file does not tell."""
    path: Path
    changed: str = ""

    @property
    def nbytes(self) -> int:
        """Memory of the frames, in bytes."""
        return self.frames.nbytes


def read(path: Path, select: Sequence[int] = ()) -> Clip:
    """Decodes a clip; `select` are native frames in any order, all where empty."""
    with reading(path, "a clip"):
        with path.open("rb") as stream:
            head = stream.read(132)
        if head[128:] == b"DICM" or path.suffix.lower() == ".dcm":
            from overread.media import dicom

            frames, times = dicom.read_frames(path)
        else:
            frames, times = _decode(path, head)
    return pick(Clip(frames, tuple(range(len(frames))), times, path), select)


def pick(study: Clip, select: Sequence[int]) -> Clip:
    """The selected native frames of a whole, unchanged clip, with the times that they have in it."""
    if not select:
        return study
    at = chosen(select, len(study.frames), "frame", study.path)
    times = tuple(study.times_ms[i] for i in at) if study.times_ms else ()
    return dataclasses.replace(study, frames=study.frames[list(at)], indices=at, times_ms=times)


def change(study: Clip, name: str, seed: int) -> Clip:
    """`blank`: black frames. The probes keep shape and times."""
    count = len(study.frames)
    if name == "blank":
        return dataclasses.replace(study, frames=np.zeros_like(study.frames), changed=name)
    if name == "reverse":
        at = tuple(reversed(range(count)))
    elif name == "shuffle":
        at = order(count, seed)
    elif name == "frozen":
        at = (count // 2,) * count
    else:
        raise wrong_change("clip", name, CHANGES)
    indices = tuple(study.indices[i] for i in at)
    return dataclasses.replace(study, frames=study.frames[list(at)], indices=indices, changed=name)


def deliver(study: Clip, form: str) -> Delivered:
    """`frames`: uint8 (frames, height, width, 3)."""
    if form == "path":
        return as_path(study.path, study.indices, study.changed)
    if form != "frames":
        raise wrong_form("clip", form, FORMS)
    facts = {"times_ms": study.times_ms}
    return Delivered(form, sealed(study.frames), study.indices, study.frames.shape, digest(study.frames), facts)


def _decode(path: Path, head: bytes) -> tuple[npt.NDArray[np.uint8], tuple[float, ...]]:
    import av

    # The demuxer is named, not guessed: a playlist in disguise could make FFmpeg open other files.
    container_format = _must_be_whole(path, head)
    frames: list[npt.NDArray[np.uint8]] = []
    seconds: list[float] = []
    with av.open(str(path.absolute()), format=container_format) as container:
        # Without codec parameters, decoding would take the whole process down.
        if not container.streams.video or container.streams.video[0].codec_context is None:
            raise BadInput("the file holds no video that can be decoded", where=str(path), do=_ADVICE)
        stream = container.streams.video[0]
        stream.thread_type = "NONE"
        stream.codec_context.thread_count = 1
        rate = stream.average_rate
        for frame in container.decode(stream):
            if frame.is_corrupt:
                raise BadInput(f"frame {len(frames)} is damaged", where=str(path), do=_ADVICE)
            frames.append(_rgb(frame, frames, path))
            if frame.pts is not None and frame.time_base:
                seconds.append(float(frame.pts * frame.time_base))
            elif rate:
                seconds.append(float(len(seconds) / rate))
    if not frames:
        raise BadInput("the clip has no frames", where=str(path), do=_ADVICE)
    times = tuple(round(1000 * (s - seconds[0]), 6) for s in seconds) if len(seconds) == len(frames) else ()
    return np.stack(frames), times


def _rgb(frame: Any, before: Sequence[npt.NDArray[np.uint8]], path: Path) -> npt.NDArray[np.uint8]:
    if 3 * frame.width * frame.height * (len(before) + 1) > MOST_BYTES:
        raise BadInput("the clip is too large to be decoded at once", where=str(path), do="cut or shrink it")
    picture: npt.NDArray[np.uint8] = frame.to_ndarray(format="rgb24")
    if before and picture.shape != before[0].shape:
        raise BadInput(f"frame {len(before)} has another size than the first", where=str(path), do=_ADVICE)
    return picture


def _must_be_whole(path: Path, head: bytes) -> str:
    """FFmpeg's name of the container. A file that was cut short is refused: it would give fewer frames unnoticed."""
    size = path.stat().st_size
    if head[:4] == b"RIFF" and head[8:12] == b"AVI ":
        told = int.from_bytes(head[4:8], "little")
        # Writers that cannot go back leave 0 or all ones here.
        if told not in (0, 0xFFFFFFFF) and told + 8 > size:
            raise BadInput(f"the AVI file is cut short: {size} of {told + 8} bytes", where=str(path), do=_ADVICE)
        return "avi"
    if head[4:8] in _MP4_BOXES:
        _walk_boxes(path, size)
        return "mp4"
    what = "is empty" if not size else "is neither AVI, MP4 nor DICOM"
    raise BadInput(f"the file {what}", where=str(path), do="give a clip as AVI, MP4 or DICOM")


def _walk_boxes(path: Path, size: int) -> None:
    place = 0
    with path.open("rb") as stream:
        while place < size:
            stream.seek(place)
            box = stream.read(16)
            length = int.from_bytes(box[:4], "big")
            if length == 1:
                length = int.from_bytes(box[8:16], "big")
            elif length == 0:
                return
            if length < 8 or place + length > size:
                raise BadInput(f"the MP4 file is cut short at byte {size}", where=str(path), do=_ADVICE)
            place += length
