"""What all kinds need to hand a medium over: hashes, paths, a permutation, and the errors they share."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from overread.errors import BadInput, OverreadError, unknown_name
from overread.media.contract import Delivered
from overread.roots import inside

MOST_BYTES = 4 << 30
"""No single medium is decoded to more than this; a header can promise anything."""


def digest(data: npt.NDArray[Any] | bytes | str) -> str:
    """sha256 of the bytes, first 24 hexadecimal digits; of an array the bytes in C order, little-endian."""
    if isinstance(data, str):
        data = data.encode("utf-8", "surrogatepass")
    elif not isinstance(data, bytes):
        plain = np.ascontiguousarray(data)
        return hashlib.sha256(plain.astype(plain.dtype.newbyteorder("<"), copy=False).data).hexdigest()[:24]
    return hashlib.sha256(data).hexdigest()[:24]


def sealed(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The array, read-only: it is shared by all who look, so nobody may write into it."""
    array.flags.writeable = False
    return array


def as_path(path: Path, indices: tuple[int, ...], change: str, address: str = "") -> Delivered:
    """The medium as its file, undecoded. A changed medium has none: handing over the original would undo the change."""
    if change:
        raise BadInput(
            f"form 'path' hands over the file as it is and cannot show it with {change!r}",
            where=address or str(path),
            do="ask this model without that condition, or use a model that takes a decoded form",
        )
    if inside(path.name)[1]:
        raise BadInput(
            "form 'path' hands over a whole file, and this study is a part of one",
            where=address or str(path),
            do="use a model that takes a decoded form",
        )
    return Delivered("path", path, indices, (), digest(address or str(path)), {})


def wrong_form(kind: str, form: str, forms: Sequence[str]) -> BadInput:
    """The error for a form that a kind does not have."""
    return unknown_name(f"form of kind {kind!r}", form, forms)


def wrong_change(kind: str, change: str, changes: Sequence[str]) -> BadInput:
    """The error for a change that a kind does not have."""
    return unknown_name(f"change of kind {kind!r}", change, ("blank", *changes))


def order(count: int, seed: int) -> tuple[int, ...]:
    """A seeded permutation of `range(count)`, never the identity where there is another."""
    generator = np.random.default_rng(seed)
    plain = tuple(range(count))
    drawn = plain
    while drawn == plain and count > 1:
        drawn = tuple(int(i) for i in generator.permutation(count))
    return drawn


def chosen(select: Sequence[int], count: int, what: str, path: Path) -> tuple[int, ...]:
    """The selected positions, checked against how many there are; all where nothing is selected."""
    if not select:
        return tuple(range(count))
    wrong = [i for i in select if not 0 <= i < count]
    if wrong:
        raise BadInput(
            f"there is no {what} {wrong[0]}", where=str(path), do=f"select from 0 to {count - 1} ({count} {what}s)"
        )
    return tuple(int(i) for i in select)


@contextlib.contextmanager
def reading(path: Path, what: str) -> Iterator[None]:
    """Turns whatever a library raises over a damaged file into an error that names the file."""
    try:
        yield
    except OverreadError:
        raise
    except Exception as error:  # damaged files make these libraries raise nearly anything
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise BadInput(
            f"this cannot be read as {what}: {reason}",
            where=str(path),
            do="fetch or export the file again; it may be cut short or of another kind",
        ) from error
