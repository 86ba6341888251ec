"""Any image-text-to-text model of Hugging Face transformers, by local folder or hub name

media: ecg, clip, volume, image
licence: that of the weights
options: path, revision, dtype, device, bits, mode, engine, system, frames, banned, new_tokens, batch

Questions of one dialogue share one pass over its media and its script (`hf_shared.py`); where an architecture does not
allow that, they are asked one by one, and the model's provenance says so. Receipts are taken from the tensors that
enter the network, and a processor that does not hand its media on is refused when it is loaded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import torch
import transformers

from overread.models import hf_conformance
from overread.models.contract import Answer, Message, Posed, Setting
from overread.models.hf_batches import Binder, Line, Sheaf
from overread.models.hf_loading import load_weights
from overread.models.hf_options import Options, read_options
from overread.models.hf_prompts import Prompts
from overread.models.hf_running import Runner
from overread.models.hf_shared import Stop
from overread.tables import Media

KINDS = ("choice", "text", "number")
FORMS = {"ecg": "sheet", "clip": "frames", "volume": "slices", "image": "image"}
SAMPLES = False
BATCH = 64


def load(setting: Setting) -> HfVlm:
    """Reads the weights and checks the processor."""
    return HfVlm(read_options(setting.options, f"--model {setting.name}"))


class HfVlm:
    """A loaded model."""

    def __init__(self, options: Options) -> None:
        where = f"hf_vlm[path={options.path}]"
        self.options = options
        self.loaded = load_weights(options, where)
        self.prompts = Prompts(self.loaded.processor, system=options.system, frames=options.frames)
        self.binder = Binder(self.loaded.processor, self.prompts, self.loaded.media_token)
        self._check(where)
        self.runner = Runner(self.loaded, self._stop(), shared=options.engine == "shared", batch=options.batch)

    def identity(self) -> Mapping[str, Any]:
        """Weights, adapter, prompts by template, precision, and what was set."""
        model = self.loaded.model
        return {
            "adapter": 1,
            "weights": self.options.path.rstrip("/").rsplit("/", 1)[-1],
            "revision": getattr(model.config, "_commit_hash", None) or "",
            "architecture": type(model).__name__,
            "parameters": sum(weight.numel() for weight in model.parameters()),
            "precision": str(model.dtype),
            **self.options.identity(),
        }

    def provenance(self) -> Mapping[str, Any]:
        """Versions, device, and whether questions share their prefix."""
        return {
            "torch": torch.__version__,
            "transformers": transformers.__version__,
            "device": str(self.loaded.device),
            "shared_prefix": self.runner.shared,
        }

    def answer(self, dialogues: Iterable[Posed]) -> Iterator[Answer]:
        """All questions of a batch of dialogues."""
        score = self.options.mode == "score"
        sheaves = [sheaf for posed in dialogues for sheaf in self.binder.sheaves(posed, score)]
        for sheaf, found in self.runner.run(sheaves):
            yield from self._answers(sheaf, found)

    def _answers(self, sheaf: Sheaf, found: Sequence[Any]) -> Iterator[Answer]:
        scores: dict[tuple[str, int, int], list[float]] = {}
        lines: dict[tuple[str, int, int], Line] = {}
        for line, said in zip(sheaf.lines, found, strict=True):
            pending = line.pending
            slot = (pending.question.id, pending.seed, pending.sample)
            if line.option is None:
                text = self.loaded.processor.tokenizer.decode(said, skip_special_tokens=True).strip()
                yield Answer(*slot, text=text, seen=self._seen(sheaf, line), usage=_usage(line, len(said)))
                continue
            scores.setdefault(slot, []).append(said)
            lines[slot] = line
        for slot, logs in scores.items():
            chances = torch.tensor(logs, dtype=torch.float64).softmax(0).tolist()
            best = int(max(range(len(chances)), key=chances.__getitem__))
            seen = self._seen(sheaf, lines[slot])
            yield Answer(*slot, choice=(best,), option_scores=tuple(chances), seen=seen)

    def _seen(self, sheaf: Sheaf, line: Line) -> tuple[Any, ...]:
        shown = (m for message in sheaf.posed.prompt(line.pending) for m in message.media)
        return tuple(sheaf.seen[medium] for medium in dict.fromkeys(shown) if medium in sheaf.seen)

    def _stop(self) -> Stop:
        config, tokenizer = self.loaded.model.generation_config, self.loaded.processor.tokenizer
        named = config.eos_token_id if config.eos_token_id is not None else tokenizer.eos_token_id
        ends = tuple(named) if isinstance(named, list | tuple) else (named,)
        banned = [
            t for word in self.options.banned.split() for t in tokenizer(word, add_special_tokens=False).input_ids
        ]
        pad = tokenizer.pad_token_id
        return Stop(self.options.new_tokens, ends, tuple(banned), ends[0] if pad is None else pad)

    def _check(self, where: str) -> None:
        medium = Media("check", "clip", "check://check")

        def process(frames: list[Any]) -> dict[str, torch.Tensor]:
            text = self.prompts.text([Message("user", "?", (medium,))], {medium: len(frames)})
            return self.binder.process(text, [frames])

        hf_conformance.check(process, self.loaded.media_token, where, clips=True)


def _usage(line: Line, said: int) -> Any:
    from overread.tables import Json

    return Json({"prompt_tokens": line.length, "tokens": said})
