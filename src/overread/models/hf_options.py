"""What can be told to a Hugging Face model, on the command line or by its card."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from overread.errors import BadInput, unknown_name

CHOICES: dict[str, tuple[str, ...]] = {
    "dtype": ("auto", "float32", "bfloat16", "float16"),
    "mode": ("generate", "score"),
    "engine": ("shared", "single"),
    "system": ("keep", "user", "drop"),
    "frames": ("images", "video"),
    "bits": ("16", "8", "4"),
}


@dataclasses.dataclass(frozen=True, slots=True)
class Options:
    """All of them; what changes what a model says stands in its identity."""

    path: str = ""
    """A local folder, or the name on the hub."""
    revision: str = ""
    dtype: str = "auto"
    device: str = ""
    """cuda, cuda:1, cpu, or `auto` to spread a large model over all; empty: the first accelerator, else the CPU."""
    bits: str = "16"
    mode: str = "generate"
    """`score` chooses among the options by their log-probability instead of writing."""
    engine: str = "shared"
    """`single` asks one question at a time, media and all: to compare with."""
    system: str = "keep"
    """What becomes of a system message: kept, put before the first user message, or left out."""
    frames: str = "images"
    """How several pictures of one medium are handed to the processor."""
    banned: str = ""
    """Texts, separated by spaces, whose tokens never come."""
    new_tokens: int = 64
    batch: int = 0
    """Dialogues at once; 0: as memory allows."""

    def identity(self) -> dict[str, Any]:
        """What makes two replies the same thing; where and how many at once does not."""
        told = dataclasses.asdict(self)
        return {name: told[name] for name in told if name not in ("device", "batch", "engine", "path")}


def read_options(given: Mapping[str, str], where: str) -> Options:
    """The options of `NAME[key=value,...]`, checked."""
    known = {field.name: field for field in dataclasses.fields(Options)}
    values: dict[str, Any] = {}
    for name, text in given.items():
        if name not in known:
            raise unknown_name("option", name, known, where=where)
        if name in CHOICES and text not in CHOICES[name]:
            raise BadInput(f"{name}={text} is not known", where=where, do=f"give one of {', '.join(CHOICES[name])}")
        values[name] = _whole(name, text, where) if known[name].type == "int" else text
    options = Options(**values)
    if not options.path:
        raise BadInput("no weights are named", where=where, do="write hf_vlm[path=FOLDER] or hf_vlm[path=ORG/NAME]")
    return options


def _whole(name: str, text: str, where: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise BadInput(f"{name}={text} is not a whole number", where=where, do=f"give {name} as a whole number")
    return int(text)
