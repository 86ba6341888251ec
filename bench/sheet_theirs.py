"""The ecg_plot side of the sheet bench: one record drawn several times, as JSON on standard output.

    sheet_theirs.py draw|raw|file RECORD ROUNDS [--keep PICTURE.npy]

Run by sheet.py in an environment of its own. `draw` starts from the signal in memory and ends with an array of RGB,
in the way of ECG-Reasoning-Benchmark: plotted with row_height 8, saved as PNG with a tight box, opened again. `raw`
ends with the raw pixels that matplotlib can save as well, without compressing anything; ecg_plot itself has no way to
ask for them. `file` starts from the record on disk and ends with the bytes of a PNG, written once.
"""

from __future__ import annotations

import argparse
import io
import json
from collections.abc import Callable
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import ecg_plot
import matplotlib.pyplot as plt
import numpy as np
import wfdb
from PIL import Image

from timing import timed

LEADS = ("I", "II", "III", "AVR", "AVL", "AVF", "V1", "V2", "V3", "V4", "V5", "V6")


def read(record: str) -> tuple[Any, float]:
    """The signal as the benchmark reads it: float32 (12, samples) in mV, leads in one order."""
    signal, header = wfdb.rdsamp(record)
    names = [name.upper() for name in header["sig_name"]]
    return signal.T.astype(np.float32)[[names.index(lead) for lead in LEADS]], header["fs"]


def saved(signal: Any, rate_hz: float, form: str) -> bytes:
    """The figure, saved as PNG or as raw pixels."""
    ecg_plot.plot(signal, sample_rate=rate_hz, row_height=8)
    held = io.BytesIO()
    plt.gcf().savefig(held, format=form, bbox_inches="tight")
    plt.close()
    return held.getvalue()


def pixels(signal: Any, rate_hz: float) -> Any:
    """The picture as an array of RGB."""
    return np.asarray(Image.open(io.BytesIO(saved(signal, rate_hz, "png"))).convert("RGB"))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=("draw", "raw", "file"))
    parser.add_argument("record")
    parser.add_argument("rounds", type=int)
    parser.add_argument("--keep", help="write the picture there")
    options = parser.parse_args()
    signal, rate_hz = read(options.record)
    if options.keep:
        np.save(options.keep, pixels(signal, rate_hz))
    works: dict[str, Callable[[], Any]] = {
        "draw": lambda: pixels(signal, rate_hz),
        "raw": lambda: saved(signal, rate_hz, "raw"),
        "file": lambda: saved(*read(options.record), "png"),
    }
    works[options.what]()  # the first call fills caches
    print(json.dumps({"rounds": [timed(works[options.what]) for _ in range(options.rounds)]}))


if __name__ == "__main__":
    main()
