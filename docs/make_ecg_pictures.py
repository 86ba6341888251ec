"""Draws the pictures of docs/ecg.md from phantoms: a sheet of each profile, and a measurement marked on one.

python docs/make_ecg_pictures.py
"""

from __future__ import annotations

import io
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

from overread.commands.ecg import Stretch, measure_file, sheet_png
from overread.media import sheet
from overread.media.leads import LEADS
from overread.media.wfdb import write_record
from overread.phantoms.ecg import ecg_phantom

HERE = Path(__file__).parent
WIDTH = 900
"""Pixels that a picture is wide on the page."""
COLOURS = 48

PROFILES = {"clinical": "clinical", "6x2": "6x2", "12x1": "12x1", "upstream": "upstream"}
RECIPE, SEED = "premature_ventricular_complex", 3


def keep(picture: Image.Image, name: str) -> None:
    """Writes a picture small: no wider than a page, with few colours."""
    height = round(picture.height * WIDTH / picture.width)
    small = picture.convert("RGB").resize((WIDTH, height), Image.Resampling.LANCZOS)
    small.quantize(COLOURS, dither=Image.Dither.NONE).save(HERE / f"ecg-{name}.png", optimize=True)


def main() -> None:
    """Draws all of them."""
    made = ecg_phantom(SEED, RECIPE)
    for name, profile in PROFILES.items():
        keep(Image.fromarray(sheet.draw(made.mv, made.rate_hz, LEADS, profile).image), name)
    with tempfile.TemporaryDirectory() as folder:
        record = write_record(Path(folder), "phantom", made.mv.astype(np.float64), made.rate_hz, LEADS)
        marked = sheet_png(measure_file(str(record), Stretch()), "clinical")
    keep(Image.open(io.BytesIO(marked)), "marked")


if __name__ == "__main__":
    main()
