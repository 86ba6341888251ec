"""How far does one get in an exam without looking? Chance and the prior, by stage and by metric."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
from rich.table import Table

from overread import pipeline
from overread.report.texts import cell, plain_table
from overread.runs.folder import safe_name
from overread.settings import Settings

MODELS = ("chance", "prior", "prior:chain")
STAGE = "stage="


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
                yield (
                    f"{name}: {found['prior']:.3g} without looking, where chance gives {found['chance']:.3g}"
                    f" ({found['metric']})."
                )


def audit(settings: Settings, progress: Callable[[str, int, int], None]) -> Audit:
    """Sits chance and the priors and reads their scores."""
    out = settings.out or str(Path("runs") / f"audit-{safe_name(settings.benchmark.replace(':', '-'))}")
    asked = dataclasses.replace(settings, models=MODELS, conditions="none", out=out).checked()
    made, _ = pipeline.run(asked, progress)
    plain = made.table("scores").filter(~pl.col("metric").str.contains(":") & (pl.col("condition") == "plain"))
    metrics = plain["metric"].unique(maintain_order=True).to_list()
    stages = plain.filter(pl.col("slice").str.starts_with(STAGE))["slice"].unique(maintain_order=True).to_list()
    document = {
        "benchmark": made.exam["benchmark"],
        "protocol": made.exam["protocol"],
        "counts": made.manifest["counts"],
        "stages": {name.removeprefix(STAGE): _found(plain, metrics[0], name) for name in stages},
        "metrics": {name: _found(plain, name, "all") for name in metrics},
    }
    return Audit(document)


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
        "policy": prior["model"],
        "above_chance": above,
        "sure": sure,
        "n": prior["n"],
    }
