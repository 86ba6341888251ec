"""What can be told to a Hugging Face model, on the command line or by its card."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from overread.errors import BadInput, unknown_name

CHOICES: dict[str, tuple[str, ...]] = {
    "dtype": ("auto", "float32", "bfloat16", "float16"),
    "mode": ("generate", "score"),
    "engine": ("auto", "shared", "single"),
    "system": ("keep", "user", "drop"),
    "frames": ("images", "video"),
    "bits": ("16", "8", "4"),
    "compile": ("none", "layers"),
}
PLACES = ("device", "batch", "engine", "path", "tp", "compile")
"""Where, how many at once and how fast: these round otherwise and ask nothing else, so they are only recorded."""


@dataclasses.dataclass(frozen=True, slots=True)
class Options:
    """All of them; what changes what a model says stands in its identity."""

    path: str = ""
    """A local folder, or the name on the hub."""
    revision: str = ""
    dtype: str = "auto"
    device: str = ""
    """cuda, cuda:1, cpu, or `auto` to spread a large model over all; empty: the first accelerator, else the CPU."""
    tp: int = 0
    """Cuts every layer over so many accelerators; the run is then started by torchrun with so many processes."""
    bits: str = "16"
    mode: str = "generate"
    """`score` chooses among the options by their log-probability instead of writing."""
    engine: str = "auto"
    """`auto` shares the prefix where the architecture allows it, `shared` insists, `single` asks one by one."""
    system: str = "keep"
    """What becomes of a system message: kept, put before the first user message, or left out."""
    frames: str = "images"
    """How several pictures of one medium are handed to the processor."""
    banned: str = ""
    """Texts, separated by spaces, whose tokens never come."""
    new_tokens: int = 64
    temperature: float = 0.0
    """0: the likeliest token; above, tokens are drawn, by the run's seeds and samples."""
    top_k: int = 0
    top_p: float = 1.0
    batch: int = 0
    """Dialogues at once; 0: as memory allows."""
    compile: str = "none"
    """`layers` compiles every layer by itself: faster on an accelerator, after a minute of compiling."""

    def identity(self) -> dict[str, Any]:
        """What makes two replies the same thing."""
        told = dataclasses.asdict(self)
        return {name: told[name] for name in told if name not in PLACES}


def read_options(given: Mapping[str, str], where: str) -> Options:
    """The options of `NAME[key=value,...]`, checked."""
    known = {field.name: field for field in dataclasses.fields(Options)}
    values: dict[str, Any] = {}
    for name, text in given.items():
        if name not in known:
            raise unknown_name("option", name, known, where=where)
        if name in CHOICES and text not in CHOICES[name]:
            raise BadInput(f"{name}={text} is not known", where=where, do=f"give one of {', '.join(CHOICES[name])}")
        values[name] = _value(name, text, str(known[name].type), where)
    options = Options(**values)
    _check(options, where)
    return options


def _check(options: Options, where: str) -> None:
    if not options.path:
        raise BadInput("no weights are named", where=where, do="write hf_vlm[path=FOLDER] or hf_vlm[path=ORG/NAME]")
    if options.new_tokens < 1:
        raise BadInput(f"new_tokens={options.new_tokens} leaves no room for a reply", where=where, do="give 1 or more")
    if not 0 < options.top_p <= 1:
        raise BadInput(f"top_p={options.top_p:g} is no share", where=where, do="give more than 0, at most 1")
    if options.temperature == 0 and (options.top_k or options.top_p < 1):
        what = "top_k and top_p say how tokens are drawn, and none are drawn at temperature 0"
        raise BadInput(what, where=where, do="give temperature=... above 0, or leave them out")
    if options.mode == "score" and options.temperature:
        what = "options are scored by their probability, and nothing is drawn"
        raise BadInput(what, where=where, do="leave out temperature or mode=score")
    if options.tp and (options.device or options.bits != "16"):
        what = "tp cuts the layers over all accelerators"
        raise BadInput(what, where=where, do="leave out device and bits beside tp")


def _value(name: str, text: str, kind: str, where: str) -> Any:
    if kind == "int":
        if not text.isascii() or not text.isdigit():
            raise BadInput(f"{name}={text} is not a whole number", where=where, do=f"give {name} as a whole number")
        return int(text)
    if kind == "float":
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if not 0 <= value < float("inf"):
            raise BadInput(f"{name}={text} is not a number from 0", where=where, do=f"give {name} as a number")
        return value
    return text
