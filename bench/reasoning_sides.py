"""The sides of the bench of ECG reasoning, each in a process of its own; the last line they print is JSON.

reasoning_sides.py write SAMPLES RESULTS QUESTIONS    results of one model in upstream's tree, one JSON file a sample
reasoning_sides.py bring RESULTS RUN                  the same as a run
reasoning_sides.py theirs RESULTS                     judges and scores file by file, in a loop
reasoning_sides.py ours RUN RESAMPLES                 judges and scores the run
"""

from __future__ import annotations

import gc
import json
import random
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

JUDGE = "ecg_heuristic:0.0.2"
FIRST = "initial_diagnostic_question"
Json = dict[str, Any]


def cost(work: Callable[[], Any]) -> Json:
    """Wall and processor time of a call, and the most memory that the process ever held."""
    gc.freeze()
    before, wall = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    found = work()
    after, wall = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter() - wall
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"wall": wall, "cpu": cpu, "peak_mb": after.ru_maxrss / 1024, "found": found}


def steps(sample: Mapping[str, Any]) -> Iterator[list[Json]]:
    """The questions of each loop, in order."""
    for loop in sample["data"]["reasoning"]:
        yield [step for part in loop.values() for step in (part if isinstance(part, list) else [part])]


def texts(step: Mapping[str, Any]) -> list[str]:
    answer = step["answer"]
    return [answer] if isinstance(answer, str) else list(answer)


def reply(rng: random.Random, step: Mapping[str, Any]) -> str:
    """Right in two of three cases, and in one of five dressed up as models dress their answers."""
    said = ", ".join(texts(step)) if rng.random() < 2 / 3 else rng.choice(step["options"])
    return rng.choice([f"**{said}**", f"The answer is: {said}.", f"- {said}"]) if rng.random() < 0.2 else said


def write(samples: Path, results: Path, most: int) -> Json:
    """The samples again and again under new numbers, until so many questions are reached."""
    rng, asked, number = random.Random(0), 0, 0
    lines = [line for file in sorted(samples.glob("*.jsonl")) for line in file.read_bytes().splitlines()]
    read = [json.loads(line) for line in lines]
    while True:
        for sample in read:
            questions = [sample["data"][FIRST], *(step for loop in steps(sample) for step in loop)]
            if asked + len(questions) > most:
                return {"questions": asked, "samples": number}
            for step in questions:
                step["model_response"] = reply(rng, step)
            told = sample["metadata"]
            told |= {"id": number, "model": "made-up"}
            file = results / "made-up" / told["data_source"] / told["target_dx"] / f"{number}.json"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(sample, indent=4), encoding="utf-8")
            asked, number = asked + len(questions), number + 1


def theirs(results: Path) -> dict[str, float]:
    """Reads and marks file by file, and counts what upstream counts; the rules are those of our judge of that name."""
    from overread.judges.ecg_heuristic import verdict

    count: Counter[str] = Counter()
    for file in sorted(results.rglob("*.json")):
        sample = json.loads(file.read_text(encoding="utf-8"))
        first, label = sample["data"][FIRST], ("No", "Yes")[sample["metadata"]["dx_label"]]
        count["samples"] += 1
        count["first"] += verdict(FIRST, (label,), first["model_response"])[1]
        loops = []
        for loop in steps(sample):
            found = [
                (s["question_type"], verdict(s["question_type"], tuple(texts(s)), s["model_response"])[1]) for s in loop
            ]
            count.update(f"of {stage}" for stage, _ in found)
            count.update(stage for stage, right in found if right)
            loops.append(found)
        count["hard"] += all(right for loop in loops for _, right in loop)
        count["gt_rda"] += loops[-1][-1][1]
        for loop in loops:
            add_depth(count, loop)
    return dict(count)


def add_depth(count: Counter[str], loop: list[tuple[str, bool]]) -> None:
    """How far a loop with groundings goes before its first error."""
    places = [right for stage, right in loop if stage.endswith("grounding")]
    if not places:
        return
    count["loops with groundings"] += 1
    depth, whole = 0.0, True
    for part in ([loop[0][1]], [loop[1][1]], places, [loop[-1][1]]):
        done = part.index(False) if False in part else len(part)
        depth += done / len(part) if whole else 0.0
        whole = whole and done == len(part)
    count["depth"] += depth  # type: ignore[assignment]


def ours(folder: Path, resamples: str) -> dict[str, float]:
    """Judges and scores a run that holds the same replies."""
    from overread import pipeline
    from overread.runs.folder import Run
    from overread.settings import Settings

    run = Run(folder)
    pipeline.judge(run, [JUDGE])
    settings = Settings("ecg_reasoning", set={"score.resamples": resamples, "score.clean": "no"})
    scores = pipeline.score(run, settings)
    wanted = scores.filter((scores["slice"] == "all") & (scores["judge"] == JUDGE.replace(":", "-")))
    return dict(wanted.select("metric", "value").iter_rows())


def bring(results: Path, folder: Path) -> None:
    """Makes the run; its verdicts by another judge are taken away, so that one judge judges here as there."""
    import shutil

    from overread.compat.reasoning_import import import_results

    import_results(results, str(folder), {})
    shutil.rmtree(folder / "verdicts")


def main() -> None:
    what, *words = sys.argv[1:]
    if what == "write":
        print(json.dumps(write(Path(words[0]), Path(words[1]), int(words[2]))))
    elif what == "bring":
        bring(Path(words[0]), Path(words[1]))
        print("{}")
    elif what == "theirs":
        import overread.judges.ecg_heuristic

        print(json.dumps(cost(lambda: theirs(Path(words[0])))))
    else:
        import overread.pipeline  # noqa: F401  (not what is measured)

        print(json.dumps(cost(lambda: ours(Path(words[0]), words[1]))))


if __name__ == "__main__":
    main()
