"""What the page says of one run, ready for the templates."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from overread.catalog import describe
from overread.media.conditions import BLIND
from overread.metrics.floors import FLOOR_MODELS, family
from overread.report import grids, methods, words
from overread.report.cells import Cell, Grid, absent, not_asked, score_cell, share_cell, value_cell
from overread.report.examples import Example, examples_of
from overread.report.forest import Bar, Scale
from overread.report.gaps import Turnout, turnout
from overread.report.numbers import percent
from overread.report.prompts import Spoken, first_dialogue
from overread.report.seen import NEVER, Witnessed, witnessed
from overread.report.table import Scores, direction_of, metrics_of, rows_of, scores_of
from overread.runs.folder import Run
from overread.runs.replies import receipts_of


@dataclasses.dataclass(frozen=True, slots=True)
class HeadRow:
    """One model in the headline table."""

    model: str
    note: str
    lift: Cell
    bar: Bar | None
    cells: tuple[Cell, ...]
    """Best floor, raw score, floors, coverage, unreadable, receipts."""


@dataclasses.dataclass(frozen=True, slots=True)
class Results:
    """What one panel of judges found."""

    panel: str
    groups: tuple[tuple[str, tuple[HeadRow, ...]], ...]
    metrics: Grid
    slices: Grid
    slices_left_out: int
    measures: Grid
    examples: tuple[tuple[str, tuple[Example, ...]], ...]
    """For each model that has any."""


@dataclasses.dataclass(frozen=True, slots=True)
class Section:
    """One run."""

    anchor: str
    name: str
    title: str
    protocol: str
    metric: str
    metric_title: str
    unit: str
    better: str
    counts: tuple[tuple[str, int], ...]
    terms: tuple[str, ...]
    turnout: Turnout | None
    unwitnessed: tuple[tuple[str, int], ...]
    """Models that look without a receipt to show for it, and how many replies that concerns."""
    results: tuple[Results, ...]
    receipts: Grid
    dialogue: tuple[Spoken, ...]
    conditions: tuple[tuple[str, str, int], ...]
    facts: tuple[tuple[str, str], ...]
    identities: tuple[tuple[str, str, str], ...]
    intervals: str
    repeat: str


FLOOR_HEADS = (*FLOOR_MODELS, *BLIND)


def section_of(run: Run, number: int) -> Section:
    """Reads a run, part by part, and its scores."""
    exam, counts = run.exam, run.manifest["counts"]
    found = witnessed(run)
    panels = scores_of(run)
    metric = metrics_of(run)[0]
    attended = turnout(run, panels[0].panel) if panels else None
    aliases = methods.aliases_of(run)
    sizes = (("cases", counts["cases"]), ("questions", counts["questions"]))
    patients = (("patients", attended.patients),) if attended is not None else ()
    asked = attended.conditions if attended is not None else {}
    return Section(
        anchor=f"run-{number}",
        name=exam["benchmark"],
        title=describe("benchmarks", exam["benchmark"]).title,
        protocol=exam["protocol"],
        metric=metric,
        metric_title=words.metric_title(metric),
        unit=grids.unit_of(metric),
        better=grids.better(direction_of(metric)),
        counts=(*patients, *sizes),
        terms=attended.terms if attended is not None else (),
        turnout=attended,
        unwitnessed=tuple((m, found.without.get(m, 0)) for m, level in found.levels.items() if level == "none"),
        results=tuple(_results(run, scores, found) for scores in panels),
        receipts=grids.receipts_grid(found, run.seats()),
        dialogue=tuple(first_dialogue(run)),
        conditions=tuple((name, words.condition(name), asked.get(name, 0)) for name in exam["conditions"]),
        facts=tuple(methods.facts_of(run, aliases)),
        identities=tuple(methods.identities(run)),
        intervals=methods.intervals(run),
        repeat=methods.repeat_command(run, aliases),
    )


def _results(run: Run, scores: Scores, found: Witnessed) -> Results:
    seats, metrics = run.seats(), metrics_of(run)
    slices, left_out = grids.slices_grid(scores, seats, metrics[0])
    return Results(
        panel=scores.panel,
        groups=tuple(_headline(rows_of(run, scores, found.levels), scores, metrics[0])),
        metrics=grids.metrics_grid(scores, seats, metrics[1:]),
        slices=slices,
        slices_left_out=left_out,
        measures=grids.measures_grid(scores, seats, metrics[0], run.exam["conditions"]),
        examples=tuple((model, tuple(some)) for model, some in _by_model(run, scores.panel)),
    )


def _by_model(run: Run, panel: str) -> Iterator[tuple[str, Iterator[Example]]]:
    return itertools.groupby(examples_of(run, panel, receipts_of(run.folder)), lambda example: example.model)


def _headline(rows: Sequence[Mapping[str, Any]], scores: Scores, metric: str) -> list[tuple[str, tuple[HeadRow, ...]]]:
    share = words.is_share(metric)
    scale = Scale.of(row[name] for row in rows for name in ("lift", "lift_low", "lift_high"))
    groups = ((grids.MODELS, "model"), (grids.CONTRASTIVE, "contrastive"), (grids.REFERENCES, "reference"))
    made = [
        (label, tuple(_head_row(row, scores, share, scale) for row in rows if row["group"] == group))
        for label, group in groups
    ]
    return [(label, some) for label, some in made if some]


def _head_row(row: Mapping[str, Any], scores: Scores, share: bool, scale: Scale) -> HeadRow:
    model, metric, reference = row["model"], row["metric"], row["group"] == "reference"
    lift = scores.get(model, metric + words.LIFT)
    if lift is None:
        why = "a floor or a reference has no score above a floor" if reference else "no floor was asked"
        shown = absent(why) if reference else not_asked(why)
    else:
        shown = score_cell(lift, share=share, signed=True)
    bar = None if row["lift"] is None else scale.bar(row["lift"], row["lift_low"], row["lift_high"])
    level = row["receipts"]
    cells = (
        Cell(row["floor"]) if row["floor"] else absent("there is no floor to compare with"),
        score_cell(scores.get(model, metric), share=share),
        *_floors(row, scores, share),
        share_cell(row["coverage"]),
        share_cell(row["unreadable"]),
        Cell(level, title=words.level(level)),
    )
    return HeadRow(model, words.reference(family(model)) if reference else "", shown, bar, cells)


def _floors(row: Mapping[str, Any], scores: Scores, share: bool) -> list[Cell]:
    """Chance, the best prior, and the model under each blind condition; one cell where it takes no media."""
    unasked = row["not_asked"].split(", ")
    cells = [value_cell(row[name], share=share, asked=name not in unasked) for name in FLOOR_MODELS]
    if row["receipts"] == NEVER:
        return [*cells, Cell(NEVER, title=words.level(NEVER), absent=True, span=len(BLIND))]
    return cells + [_blind(scores.get(row["model"], row["metric"], name), share) for name in BLIND]


def _blind(score: Mapping[str, Any] | None, share: bool) -> Cell:
    if score is None:
        return not_asked()
    if not score["coverage"]:
        return absent("not one reply under this condition can be used: all are missing or failed")
    cell = value_cell(score["value"], share=share)
    if score["coverage"] == 1:
        return cell
    return dataclasses.replace(cell, second=f"coverage {percent(score['coverage'])}")
