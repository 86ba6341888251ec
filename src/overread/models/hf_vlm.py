"""Any image-text-to-text model of Hugging Face transformers, by local folder or hub name

media: ecg, clip, volume, image
licence: that of the weights
options: path, and what docs/hf_models.md lists

Questions of one dialogue share one pass over its media and its script (`hf_shared.py`); where an architecture does not
allow that, they are asked one by one, and the model's provenance says so. Receipts are taken from the tensors that
enter the network, and a processor that does not hand its media on is refused when it is loaded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import torch
import transformers

from overread.errors import BadInput
from overread.models import hf_conformance, hf_trial
from overread.models.contract import Answer, Message, Posed, Setting
from overread.models.hf_batches import Binder, Line, Sheaf
from overread.models.hf_draws import Draw
from overread.models.hf_loading import fingerprint, load_weights
from overread.models.hf_options import Options, read_options
from overread.models.hf_processing import Inputs, Processing
from overread.models.hf_prompts import Prompts
from overread.models.hf_replies import Stop
from overread.models.hf_running import Runner
from overread.tables import Json, Media

KINDS = ("choice", "text", "number")
FORMS = {"ecg": "sheet", "clip": "frames", "volume": "slices", "image": "image"}
BATCH = 64


def check(setting: Setting) -> None:
    """Refuses options that there are not, before anything is compiled or read."""
    read_options(setting.options, f"--model {setting.name}")


def load(setting: Setting) -> HfVlm:
    """Reads the weights, checks the processor, and tries whether the model can share a prefix."""
    return HfVlm(read_options(setting.options, f"--model {setting.name}"))


class HfVlm:
    """A loaded model."""

    def __init__(self, options: Options) -> None:
        where = f"hf_vlm[path={options.path}]"
        self.options = options
        self.loaded = load_weights(options, where)
        self.fingerprint = fingerprint(self.loaded.model)
        self.samples = options.temperature > 0
        prompts = Prompts(self.loaded.processor, system=options.system, frames=options.frames)
        self.processing = Processing(self.loaded.processor, prompts, self.loaded.media_tokens)
        hf_conformance.check(self._one_medium, self.processing, where)
        self.binder = Binder(self.processing)
        self.alone = self._why_alone(where)
        self.runner = Runner(self.loaded, self._stop(), _draw(options), shared=not self.alone, batch=options.batch)

    def identity(self) -> Mapping[str, Any]:
        """Weights, adapter, prompts by template, precision, and what was set."""
        model = self.loaded.model
        return {
            "adapter": 1,
            "weights": self.options.path.rstrip("/").rsplit("/", 1)[-1],
            "revision": getattr(model.config, "_commit_hash", None) or "",
            "architecture": type(model).__name__,
            "parameters": sum(weight.numel() for weight in model.parameters()),
            "fingerprint": self.fingerprint,
            "precision": str(model.dtype),
            **self.options.identity(),
        }

    def provenance(self) -> Mapping[str, Any]:
        """Versions, device, and whether questions share their prefix."""
        return {
            "torch": torch.__version__,
            "transformers": transformers.__version__,
            "device": str(self.loaded.device),
            "shared_prefix": not self.alone,
            "asked_one_by_one_because": self.alone,
            "patches_as_products": self.loaded.products,
            "layers_compiled": self.loaded.compiled,
        }

    def answer(self, dialogues: Iterable[Posed]) -> Iterator[Answer]:
        """All questions of a batch of dialogues."""
        scored = self.options.mode == "score"
        sheaves = [sheaf for posed in dialogues for sheaf in self.binder.sheaves(posed, options=scored)]
        for sheaf, found in self.runner.run(sheaves):
            yield from self._answers(sheaf, found)

    def _answers(self, sheaf: Sheaf, found: Sequence[Any]) -> Iterator[Answer]:
        scores: dict[tuple[str, int, int], list[float]] = {}
        lines: dict[tuple[str, int, int], Line] = {}
        for line, said in zip(sheaf.lines, found, strict=True):
            pending = line.pending
            slot = (pending.question.id, pending.seed, pending.sample)
            if line.option is None:
                text = self.loaded.processor.tokenizer.decode(said.tokens, skip_special_tokens=True).strip()
                tied = {} if said.ties is None else {"exact_ties": said.ties}
                usage = Json({"prompt_tokens": line.length, "tokens": len(said.tokens), **tied})
                yield Answer(*slot, text=text, seen=self._seen(sheaf, line), usage=usage)
                continue
            scores.setdefault(slot, []).append(said)
            lines[slot] = line
        for slot, logs in scores.items():
            chances = torch.tensor(logs, dtype=torch.float64).softmax(0).tolist()
            best = int(max(range(len(chances)), key=chances.__getitem__))
            seen = self._seen(sheaf, lines[slot])
            usage = Json({"prompt_tokens": lines[slot].length, "tokens": 0})
            yield Answer(*slot, choice=(best,), option_scores=tuple(chances), seen=seen, usage=usage)

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

    def _one_medium(self, frames: list[Any]) -> Inputs:
        """What the processor makes of a prompt that shows one medium of these pictures."""
        medium = Media("check", "clip", "check://check")
        text = self.processing.prompts.text([Message("user", "?", (medium,))], {medium: len(frames)})
        return self.processing.process(text, [frames])

    def _why_alone(self, where: str) -> str:
        """Why questions are asked one by one; empty where they share."""
        if self.options.engine == "single":
            return "engine=single was set"
        why = self.loaded.alone or hf_trial.fault(self.loaded, self.binder)
        if why and self.options.engine == "shared":
            raise BadInput(f"questions cannot share their prefix: {why}", where=where, do="leave out engine=shared")
        return why


def _draw(options: Options) -> Draw | None:
    return Draw(options.temperature, options.top_k, options.top_p) if options.temperature else None
