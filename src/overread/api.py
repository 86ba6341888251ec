"""The Python interface: the same run as `overread run`, and the tables as data frames."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from overread.errors import unknown_name
from overread.runs.folder import Run


def run(
    benchmark: str | Path,
    models: Sequence[str] | str,
    *,
    data: Mapping[str, str | Path] | None = None,
    out: str | Path = "",
    **settings: Any,
) -> Run:
    """Sits an exam: compile, ask, judge, score, report. Goes on with the run in `out` where there is one.

    `data` maps aliases to folders; `settings` are the other fields of `overread.settings.Settings`: protocol,
    conditions, set, judges, seed, seeds, samples, limit, shard. What the command line says as notes is in `Run.notes`.
    """
    from overread import pipeline
    from overread.settings import Settings

    values: dict[str, Any] = {
        "benchmark": str(benchmark) if isinstance(benchmark, Path) else benchmark,
        "models": _names(models),
        "data": _texts({} if data is None else data),
        "out": str(out) if isinstance(out, Path) else out,
    }
    known = {field.name for field in dataclasses.fields(Settings)}
    for key, value in settings.items():
        if key not in known:
            raise unknown_name("setting", key, known, where="overread.run(...)")
        values[key] = tuple(value) if isinstance(value, list) else value
    values["judges"] = _names(values.get("judges", ()))
    values["set"] = _texts(values.get("set", {}))
    made, notes = pipeline.run(Settings(**values))
    made.notes = notes
    return made


def _names(named: Any) -> Any:
    """One name or several; what is neither is left to be refused."""
    if isinstance(named, str | Path):
        return (str(named),)
    return tuple(map(_text, named)) if isinstance(named, list | tuple) else named


def _texts(pairs: Any) -> Any:
    """A mapping with its values as texts; what is none is left to be refused."""
    return {key: _text(value) for key, value in pairs.items()} if isinstance(pairs, Mapping) else pairs


def _text(value: Any) -> Any:
    """Paths and plain values as texts; what is neither is left to be refused."""
    return str(value) if isinstance(value, Path | int | float) else value


def open_run(folder: str | Path) -> Run:
    """A run that lies in a folder."""
    return Run(Path(folder))
