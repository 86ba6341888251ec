"""The overread side of the sheet bench; see sheet_theirs.py, whose words it shares.

sheet_ours.py draw|raw|file RECORD ROUNDS [--keep PICTURE.npy]
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from overread.media import ecg, sheet
from timing import timed


def drawn(study: ecg.Signal) -> sheet.Drawn:
    return sheet.draw(study.mv, study.rate_hz, study.leads, "upstream")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=("draw", "raw", "file"))
    parser.add_argument("record", type=Path)
    parser.add_argument("rounds", type=int)
    parser.add_argument("--keep", type=Path, help="write the picture there")
    options = parser.parse_args()
    study = ecg.read(options.record)
    works: dict[str, Callable[[], Any]] = {
        "draw": lambda: drawn(study).image,
        "raw": lambda: drawn(study).image,
        "file": lambda: drawn(ecg.read(options.record)).png(),
    }
    first = timed(works[options.what])  # draws the background, which is then kept
    if options.keep:
        np.save(options.keep, drawn(study).image)
    print(json.dumps({"first": first, "rounds": [timed(works[options.what]) for _ in range(options.rounds)]}))


if __name__ == "__main__":
    main()
