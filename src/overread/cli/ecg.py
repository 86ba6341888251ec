"""One ECG: measured, printed and drawn."""

from __future__ import annotations

from pathlib import Path

import click

from overread.cli.root import as_json, main
from overread.errors import NotYet


@main.command("ecg")
@click.argument("file", type=click.Path(path_type=Path))
@as_json
def ecg_command(file: Path, json_: bool) -> None:
    """Measure one ECG."""
    raise NotYet("measuring a single ECG is not in this version", do="overread run ecg_steps --model ecg_solver")
