"""How far does one get in an exam without looking? Chance and the prior, by stage and by metric."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl
from rich.table import Table

from overread import pipeline
from overread.catalog import load
from overread.judging import panels
from overread.marking import marks_of
from overread.models.contract import Setting
from overread.report.texts import cell, plain_table
from overread.runs.folder import Run, safe_name
from overread.settings import Settings

MODELS = ("chance", "prior", "prior:chain")
STAGE = "stage="
RARE = 0.1
"""Cues that fewer of a stage's questions are answered by are not told."""


@dataclasses.dataclass(frozen=True, slots=True)
class Audit:
    """What an audit found, as a document; `stages` and `metrics` by name."""

    document: dict[str, Any]

    def table(self) -> Table:
        """The audit as a table for the terminal."""
        title = f"{self.document['benchmark']} ({self.document['protocol']}) without looking"
        table = plain_table(title, ("", "metric", "chance", "best prior", "interval", "n"))
        for name, found in (*self.document["stages"].items(), *self.document["metrics"].items()):
            interval = "" if found["low"] is None else f"{found['low']:.3g} to {found['high']:.3g}"
            numbers = ["-" if found[key] is None else f"{found[key]:.3g}" for key in ("chance", "prior")]
            stage = name if name in self.document["stages"] else "whole exam"
            table.add_row(*map(cell, (stage, found["metric"], *numbers, interval, str(found["n"]))))
        return table

    def sentences(self) -> Iterator[str]:
        """What can be passed blind, in words: where the interval of the prior lies beyond chance."""
        for name, found in self.document["stages"].items():
            if found["sure"]:
                why = ", ".join(f"{cue['cue']} ({100 * cue['share']:.0f} %)" for cue in found.get("cues", ()))
                yield (
                    f"{name}: {found['prior']:.3g} without looking, where chance gives {found['chance']:.3g}"
                    f" ({found['metric']}){f'; what gives it away, by share of the questions: {why}' if why else ''}."
                )


def audit(settings: Settings, progress: Callable[[str, int, int], None]) -> Audit:
    """Sits chance and the priors and reads their scores."""
    out = settings.out or str(Path("runs") / f"audit-{safe_name(settings.benchmark.replace(':', '-'))}")
    asked = dataclasses.replace(settings, models=MODELS, conditions="none", out=out).checked()
    made, _ = pipeline.run(asked, progress)
    plain = made.table("scores").filter(~pl.col("metric").str.contains(":") & (pl.col("condition") == "plain"))
    metrics = plain["metric"].unique(maintain_order=True).to_list()
    stages = plain.filter(pl.col("slice").str.starts_with(STAGE))["slice"].unique(maintain_order=True).to_list()
    cues = _cues(made)
    document = {
        "benchmark": made.exam["benchmark"],
        "protocol": made.exam["protocol"],
        "counts": made.manifest["counts"],
        "stages": {
            name.removeprefix(STAGE): {
                **_found(plain, metrics[0], name),
                "cues": cues.get(name.removeprefix(STAGE), []),
            }
            for name in stages
        },
        "metrics": {name: _found(plain, name, "all") for name in metrics},
    }
    named = getattr(load("benchmarks", asked.benchmark), "AUDIT", {})
    document |= {name: _found(plain, metric, "all") for name, metric in named.items()}
    by = getattr(load("benchmarks", asked.benchmark), "AUDIT_BY", "")
    if by:
        document[f"by_{by}"] = dict(_by(made, plain, by, named))
    return Audit(document)


def _by(made: Run, plain: pl.DataFrame, by: str, named: Mapping[str, str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The audit for each value of a slice: its stages by their mean credit, and the metrics that have a name."""
    label = f"{by}="
    mine = pl.col("slices").list.eval(pl.element().filter(pl.element().str.starts_with(label))).list.first()
    marks = pl.concat(
        marks.select("model", "stage", "credit", value=mine).drop_nulls("value")
        for panel in panels(made)
        for marks in marks_of(made, panel)
    )
    means = marks.group_by("value", "stage", "model").agg(pl.col("credit").mean(), n=pl.len())
    for value in sorted(means["value"].unique()):
        here = means.filter(pl.col("value") == value)
        stages = {stage: _stage(here.filter(pl.col("stage") == stage)) for stage in sorted(here["stage"].unique())}
        found = {name: _found(plain, metric, value) for name, metric in named.items()}
        yield value.removeprefix(label), {"stages": stages, **found}


def _stage(means: pl.DataFrame) -> dict[str, Any]:
    """Chance, and the best of the priors, at one stage."""
    chance = means.filter(pl.col("model") == "chance")["credit"]
    priors = means.filter(pl.col("model") != "chance")["credit"]
    return {"chance": chance.first(), "prior": priors.max(), "n": means["n"].first()}


def _cues(made: Run) -> dict[str, list[dict[str, Any]]]:
    """For each stage what the prior goes by, the commonest first, with its share of the stage's questions."""
    prior = load("models", "prior").load(Setting("prior"))
    prior.fit(pipeline.exam_tables(made))
    found = pl.DataFrame(prior.report(), schema=["template", "cue", "accuracy", "n"], orient="row")
    asked = made.table("questions").select("template", question="id").join(made.table("key"), on="question")
    stages = asked.select("template", "stage").unique()
    shares = (
        found.join(stages, on="template")
        .group_by("stage", "cue")
        .agg(pl.col("n").sum())
        .with_columns(share=pl.col("n") / pl.col("n").sum().over("stage"))
        .filter(pl.col("share") >= RARE)
        .sort("share", "cue", descending=[True, False])
    )
    return {
        str(stage): rows.select("cue", "share").to_dicts()
        for (stage,), rows in shares.group_by("stage", maintain_order=True)
    }


def _found(scores: pl.DataFrame, metric: str, slice_: str) -> dict[str, Any]:
    """One line of an audit: chance, and the best that a prior reached, with its interval."""
    rows = scores.filter((pl.col("metric") == metric) & (pl.col("slice") == slice_) & pl.col("value").is_not_null())
    chance = rows.filter(pl.col("model") == "chance")["value"]
    priors = rows.filter(pl.col("model") != "chance")
    less = rows.height > 0 and rows["direction"][0] == "less"
    best = priors.sort("value", descending=not less).to_dicts()[:1]
    at_chance = chance[0] if chance.len() else None
    prior = best[0] if best else {"value": None, "low": None, "high": None, "n": 0, "model": None}
    above, sure = None, False
    if at_chance is not None and prior["value"] is not None:
        above = (at_chance - prior["value"]) if less else (prior["value"] - at_chance)
        worst = prior["high"] if less else prior["low"]
        sure = worst is not None and (worst < at_chance if less else worst > at_chance)
    return {
        "metric": metric,
        "chance": at_chance,
        "prior": prior["value"],
        "low": prior["low"],
        "high": prior["high"],
        "interval": None if prior["low"] is None else [prior["low"], prior["high"]],
        "policy": prior["model"],
        "above_chance": above,
        "sure": sure,
        "n": prior["n"],
    }
