"""The three commands of ECG-Reasoning-Benchmark under their own names and flags, over runs of overread.

    ecg-reasoning-benchmark-inference DIR --dataset ptbxl --model MODEL --ecg-base-dir DIR --output-dir results
    ecg-reasoning-benchmark-evaluate results --dataset ptbxl --model MODEL --evaluator heuristic --save-dir eval
    ecg-reasoning-benchmark-forced-commit-plot --eval-dir eval/forced-commit_heuristic --dataset ptbxl

`--model` names a model of overread (`overread list models`); `--model-variant` becomes its variant. What upstream does
with claims, empty files and deleted folders a run does better, so `--do-not-skip-empty-output` and `--verbose` change
nothing; `--rebase` begins anew. The run itself lies beside the results, in `.overread`, and is gone on with.

`--evaluator` is `heuristic` (the rules of 0.0.2), `heuristic-0.0.1`, `option`, or any judge of overread; behind
`forced-commit_` or `gemini-forced-commit` it takes results of forced commitment and refuses all others, by name.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from overread import pipeline
from overread.commands.plot import Wish, plot
from overread.commands.terminal import progress_bar
from overread.compat.reasoning_csv import Tables, forced_tables, tables, write_tables
from overread.compat.reasoning_export import export_results, folder_of
from overread.compat.reasoning_import import import_results
from overread.compat.reasoning_results import COMMIT_MODE, read_results
from overread.errors import BadInput, OverreadError
from overread.marking import marks_of
from overread.report.texts import clean
from overread.runs.folder import safe_name
from overread.settings import Settings

ALIASES = {"ptbxl": "ptbxl", "mimic_iv_ecg": "mimic_ecg"}
"""Where the ECGs of a source lie."""
FORCED = "forced-commit_"
JUDGES = {"heuristic": "ecg_heuristic:0.0.2", "heuristic-0.0.1": "ecg_heuristic:0.0.1"}
DEBUG_SEED, DEBUG_SHARE = 42, 10


def inference(arguments: Sequence[str] | None = None) -> int:
    """Sits the exam and writes results as upstream does."""
    parser = argparse.ArgumentParser(prog="ecg-reasoning-benchmark-inference")
    parser.add_argument("root", metavar="DIR", help="folder of the samples")
    parser.add_argument("--dataset", required=True, choices=sorted(ALIASES))
    parser.add_argument("--model", required=True)
    parser.add_argument("--model-variant")
    parser.add_argument("--ecg-base-dir", metavar="DIR", help="folder of the ECGs")
    parser.add_argument("--enable-condensed-chat", action="store_true")
    parser.add_argument("--inference-mode", default="default", choices=["default", COMMIT_MODE])
    parser.add_argument("--output-dir", default="results")
    for flag in ("--rebase", "--debug", "--verbose", "--do-not-skip-empty-output"):
        parser.add_argument(flag, action="store_true")
    return _told(lambda: _infer(parser.parse_args(arguments)))


def _infer(said: argparse.Namespace) -> None:
    model = said.model + (f":{said.model_variant}" if said.model_variant else "")
    folder = folder_of(said.model) + (f"_{said.model_variant}" if said.model_variant else "")
    data = {"ecg_reasoning": said.root}
    if said.ecg_base_dir:
        data[ALIASES[said.dataset]] = said.ecg_base_dir
    out = Path(said.output_dir)
    home = out / ".overread" / safe_name("-".join((folder, said.dataset, said.inference_mode)))
    if said.rebase:
        for old in (home, out / folder / said.dataset):
            shutil.rmtree(old, ignore_errors=True)
    chosen = {"ecg_reasoning.condensed": str(said.enable_condensed_chat).lower()}
    exam = f"ecg_reasoning:{said.dataset}"
    settings = Settings(exam, (model,), data, said.inference_mode, "none", chosen, out=str(home))
    if said.debug:
        whole = sum(
            1 for case in pipeline.read_cases(settings, ("ecg_reasoning",)) if case.facts["source"] == said.dataset
        )
        settings = Settings(
            exam, (model,), data, said.inference_mode, "none", chosen,
            out=f"{home}-debug", limit=max(1, whole // DEBUG_SHARE), seed=DEBUG_SEED,
        )  # fmt: skip
    with progress_bar() as progress:
        made, notes = pipeline.run(settings, progress)
    for note in notes:
        click.echo(f"note: {clean(note)}", err=True)
    with tempfile.TemporaryDirectory(dir=made.folder) as beside:
        files = [
            path for path in export_results(made, Path(beside)) if path.suffix == ".json" and path.stem.isdecimal()
        ]
        for file in files:
            wanted = out / folder / Path(*file.relative_to(beside).parts[1:])
            wanted.parent.mkdir(parents=True, exist_ok=True)
            file.replace(wanted)
    click.echo(f"{len(files)} results lie in {out / folder / said.dataset}", err=True)


def evaluate(arguments: Sequence[str] | None = None) -> int:
    """Writes upstream's tables of results."""
    parser = argparse.ArgumentParser(prog="ecg-reasoning-benchmark-evaluate")
    parser.add_argument("root", metavar="DIR", help="folder of the results, with a folder a model")
    parser.add_argument("--dataset", nargs="+", default=["ptbxl"])
    parser.add_argument("--model", nargs="+", required=True)
    parser.add_argument("--evaluator", default="heuristic")
    parser.add_argument("--use-builtin-metrics", action="store_true")
    parser.add_argument("--release", default="0.0.2", choices=["0.0.1", "0.0.2"], help="whose columns are written")
    parser.add_argument("--save-dir", required=True)
    return _told(lambda: _evaluate(parser.parse_args(arguments)))


def _evaluate(said: argparse.Namespace) -> None:
    root = Path(said.root)
    forced = said.evaluator.startswith((FORCED, "gemini-forced-commit"))
    named = said.evaluator.removeprefix(FORCED)
    named = "heuristic" if named.startswith("gemini-forced-commit") else named
    judge = JUDGES.get(named, named)
    for model in said.model:
        for dataset in said.dataset:
            if not (root / model / dataset).is_dir():
                raise BadInput(f"there are no results of {model} on {dataset}", where=str(root / model / dataset))
    found: Tables = {}
    with tempfile.TemporaryDirectory() as beside:
        for number, model in enumerate(said.model):
            mode, where = next(iter(read_results(root / model).modes.items()))
            if (mode == COMMIT_MODE) != forced:
                raise BadInput(
                    f"the evaluator {said.evaluator} does not take results of the mode {mode}",
                    where=f"{root / model}: {where}",
                    do=f"give --evaluator {named if forced else FORCED + named}",
                )
            given = {"score.resamples": "1", "score.clean": "no"}
            brought = import_results(root / model, str(Path(beside) / str(number)), given)
            for fault in brought.document["faults"]:
                click.echo(clean(f"left out: {fault['sample']}: {fault['what']}"), err=True)
            marks = marks_of(brought.run, pipeline.judge(brought.run, (judge,)))
            counted = forced_tables(marks) if forced else tables(marks, said.release)
            for (source, name), rows in counted.items():
                if source in said.dataset:
                    found.setdefault((source, name), []).extend({**row, "model": model} for row in rows)
    for path in write_tables(found, Path(said.save_dir) / safe_name(said.evaluator)):
        click.echo(str(path))


def forced_commit_plot(arguments: Sequence[str] | None = None) -> int:
    """Draws the figure of upstream's tables of forced commitment."""
    parser = argparse.ArgumentParser(prog="ecg-reasoning-benchmark-forced-commit-plot")
    parser.add_argument("--eval-dir", required=True)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--dx", default="total")
    parser.add_argument("--all-dx", action="store_true")
    parser.add_argument("--models", nargs="+", default=[])
    parser.add_argument("--layout", choices=["combined", "separate"], default="combined")
    parser.add_argument("--output", help="a file; with --all-dx a folder")
    parser.add_argument("--ylim", type=float, nargs=2, default=(0.0, 1.0), metavar=("LOW", "HIGH"))
    parser.add_argument("--title", help="not used, as upstream does not use it")
    return _told(lambda: _plot(parser.parse_args(arguments)))


def _plot(said: argparse.Namespace) -> None:
    folder = Path(said.eval_dir) / said.dataset
    names = () if said.all_dx else (said.dx,)
    wish = Wish(names, tuple(said.models), said.layout, tuple(said.ylim))
    sources = [folder] if said.all_dx else [folder / f"{said.dx}.csv"]
    out = Path(said.output) if said.output else folder
    with tempfile.TemporaryDirectory() as beside:
        for made in plot("forced_commit", sources, wish, Path(beside)):
            name = made.name.removeprefix(f"forced_commit_{said.dataset}_")
            wanted = out.with_suffix(made.suffix) if said.output and not said.all_dx else out / name
            wanted.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(made, wanted)
            click.echo(str(wanted))


def _told(work: Callable[[], None]) -> int:
    """Does the work; an error meant for the user is told without a traceback and ends with code 2."""
    try:
        work()
    except OverreadError as error:
        click.echo(clean(str(error)), err=True)
        return 2
    return 0
