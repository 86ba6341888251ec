"""A card: one small TOML file that says all there is to know of a named model.

    title = "PULSE-7B"                  what the model is called
    kind = "answerer"                   or another of KINDS
    adapter = "foreign"                 the file in `overread.models` that asks it; none where nothing can be run
    weights = "PULSE-ECG/PULSE-7B"      hub name or folder; `revision` beside it where the exact one is known
    environment = "llava"               a folder under envs/, for models that need one of their own
    media = ["ecg"]                     what it can be shown
    licence, memory                     as published
    quirks = ["..."]                    what one has to know to run or to read it
    [options]                           handed to the adapter as `Setting.options`; what the user says comes first
    [input]                             the input contract, as data: see INPUT
    [links]                             code, paper, weights
    [[published]]                       benchmark, metric, value, source; link and note where there are such
    [variants.NAME]                     the same model otherwise: title, weights, revision, options

In options, `{weights}`, `{revision}`, `{environment}` (its folder), `{sources}` (where its sources are) and `{python}`
stand for the card's own; an option that comes out empty is left out. Only what an adapter is told changes replies, so
only that is part of a model's identity.
"""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from overread.errors import BadInput, unknown_name

KINDS = ("answerer", "contrastive", "slice-based", "dataset only", "no public code")
MEDIA = ("ecg", "clip", "volume", "image")
LINKS = ("code", "paper", "weights")
INPUT = ("form", "orientation", "spacing_mm", "window_hu", "shape", "axes", "intensity", "prompt", "stop")
"""What an input contract may say: which form, in which orientation, spacing (mm), window (HU) and shape, in which order
of axes, scaled how; how the prompt is written and where the answer ends."""
TEXTS = ("title", "kind", "adapter", "weights", "revision", "environment", "licence", "memory")
FIELDS = (*TEXTS, "media", "quirks", "options", "input", "links", "published", "variants")
FIGURE = ("benchmark", "metric", "value", "source", "link", "note")
VARIANT = ("title", "weights", "revision", "options")


@dataclasses.dataclass(frozen=True, slots=True)
class Figure:
    """A figure that somebody has published of the model; never one of ours."""

    benchmark: str
    metric: str
    value: float
    source: str
    link: str = ""
    note: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class Variant:
    """What a variant has otherwise; empty: as the card."""

    title: str = ""
    weights: str = ""
    revision: str = ""
    options: Mapping[str, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, slots=True)
class Card:
    """A card as its file has it."""

    name: str
    path: Path
    title: str
    kind: str
    adapter: str = ""
    weights: str = ""
    revision: str = ""
    environment: str = ""
    licence: str = ""
    memory: str = ""
    media: tuple[str, ...] = ()
    quirks: tuple[str, ...] = ()
    options: Mapping[str, str] = dataclasses.field(default_factory=dict)
    input: Mapping[str, str] = dataclasses.field(default_factory=dict)
    links: Mapping[str, str] = dataclasses.field(default_factory=dict)
    published: tuple[Figure, ...] = ()
    variants: Mapping[str, Variant] = dataclasses.field(default_factory=dict)

    def varied(self, variant: str) -> Card:
        """The card with what a variant has otherwise."""
        if not variant:
            return self
        if variant not in self.variants:
            raise unknown_name(f"variant of {self.name}", variant, self.variants, where=str(self.path))
        other = self.variants[variant]
        return dataclasses.replace(
            self,
            title=other.title or self.title,
            weights=other.weights or self.weights,
            # A revision belongs to weights: other weights have another, or none that is known.
            revision=other.revision or ("" if other.weights else self.revision),
            options={**self.options, **other.options},
        )


def read_card(path: Path) -> Card:
    """The card in a file, checked: a misspelled key is an error that names the file."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInput(
            f"the card cannot be read: {error.strerror}", where=str(path), do="give a file in TOML"
        ) from error
    except (ValueError, RecursionError) as error:
        raise BadInput(f"the card is not TOML: {error}", where=str(path), do="mend the line named above") from error
    where = str(path)
    _known(document, FIELDS, "key of a card", where)
    told: dict[str, Any] = {name: _text(document[name], name, where) for name in TEXTS if name in document}
    for name in ("title", "kind"):
        if not told.get(name):
            raise BadInput(f"the card has no {name}", where=where, do=f'write {name} = "..."')
    if told["kind"] not in KINDS:
        raise unknown_name("kind of model", told["kind"], KINDS, where=where)
    for name in ("media", "quirks"):
        told[name] = _texts(document.get(name, []), name, where)
    for medium in told["media"]:
        if medium not in MEDIA:
            raise unknown_name("medium", medium, MEDIA, where=where)
    told["options"] = _flat(document, "options", where)
    told["input"] = _flat(document, "input", where, INPUT)
    told["links"] = _flat(document, "links", where, LINKS)
    told["published"] = tuple(_figure(one, where) for one in _tables(document, "published", where))
    variants = _table(document, "variants", where)
    told["variants"] = {name: _variant(one, name, where) for name, one in variants.items()}
    return Card(name=path.stem, path=path, **told)


def _known(given: Mapping[str, Any], names: Sequence[str], what: str, where: str) -> None:
    for name in given:
        if name not in names:
            raise unknown_name(what, name, names, where=where)


def _wrong(name: str, wanted: str, value: Any, where: str) -> BadInput:
    return BadInput(f"{name} must be {wanted}, not {value!r}", where=where, do=f"write {name} as {wanted}")


def _text(value: Any, name: str, where: str) -> str:
    if not isinstance(value, str):
        raise _wrong(name, "text", value, where)
    return value


def _texts(value: Any, name: str, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise _wrong(name, "a list of texts", value, where)
    return tuple(value)


def _table(document: Mapping[str, Any], name: str, where: str) -> Mapping[str, Any]:
    value = document.get(name, {})
    if not isinstance(value, dict):
        raise _wrong(name, "a table", value, where)
    return value


def _tables(document: Mapping[str, Any], name: str, where: str) -> list[Mapping[str, Any]]:
    value = document.get(name, [])
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise _wrong(name, "tables in double brackets", value, where)
    return value


def _flat(document: Mapping[str, Any], name: str, where: str, names: Sequence[str] | None = None) -> dict[str, str]:
    """A flat table of texts; keys with dots are written in quotation marks."""
    table = _table(document, name, where)
    if names is not None:
        _known(table, names, f"key of [{name}]", where)
    return {key: _text(value, f"{name}.{key}", where) for key, value in table.items()}


def _figure(given: Mapping[str, Any], where: str) -> Figure:
    _known(given, FIGURE, "key of [[published]]", where)
    for name in FIGURE[:4]:
        if name not in given:
            raise BadInput(f"a published figure has no {name}", where=where, do=f"write {name} in [[published]]")
    value = given["value"]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _wrong("value", "a number", value, where)
    texts = {name: _text(given[name], name, where) for name in given if name != "value"}
    return Figure(value=float(value), **texts)


def _variant(given: Any, name: str, where: str) -> Variant:
    if not isinstance(given, dict):
        raise _wrong(f"variants.{name}", "a table", given, where)
    _known(given, VARIANT, f"key of [variants.{name}]", where)
    texts = {key: _text(given[key], key, where) for key in given if key != "options"}
    return Variant(options=_flat(given, "options", where), **texts)
