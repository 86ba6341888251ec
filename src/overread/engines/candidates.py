"""The models of a run as the user named them: `NAME:variant[key=value,...]`, a card's name, or the path of either."""

from __future__ import annotations

import dataclasses
import functools
import math
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, cast

from overread.cards.finding import setting_of
from overread.catalog import file_hash, is_path, load, split_variant
from overread.errors import BadInput, OverreadError
from overread.media.reader import check_form
from overread.models import contract
from overread.models.contract import ExamTables, Fitted, Load, Model, Setting
from overread.runs.folder import Seat
from overread.tables import canonical, content_id

MAY_FIT = ("prior", "oracle")
"""Only these may see the key; `prior` two-fold across patients, `oracle` on phantoms."""

_SPEC = re.compile(r"^(?P<name>[^\[\]]+?)(?:\[(?P<options>.*)\])?$", re.DOTALL)
_COMMA = re.compile(r",(?=\s*[A-Za-z_][\w.]*\s*=)")


def parse_model(text: str) -> tuple[str, Setting]:
    """`NAME:variant[key=value]` -> the name to load, and the setting; of a card, its adapter and what that is told."""
    match = _SPEC.match(text.strip())
    if match is None:
        raise BadInput(
            f"{text!r} is not a model", where="--model", do="write NAME, NAME:variant or NAME[key=value,...]"
        )
    options = {}
    for pair in _COMMA.split(match["options"] or ""):
        if not pair.strip():
            continue
        key, equals, value = pair.partition("=")
        if not equals:
            raise BadInput(f"{pair!r} is not key=value", where=f"--model {text}", do="write NAME[key=value,...]")
        options[key.strip()] = value.strip()
    carded = setting_of(match["name"], options)
    if carded is not None:
        return f"{carded.name}:{carded.variant}" if carded.variant else carded.name, carded
    name, variant = split_variant(match["name"])
    return match["name"], Setting(name, variant, options)


def check_model(text: str) -> None:
    """Refuses a model that is not there, or whose file says that it cannot be meant so; nothing is loaded."""
    wanted, setting = parse_model(text)
    module = load("models", wanted)
    if not hasattr(module, "check"):
        return
    try:
        module.check(setting)
    except OverreadError:
        raise
    except Exception as error:
        what = f"the model cannot be checked: {type(error).__name__}: {error}"
        raise BadInput(what, where=f"--model {text}", do="mend its file") from error


def remote_of(text: str) -> str:
    """The host that a model sends everything to; empty for one of this machine. Nothing is loaded."""
    wanted, setting = parse_model(text)
    module = load("models", wanted)
    return str(module.remote(setting)) if hasattr(module, "remote") else ""


@dataclasses.dataclass(frozen=True, slots=True)
class Candidate:
    """A model as the user named it, with what it says of itself."""

    seat: Seat
    model: Model
    """As it was loaded to learn its identity; not fitted."""
    kinds: frozenset[str]
    forms: Mapping[str, str]
    batch: int
    ready: Callable[[], Model]
    """Gives it ready to be asked, fitted where it may be; called again, it gives a fresh one."""
    provenance: Mapping[str, Any]
    """Where its replies come from, as far as it can tell: versions, devices. Not part of its identity."""
    remote: str = ""
    """The host that everything is sent to; empty for a model of this machine."""
    estimate: Callable[[Load], Mapping[str, Any]] | None = None
    """What asking will cost, for models that can tell."""


def seat_candidate(text: str, exam: Callable[[], ExamTables], media: Iterable[str]) -> Candidate:
    """Loads a model, fits it if it may be fitted, and checks that it takes the media of the exam."""
    wanted, setting = parse_model(text)
    module = load("models", wanted)

    def fitted(model: Model) -> Model:
        if setting.name in MAY_FIT and Path(module.__file__ or "").parent == Path(contract.__file__).parent:
            cast("Fitted", model).fit(exam())
        return model

    model = _loaded(module, setting, text)
    kinds = frozenset(_declared(model, module, "kinds"))
    forms: Mapping[str, str] = dict(_declared(model, module, "forms"))
    shown = set(media)
    cannot = sorted(shown - set(forms))
    if forms and cannot:
        raise BadInput(
            f"{text} takes {', '.join(sorted(forms))} and this exam shows {', '.join(cannot)}",
            where=f"--model {text}",
            do="choose a model that takes these media (overread list models)",
        )
    for kind in sorted(shown & set(forms)):
        check_form(kind, forms[kind])
    name = Path(wanted).stem if is_path(wanted) else setting.name  # where a file lies does not change what it says
    details = {"name": name, "variant": setting.variant, **model.identity()}
    if is_path(wanted):
        details["file"] = file_hash(Path(wanted))
    samples = bool(getattr(model, "samples", getattr(module, "SAMPLES", True)))
    seat = Seat(text, content_id(canonical(_plain(details))), bool(forms), samples, _plain(details))
    origin = model.provenance() if hasattr(model, "provenance") else {}
    models = iter([model])

    def ready() -> Model:
        return fitted(next(models, None) or _loaded(module, setting, text))

    return Candidate(
        seat,
        model,
        kinds,
        forms,
        batch=int(getattr(model, "batch", getattr(module, "BATCH", 32))),
        ready=ready,
        provenance=_plain(origin),
        remote=remote_of(text),
        estimate=functools.partial(module.estimate, setting) if hasattr(module, "estimate") else None,
    )


def _loaded(module: Any, setting: Setting, text: str) -> Model:
    """The model; whatever a file of the user's raises is told with its name."""
    try:
        model = cast("Model", module.load(setting))
        named = isinstance(model.identity(), Mapping)
    except OverreadError:
        raise
    except Exception as error:
        what = f"the model cannot be loaded: {type(error).__name__}: {error}"
        raise BadInput(what, where=f"--model {text}", do="mend its file or its environment") from error
    if not named:
        what = f"the identity of the model is {type(model.identity()).__name__}, not a mapping"
        raise BadInput(what, where=f"--model {text}", do="see overread/models/contract.py")
    return model


def _declared(model: Model, module: Any, name: str) -> Any:
    """What a model says of itself, or else its file."""
    return getattr(model, name) if hasattr(model, name) else getattr(module, name.upper())


def _plain(value: Any) -> Any:
    """Plain JSON of anything that an identity may hold."""
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, set | frozenset):
        return sorted((_plain(inner) for inner in value), key=canonical)  # a set has another order in every process
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if isinstance(value, str | int | float | bool | None) else str(value)
