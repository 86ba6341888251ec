"""The neurokit2 side of the ECG bench: one lead of each recording, as JSON on standard output.

    ecg_theirs.py speed|waves FOLDER ROUNDS LEAD

Run by ecg.py in an environment of its own. FOLDER holds recordings as `NAME.npy`, (12, samples) in mV at 500 Hz.
`speed` times the way from the raw lead to its boundaries (`ecg_clean`, `ecg_peaks`, `ecg_delineate` with wavelets), and
the last of the three alone; `waves` gives the boundaries, or why there are none.
"""

from __future__ import annotations

import json
import math
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import neurokit2 as nk
import numpy as np

from timing import cpu_seconds

RATE_HZ = 500
STOPS = (ValueError, IndexError, KeyError, TypeError, ZeroDivisionError)
"""What stops it makes a record without boundaries, and is counted as such."""
KEYS = {"p": "P", "qrs": "R", "t": "T"}


def delineated(lead: Any) -> tuple[dict[str, Any], dict[str, float]]:
    """The boundaries of one lead, and the processor and wall time of all and of the last step."""
    wall, cpu = time.perf_counter(), cpu_seconds()
    clean = nk.ecg_clean(lead, sampling_rate=RATE_HZ)
    _, peaks = nk.ecg_peaks(clean, sampling_rate=RATE_HZ)
    last_cpu = cpu_seconds()
    _, waves = nk.ecg_delineate(clean, peaks["ECG_R_Peaks"], sampling_rate=RATE_HZ, method="dwt")
    done = cpu_seconds()
    return waves, {"wall": time.perf_counter() - wall, "cpu": done - cpu, "last_cpu": done - last_cpu}


def spans(waves: dict[str, Any]) -> dict[str, list[list[float]]]:
    """Onsets and offsets of the waves that have both."""
    found = {}
    for kind, key in KEYS.items():
        pairs = zip(waves[f"ECG_{key}_Onsets"], waves[f"ECG_{key}_Offsets"], strict=True)
        found[kind] = [[float(a), float(b)] for a, b in pairs if not (math.isnan(a) or math.isnan(b))]
    return found


def can(lead: Any) -> bool:
    """Whether it gets through at all; what it does not get through is not timed."""
    try:
        delineated(lead)
    except STOPS:
        return False
    return True


def main() -> None:
    what, folder, rounds, lead = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    warnings.simplefilter("ignore")
    files = sorted(folder.glob("*.npy"))
    if what == "speed":
        leads = [np.load(file)[lead] for file in files]
        leads = [one for one in leads if can(one)]  # the first call imports what it needs
        print(json.dumps({"rounds": [[delineated(one)[1] for one in leads] for _ in range(rounds)]}))
        return
    found: dict[str, Any] = {}
    for file in files:
        try:
            found[file.stem] = spans(delineated(np.load(file)[lead])[0])
        except STOPS as error:
            found[file.stem] = {"failed": f"{type(error).__name__}: {error}"}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
