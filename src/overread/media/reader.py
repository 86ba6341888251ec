"""Finds, decodes, changes and hands over media, each at most once while there is room to remember it.

One background thread decodes ahead, so that files are ready when a model asks for them. What is handed over is shared:
arrays are read-only, and a model that wants to write makes a copy.
"""

from __future__ import annotations

import hashlib
import importlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any

from overread.errors import BadInput, unknown_name
from overread.media.contract import KINDS, Delivered
from overread.media.deliver import as_path, wrong_form
from overread.roots import Roots
from overread.tables import Media

ROOM_BYTES = 512 << 20

_MOST_AHEAD = 1024
_Key = tuple[Any, ...]


class MediaReader:
    """Hands media over in the forms that one model takes. Safe to use from several threads."""

    def __init__(self, roots: Roots, forms: Mapping[str, str], *, seed: int = 0, room_bytes: int = ROOM_BYTES) -> None:
        """`forms`: for each kind the form that the model takes; `seed` settles the probes that need chance."""
        self._roots = roots
        self._forms = dict(forms)
        self._seed = seed
        self._room = room_bytes
        self._turn = threading.Condition()
        self._kept: OrderedDict[_Key, tuple[Any, int]] = OrderedDict()
        self._used = 0
        self._busy: set[_Key] = set()
        self._failed: dict[_Key, Exception] = {}
        self._queue: OrderedDict[_Key, Media] = OrderedDict()
        self._waiting: dict[_Key, int] = {}
        self._thread: threading.Thread | None = None
        self._closed = False

    def __enter__(self) -> MediaReader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stops decoding ahead, waiting for the file in progress, and forgets everything. May be called twice."""
        with self._turn:
            self._closed = True
            self._queue.clear()
            self._turn.notify_all()
        if self._thread is not None:
            self._thread.join()
        with self._turn:
            self._kept.clear()
            self._used = 0

    def look(self, media: Media) -> Delivered:
        """The medium, as the model takes it. Raises what went wrong, also if it went wrong while decoding ahead."""
        key = self._key(media)
        with self._turn:
            self._open()
            failed = self._failed.pop(key, None)
            self._queue.pop(key, None)
            self._forget(key)
        if failed is not None:
            raise failed
        delivered: Delivered = self._once(key, lambda: self._deliver(media))
        with self._turn:
            # The thread may have finished this very medium in between.
            self._forget(key)
        return delivered

    def ahead(self, media: Sequence[Media]) -> None:
        """Decodes these in the background, in order, as far as half the room reaches; returns at once."""
        with self._turn:
            self._open()
            for medium in media:
                key = self._key(medium)
                if key not in self._kept and len(self._queue) < _MOST_AHEAD:
                    self._queue.setdefault(key, medium)
            if self._queue and self._thread is None:
                self._thread = threading.Thread(target=self._work, name="overread-media", daemon=True)
                self._thread.start()
            self._turn.notify_all()

    def _open(self) -> None:
        if self._closed:
            raise RuntimeError("this reader of media is closed")

    @staticmethod
    def _key(media: Media) -> _Key:
        return ("delivered", media.kind, media.uri, tuple(media.select), media.change)

    def _forget(self, key: _Key) -> None:
        """The medium was looked at, or dropped: it no longer counts as decoded ahead."""
        if self._waiting.pop(key, None) is not None:
            self._turn.notify_all()

    def _work(self) -> None:
        while True:
            with self._turn:
                while not self._closed and not (self._queue and sum(self._waiting.values()) <= self._room // 2):
                    self._turn.wait()
                if self._closed:
                    return
                key, medium = self._queue.popitem(last=False)
            try:
                self._once(key, lambda medium=medium: self._deliver(medium), ahead=True)  # type: ignore[misc]
            except Exception as error:  # noqa: BLE001  raised again where the medium is looked at
                with self._turn:
                    self._failed[key] = error
                    while len(self._failed) > _MOST_AHEAD:
                        self._failed.pop(next(iter(self._failed)))

    def _once(self, key: _Key, make: Callable[[], Any], *, ahead: bool = False) -> Any:
        """What is remembered under a key; else makes it, while others who want the same wait."""
        with self._turn:
            while key in self._busy:
                self._turn.wait()
            kept = self._kept.get(key)
            if kept is not None:
                self._kept.move_to_end(key)
                return kept[0]
            self._busy.add(key)
        try:
            value = make()
        except BaseException:
            with self._turn:
                self._busy.discard(key)
                self._turn.notify_all()
            raise
        with self._turn:
            self._busy.discard(key)
            self._keep(key, value, ahead)
            self._turn.notify_all()
        return value

    def _keep(self, key: _Key, value: Any, ahead: bool) -> None:
        size = _size(value)
        if size > self._room or self._closed:
            return
        self._kept[key] = (value, size)
        self._used += size
        if ahead:
            self._waiting[key] = size
        while self._used > self._room:
            # What was decoded ahead is needed soon and goes last, however long it has been waiting.
            old = next((k for k in self._kept if k not in self._waiting), next(iter(self._kept)))
            self._used -= self._kept.pop(old)[1]
            self._forget(old)

    def _deliver(self, media: Media) -> Delivered:
        kind = _kind(media.kind)
        form = self._forms.get(media.kind)
        if form is None:
            taken = ", ".join(sorted(self._forms)) or "no media at all"
            raise BadInput(
                f"the model takes no medium of kind {media.kind!r}",
                where=media.uri,
                do=f"use a model that does, or an exam it can sit (it takes {taken})",
            )
        path = self._roots.resolve(media.uri, must_exist=not hasattr(kind, "beside"))
        if hasattr(kind, "beside"):
            self._check_beside(kind, media.uri)
        if form == "path" and "path" in kind.FORMS:
            return as_path(path, tuple(media.select), media.change, media.uri)
        study = self._study(kind, media)
        if media.change:
            drawn = hashlib.sha256(f"{self._seed}\0{media.uri}".encode("utf-8", "surrogatepass")).digest()
            study = kind.change(study, media.change, int.from_bytes(drawn[:8], "little"))
        delivered: Delivered = kind.deliver(study, form)
        return delivered

    def _check_beside(self, kind: Any, uri: str) -> None:
        """Every file of a record must lie below the root, not only the one that is named."""
        folder = uri[: uri.rfind("/") + 1]
        for name in kind.beside(self._roots.resolve(kind.first(uri))):
            self._roots.resolve(folder + name)

    def _study(self, kind: Any, media: Media) -> Any:
        """A kind with `pick` is decoded whole and once, for all its selections; others read only what is selected."""
        select = tuple(media.select)
        whole = hasattr(kind, "pick")
        path = self._roots.resolve(media.uri, must_exist=not hasattr(kind, "beside"))
        key = ("study", media.kind, media.uri, () if whole else select)
        study = self._once(key, lambda: kind.read(path, () if whole else select))
        return kind.pick(study, select) if whole else study


def check_form(kind: str, form: str) -> None:
    """BadInput where media of a kind cannot be handed over in a form."""
    module = _kind(kind)
    if form.partition(":")[0] not in module.FORMS:
        raise wrong_form(kind, form, module.FORMS)
    if hasattr(module, "check_form"):
        module.check_form(form)


def _kind(name: str) -> Any:
    if name not in KINDS:
        raise unknown_name("kind of medium", name, KINDS)
    return importlib.import_module(f"overread.media.{name}")


def _size(value: Any) -> int:
    data = value.data if isinstance(value, Delivered) else value
    if isinstance(data, bytes):
        return len(data)
    return int(getattr(data, "nbytes", 64))
