"""Dialogues as a worker gets them: a line of JSON, and the media as files beside it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from overread.errors import BadInput
from overread.media.contract import Delivered
from overread.models.contract import Message, Pending, Posed
from overread.tables import Media


@dataclasses.dataclass(frozen=True, slots=True)
class Asked:
    """One question on its way: what its answer is checked against."""

    pending: Pending
    media: dict[str, tuple[Media, Delivered]]
    """The media of its prompt, by the name under which the worker has them."""


@dataclasses.dataclass(frozen=True, slots=True)
class Packed:
    """A dialogue made ready to be sent."""

    text: bytes
    """The dialogue as JSON."""
    asked: dict[str, Asked]
    """By the id under which the worker has them; ids never come twice in a worker's life."""
    texts: tuple[str, ...]
    """Every text that is sent, so that it can be withheld from errors."""


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is no JSON")


def encode(message: dict[str, Any]) -> bytes:
    """A message as JSON text."""
    try:
        text = json.dumps(message, allow_nan=False, default=_plain).encode("ascii")
    except (TypeError, ValueError) as error:
        raise BadInput(f"the facts of a medium cannot be written as JSON: {error}") from error
    return text


def _suffix(data: bytes) -> str:
    if data.startswith(b"\x89PNG"):
        return ".png"
    return ".jpg" if data.startswith(b"\xff\xd8\xff") else ".bin"


def _medium(delivered: Delivered, folder: Path, stem: str) -> dict[str, Any]:
    """One medium: its file in the folder or its path, and what its numbers mean; neither address nor condition."""
    path: str | None = None
    file = ""
    data = delivered.data
    if isinstance(data, np.ndarray):
        file = f"{stem}.npy"
        np.save(folder / file, data, allow_pickle=False)
    elif isinstance(data, bytes):
        file = f"{stem}{_suffix(data)}"
        (folder / file).write_bytes(data)
    elif isinstance(data, Path):
        path = str(data.absolute())
    else:
        raise BadInput(f"a worker cannot be handed {type(data).__name__}", do="take the form as array, image or path")
    return {
        "form": delivered.form,
        "array": isinstance(data, np.ndarray),
        "file": file,
        "path": path,
        "indices": list(delivered.indices),
        "shape": list(delivered.shape),
        "hash": delivered.hash,
        "facts": delivered.facts,
    }


def _named(posed: Posed) -> dict[Media, str]:
    """A name for each medium of the prompts; two media of one name get a number."""
    names: dict[Media, str] = {}
    taken: set[str] = set()
    for pending in posed.questions:
        for message in posed.prompt(pending):
            for medium in message.media:
                if medium in names:
                    continue
                name, number = medium.name, 1
                while name in taken:
                    number += 1
                    name = f"{medium.name}-{number}"
                taken.add(name)
                names[medium] = name
    return names


def _message(message: Message, names: dict[Media, str]) -> dict[str, Any]:
    return {"role": message.role, "text": message.text, "media": [names[m] for m in message.media]}


def _question(pending: Pending, ask: str, names: dict[Media, str]) -> dict[str, Any]:
    question = pending.question
    return {
        "id": ask,
        "kind": question.kind,
        "options": list(question.options),
        "many": question.many,
        "low": question.low,
        "high": question.high,
        "whole": question.whole,
        "unit": question.unit,
        "seed": pending.seed,
        "sample": pending.sample,
        "upto": pending.upto,
        "asked": _message(pending.asked, names),
    }


def _texts(posed: Posed) -> Iterator[str]:
    for message in posed.script:
        yield message.text
    for pending in posed.questions:
        yield pending.asked.text
        yield from pending.question.options


def pack(posed: Posed, folder: Path, stem: str, longest: int) -> Packed:
    """Writes a dialogue's media into the folder and gives the rest as text of at most `longest` bytes.

    `stem` is unique in a worker's life. What stands in the script after the last question is not sent at all.
    """
    names = _named(posed)
    delivered = {medium: posed.look(medium) for medium in names}
    media = {name: _medium(delivered[m], folder, f"{stem}-{i}") for i, (m, name) in enumerate(names.items())}
    asked: dict[str, Asked] = {}
    questions = []
    for place, pending in enumerate(posed.questions):
        ask = f"{stem}.{place}"
        shown = dict.fromkeys(medium for message in posed.prompt(pending) for medium in message.media)
        asked[ask] = Asked(pending, {names[m]: (m, delivered[m]) for m in shown})
        questions.append(_question(pending, ask, names))
    last = max((pending.upto for pending in posed.questions), default=0)
    script = [_message(message, names) for message in posed.script[:last]]
    message = {"script": script, "questions": questions, "media": media}
    text = encode(message)
    if len(text) > longest:
        raise BadInput(f"the dialogue takes {len(text)} bytes; the worker takes {longest} in a batch of this size")
    return Packed(text, asked, tuple(_texts(posed)))


def request(number: int, packed: Sequence[Packed]) -> bytes:
    """The line that asks these dialogues."""
    return b'{"type": "ask", "request": %d, "dialogues": [%b]}\n' % (number, b", ".join(p.text for p in packed))
