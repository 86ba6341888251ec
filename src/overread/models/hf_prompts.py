"""From messages to the tokens that a model is sent, by its own chat template."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from overread.models.contract import Message
from overread.tables import Media

Shown = Mapping[Media, int]
"""How many pictures each medium is."""


class Prompts:
    """Writes prompts as one processor wants them."""

    def __init__(self, processor: Any, *, system: str, frames: str) -> None:
        """`system` and `frames` as in `hf_options`."""
        self.processor, self.system, self.frames = processor, system, frames

    def text(self, messages: Sequence[Message], shown: Shown, answer: str | None = None) -> str:
        """The whole prompt up to where the model speaks, or with an answer up to the end of its turn."""
        turns = self._turns(messages, shown)
        if answer is not None:
            turns.append({"role": "assistant", "content": [{"type": "text", "text": answer}]})
        said: str = self.processor.apply_chat_template(turns, tokenize=False, add_generation_prompt=answer is None)
        return said

    def tokens(self, text: str) -> list[int]:
        """A text's own tokens; each picture is a single one."""
        tokenizer = self.processor.tokenizer
        found: list[int] = tokenizer(text, **self.special(text))["input_ids"]
        return found

    def special(self, text: str) -> dict[str, bool]:
        """Templates that begin with the token that a tokenizer would put first must not get it twice."""
        begin = self.processor.tokenizer.bos_token
        return {"add_special_tokens": not (begin and text.startswith(begin))}

    def _turns(self, messages: Sequence[Message], shown: Shown) -> list[dict[str, Any]]:
        turns: list[dict[str, Any]] = []
        before = ""
        for message in messages:
            if message.role == "system" and self.system != "keep":
                before += f"{message.text}\n\n" if self.system == "user" else ""
                continue
            content = [part for medium in message.media for part in self._parts(shown[medium])]
            text = before + message.text if message.role == "user" else message.text
            before = "" if message.role == "user" else before
            turns.append({"role": message.role, "content": [*content, {"type": "text", "text": text}]})
        return turns

    def as_video(self, count: int) -> bool:
        """Whether so many pictures of one medium are handed over as a video."""
        return self.frames == "video" and count > 1

    def _parts(self, count: int) -> list[dict[str, str]]:
        return [{"type": "video"}] if self.as_video(count) else [{"type": "image"}] * count
