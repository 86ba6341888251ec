"""Runs sheaves through a model, so many together as its memory allows, and halves the number where it does not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch

from overread.errors import ModelFault
from overread.models.hf_batches import Sheaf
from overread.models.hf_loading import Loaded
from overread.models.hf_scoring import option_logs
from overread.models.hf_shared import Pass, Stop

ON_CPU = 4
"""Dialogues together where there is no accelerator."""

SPARE = 0.5
"""Of an accelerator's free memory, this share may be filled by keys and values; the rest is for what passes through."""


class Runner:
    """Gives what each line of each sheaf came to: its reply's tokens, or the log-probability of its option."""

    def __init__(self, loaded: Loaded, stop: Stop, *, shared: bool, batch: int) -> None:
        self.loaded, self.stop, self.batch = loaded, stop, batch
        self.shared = shared and loaded.shares and not _special(loaded.model)
        self.ties = 0
        """Tokens that were chosen between exact ties; there a reply may differ from one that was asked alone."""

    def run(self, sheaves: Sequence[Sheaf]) -> Iterator[tuple[Sheaf, list[Any]]]:
        """In order."""
        if not self.shared:
            for sheaf in sheaves:
                yield sheaf, self._alone(sheaf)
            return
        left = list(sheaves)
        size = self.batch or self._fitting(left)
        while left:
            try:
                found = self._together(left[:size])
            except torch.OutOfMemoryError as error:
                if size == 1:
                    raise ModelFault("one dialogue alone does not fit into the memory of the accelerator") from error
                size = max(1, size // 2)
                torch.cuda.empty_cache()
                continue
            yield from zip(left[:size], found, strict=True)
            left = left[size:]

    def _fitting(self, sheaves: Sequence[Sheaf]) -> int:
        if self.loaded.device.type != "cuda":
            return ON_CPU
        longest = max(len(s.tree.trunk) + sum(len(b.own) + self.stop.longest for b in s.tree.branches) for s in sheaves)
        free, _ = torch.cuda.mem_get_info(self.loaded.device)
        return max(1, int(SPARE * free / (longest * _bytes_a_token(self.loaded.model))))

    @torch.inference_mode()
    def _together(self, sheaves: Sequence[Sheaf]) -> list[list[Any]]:
        inputs = collate([sheaf.inputs for sheaf in sheaves], self.stop.pad, self.loaded.device)
        questions = max(len(sheaf.lines) for sheaf in sheaves)
        told = [[line.option is None for line in sheaf.lines] for sheaf in sheaves]
        writes = any(any(row) for row in told)
        room = questions * self.stop.longest if writes else 0
        going = Pass(self.loaded.model, [sheaf.tree for sheaf in sheaves], inputs, room)
        found: list[list[Any]] = [[None] * len(sheaf.lines) for sheaf in sheaves]
        if not all(all(row) for row in told):
            for (row, place), log in option_logs(going, sheaves).items():
                found[row][place] = log
        if writes:
            tokens, tied = going.reply(self.stop)
            self.ties += int(tied.sum())
            for row, places in enumerate(told):
                for place, write in enumerate(places):
                    if write:
                        found[row][place] = self._said(tokens[row, place].tolist())
        return found

    def _said(self, tokens: list[int]) -> list[int]:
        """A reply up to the token that ended it."""
        over = next((n for n, token in enumerate(tokens) if token in self.stop.ends), len(tokens))
        return tokens[:over]

    @torch.inference_mode()
    def _alone(self, sheaf: Sheaf) -> list[Any]:
        """Every line by itself: the prompt anew, with its media."""
        found: list[Any] = []
        for branch, line in zip(sheaf.tree.branches, sheaf.lines, strict=True):
            ids = torch.cat([torch.from_numpy(sheaf.tree.trunk[: branch.shared]), torch.from_numpy(branch.own)])[None]
            whole = sheaf.inputs["input_ids"].shape[1]
            media = {n: v for n, v in sheaf.inputs.items() if not (v.ndim == 2 and v.shape[1] == whole)}
            by_token = {
                n: v for n, v in sheaf.inputs.items() if n not in media and n not in ("input_ids", "attention_mask")
            }
            grown = {n: torch.nn.functional.pad(v, (0, ids.shape[1]))[:, : ids.shape[1]] for n, v in by_token.items()}
            given = {"input_ids": ids, "attention_mask": torch.ones_like(ids), **media, **grown}
            given = {name: value.to(self.loaded.device) for name, value in given.items()}
            if line.option is not None:
                logits = self.loaded.model(**given).logits[0, line.length - 1 : -1].float().log_softmax(-1)
                found.append(float(logits.gather(1, given["input_ids"][0, line.length :, None]).sum()))
                continue
            banned = {"suppress_tokens": list(self.stop.banned)} if self.stop.banned else {}
            said = self.loaded.model.generate(
                **given, max_new_tokens=self.stop.longest, do_sample=False, num_beams=1, **banned
            )
            found.append(self._said(said[0, ids.shape[1] :].tolist()))
        return found


def collate(given: Sequence[dict[str, torch.Tensor]], pad: int, device: torch.device) -> dict[str, torch.Tensor]:
    """Batches of one -> one batch. What goes by token is padded behind; pictures of unequal number get empty ones."""
    lengths = [one["input_ids"].shape[1] for one in given]
    joined: dict[str, torch.Tensor] = {}
    for name in given[0]:
        values = [one[name] for one in given]
        if all(v.ndim == 2 and v.shape[1] == n for v, n in zip(values, lengths, strict=True)):
            filler = pad if name == "input_ids" else 0
            values = [torch.nn.functional.pad(v, (0, max(lengths) - v.shape[1]), value=filler) for v in values]
        elif values[0].ndim > 2 and values[0].shape[0] == 1 and len({v.shape[1:] for v in values}) > 1:
            most = max(v.shape[1] for v in values)
            values = [torch.cat([v, v.new_zeros(1, most - v.shape[1], *v.shape[2:])], dim=1) for v in values]
        joined[name] = torch.cat(values).to(device)
    return joined


def _bytes_a_token(model: Any) -> int:
    text = model.config.get_text_config()
    width = getattr(text, "head_dim", None) or text.hidden_size // text.num_attention_heads
    return int(2 * text.num_hidden_layers * text.num_key_value_heads * width * model.dtype.itemsize)


def _special(model: Any) -> bool:
    """Whether its generation settings ask for more than the next likeliest token."""
    config = model.generation_config
    return any(
        (
            (config.num_beams or 1) > 1,
            (config.repetition_penalty or 1.0) != 1.0,
            bool(config.no_repeat_ngram_size),
            bool(config.bad_words_ids),
            bool(config.suppress_tokens),
            bool(config.begin_suppress_tokens),
            bool(config.forced_bos_token_id),
        )
    )
