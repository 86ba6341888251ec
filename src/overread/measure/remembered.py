"""Measures each study once: what was found, or why nothing could be, is remembered while there is room."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from overread.errors import BadInput

Facts = TypeVar("Facts")


class Remembered(Generic[Facts]):
    """Remembers the facts of the `room` studies asked for last."""

    def __init__(self, room: int = 256) -> None:
        self._room = room
        self._known: OrderedDict[Hashable, Facts | BadInput] = OrderedDict()

    def get(self, key: Hashable, measure: Callable[[], Facts]) -> Facts:
        """What `measure` finds. Where it raised `BadInput`, the same error is raised again for the same key."""
        if key not in self._known:
            try:
                self._known[key] = measure()
            except BadInput as error:
                self._known[key] = error
        self._known.move_to_end(key)
        while len(self._known) > self._room:
            self._known.popitem(last=False)
        found = self._known[key]
        if isinstance(found, BadInput):
            raise found.with_traceback(None)
        return found
