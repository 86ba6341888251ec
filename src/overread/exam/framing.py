"""How a question becomes the text of a turn: the question, its options, and how to answer.

The words are data: `prompts/framing.yaml`, or a file of the same form that a benchmark or the user names.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from pathlib import Path

import yaml

from overread.errors import BadInput
from overread.exam.script import Ask

PROMPTS = Path(__file__).parents[1] / "prompts"
"""Our own prompts; they are part of the package."""

_NEEDED = ("option", "choice", "choice_many", "number", "range", "unit", "text", "guess")


@dataclasses.dataclass(frozen=True, slots=True)
class Framing:
    """One set of words: `plain`, or the paraphrase `wording`."""

    words: Mapping[str, str]

    def ask(self, ask: Ask, *, options: tuple[str, ...] | None = None) -> str:
        """The whole text of the turn that asks; `options` instead of the question's own where given."""
        question = ask.text
        words = self.words
        if ask.kind == "choice":
            offered = ask.options if options is None else options
            lines = _listed(words["option"], offered)
            frame = words["choice_many" if ask.many else "choice"]
            return frame.replace("{question}", question).replace("{options}", lines)
        if ask.kind == "number":
            span = ""
            if ask.low is not None and ask.high is not None:
                span = words["range"].replace("{low}", f"{ask.low:g}").replace("{high}", f"{ask.high:g}")
            unit = words["unit"].replace("{unit}", ask.unit) if ask.unit else ""
            frame = words["number"].replace("{range}", span).replace("{unit}", unit)
            return frame.replace("{question}", question)
        return words["text"].replace("{question}", question)

    @property
    def guess(self) -> str:
        """What a model is told under the condition `guess`."""
        return self.words["guess"]


@functools.lru_cache(maxsize=4096)
def _listed(line: str, options: tuple[str, ...]) -> str:
    """Options, one a line; the same few stand in most questions of an exam."""
    return "\n".join([line.replace("{option}", option) for option in options])


def load_framings(path: Path = PROMPTS / "framing.yaml") -> dict[str, Framing]:
    """The framings of a file by name; `plain` and `wording` are both there."""
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise BadInput(f"the framing file cannot be read: {error}", where=str(path), do="give a YAML file") from error
    framings = {}
    for name in ("plain", "wording"):
        found = data.get(name) if isinstance(data, dict) else None
        words: dict[str, str] = found if isinstance(found, dict) else {}
        missing = [key for key in _NEEDED if not isinstance(words.get(key), str)]
        if missing:
            raise BadInput(
                f"the framing {name!r} lacks {', '.join(missing)}",
                where=str(path),
                do=f"give each of {', '.join(_NEEDED)} as text, as in {PROMPTS / 'framing.yaml'}",
            )
        framings[name] = Framing(words)
    return framings
