"""A toy that looks and answers the same whatever happens: the choice follows from the question and its history

Options: `seconds` to wait before each answer.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Iterator

from overread.models.contract import Answer, Pending, Posed, Setting, seen_by_tensor

KINDS = ("choice", "number", "text")
FORMS = {"ecg": "signal", "clip": "frames"}
SAMPLES = False
BATCH = 4


def load(setting: Setting) -> Steady:
    return Steady(float(setting.options.get("seconds", "0")))


class Steady:
    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def identity(self) -> dict[str, str]:
        return {"weights": "none"}

    def answer(self, dialogues: Iterable[Posed]) -> Iterator[Answer]:
        for posed in dialogues:
            for pending in posed.questions:
                if self.seconds:
                    time.sleep(self.seconds)
                yield self.one(posed, pending)

    def one(self, posed: Posed, pending: Pending) -> Answer:
        prompt = posed.prompt(pending)
        seen = tuple(seen_by_tensor(m, posed.look(m)) for message in prompt for m in message.media)
        said = repr([(message.role, message.text) for message in prompt])
        number = int.from_bytes(hashlib.sha256(said.encode()).digest()[:4], "big")
        question = pending.question
        common = {"question": question.id, "seed": pending.seed, "sample": pending.sample, "seen": seen}
        if question.kind == "choice":
            return Answer(**common, text=question.options[number % len(question.options)])
        return Answer(**common, number=float(number % int((question.high or 0) + 1)))
