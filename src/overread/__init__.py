"""overread: examines medical vision-language models, and shows whether they looked.

    import overread

    run = overread.run("ecg_steps", ["chance", "prior", "ecg_solver"], data={"phantoms": "phantoms"}, out="runs/mine")
    run.table("scores")          # a polars data frame; so are cases, dialogues, questions, key, replies, verdicts
    overread.open("runs/mine")   # the same run, later

Everything else is the command line's: see `overread --help`.
"""

from __future__ import annotations

from overread.api import open_run as open
from overread.api import run
from overread.errors import BadInput, BadRun, OverreadError
from overread.runs.folder import Run
from overread.version import __version__

__all__ = ["BadInput", "BadRun", "OverreadError", "Run", "__version__", "open", "run"]
