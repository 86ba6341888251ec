"""A model that looks and says the same at once

Options: `seconds` to wait before each answer.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator

from overread.models.contract import Answer, Posed, Setting, seen_by_tensor

KINDS = ("choice", "number", "text")
FORMS = {"image": "image"}
SAMPLES = False


class AtOnce:
    """Looks at every medium of a dialogue and answers the first option's text."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def identity(self) -> dict[str, str]:
        return {"weights": "none"}

    def answer(self, dialogues: Iterable[Posed]) -> Iterator[Answer]:
        for posed in dialogues:
            seen = tuple(seen_by_tensor(medium, posed.look(medium)) for medium in posed.dialogue.media)
            for pending in posed.questions:
                if self.seconds:
                    time.sleep(self.seconds)
                yield Answer(pending.question.id, pending.seed, pending.sample, text="normal", seen=seen)


def load(setting: Setting) -> AtOnce:
    return AtOnce(float(setting.options.get("seconds", "0")))
