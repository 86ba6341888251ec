"""Everything once, on made-up patients: every exam that phantoms can sit, with chance, prior, oracle and solvers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from overread import pipeline
from overread.builders import ecg_reasoning, phantoms
from overread.catalog import entries, load
from overread.report.page import write_page
from overread.runs.folder import Run
from overread.settings import Settings

PATIENTS = 40
FLOORS = ("chance", "prior", "prior:chain", "oracle")


def _chains(made_up: Path, out: Path) -> Path:
    return ecg_reasoning.build(list(load("archives", "phantoms").cases(made_up)), out)


BUILT: dict[str, Callable[[Path, Path], Path]] = {"ecg_reasoning": _chains}
"""Exams whose samples are made from phantoms first: (phantoms, where to) -> the folder of the samples."""


def run(out: Path, progress: Callable[[str, int, int], None]) -> tuple[list[Run], Path]:
    """Builds the phantoms, sits every exam on them, and writes one page; what is there already is used again."""
    data = {"phantoms": str(phantoms.build(out / "phantoms", patients=PATIENTS))}
    data |= {name: str(build(Path(data["phantoms"]), out / f"{name}-samples")) for name, build in BUILT.items()}
    runs = []
    for name, entry in entries("benchmarks").items():
        if entry.texts("ARCHIVES") != ("phantoms",) and name not in BUILT:
            continue
        models = (*FLOORS, *entry.texts("MODELS"))
        settings = Settings(name, models, data, conditions="full", out=str(out / name), command=("overread", "demo"))
        runs.append(pipeline.run(settings.checked(), progress)[0])
    return runs, write_page(runs, out / "report.html")
