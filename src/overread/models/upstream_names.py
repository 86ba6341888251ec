"""The names that a model class written for ECG-Reasoning-Benchmark imports, so that its file runs here unchanged.

Only what such a class stands on works: its parent, its registry, the conversation that it is handed, and two small
functions. What the project itself does with models (asking, loading data, scoring) overread does, so those names exist
and say so when they are called. Nothing of that project's own is in here.
"""

from __future__ import annotations

import base64
import contextlib
import io
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from overread.errors import BadInput

PACKAGE = "ecg_reasoning_benchmark"
POLICIES = ("A", "B", "C")
"""What a class sees of the dialogue after its first question; three editions of the project differ in it."""
ECG = ("signal", "image")


class BaseModel:
    """The parent of model classes."""

    ecg_modality_base = "image"
    """`image` and `signal` get both; `text` gets neither, only the record's path."""

    @classmethod
    def build_model(cls, **arguments: Any) -> Any:
        """Makes the model from the arguments of the command line."""
        raise NotImplementedError("a model class has a build_model")

    def get_response(self, conversation: Conversation, **named: Any) -> str:
        """Answers the last turn of a conversation."""
        raise NotImplementedError("a model class has a get_response")

    def require_base64_image(self) -> bool:
        """Whether the picture is handed over as base64 text of a PNG instead of as an image."""
        return False


class Turn(dict[str, Any]):
    """A turn that notices whether its ECG was taken out."""

    def __init__(self, *given: Any, taken: set[str], **named: Any) -> None:
        super().__init__(*given, **named)
        self.taken = taken

    def __getitem__(self, name: str) -> Any:
        self._notice(name)
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        """As a dict does."""
        self._notice(name)
        return super().get(name, default)

    def pop(self, name: str, *default: Any) -> Any:
        """As a dict does."""
        self._notice(name)
        return super().pop(name, *default)

    def items(self) -> Any:
        """As a dict does."""
        self._notice(*self)
        return super().items()

    def values(self) -> Any:
        """As a dict does."""
        self._notice(*self)
        return super().values()

    def copy(self) -> Turn:
        """Another turn that notices for the same conversation."""
        made = Turn(taken=self.taken)
        for name in self:
            dict.__setitem__(made, name, dict.__getitem__(self, name))
        return made

    def _notice(self, *names: str) -> None:
        self.taken.update(name for name in names if name in ECG and name in self)


class Conversation:
    """The dialogue as a class is handed it: dicts with role, question and options, or text; the ECG in a user turn."""

    def __init__(self, prompt: str | None = None, *, policy: str = "C") -> None:
        self.conversation: list[dict[str, Any]] = []
        self.policy = policy
        self.taken: set[str] = set()
        """Which of signal and image a class has taken out."""
        if prompt is not None:
            self.conversation.append({"role": "system", "text": prompt})

    def add_user_turn(self, question: str, options: list[str], ecg_signal: Any = None, ecg_image: Any = None) -> None:
        """Appends a question with its options."""
        turn = Turn(role="user", question=question, options=options, taken=self.taken)
        for name, value in (("signal", ecg_signal), ("image", ecg_image)):
            if value is not None:
                turn[name] = value
        self.conversation.append(turn)

    def add_model_turn(self, message: str) -> None:
        """Appends an answer."""
        self.conversation.append({"role": "model", "text": message})

    def get_turns_for_prompt(self) -> list[dict[str, Any]]:
        """The turns that a prompt shows.

        `C`: all but the system prompt. `B`: without the first question and its answer, the ECG on the last question.
        `A`: the same, but the ECG stands before them in a turn of its own that has no role.
        """
        turns = self.conversation[1:]
        if self.policy == "C" or len(turns) < 3:
            return turns
        ecg = {name: dict.__getitem__(turns[0], name) for name in ECG if name in turns[0]}
        later = [turn.copy() for turn in turns[2:]]
        if self.policy == "A":
            return [Turn(ecg, taken=self.taken), *later]
        for name, value in ecg.items():
            later[-1].setdefault(name, value)
        return later


def base64_image_encoder(image: Any) -> str:
    """An image as base64 text of a PNG."""
    buffer = io.BytesIO()
    image.save(buffer, format="PNG")
    return base64.b64encode(buffer.getvalue()).decode("ascii")


def get_cache_dir() -> Path:
    """Where a class may keep files: `$ERB_CACHE`, or a folder of that project's name in the user's cache."""
    given = os.environ.get("ERB_CACHE")
    folder = Path(given) if given else Path.home() / ".cache" / PACKAGE
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _ours(name: str) -> Callable[..., Any]:
    def called(*given: Any, **named: Any) -> Any:
        raise BadInput(
            f"{name} is not there: overread asks, loads data and scores itself",
            where=PACKAGE,
            do="take the call out of the model's file, and use overread run",
        )

    called.__name__ = name
    return called


class Names:
    """The package as modules, with a registry of its own."""

    def __init__(self) -> None:
        self.registry: dict[str, type[BaseModel]] = {}
        models = {
            "BaseModel": BaseModel,
            "register_model": self.register_model,
            "build_model": self.build_model,
            "get_model_name": self.get_model_name,
            "MODEL_REGISTRY": self.registry,
        }
        utils = {
            "Conversation": Conversation,
            "base64_image_encoder": base64_image_encoder,
            "get_cache_dir": get_cache_dir,
        }
        inference = {name: _ours(name) for name in ("Inferencer", "load_data")}
        evaluators = {name: _ours(name) for name in ("get_evaluator_cls", "Evaluator")}
        evaluators["register_evaluator"] = lambda name: lambda made: made
        evaluation = {"evaluate_results": _ours("evaluate_results")}
        whole = {**models, **utils, **inference, **evaluators, **evaluation}
        self.modules = {
            PACKAGE: _module(PACKAGE, whole, package=True),
            f"{PACKAGE}.models": _module(f"{PACKAGE}.models", models, package=True),
            f"{PACKAGE}.models.model": _module(f"{PACKAGE}.models.model", {"BaseModel": BaseModel}),
            f"{PACKAGE}.utils": _module(f"{PACKAGE}.utils", utils),
            f"{PACKAGE}.inference": _module(f"{PACKAGE}.inference", {**inference, **utils}),
            f"{PACKAGE}.evaluators": _module(f"{PACKAGE}.evaluators", evaluators),
            f"{PACKAGE}.evaluation": _module(f"{PACKAGE}.evaluation", evaluation),
        }

    def register_model(self, name: str) -> Callable[[type[BaseModel]], type[BaseModel]]:
        """Puts a class into the registry."""

        def register(made: type[BaseModel]) -> type[BaseModel]:
            if name in self.registry:
                raise ValueError(f"two models are registered as {name!r}")
            if not issubclass(made, BaseModel):
                raise ValueError(f"{made.__name__} does not inherit from BaseModel")
            self.registry[name] = made
            return made

        return register

    def build_model(self, name: str, **arguments: Any) -> Any:
        """Makes a registered model from the arguments of the command line."""
        return self.registry[name].build_model(**arguments)

    def get_model_name(self, model: BaseModel) -> str:
        """The name that a model is registered by, with its variant."""
        for name, made in self.registry.items():
            if isinstance(model, made):
                variant = getattr(model, "model_variant", None)
                return f"{name}-{variant}" if variant is not None else name
        raise ValueError("the model is not registered")

    @contextlib.contextmanager
    def imported(self) -> Iterator[None]:
        """These modules are what an import of the package finds; what was there before comes back."""
        before = {name: module for name, module in sys.modules.copy().items() if _belongs(name)}
        for name in before:
            del sys.modules[name]
        sys.modules.update(self.modules)
        try:
            yield
        finally:
            self.modules.update({name: module for name, module in sys.modules.copy().items() if _belongs(name)})
            for name in [name for name in sys.modules.copy() if _belongs(name)]:
                del sys.modules[name]
            sys.modules.update(before)


def _belongs(name: str) -> bool:
    return name == PACKAGE or name.startswith(f"{PACKAGE}.")


def _module(name: str, members: Mapping[str, Any], *, package: bool = False) -> ModuleType:
    made = ModuleType(name)
    vars(made).update(members)
    if package:
        made.__path__ = []
    return made
