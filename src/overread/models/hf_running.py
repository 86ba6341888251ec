"""Runs sheaves through a model, so many together as its memory allows, and halves the number where it does not."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from transformers import LogitsProcessor, LogitsProcessorList

from overread.errors import ModelFault
from overread.models.hf_batches import Line, Sheaf
from overread.models.hf_draws import Draw, drawn, numbers_of
from overread.models.hf_loading import Loaded
from overread.models.hf_processing import Inputs, by_token
from overread.models.hf_replies import Replies, Stop
from overread.models.hf_scoring import Ending, option_logs
from overread.models.hf_shared import Pass, Portion, own_width
from overread.tables import content_id

ON_CPU = 4
"""Dialogues together where there is no accelerator."""

SPARE = 0.5
"""Of an accelerator's free memory, this share may be filled by keys and values; the rest is for what passes through."""

PORTION = 32_768
"""So many tokens of trunks go through the model at once: enough to fill an accelerator, and little memory."""


@dataclasses.dataclass(frozen=True, slots=True)
class Written:
    """A reply."""

    tokens: list[int]
    """Up to the one that ended it."""
    ties: int | None
    """Tokens that were the first of several exactly as likely, where it may differ from a reply that was asked alone;
    nothing where `generate` or a draw chose."""


class Runner:
    """Gives what each line of each sheaf came to: its reply, or the log-probability of its option."""

    def __init__(self, loaded: Loaded, stop: Stop, draw: Draw | None, *, shared: bool, batch: int) -> None:
        self.loaded, self.stop, self.draw, self.batch = loaded, stop, draw, batch
        self.shared = shared
        self.halved = 0
        """How often a batch did not fit and was halved."""

    def run(self, sheaves: Sequence[Sheaf]) -> Iterator[tuple[Sheaf, list[Any]]]:
        """In order."""
        if not self.shared:
            for sheaf in sheaves:
                yield sheaf, self._alone(sheaf)
            return
        left = list(sheaves)
        size = self.batch or self._fitting(left)
        while left:
            found = self._tried(left[:size])
            if found is None:
                if size == 1:
                    raise ModelFault("one dialogue alone does not fit into the memory of the accelerator")
                size, self.halved = max(1, min(size, len(left)) // 2), self.halved + 1
                continue
            yield from zip(left[:size], found, strict=True)
            left = left[size:]

    def _tried(self, sheaves: Sequence[Sheaf]) -> list[list[Any]] | None:
        """What came of them, or nothing where they do not fit into memory."""
        try:
            found: list[list[Any]] = self._together(sheaves)
            return found
        except torch.OutOfMemoryError:
            pass  # whatever the failed pass held is let go only behind this block
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        return None

    def _fitting(self, sheaves: Sequence[Sheaf]) -> int:
        if self.loaded.device.type != "cuda":
            return ON_CPU
        longest = max(len(s.tree.trunk) + own_width(s.tree) + self._to_come(s) for s in sheaves)
        free, _ = torch.cuda.mem_get_info(self.loaded.device)
        free += torch.cuda.memory_reserved(self.loaded.device) - torch.cuda.memory_allocated(self.loaded.device)
        return max(1, int(SPARE * free / (longest * _bytes_a_token(self.loaded.model))))

    def _to_come(self, sheaf: Sheaf) -> int:
        return sum(line.option is None for line in sheaf.lines) * self.stop.longest

    @torch.inference_mode()
    def _together(self, sheaves: Sequence[Sheaf]) -> list[list[Any]]:
        questions = max(len(sheaf.lines) for sheaf in sheaves)
        places = [(row, place, line) for row, s in enumerate(sheaves) for place, line in enumerate(s.lines)]
        scored = [(row, place, line) for row, place, line in places if line.option is not None]
        written = [(row, place, line) for row, place, line in places if line.option is None]
        room = questions * self.stop.longest if written else 0
        portions = list(in_portions(sheaves, self.stop.pad, self.loaded.model.dtype))
        going = Pass(self.loaded.model, portions, room, keep=bool(scored))
        found: list[list[Any]] = [[None] * len(sheaf.lines) for sheaf in sheaves]
        if scored:
            logs = option_logs(going, [Ending(row, place, line.length) for row, place, line in scored])
            for (row, place, _), log in zip(scored, logs, strict=True):
                found[row][place] = log
        if written:
            said = Replies(going, self.stop, self.draw, self._numbers(sheaves, questions)).write()
            tokens, ties = said.tokens.tolist(), said.ties.tolist()
            for row, place, _ in written:
                tied = ties[row][place] if self.draw is None else None
                found[row][place] = Written(self._said(tokens[row][place]), tied)
        return found

    def _numbers(self, sheaves: Sequence[Sheaf], questions: int) -> torch.Tensor | None:
        if self.draw is None:
            return None
        numbers = torch.zeros(len(sheaves), questions, self.stop.longest, dtype=torch.float64)
        for row, sheaf in enumerate(sheaves):
            for place, line in enumerate(sheaf.lines):
                numbers[row, place] = numbers_of(entropy_of(line), self.stop.longest)
        return numbers

    def _said(self, tokens: list[int]) -> list[int]:
        """A reply up to the token that ended it."""
        over = next((n for n, token in enumerate(tokens) if token in self.stop.ends), len(tokens))
        return tokens[:over]

    @torch.inference_mode()
    def _alone(self, sheaf: Sheaf) -> list[Any]:
        """Every line by itself: the prompt anew, with its media."""
        return [self._one(sheaf, place) for place in range(len(sheaf.lines))]

    def _one(self, sheaf: Sheaf, place: int) -> Any:
        line = sheaf.lines[place]
        given = {
            name: value.to(self.loaded.device, self.loaded.model.dtype if value.is_floating_point() else None)
            for name, value in sheaf.alone(place).items()
        }
        ids = given["input_ids"]
        given["attention_mask"] = torch.ones_like(ids)
        if line.option is not None:
            logits = self.loaded.model(**given).logits[0, line.length - 1 : -1].float().log_softmax(-1)
            return float(logits.gather(1, ids[0, line.length :, None]).sum())
        processors = [] if self.draw is None else [Drawing(self.draw, numbers_of(entropy_of(line), self.stop.longest))]
        banned = {"suppress_tokens": list(self.stop.banned)} if self.stop.banned else {}
        said = self.loaded.model.generate(
            **given,
            max_new_tokens=self.stop.longest,
            do_sample=False,
            num_beams=1,
            eos_token_id=list(self.stop.ends),
            pad_token_id=self.stop.pad,
            logits_processor=LogitsProcessorList(processors),
            **banned,
        )
        return Written(self._said(said[0, ids.shape[1] :].tolist()), None)


class Drawing(LogitsProcessor):
    """Draws a reply's tokens as the shared engine does, for `generate`."""

    def __init__(self, draw: Draw, numbers: torch.Tensor) -> None:
        self.draw, self.numbers, self.said = draw, numbers, 0

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Leaves only the drawn token possible."""
        token = drawn(scores, self.draw, self.numbers[self.said].to(scores.device).expand(len(scores)))
        self.said += 1
        return torch.full_like(scores, float("-inf")).scatter(-1, token[:, None], 0.0)


def entropy_of(line: Line) -> int:
    """What tells the draws of one reply from those of all others."""
    pending = line.pending
    return int(content_id("draw", pending.question.id, str(pending.seed), str(pending.sample)), 16)


def in_portions(sheaves: Sequence[Sheaf], pad: int, dtype: torch.dtype) -> Iterator[Portion]:
    """Sheaves in portions that go through the model at once; only those that take the same kinds of input together."""
    some: list[Sheaf] = []
    for sheaf in sheaves:
        longest = max(len(one.tree.trunk) for one in [*some, sheaf])
        alike = not some or some[0].inputs.keys() == sheaf.inputs.keys()
        if some and (not alike or longest * (len(some) + 1) > PORTION):
            yield Portion(tuple(one.tree for one in some), collate([one.inputs for one in some], pad, dtype))
            some = []
        some.append(sheaf)
    yield Portion(tuple(one.tree for one in some), collate([one.inputs for one in some], pad, dtype))


def collate(given: Sequence[Inputs], pad: int, dtype: torch.dtype) -> dict[str, torch.Tensor]:
    """Batches of one -> one batch. What goes by token is padded behind; pictures of unequal number get empty ones."""
    lengths = [one["input_ids"].shape[1] for one in given]
    tokens = set.intersection(*(by_token(one) for one in given))
    joined: dict[str, torch.Tensor] = {}
    for name in given[0]:
        values = [one[name] for one in given]
        if name in tokens:
            filler = pad if name == "input_ids" else 0
            values = [torch.nn.functional.pad(v, (0, max(lengths) - v.shape[1]), value=filler) for v in values]
        elif values[0].ndim > 2 and len({v.shape[1:] for v in values}) > 1:
            most = max(v.shape[1] for v in values)
            values = [torch.cat([v, v.new_zeros(1, most - v.shape[1], *v.shape[2:])], dim=1) for v in values]
        whole = torch.cat(values)
        joined[name] = whole.to(dtype) if whole.is_floating_point() else whole
    return joined


def _bytes_a_token(model: Any) -> int:
    text = model.config.get_text_config()
    width = getattr(text, "head_dim", None) or text.hidden_size // text.num_attention_heads
    heads = getattr(text, "num_key_value_heads", None) or text.num_attention_heads
    return int(2 * text.num_hidden_layers * heads * width * model.dtype.itemsize)
