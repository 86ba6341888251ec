"""From posed dialogues to trees of prompts with their media, and receipts taken from the tensors."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from PIL import Image

from overread.models.contract import Message, Pending, Posed, Seen
from overread.models.hf_pictures import pictures
from overread.models.hf_processing import Inputs, Processing
from overread.models.hf_receipts import receipts
from overread.models.hf_trees import Ids, Tree, expanded, expansions, grow
from overread.tables import Media

Frames = Mapping[Media, list[Image.Image]]


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
    inputs: Inputs
    """What the processor made of the trunk: tokens and media, a batch of one."""
    alone: Callable[[int], Inputs]
    """What the processor makes of the prompt of one line, by itself."""
    seen: Mapping[Media, Seen]


@dataclasses.dataclass(frozen=True, slots=True)
class Told:
    """One line as text."""

    line: Line
    text: str
    shows: tuple[Media, ...]
    ids: Ids


class Binder:
    """Makes sheaves of dialogues."""

    def __init__(self, processing: Processing) -> None:
        self.processing = processing

    def sheaves(self, posed: Posed, *, options: bool) -> Iterator[Sheaf]:
        """The trees of a dialogue; with `options`, choices are asked as their prompts with each option behind it."""
        shown = [m for pending in posed.questions for said in posed.prompt(pending) for m in said.media]
        given = {medium: posed.look(medium) for medium in dict.fromkeys(shown)}
        frames = {medium: pictures(delivered) for medium, delivered in given.items()}
        teller = _Teller(self.processing, frames)
        told = teller.told(posed, options=options)
        for tree in grow([one.ids for one in told], self.processing.media_tokens, [one.shows for one in told]):
            mine = [told[branch.prompt] for branch in tree.branches]
            top = told[tree.trunk_prompt]
            inputs = self.processing.cut(teller.process(top.text, top.shows), tree.trunk)
            seen = receipts(top.shows, given, inputs, self.processing)
            yield Sheaf(
                posed, tree, tuple(one.line for one in mine), inputs, _alone(self.processing, mine, frames), seen
            )


def _alone(processing: Processing, told: Sequence[Told], frames: Frames) -> Callable[[int], Inputs]:
    """Each prompt by itself, its media anew."""

    def one(place: int) -> Inputs:
        made = processing.process(told[place].text, [frames[medium] for medium in told[place].shows])
        return processing.cut(made, told[place].ids)

    return one


class _Teller:
    """Writes the lines of one dialogue as tokens. Media are processed once for all prompts that show the same ones."""

    def __init__(self, processing: Processing, frames: Frames) -> None:
        self.processing, self.frames = processing, frames
        self.made: dict[str, Inputs] = {}
        self.found: dict[tuple[Media, ...], list[list[int]] | None] = {}

    def process(self, text: str, shows: Sequence[Media]) -> Inputs:
        """What the processor makes of a text with its media; the same text only once."""
        if text not in self.made:
            self.made[text] = self.processing.process(text, [self.frames[medium] for medium in shows])
        return self.made[text]

    def told(self, posed: Posed, *, options: bool) -> list[Told]:
        """All lines of a dialogue."""
        prompts, count = self.processing.prompts, {medium: len(some) for medium, some in self.frames.items()}
        lines = list(_lines(posed, options=options))
        texts = [prompts.text(messages, count, answer) for _, messages, answer in lines]
        shows = [tuple(medium for message in messages for medium in message.media) for _, messages, _ in lines]
        longest = {media: text for text, media in sorted(zip(texts, shows, strict=True), key=lambda one: len(one[0]))}
        told = []
        for (line, messages, answer), text, media in zip(lines, texts, shows, strict=True):
            ids = self._ids(text, media, longest[media])
            length = len(ids)
            if answer is not None:
                length = len(self._ids(prompts.text(messages, count), media, longest[media]))
                ids = self._upto_end(ids, length)
            told.append(Told(dataclasses.replace(line, length=length), text, media, ids))
        return told

    def _ids(self, text: str, media: tuple[Media, ...], longest: str) -> Ids:
        """The tokens of a text; places of media as the processor makes them in the longest text that shows the same."""
        tokens, prompts = self.processing.media_tokens, self.processing.prompts
        if not media:
            return np.asarray(prompts.tokens(text), dtype=np.int64)
        if media not in self.found:
            whole = self.process(longest, media)["input_ids"][0].tolist()
            self.found[media] = expansions(prompts.tokens(longest), whole, tokens)
        found = self.found[media]
        if found is None:
            ids: Ids = self.process(text, media)["input_ids"][0].numpy()
            return ids
        return expanded(prompts.tokens(text), found, tokens)

    def _upto_end(self, ids: Ids, length: int) -> Ids:
        """With an option: up to the first token behind it that ends a turn."""
        ends = np.flatnonzero(np.isin(ids[length:], self.processing.ends))
        return ids[: length + int(ends[0]) + 1] if len(ends) else ids


def _lines(posed: Posed, *, options: bool) -> Iterator[tuple[Line, tuple[Message, ...], str | None]]:
    for pending in posed.questions:
        prompt = posed.prompt(pending)
        if options and pending.question.kind == "choice" and not pending.question.many:
            for number, option in enumerate(pending.question.options):
                yield Line(pending, number, 0), prompt, option
        else:
            yield Line(pending, None, 0), prompt, None
