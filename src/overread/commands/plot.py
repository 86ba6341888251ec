"""Figures of published kinds, from runs or from upstream's tables."""

from __future__ import annotations

import csv
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from overread.benchmarks.reasoning_chains import BINS
from overread.catalog import split_variant
from overread.compat.reasoning_csv import TOTAL, Tables, forced_tables
from overread.compat.reasoning_results import COMMIT_MODE
from overread.errors import BadInput, unknown_name
from overread.judging import chosen_panel
from overread.marking import marks_of
from overread.paths import is_file, is_folder
from overread.report.curves import LAYOUTS, Curve, Layout
from overread.runs.folder import Run
from overread.runs.parts import write_atomically

FIGURES = ("forced_commit",)
KINDS: tuple[Literal["pdf", "png"], ...] = ("pdf", "png")
ADVICE = "give runs of ecg_reasoning with --protocol forced-commit, or folders of upstream's tables of that mode"


@dataclasses.dataclass(frozen=True, slots=True)
class Wish:
    """Which figures are wanted."""

    names: tuple[str, ...] = (TOTAL,)
    """`total` or diagnoses; empty: all that there are."""
    models: tuple[str, ...] = ()
    """Empty: all."""
    layout: Layout = "combined"
    limits: tuple[float, float] = (0.0, 1.0)
    judges: tuple[str, ...] = ()
    """Whose verdicts of a run count; empty: those of the benchmark's judges."""


def plot(figure: str, sources: Sequence[Path], wish: Wish, out: Path) -> Iterator[Path]:
    """Draws a figure for each data source and name, as PDF and PNG; yields their paths."""
    if figure not in FIGURES:
        raise unknown_name("figure", figure, FIGURES)
    if wish.layout not in LAYOUTS:
        raise unknown_name("layout", wish.layout, LAYOUTS, where="--layout")
    from overread.report.forced_commit import draw, rendered  # not at the top: matplotlib is slow to import

    found: Tables = {}
    for source in sources:
        for key, rows in _tables(source, wish.judges).items():
            found.setdefault(key, []).extend(rows)
    known = sorted({name for _, name in found})
    for name in wish.names:
        if name not in known:
            raise unknown_name("diagnosis", name, known, where="--dx")
    for (origin, name), rows in sorted(found.items()):
        if name in (wish.names or known):
            drawn = draw(curves_of(rows, wish.models, f"{origin}, {name}"), wish.layout, wish.limits)
            suffix = "" if wish.layout == "combined" else "_separate"
            for kind in KINDS:
                path = out / f"{figure}_{origin}_{name}{suffix}.{kind}"
                write_atomically(path, rendered(drawn, kind))
                yield path


def curves_of(rows: Sequence[Mapping[str, Any]], models: Sequence[str], where: str) -> list[Curve]:
    """The curves of some models, or of all, in the order of the rows."""
    known = [str(row["model"]) for row in rows]
    if len(set(known)) < len(known):
        twice = next(name for name in known if known.count(name) > 1)
        raise BadInput(f"two rows are of the model {twice!r}", where=where, do="draw them in figures of their own")
    for name in models:
        if name not in known:
            raise unknown_name("model", name, known, where=where)
    return [_curve(row, where) for row in rows if not models or row["model"] in models]


def _curve(row: Mapping[str, Any], where: str) -> Curve:
    try:
        bins = []
        for number in range(1, len(BINS) + 1):
            low, high = (float(row[f"bin{number}_{end}"]) for end in ("lo", "hi"))
            total, accuracy = float(row[f"bin{number}_total"]), row[f"bin{number}_accuracy"]
            bins.append((low, high, float(accuracy) if total else None))
        first = float(row["idq_accuracy"]) if float(row["idq_total"]) else None
    except (KeyError, ValueError) as error:
        raise BadInput(f"the table is none of forced commitment: {error}", where=where, do=ADVICE) from error
    return Curve(str(row["model"]), first, tuple(bins))


def _tables(source: Path, judges: Sequence[str]) -> Tables:
    if is_folder(source) and Run.exists(source):
        run = Run(source)
        exam, protocol = split_variant(run.exam["benchmark"])[0], run.exam["protocol"]
        if (exam, protocol) != ("ecg_reasoning", COMMIT_MODE):
            raise BadInput(f"the run is of {exam}, protocol {protocol}", where=str(source), do=ADVICE)
        return forced_tables(marks_of(run, chosen_panel(run, judges)))
    if is_file(source):
        return {(source.parent.name, source.stem): _rows(source)}
    files = sorted(source.glob("*.csv")) or sorted(source.glob("*/*.csv")) if is_folder(source) else []
    if not files:
        raise BadInput("there is no run and no table", where=str(source), do=ADVICE)
    return {(file.parent.name, file.stem): _rows(file) for file in files}


def _rows(file: Path) -> list[dict[str, Any]]:
    try:
        with file.open(encoding="utf-8", newline="") as stream:
            rows = [dict(row) for row in csv.DictReader(stream)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BadInput(f"the table cannot be read: {error}", where=str(file), do="check the file") from error
    if not rows or any(row.get("model") is None for row in rows):
        raise BadInput("the table has no rows of models", where=str(file), do=ADVICE)
    return rows
