"""The overread side of all measures: one measure a call, as JSON on standard output. Run by harness.py.

our_side.py pipeline DATA OUT                   compile, ask, judge and score, once
our_side.py resume DATA OUT --seconds 0.005     a first run, then several times with ten replies taken away
our_side.py stream OUT                          judge and score a run that lies there
"""

from __future__ import annotations

import argparse
import gc
import json
import resource
from pathlib import Path
from typing import Any

import polars as pl

from overread import pipeline
from overread.runs.folder import Run
from overread.runs.parts import read_part, write_part
from overread.settings import Settings
from timing import timed

TOYS = Path(__file__).resolve().parent / "toys"
EXAM = str(TOYS / "chain_exam.py")
RESUMES = 5


def settings(data: Path, out: Path, seconds: float) -> Settings:
    model = f"{TOYS / 'at_once.py'}[seconds={seconds:g}]"
    return Settings(EXAM, (model,), {"records": str(data)}, conditions="none", out=str(out))


def sit(wanted: Settings) -> pl.DataFrame:
    """What `overread run` does, without the page."""
    made = pipeline.compile_exam(wanted.checked())
    pipeline.ask(made, wanted)
    pipeline.judge(made)
    return pipeline.score(made, wanted)


def accuracy(out: Path) -> float:
    scores = Run(out).table("scores")
    return float(scores.filter((pl.col("metric") == "accuracy") & (pl.col("slice") == "all"))["value"][0])


def warm(data: Path, out: Path) -> None:
    """Imports and first calls, on a handful of dialogues; what they leave in memory is no garbage to look through."""
    sit(settings(data / "few", out / "warm", 0.0))
    gc.collect()
    gc.freeze()


def measure_pipeline(data: Path, out: Path) -> dict[str, Any]:
    warm(data, out)
    found = timed(lambda: sit(settings(data / "many", out / "run", 0.0)))
    return {**found, "accuracy": accuracy(out / "run")}


def take_away(run: Path, count: int, turn: int) -> int:
    """Removes some replies from the parts that hold them; says how many are left."""
    left = 0
    for path in sorted((run / "replies").glob("*.parquet")):
        replies = read_part(path)
        places = replies["place"].unique().sort()
        gone = (
            places.gather_every(max(1, len(places) // count), turn).head(count) if len(places) > count else places[:0]
        )
        kept = replies.filter(~pl.col("place").is_in(gone.implode()))
        write_part(path, kept)
        left += kept.height
    return left


def measure_resume(data: Path, out: Path, seconds: float) -> dict[str, Any]:
    warm(data, out)
    wanted = settings(data / "some", out / "run", seconds)
    first = timed(lambda: sit(wanted))
    whole = Run(out / "run").table("replies").height
    again = []
    for turn in range(RESUMES):
        left = take_away(out / "run", 10, turn)
        again.append({**timed(lambda: sit(wanted)), "asked": Run(out / "run").table("replies").height - left})
    return {"first": first, "again": again, "questions": whole}


def measure_stream(out: Path) -> dict[str, Any]:
    run = Run(out)
    wanted = Settings(EXAM, out=str(out))

    def work() -> None:
        pipeline.judge(run)
        pipeline.score(run, wanted)

    found = timed(work)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {**found, "peak_bytes": peak, "accuracy": accuracy(out)}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("measure", choices=("pipeline", "resume", "stream"))
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--seconds", type=float, default=0.0)
    options = parser.parse_args()
    if options.measure == "pipeline":
        found = measure_pipeline(*options.folders)
    elif options.measure == "resume":
        found = measure_resume(*options.folders, options.seconds)
    else:
        found = measure_stream(*options.folders)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
