"""The report: one HTML page about one or several runs that needs no network, no script and no other file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jinja2

from overread.report import forest
from overread.report.numbers import count
from overread.report.sections import FLOOR_HEADS, section_of
from overread.report.texts import clean
from overread.runs.folder import Run
from overread.runs.parts import write_atomically

TEMPLATES = Path(__file__).parent / "templates"


def write_page(runs: Sequence[Run], path: Path) -> Path:
    """Writes the page of some runs; the same runs give the same bytes."""
    sections = [section_of(run, number) for number, run in enumerate(runs, start=1)]
    text = _environment().get_template("page.html.j2").render(sections=sections)
    write_atomically(path, text.encode("utf-8"))
    return path


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["count"] = count
    environment.globals.update(floor_heads=FLOOR_HEADS, bar_width=forest.WIDTH, bar_height=forest.HEIGHT)
    return environment


def _shown(value: Any) -> Any:
    """Every text that a template shows is cleaned here, whoever wrote it; marked-up text is the templates' own."""
    return clean(value) if type(value) is str else value
