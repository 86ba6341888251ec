"""The Python interface: the same run as `overread run`, and the tables as data frames."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from overread.errors import unknown_name
from overread.runs.folder import Run


def run(
    benchmark: str,
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
        "benchmark": benchmark,
        "models": _names(models),
        "data": {alias: str(path) for alias, path in (data or {}).items()},
        "out": str(out),
    }
    known = {field.name for field in dataclasses.fields(Settings)}
    for key, value in settings.items():
        if key not in known:
            raise unknown_name("setting", key, known, where="overread.run(...)")
        values[key] = tuple(value) if isinstance(value, list) else value
    values["judges"] = _names(values.get("judges", ()))
    values["set"] = {key: str(value) for key, value in values.get("set", {}).items()}
    made, notes = pipeline.run(Settings(**values))
    made.notes = notes
    return made


def _names(named: Sequence[str] | str) -> tuple[str, ...]:
    """One name or several."""
    return (named,) if isinstance(named, str) else tuple(named)


def open_run(folder: str | Path) -> Run:
    """A run that lies in a folder."""
    return Run(Path(folder))
