"""A model class written for ECG-Reasoning-Benchmark, unchanged

    upstream_ecg[path=my_model.py,model_variant=8B]

media: ecg
licence: that of the file
options: path (needed), model (its registered name, where the file has several), model_variant, policy (A, B, C),
  sheet (the picture's profile), condensed (yes, no), arg.NAME (another argument of its build_model)

The class is handed what that project hands it: the conversation with signal and picture in the first question, and the
options beside each question. Receipts are of level `sent`: a turn notices whether its signal or its picture was taken
out, and a class that takes out neither has no receipt, so that its replies fail.
"""

from __future__ import annotations

import ast
import importlib.util
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from PIL import Image

from overread.catalog import file_hash
from overread.errors import BadInput, unknown_name
from overread.media import sheet
from overread.media.contract import Delivered
from overread.media.deliver import digest
from overread.models.asked import read_asked
from overread.models.contract import Answer, Message, Pending, Posed, Seen, Setting
from overread.models.upstream_names import PACKAGE, POLICIES, Conversation, Names, base64_image_encoder
from overread.paths import is_file
from overread.tables import Media

KINDS = ("choice", "text")
FORMS = {"ecg": "signal"}
SAMPLES = False
KNOWN = ("path", "model", "model_variant", "policy", "sheet", "condensed")
ARGUMENTS: dict[str, Any] = {
    "root": "data",
    "dataset": None,
    "model": None,
    "model_variant": None,
    "ecg_base_dir": None,
    "enable_condensed_chat": False,
    "output_dir": "results",
    "rebase": False,
    "debug": False,
    "verbose": False,
    "do_not_skip_empty_output": False,
    "inference_mode": "default",
    "seed": None,
}
"""What that project's command line has, with its defaults: build_model is given all of them."""


class UpstreamEcg:
    """The class in its file, built."""

    def __init__(self, setting: Setting) -> None:
        self._options = dict(setting.options)
        self._path = Path(setting.options["path"]).expanduser()
        self._names = Names()
        self._source = self._path.read_text(encoding="utf-8")
        with self._names.imported():
            _run(self._path, self._source)
            self._name, self._model = self._build(setting)
        self._modality = str(getattr(self._model, "ecg_modality_base", "image"))
        self._drawn: tuple[str, Any] | None = None
        self.forms: Mapping[str, str] = self._forms()

    def identity(self) -> Mapping[str, Any]:
        """The file's bytes and what it was told; files that it imports do not count by themselves."""
        told = {name: value for name, value in self._options.items() if name != "path"}
        return {"file": file_hash(self._path), "class": self._name, "modality": self._modality, "told": told}

    def answer(self, dialogues: Iterable[Posed]) -> Iterator[Answer]:
        """One call a question, with the whole conversation before it."""
        for posed in dialogues:
            for pending in posed.questions:
                yield self._one(posed, pending)

    def _forms(self) -> Mapping[str, str]:
        """A class of modality `text` reads the record itself, or never looks where its file never names the path."""
        if self._modality != "text":
            return FORMS
        return {"ecg": "path"} if "ecg_path" in self._source else {}

    def _build(self, setting: Setting) -> tuple[str, Any]:
        registry = self._names.registry
        if not registry:
            raise BadInput("the file registers no model", where=str(self._path), do="decorate it with register_model")
        name = setting.options.get("model") or next(iter(registry))
        if name not in registry:
            raise unknown_name("registered model", name, registry, where=str(self._path))
        if "model" not in setting.options and len(registry) > 1:
            raise BadInput(
                f"the file registers {len(registry)} models: {', '.join(sorted(registry))}",
                where=str(self._path),
                do="name one: upstream_ecg[path=...,model=NAME]",
            )
        extra = {k.removeprefix("arg."): v for k, v in setting.options.items() if k.startswith("arg.")}
        variant = setting.options.get("model_variant")
        return name, self._names.build_model(name, **{**ARGUMENTS, "model": name, "model_variant": variant, **extra})

    def _one(self, posed: Posed, pending: Pending) -> Answer:
        slot = (pending.question.id, pending.seed, pending.sample)
        prompt = posed.prompt(pending)
        handed: dict[Media, tuple[Delivered, Any]] = {}
        conversation = self._conversation(posed, prompt, pending, handed)
        named: dict[str, Any] = {"enable_condensed_chat": self._condensed(conversation), "verbose": False}
        named |= {"target_dx": None, "ecg_path": self._record(handed)}
        started = time.monotonic()
        try:
            with self._names.imported():
                said = self._model.get_response(conversation, **named)
        except Exception as error:  # noqa: BLE001  whatever a class raises is the reason of a failed reply
            reason = f"get_response raises {type(error).__name__}: {error}"
            return Answer(*slot, status="failed", reason=reason, seen=self._seen(handed, conversation))
        seconds = time.monotonic() - started
        if not isinstance(said, str):
            reason = f"get_response returned {type(said).__name__}, not text"
            return Answer(*slot, status="failed", reason=reason)
        return Answer(*slot, text=said, seen=self._seen(handed, conversation), seconds=seconds)

    def _conversation(
        self,
        posed: Posed,
        prompt: tuple[Message, ...],
        pending: Pending,
        handed: dict[Media, tuple[Delivered, Any]],
    ) -> Conversation:
        system = "\n\n".join(message.text for message in prompt if message.role == "system")
        conversation = Conversation(system, policy=self._options.get("policy", "C"))
        for message in prompt:
            if message.role == "assistant":
                conversation.add_model_turn(message.text)
            elif message.role == "user":
                last = message is prompt[-1]
                question, options = self._asked(message.text, pending.question.options if last else None)
                signal = picture = None
                for medium in message.media if self.forms else ():
                    signal, picture = self._hand(posed.look(medium), medium, handed)
                conversation.add_user_turn(question, options, ecg_signal=signal, ecg_image=picture)
        return conversation

    def _asked(self, text: str, options: tuple[str, ...] | None) -> tuple[str, list[str]]:
        """A turn's question and options apart; where its framing is not known, the whole text is the question."""
        found = read_asked(text)
        if found is None:
            return text, list(options or ())
        return found[0], found[1] if options is None else list(options)

    def _hand(self, given: Delivered, medium: Media, handed: dict[Media, tuple[Delivered, Any]]) -> tuple[Any, Any]:
        """The signal and the picture of an ECG, as a class is handed them."""
        if self._modality == "text":
            handed[medium] = (given, None)
            return None, None
        if self._drawn is None or self._drawn[0] != given.hash:  # the questions of a dialogue share their ECG
            leads, profile = given.facts["leads"], self._options.get("sheet", "upstream")
            self._drawn = given.hash, sheet.draw(given.data, given.facts["rate_hz"], leads, profile).image
        pixels = self._drawn[1]
        image = Image.fromarray(pixels)
        handed[medium] = (given, pixels)
        library: Any = sys.modules.get("torch")  # a class that wants tensors has loaded it
        signal = given.data.copy() if library is None else library.from_numpy(given.data.copy())
        return signal, base64_image_encoder(image) if self._model.require_base64_image() else image

    def _record(self, handed: Mapping[Media, tuple[Delivered, Any]]) -> str | None:
        """The record's path without its ending, as wfdb takes it; only for classes that read it themselves."""
        paths = [given.data for given, _ in handed.values() if isinstance(given.data, Path)]
        return str(paths[-1].with_suffix("")) if paths else None

    def _condensed(self, conversation: Conversation) -> bool:
        """Whether earlier questions are shown without their options, as they stand in the dialogue."""
        said = self._options.get("condensed")
        if said is not None:
            return said == "yes"
        return any(turn["role"] == "user" and not turn["options"] for turn in conversation.conversation[:-1])

    def _seen(self, handed: Mapping[Media, tuple[Delivered, Any]], conversation: Conversation) -> tuple[Seen, ...]:
        """A receipt of what was taken out of the turns; of a path nobody here can tell."""
        found = []
        for medium, (given, picture) in handed.items():
            if picture is None:
                found.append(Seen("sent", medium, "path", given.indices, (), given.hash))
                continue
            taken = sorted(conversation.taken)
            if not taken:
                continue
            shape = picture.shape if "image" in taken else given.shape
            content = [digest(picture) if name == "image" else given.hash for name in taken]
            whole = content[0] if len(content) == 1 else digest("|".join(content))
            found.append(Seen("sent", medium, "+".join(taken), given.indices, tuple(map(int, shape)), whole))
        return tuple(found)


def _run(path: Path, source: str) -> ModuleType:
    """Runs the file as the module of that project that its relative imports take it to be."""
    levels = [node.level for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom) and node.level]
    deep = 2 in levels
    parent = f"{PACKAGE}.models.{path.parent.name or 'folder'}" if deep else f"{PACKAGE}.models"
    if deep:
        package = ModuleType(parent)
        package.__path__ = [str(path.parent)]
        sys.modules[parent] = package
    spec = importlib.util.spec_from_file_location(f"{parent}.{path.stem}", path)
    if spec is None or spec.loader is None:
        raise BadInput("this is not a Python file", where=str(path), do="give path=FILE.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def check(setting: Setting) -> None:
    """Refuses options that are not known, and a file that is not there or is no Python."""
    where = f"--model {setting.name}"
    for name in setting.options:
        if name not in KNOWN and not name.startswith("arg."):
            raise unknown_name("option of upstream_ecg", name, (*KNOWN, "arg.NAME"), where=where)
    path = setting.options.get("path")
    if not path or not is_file(Path(path).expanduser()):
        raise BadInput(f"there is no file {path!r}", where=where, do="write upstream_ecg[path=my_model.py]")
    policy = setting.options.get("policy", "C")
    if policy not in POLICIES:
        raise unknown_name("history policy", policy, POLICIES, where=where)
    if setting.options.get("condensed", "no") not in ("yes", "no"):
        raise BadInput("condensed must be yes or no", where=where, do="write condensed=yes or leave it out")
    sheet.sheet_of(setting.options.get("sheet", "upstream"))
    try:
        ast.parse(Path(path).expanduser().read_text(encoding="utf-8"))
    except (SyntaxError, ValueError) as error:
        raise BadInput(f"this is not a Python file: {error}", where=path, do="mend it") from error


def load(setting: Setting) -> UpstreamEcg:
    """Runs the file and builds the class in it."""
    check(setting)
    return UpstreamEcg(setting)
