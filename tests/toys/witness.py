"""Says the first option and writes down what it was sent: witness[out=FILE]."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from overread.models.contract import Answer, Posed, Setting

KINDS = ("choice",)
FORMS: dict[str, str] = {}
SAMPLES = False


def load(setting: Setting) -> Witness:
    return Witness(Path(setting.options["out"]))


class Witness:
    def __init__(self, out: Path) -> None:
        self.out = out

    def identity(self) -> dict[str, str]:
        return {}

    def answer(self, dialogues: Iterable[Posed]) -> Iterator[Answer]:
        with self.out.open("a", encoding="utf-8") as stream:
            for posed in dialogues:
                for pending in posed.questions:
                    said = [
                        [message.role, [medium.uri for medium in message.media], message.text]
                        for message in posed.prompt(pending)
                    ]
                    place = {"place": pending.question.place, "item": pending.question.item, "prompt": said}
                    stream.write(json.dumps(place) + "\n")
                    text = pending.question.options[0]
                    yield Answer(pending.question.id, pending.seed, pending.sample, text=text)
