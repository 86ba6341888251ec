"""Everything once, on made-up patients: every exam that phantoms can sit, with chance, prior, oracle and solvers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from overread import pipeline
from overread.builders import phantoms
from overread.catalog import entries
from overread.report.page import write_page
from overread.runs.folder import Run
from overread.settings import Settings

PATIENTS = 40
FLOORS = ("chance", "prior", "prior:chain", "oracle")


def run(out: Path, progress: Callable[[str, int, int], None]) -> tuple[list[Run], Path]:
    """Builds the phantoms, sits every exam on them, and writes one page; what is there already is used again."""
    data = {"phantoms": str(phantoms.build(out / "phantoms", patients=PATIENTS))}
    runs = []
    for name, entry in entries("benchmarks").items():
        if entry.texts("ARCHIVES") != ("phantoms",):
            continue
        models = (*FLOORS, *entry.texts("MODELS"))
        settings = Settings(name, models, data, conditions="full", out=str(out / name), command=("overread", "demo"))
        runs.append(pipeline.run(settings.checked(), progress)[0])
    return runs, write_page(runs, out / "report.html")
