"""The overread side of the ECG bench: all leads of each recording; see ecg_theirs.py, whose words it shares.

ecg_ours.py speed|waves FOLDER ROUNDS LEAD
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from overread.measure.ecg import Boundaries, delineate, measure_ecg
from overread.measure.ecg.agreement import found_spans
from overread.media.leads import LEADS
from timing import timed

RATE_HZ = 500.0


def spans(marks: Boundaries, lead: str) -> dict[str, dict[str, list[list[float]]]]:
    """The boundaries of all leads together and those of one."""
    kinds = ("p", "qrs", "t")
    return {
        "joint": {kind: found_spans(marks, kind).tolist() for kind in kinds},
        "lead": {kind: found_spans(marks, kind, lead).tolist() for kind in kinds},
    }


def main() -> None:
    what, folder, rounds, lead = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    leads = {file.stem: np.load(file) for file in sorted(folder.glob("*.npy"))}
    if what == "waves":
        print(json.dumps({name: spans(delineate(mv, RATE_HZ), LEADS[lead]) for name, mv in leads.items()}))
        return
    measure_ecg(next(iter(leads.values())), RATE_HZ)
    found = [
        [
            {
                "delineate": timed(lambda mv=mv: delineate(mv, RATE_HZ)),
                "measure": timed(lambda mv=mv: measure_ecg(mv, RATE_HZ)),
            }
            for mv in leads.values()
        ]
        for _ in range(rounds)
    ]
    print(json.dumps({"rounds": found}))


if __name__ == "__main__":
    main()
