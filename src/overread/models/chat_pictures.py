"""From a medium as it is handed over to what a server is sent: data URIs, and the receipt of the bytes in them."""

from __future__ import annotations

import base64
import dataclasses
import io
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import av
import numpy as np
import numpy.typing as npt
from PIL import Image

from overread.media.contract import Delivered
from overread.media.deliver import digest
from overread.media.drawing.png import encode
from overread.models.contract import Seen
from overread.tables import Media

JPEG_QUALITY = 95
USUAL_FPS = 25
FILM_SCALE = 1000
"""Times of a film are told in milliseconds."""

Part = dict[str, Any]


@dataclasses.dataclass(frozen=True, slots=True)
class Sent:
    """One medium as the parts of a message, with its receipt."""

    parts: tuple[Part, ...]
    seen: Seen
    pictures: int
    """How many pictures a server has to read for it."""


def sent(medium: Media, delivered: Delivered, *, frames: str, detail: str) -> Sent:
    """The parts of a message that show a medium; `frames` and `detail` as in the options."""
    pictures = _pictures(delivered)
    if frames == "images" or len(pictures) == 1:
        data = [_png(picture) for picture in pictures]
        hint = {"detail": detail} if detail else {}
        parts = [{"type": "image_url", "image_url": {"url": _uri(_kind(one), one), **hint}} for one in data]
    elif frames == "jpegs":
        data = [_jpeg(picture) for picture in pictures]
        packed = ",".join(base64.b64encode(one).decode() for one in data)
        parts = [{"type": "video_url", "video_url": {"url": f"data:video/jpeg;base64,{packed}"}}]
    else:
        data = [_film(pictures, delivered.facts.get("times_ms", ()))]
        parts = [{"type": "video_url", "video_url": {"url": _uri("video/mp4", data[0])}}]
    bytes_sent = data[0] if len(data) == 1 else b"".join(len(one).to_bytes(8, "little") + one for one in data)
    seen = Seen("sent", medium, delivered.form, delivered.indices, delivered.shape, digest(bytes_sent))
    return Sent(tuple(parts), seen, len(pictures))


class Album:
    """Remembers the last media that were made ready: the questions of a dialogue all show the same."""

    def __init__(self, room: int) -> None:
        self._room = room
        self._kept: OrderedDict[Any, Any] = OrderedDict()

    def get(self, key: Any) -> Any:
        """What is remembered under a key, or None."""
        if key in self._kept:
            self._kept.move_to_end(key)
        return self._kept.get(key)

    def put(self, key: Any, value: Any) -> None:
        """Remembers, and forgets what has not been wanted for longest."""
        self._kept[key] = value
        while len(self._kept) > self._room:
            self._kept.popitem(last=False)


def _pictures(delivered: Delivered) -> Sequence[Any]:
    if isinstance(delivered.data, bytes):
        return [delivered.data]
    array = np.asarray(delivered.data)
    return list(array) if array.ndim == 4 else [array]


def _png(picture: Any) -> bytes:
    """A picture file as it is, an array (height, width, 3) as PNG."""
    return picture if isinstance(picture, bytes) else encode(np.ascontiguousarray(picture))


def _jpeg(picture: npt.NDArray[np.uint8]) -> bytes:
    packed = io.BytesIO()
    Image.fromarray(picture).save(packed, "JPEG", quality=JPEG_QUALITY, subsampling=0)
    return packed.getvalue()


def _kind(data: bytes) -> str:
    return "image/png" if data.startswith(b"\x89PNG") else "image/jpeg"


def _uri(kind: str, data: bytes) -> str:
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"


def _film(pictures: Sequence[npt.NDArray[np.uint8]], times_ms: Sequence[float]) -> bytes:
    """Frames as MP4 (H.264), each at its own time; edges are made even by repeating the last row or column."""
    height, width = pictures[0].shape[:2]
    steady = [1000.0 * place / USUAL_FPS for place in range(len(pictures))]
    times = list(times_ms) if len(times_ms) == len(pictures) else steady
    packed = io.BytesIO()
    with av.open(packed, "w", format="mp4") as film:
        stream = film.add_stream("libx264", rate=FILM_SCALE, options={"crf": "12", "g": "12", "threads": "1"})
        stream.width, stream.height, stream.pix_fmt = width + width % 2, height + height % 2, "yuv420p"
        for place, picture in enumerate(pictures):
            even = np.pad(picture, ((0, height % 2), (0, width % 2), (0, 0)), mode="edge")
            frame = av.VideoFrame.from_ndarray(even, format="rgb24")
            frame.pts = max(place, round(times[place] - times[0]))
            film.mux(stream.encode(frame))
        film.mux(stream.encode())
    return packed.getvalue()
