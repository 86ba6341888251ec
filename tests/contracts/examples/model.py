"""Chooses by the size of the signal: a model that looks and knows nothing."""

from collections.abc import Iterable, Iterator

import numpy as np

from overread.errors import unknown_name
from overread.models.contract import Answer, Posed, Setting, seen_by_tensor

KINDS = ("choice",)
FORMS = {"ecg": "signal"}


def load(setting: Setting) -> "BySize":
    """Called once; here weights would be read."""
    for name in setting.options:
        raise unknown_name("option", name, (), where=setting.name)
    return BySize()


class BySize:
    def identity(self) -> dict[str, int]:
        """What makes two replies the same thing: here weights, precision and prompts would be told."""
        return {"edition": 1}

    def answer(self, dialogues: Iterable[Posed]) -> Iterator[Answer]:
        """One answer a question, with a receipt for every medium that the model was given."""
        for posed in dialogues:
            for pending in posed.questions:
                media = [medium for message in posed.prompt(pending) for medium in message.media]
                given = [posed.look(medium) for medium in media]
                seen = tuple(seen_by_tensor(medium, one) for medium, one in zip(media, given, strict=True))
                size_uv = int(1000 * sum(np.nanstd(one.data) for one in given))
                choice = (size_uv % len(pending.question.options),)
                yield Answer(pending.question.id, pending.seed, pending.sample, choice=choice, seen=seen)
