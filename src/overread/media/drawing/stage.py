"""Canvases with their backgrounds, kept for the next sheet of the same kind.

Grid and labels are most of the work and the same for every signal, so they are drawn once. What lies over the traces
is kept as well, as ink: how much black each pixel of it takes.
"""

from __future__ import annotations

import functools
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt

from overread.media.drawing.canvas import Canvas, Pixels

ROOM_BYTES = 96 << 20


class Stage:
    """One canvas, its background, and the ink that goes over the traces.

    Only the rows that were drawn on are cleared, covered and copied: on most sheets half of them stay as they are.
    """

    def __init__(self, canvas: Canvas, paint_front: Callable[[Canvas], None] | None = None) -> None:
        """The canvas shows the background by now; `paint_front` draws what lies over the traces, in black."""
        self.canvas = canvas
        self.turn = threading.Lock()
        self._background = canvas.rgba.copy()
        self._inked: npt.NDArray[np.intp] = np.empty(0, dtype=np.intp)
        self._ink: Pixels = np.empty((0, 1), dtype=np.uint8)
        if paint_front is not None:
            canvas.rgba[:] = 255
            paint_front(canvas)
            white = canvas.rgba[..., 0].ravel()
            self._inked = np.flatnonzero(white < 255)
            self._ink = _alpha()[white[self._inked]][:, None]
        canvas.touched[:] = True
        self.clear()
        canvas.touched[:] = True
        self._empty: Pixels = np.zeros((canvas.height, canvas.width, 3), dtype=np.uint8)
        self._empty = self.picture()
        self.clear()

    @property
    def nbytes(self) -> int:
        """Memory of canvas, background and empty picture."""
        return 2 * self._background.nbytes + self._empty.nbytes

    def clear(self) -> None:
        """The background, and nothing else."""
        for rows in _runs(self.canvas.touched):
            self.canvas.rgba[rows] = self._background[rows]
        self.canvas.touched[:] = False

    def picture(self) -> Pixels:
        """What was drawn, covered with the ink, as (height, width, 3) of its own."""
        image = np.empty_like(self._empty)
        for rows in _runs(~self.canvas.touched):
            image[rows] = self._empty[rows]
        for rows in _runs(self.canvas.touched):
            self._cover(rows)
            for channel in range(3):  # one at a time: several times faster than all in one
                image[rows, :, channel] = self.canvas.rgba[rows, :, channel]
        return image

    def _cover(self, rows: slice) -> None:
        first, last = np.searchsorted(self._inked, [rows.start * self.canvas.width, rows.stop * self.canvas.width])
        if first < last:
            inked, pixels = self._inked[first:last], self.canvas.rgba.reshape(-1, 4)
            pixels[inked, :3] = _blend()[self._ink[first:last], pixels[inked, :3]]


class Stages:
    """The stages used last, as many as there is room for."""

    def __init__(self, room_bytes: int = ROOM_BYTES) -> None:
        self._room = room_bytes
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, Stage] = OrderedDict()

    @contextmanager
    def on(self, key: Hashable, make: Callable[[], Stage]) -> Iterator[Stage]:
        """The stage of a kind of sheet, cleared, for one thread at a time."""
        with self._lock:
            stage = self._kept.pop(key, None) or make()
            if stage.nbytes <= self._room:
                self._kept[key] = stage
            while self.nbytes > self._room:
                self._kept.popitem(last=False)
        with stage.turn:
            stage.clear()
            yield stage

    @property
    def nbytes(self) -> int:
        """Memory of all that is kept."""
        return sum(stage.nbytes for stage in self._kept.values())


def _runs(marked: npt.NDArray[np.bool_]) -> list[slice]:
    edges = np.flatnonzero(np.diff(marked, prepend=False, append=False))
    return [slice(int(start), int(stop)) for start, stop in edges.reshape(-1, 2)]


@functools.cache
def _blend() -> Pixels:
    """[alpha, value]: what Agg makes of a value under black of this alpha, to the last digit of its whole numbers."""
    alpha, value = np.arange(256)[:, None], np.arange(256)[None, :]
    return (value * 255 * (256 - alpha) // (65280 + alpha)).astype(np.uint8)


@functools.cache
def _alpha() -> Pixels:
    """By what black on white came to: its alpha."""
    found = np.zeros(256, dtype=np.uint8)
    found[_blend()[::-1, 255]] = np.arange(256)[::-1]
    return found
