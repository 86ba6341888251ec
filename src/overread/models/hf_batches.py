"""From posed dialogues to trees of prompts with their media, and receipts taken from the tensors."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from PIL import Image

from overread.media.contract import Delivered
from overread.media.deliver import digest
from overread.models.contract import Message, Pending, Posed, Seen
from overread.models.hf_pictures import pictures
from overread.models.hf_prompts import Prompts
from overread.models.hf_trees import Tree, expanded, expansions, grow
from overread.tables import Media


@dataclasses.dataclass(frozen=True, slots=True)
class Line:
    """One thing that is run for a question: its prompt, or its prompt with one of its options as the answer."""

    pending: Pending
    option: int | None
    length: int
    """Tokens of the prompt alone."""


@dataclasses.dataclass(frozen=True, slots=True)
class Sheaf:
    """A tree of prompts of one dialogue, with what the model takes beside the tokens."""

    posed: Posed
    tree: Tree
    lines: tuple[Line, ...]
    """One a branch of the tree, in its order."""
    inputs: dict[str, torch.Tensor]
    """What the processor made of the trunk: tokens and media, a batch of one."""
    seen: dict[Media, Seen]


class Binder:
    """Makes sheaves of dialogues."""

    def __init__(self, processor: Any, prompts: Prompts, media_token: int) -> None:
        self.processor, self.prompts, self.media_token = processor, prompts, media_token

    def process(self, text: str, shown: Sequence[list[Image.Image]]) -> dict[str, torch.Tensor]:
        """Tokens and media of one prompt, as tensors."""
        given: dict[str, Any] = {"text": [text], "return_tensors": "pt", **self.prompts.special(text)}
        clips = [frames for frames in shown if self.prompts.frames == "video" and len(frames) > 1]
        single = [frame for frames in shown if not any(frames is clip for clip in clips) for frame in frames]
        if single:
            given["images"] = [single]
        if clips:
            given["videos"] = [np.stack([np.asarray(frame) for frame in clip]) for clip in clips]
        return dict(self.processor(**given))

    def sheaves(self, posed: Posed, options: bool) -> Iterator[Sheaf]:
        """The trees of a dialogue; with `options`, choices are asked as their prompts with each option behind it."""
        given = {medium: posed.look(medium) for medium in self._media(posed)}
        frames = {medium: pictures(delivered) for medium, delivered in given.items()}
        shown = {medium: len(some) for medium, some in frames.items()}
        told = [(line, messages, answer) for line, messages, answer in self._lines(posed, options)]
        texts = [self.prompts.text(messages, shown, answer) for _, messages, answer in told]
        plain = [self.prompts.tokens(text) for text in texts]
        longest = max(range(len(plain)), key=lambda n: (sum(t == self.media_token for t in plain[n]), len(plain[n])))
        media = [medium for message in told[longest][1] for medium in message.media]
        whole = self.process(texts[longest], [frames[medium] for medium in media])
        found = expansions(plain[longest], whole["input_ids"][0].tolist(), self.media_token) if media else []
        ids = [expanded(tokens, found, self.media_token) for tokens in plain]
        lengths = [len(expanded(self._prompt_of(told[n][1], shown), found, self.media_token)) for n in range(len(told))]
        for tree in grow([self._cut(one, length) for one, length in zip(ids, lengths, strict=True)], self._tokens()):
            lines = tuple(dataclasses.replace(told[b.prompt][0], length=lengths[b.prompt]) for b in tree.branches)
            top = [medium for message in told[tree.trunk_prompt][1] for medium in message.media]
            inputs = whole if top == media else self.process(texts[tree.trunk_prompt], [frames[m] for m in top])
            inputs = self._with_tokens(inputs, tree)
            yield Sheaf(posed, tree, lines, inputs, self._seen(top, given, inputs))

    def _tokens(self) -> frozenset[int]:
        return frozenset([self.media_token])

    def _media(self, posed: Posed) -> list[Media]:
        return list(
            dict.fromkeys(m for pending in posed.questions for said in posed.prompt(pending) for m in said.media)
        )

    def _lines(self, posed: Posed, options: bool) -> Iterator[tuple[Line, tuple[Message, ...], str | None]]:
        for pending in posed.questions:
            prompt = posed.prompt(pending)
            if options and pending.question.kind == "choice":
                for number, option in enumerate(pending.question.options):
                    yield Line(pending, number, 0), prompt, option
            else:
                yield Line(pending, None, 0), prompt, None

    def _prompt_of(self, messages: tuple[Message, ...], shown: dict[Media, int]) -> list[int]:
        return self.prompts.tokens(self.prompts.text(messages, shown))

    def _cut(self, ids: Any, length: int) -> Any:
        """With an option: up to the first token behind it that ends a turn."""
        ends = np.flatnonzero(np.isin(ids[length:], self._ends()))
        return ids[: length + int(ends[0]) + 1] if len(ends) else ids

    def _ends(self) -> list[int]:
        return [self.processor.tokenizer.eos_token_id]

    def _with_tokens(self, inputs: dict[str, torch.Tensor], tree: Tree) -> dict[str, torch.Tensor]:
        """The trunk may be shorter than what was processed: the rest is taken off whatever goes by token."""
        length = inputs["input_ids"].shape[1]
        cut = {
            name: value[:, : len(tree.trunk)] if value.ndim == 2 and value.shape[1] == length else value
            for name, value in inputs.items()
        }
        return {**cut, "input_ids": torch.from_numpy(tree.trunk)[None]}

    def _seen(
        self, media: Sequence[Media], given: dict[Media, Delivered], inputs: dict[str, torch.Tensor]
    ) -> dict[Media, Seen]:
        """Receipts of what stands in the tensors. The tensors of a prompt hold all its media, so each is told apart."""
        pixels = [value for name, value in sorted(inputs.items()) if name.startswith("pixel_values")]
        if not media or not pixels:
            return {}
        content = [digest(value.float().numpy()) for value in pixels]
        tokens = int((inputs["input_ids"] == self.media_token).sum())
        shape = tuple(int(n) for n in pixels[0].shape)
        alone = len(media) == 1
        return {
            medium: Seen(
                "tensor",
                medium,
                given[medium].form,
                given[medium].indices,
                shape,
                content[0] if alone and len(content) == 1 else digest("|".join([*content, str(place)])),
                tokens if alone else None,
            )
            for place, medium in enumerate(media)
        }
