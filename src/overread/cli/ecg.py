"""One ECG: measured, printed and drawn."""

from __future__ import annotations

from pathlib import Path

import click

from overread.cli.root import as_json, main, print_json
from overread.commands.ecg import Stretch, document, measure_file, settings_of, tables, write_sheet
from overread.commands.terminal import show_table
from overread.report.texts import clean

FOLDER = Path("runs") / "ecg"


@main.command("ecg")
@click.argument("file")
@click.option(
    "--out", metavar="PNG", type=click.Path(path_type=Path, dir_okay=False),
    help="Where the sheet goes; runs/ecg/NAME.png if not given, and with --json none.",
)  # fmt: skip
@click.option("--sheet", default="clinical", show_default=True, help="A profile, with settings: `6x2,dpi=150`.")
@click.option("--start", type=float, default=0.0, help="Measure from so many seconds on.")
@click.option("--seconds", type=float, help="Measure so many seconds; to the end if not given.")
@as_json
def ecg_command(file: str, out: Path | None, sheet: str, start: float, seconds: float | None, json_: bool) -> None:
    """Measure one ECG, print what was found, and draw its sheet with the waves marked.

    FILE is a WFDB record (with or without .hea), an EDF file, or FILE.hdf5#exam=NUMBER. Leads may be missing.
    """
    settings_of(sheet)
    one = measure_file(file, Stretch(start, seconds))
    for note in one.notes:
        click.echo(f"note: {clean(note)}", err=True)
    place = out if out is not None or json_ else FOLDER / f"{one.study.path.stem}.png"
    if place is not None:
        write_sheet(one, place, sheet)
        click.echo(f"The sheet lies in {clean(str(place))}", err=True)
    if json_:
        print_json(document(one))
        return
    for table in tables(one):
        show_table(table)
