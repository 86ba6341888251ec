"""What the scripts of this folder share: volumes brought into the shape, orientation and window that a model takes.

Python 3.8 and numpy. A volume comes as float32 (x, y, z) in RAS: x grows to the patient's right, y to the front, z to
the head. Each step takes and gives an array; nothing is guessed from its values but where a model does so itself.
"""

import hashlib
import re
import sys
from pathlib import Path

import numpy as np


def version():
    """Tells one state of this file from another, for the identity of the scripts that import it."""
    return hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:16]


def device():
    """The accelerator, or the processor where there is none."""
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def on_path(source):
    """Puts a source folder on the path, first."""
    if source and source not in sys.path:
        sys.path.insert(0, source)


def exact(options):
    """The revision of weights that bring code of their own; an error where that code may be another one tomorrow."""
    revision = options.get("revision", "")
    if not Path(options["weights"]).is_dir() and not re.match("[0-9a-f]{40}$", revision):
        raise ValueError(
            "these weights bring code of their own: name the exact commit, option.revision=COMMIT (40 digits), "
            "or a folder that holds them"
        )
    return revision


def resampled(array, shape):
    """The array at another shape, trilinear, the middles of the outer voxels half a voxel inside as before."""
    for axis, size in enumerate(shape):
        array = _along(array, axis, int(size))
    return array


def _along(array, axis, size):
    have = array.shape[axis]
    if have == size:
        return array
    at = np.clip((np.arange(size) + 0.5) * (have / float(size)) - 0.5, 0, have - 1)
    low = np.floor(at).astype(int)
    high = np.minimum(low + 1, have - 1)
    share = (at - low).reshape([-1 if place == axis else 1 for place in range(array.ndim)]).astype(array.dtype)
    return np.take(array, low, axis) * (1 - share) + np.take(array, high, axis) * share


def spaced(array, spacing_mm, wanted_mm):
    """The array at another spacing."""
    shape = [max(1, int(round(n * have / want))) for n, have, want in zip(array.shape, spacing_mm, wanted_mm)]
    return resampled(array, shape)


def windowed(array, low, high):
    """The window from low to high onto 0..1; what lies outside is cut."""
    return np.clip((array - low) / float(high - low), 0.0, 1.0).astype(np.float32)


def stretched(array):
    """Least to greatest value onto 0..1; an array of one value becomes zeros."""
    low, high = float(array.min()), float(array.max())
    if high <= low:
        return np.zeros_like(array, dtype=np.float32)
    return ((array - low) / (high - low)).astype(np.float32)


def fitted(array, shape, fill):
    """Cropped and padded around the centre."""
    for axis, size in enumerate(shape):
        have = array.shape[axis]
        start = max((have - size) // 2, 0)
        array = np.take(array, range(start, min(start + size, have)), axis)
        before = (size - array.shape[axis]) // 2
        width = [(0, 0)] * array.ndim
        width[axis] = (before, size - array.shape[axis] - before)
        array = np.pad(array, width, constant_values=fill)
    return array


def foreground(array):
    """The smallest box that holds every voxel above zero; the whole where there is none."""
    above = np.argwhere(array > 0)
    if not len(above):
        return array
    low, high = above.min(axis=0), above.max(axis=0) + 1
    return array[low[0] : high[0], low[1] : high[1], low[2] : high[2]]


def as_file(array):
    """RAS (x, y, z) as the reader of medical images that these projects use gives a file saved in LPS: (z, y, x).

    Both axes in the plane run the other way there: towards the patient's left and back.
    """
    return np.ascontiguousarray(array[::-1, ::-1, :].transpose(2, 1, 0))


def radiological(array, number):
    """One axial slice as a radiologist looks at it: (height, width), the patient's right on the left, front on top."""
    return np.ascontiguousarray(array[::-1, ::-1, number].T)


def picture(grey):
    """A grey slice in 0..1 as a picture."""
    from PIL import Image

    return Image.fromarray(np.repeat(np.rint(grey * 255).astype(np.uint8)[..., None], 3, axis=-1))


def shown(question):
    """The names of the media of a question's prompt, in order and each once."""
    names = [name for message in question.messages for name in message["media"]]
    return list(dict.fromkeys(names))


def words(question):
    """The whole prompt as one text, for models that take a single turn."""
    return "\n\n".join(message["text"] for message in question.messages)


def only(names):
    """The one medium that a model can take."""
    if len(names) != 1:
        raise ValueError("this model takes one study a question, and this question shows %d" % len(names))
    return names[0]
