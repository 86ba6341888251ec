"""Still pictures: PNG and JPEG, handed over as the file's own bytes. `blank` is a white picture of the same size."""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Sequence
from pathlib import Path

from PIL import Image

from overread.errors import BadInput
from overread.media.contract import Delivered
from overread.media.deliver import as_path, digest, reading, wrong_change, wrong_form

FORMS = ("image", "path")
CHANGES: tuple[str, ...] = ()
MOST_PIXELS = 64_000_000
"""A small file can unpack to any size; beyond this is refused. Pillow has a higher limit that only warns at first."""


@dataclasses.dataclass(frozen=True, slots=True)
class Picture:
    """A picture as its file."""

    data: bytes
    width: int
    height: int
    format: str
    """png or jpeg."""
    path: Path
    changed: str = ""

    @property
    def nbytes(self) -> int:
        """Memory of the file, in bytes."""
        return len(self.data)


def read(path: Path, select: Sequence[int] = ()) -> Picture:
    """Reads a picture and decodes it once to be sure that it can be; `select` must be empty."""
    if select:
        raise BadInput("a still picture has nothing to select", where=str(path), do="leave 'select' empty")
    with reading(path, "a picture"):
        data = path.read_bytes()
        with Image.open(io.BytesIO(data), formats=("PNG", "JPEG")) as picture:
            width, height = picture.size
            if width * height > MOST_PIXELS:
                raise BadInput(f"a picture of {width}x{height} is too large", where=str(path), do="shrink it")
            picture.load()
            name = str(picture.format).lower()
    return Picture(data, width, height, name, path)


def change(study: Picture, name: str, seed: int) -> Picture:
    """`blank` only; `seed` is not needed."""
    if name != "blank":
        raise wrong_change("image", name, CHANGES)
    packed = io.BytesIO()
    Image.new("RGB", (study.width, study.height), "white").save(packed, "PNG", compress_level=9)
    return dataclasses.replace(study, data=packed.getvalue(), format="png", changed=name)


def deliver(study: Picture, form: str) -> Delivered:
    """`image`: the bytes of the file; `shape` is (height, width)."""
    if form == "path":
        return as_path(study.path, (), study.changed)
    if form != "image":
        raise wrong_form("image", form, FORMS)
    return Delivered(form, study.data, (), (study.height, study.width), digest(study.data), {"format": study.format})
