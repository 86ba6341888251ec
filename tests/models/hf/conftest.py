from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModelForImageTextToText, AutoProcessor

from overread.media.contract import Delivered
from overread.models.contract import Message, Pending, Posed, Setting
from overread.models.hf_prompts import Prompts
from overread.models.hf_vlm import HfVlm, load
from overread.tables import Dialogue, Media, Question

COLOURS = ("Red", "Green", "Blue", "No colour at all")


def sheet(seed: int, high: int = 60, wide: int = 90) -> np.ndarray[Any, Any]:
    """A picture of coloured squares, uint8 (high, wide, 3)."""
    squares = np.random.default_rng(seed).integers(0, 256, (high // 10, wide // 10, 3), dtype=np.uint8)
    return squares.repeat(10, axis=0).repeat(10, axis=1)


def delivered(data: np.ndarray[Any, Any]) -> Delivered:
    count = len(data) if data.ndim == 4 else 1
    return Delivered("frames" if data.ndim == 4 else "image", data, tuple(range(count)), data.shape, "h", {})


class Talk:
    """A dialogue under construction: what was said, and where it is asked."""

    def __init__(self, name: str, **pictures: np.ndarray[Any, Any]) -> None:
        self.name = name
        self.given = {Media(n, "image", f"t://{name}/{n}"): delivered(data) for n, data in pictures.items()}
        self.script: list[Message] = []
        self.asked: list[Pending] = []

    def shows(self, *names: str) -> tuple[Media, ...]:
        return tuple(medium for name in names for medium in self.given if medium.name == name)

    def say(self, role: Any, text: str, *names: str) -> Talk:
        self.script.append(Message(role, text, self.shows(*names)))
        return self

    def ask(self, text: str, *names: str, seed: int = 0, sample: int = 0, **fields: Any) -> Talk:
        """A question here; what is said next is not part of it."""
        asked = Message("user", text, self.shows(*names))
        values = {"kind": "text", **fields}
        q = Question(
            id=f"{self.name}q{len(self.asked)}",
            dialogue=self.name,
            place=len(self.asked),
            item=self.name,
            template="t",
            asked=text,
            shown=text,
            shows="key",
            prompt="",
            **values,
        )
        self.asked.append(Pending(q, len(self.script), asked, seed, sample))
        return self

    def posed(self) -> Posed:
        about = Dialogue(self.name, "b", "p", "c", "p", "i", "plain", "open", tuple(self.given), ())
        return Posed(about, tuple(self.script), tuple(self.asked), self.given.__getitem__)


def chain(name: str, seed: int, *, high: int = 60, wide: int = 90) -> Talk:
    """Teacher-forced, the first reply shown as the model's own; every prompt is the beginning of the next."""
    talk = Talk(name, ecg=sheet(seed, high, wide))
    talk.say("system", "You read ECGs.").ask("Sinus rhythm?", "ecg").say("user", "Sinus rhythm?", "ecg")
    talk.say("assistant", f"what it said itself {seed}")
    for step in ("Which lead shows it?", "What is the rate?"):
        talk.ask(step).say("user", step).say("assistant", f"answer {len(talk.asked)}")
    return talk.ask("The diagnosis?")


def condensed(name: str, seed: int) -> Talk:
    """Asked with options, shown without: every prompt leaves the script."""
    talk = Talk(name, ecg=sheet(seed))
    talk.say("user", "Look.", "ecg").say("assistant", "Yes.")
    for step in range(3):
        talk.ask(f"Question {step}: Red, Green or Blue?")
        talk.say("user", f"Question {step}").say("assistant", COLOURS[step])
    return talk


def forced(name: str, seed: int) -> Talk:
    """The same question with its answer already begun otherwise, and one that all of it is put to."""
    talk = Talk(name, ecg=sheet(seed))
    talk.ask("Yes or No?", "ecg").say("user", "Yes or No? Say Yes.", "ecg").say("assistant", "Yes")
    talk.ask("Why?").say("user", "Why?").say("assistant", "The rate is 72.").ask("So Yes or No?")
    return talk.ask("So No or Yes?")


def two_pictures(name: str, seed: int) -> Talk:
    """A second picture comes later; questions before it do not see it."""
    talk = Talk(name, first=sheet(seed), second=sheet(seed + 1, 90, 60))
    talk.ask("What is here?", "first").say("user", "What is here?", "first").say("assistant", "An ECG.")
    talk.ask("And here?", "second").say("user", "And here?", "second").say("assistant", "Another.")
    return talk.ask("Are they alike?")


def clip(name: str, seed: int, frames: int = 3) -> Talk:
    """Several frames of one medium, a single question: free, no script."""
    talk = Talk(name, clip=np.stack([sheet(seed + n) for n in range(frames)]))
    return talk.say("user", "One word.").say("assistant", "Good.").ask("What moves?", "clip")


def single(name: str, seed: int) -> Talk:
    return Talk(name, ecg=sheet(seed)).ask("Which rhythm?", "ecg")


def unseen(name: str, seed: int) -> Talk:
    """No picture at all."""
    return Talk(name).say("system", "Guess.").ask(f"Which rhythm has patient {seed}?")


SHAPES: dict[str, Callable[[str, int], Talk]] = {
    "single": single,
    "chain": chain,
    "condensed": condensed,
    "forced": forced,
    "two pictures": two_pictures,
    "clip": clip,
    "unseen": unseen,
}


@dataclasses.dataclass
class ByItself:
    """A model as transformers loads it, asked one prompt at a time; nothing of the engine in it."""

    model: Any
    processor: Any

    def inputs(self, posed: Posed, pending: Pending, answer: str | None = None) -> Mapping[str, torch.Tensor]:
        turns, shown = [], []
        for message in posed.prompt(pending):
            frames = [frame for medium in message.media for frame in pictures_of(posed.look(medium))]
            shown += frames
            parts = [{"type": "image"}] * len(frames)
            turns.append({"role": message.role, "content": [*parts, {"type": "text", "text": message.text}]})
        if answer is not None:
            turns.append({"role": "assistant", "content": [{"type": "text", "text": answer}]})
        text = self.processor.apply_chat_template(turns, tokenize=False, add_generation_prompt=answer is None)
        given: dict[str, Any] = {"images": [shown]} if shown else {}
        special = Prompts(self.processor, system="keep", frames="images").special(text)
        made = self.processor(text=[text], return_tensors="pt", **given, **special)
        return {name: value for name, value in made.items() if isinstance(value, torch.Tensor)}

    @torch.inference_mode()
    def reply(self, posed: Posed, pending: Pending, longest: int, **more: Any) -> list[int]:
        """The tokens of its greedy reply, without the one that ended it."""
        inputs = self.inputs(posed, pending)
        said = self.model.generate(**inputs, max_new_tokens=longest, do_sample=False, **more)
        tokens: list[int] = said[0, inputs["input_ids"].shape[1] :].tolist()
        end = self.model.generation_config.eos_token_id
        return tokens[: tokens.index(end)] if end in tokens else tokens

    @torch.inference_mode()
    def log(self, posed: Posed, pending: Pending, option: str) -> float:
        """The log-probability of an option as the answer, up to the token that ends it."""
        before = self.inputs(posed, pending)["input_ids"].shape[1]
        inputs = self.inputs(posed, pending, option)
        ids = inputs["input_ids"][0]
        end = self.processor.tokenizer.eos_token_id
        stop = next((n + 1 for n in range(before, len(ids)) if ids[n] == end), len(ids))
        logs = self.model(**inputs).logits[0].double().log_softmax(-1)
        return float(sum(logs[n - 1, ids[n]] for n in range(before, stop)))


def pictures_of(one: Delivered) -> Sequence[np.ndarray[Any, Any]]:
    return list(one.data) if one.data.ndim == 4 else [one.data]


@pytest.fixture(scope="session")
def by_itself(tiny: Callable[[str], Path]) -> Callable[[str], ByItself]:
    """A tiny model outside the engine, by its maker's name."""
    made: dict[str, ByItself] = {}

    def one(name: str) -> ByItself:
        if name not in made:
            folder = tiny(name)
            model = AutoModelForImageTextToText.from_pretrained(folder, dtype=torch.float32)
            made[name] = ByItself(model.eval(), AutoProcessor.from_pretrained(folder))
        return made[name]

    return one


@pytest.fixture(scope="session")
def seated(tiny: Callable[[str], Path]) -> Callable[..., HfVlm]:
    """A tiny model as `hf_vlm` loads it, by its maker's name and options; loaded once a session."""
    made: dict[tuple[str, ...], HfVlm] = {}

    def one(name: str, **options: str) -> HfVlm:
        key = (name, *(f"{n}={v}" for n, v in sorted(options.items())))
        if key not in made:
            made[key] = load(Setting("hf_vlm", "", {"path": str(tiny(name)), "dtype": "float32", **options}))
        return made[key]

    return one


def replies(model: HfVlm, posed: Sequence[Posed]) -> dict[str, list[int]]:
    """The tokens of all replies, by question."""
    sheaves = [sheaf for one in posed for sheaf in model.binder.sheaves(one, options=False)]
    return {
        line.pending.question.id: said.tokens
        for sheaf, found in model.runner.run(sheaves)
        for line, said in zip(sheaf.lines, found, strict=True)
    }


@pytest.fixture(scope="session")
def tokens_of() -> Callable[..., dict[str, list[int]]]:
    return replies


@pytest.fixture(scope="session")
def shapes() -> dict[str, Callable[[str, int], Talk]]:
    return SHAPES
