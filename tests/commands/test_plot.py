"""Figures from runs and from upstream's tables are of the same numbers; what cannot be drawn is told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import click.testing
import pytest

from overread import pipeline
from overread.cli import main
from overread.commands.plot import Wish, curves_of, plot
from overread.compat.reasoning_csv import forced_tables
from overread.compat.reasoning_export import export_results
from overread.errors import BadInput
from overread.marking import marks_of
from overread.runs.folder import Run
from overread.settings import Settings

DX = "first_degree_av_block"


@pytest.fixture
def forced(trees: ModuleType, toy: Callable[[str], str], tmp_path: Path) -> Run:
    data = {"ecg_reasoning": str(trees.ecg_reasoning(tmp_path / "samples"))}
    models = (f"{toy('witness')}[out={tmp_path / 'sent'}]", "oracle[anywhere=true]")
    settings = Settings("ecg_reasoning", models, data, "forced-commit", "none", out=str(tmp_path / "run"))
    return pipeline.run(settings)[0]


def test_a_run_and_its_tables_give_the_same_figures(forced: Run, tmp_path: Path) -> None:
    arguments = ["plot", "forced_commit", str(forced.folder), "--out", str(tmp_path / "figures"), "--all-dx"]
    result = click.testing.CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    names = sorted(path.name for path in (tmp_path / "figures").iterdir())
    assert names == sorted(
        f"forced_commit_{source}_{name}.{kind}"
        for source in ("mimic_iv_ecg", "ptbxl") for name in ("total", DX) for kind in ("pdf", "png")
    )  # fmt: skip
    list(export_results(forced, tmp_path / "out"))
    tables = tmp_path / "out" / "evaluation" / "option"
    again = list(plot("forced_commit", [tables], Wish(names=(), models=("oracle-anywhere=true",)), tmp_path / "again"))
    assert len(again) == 8
    (row,) = [row for row in forced_tables(marks_of(forced, "option"))["ptbxl", "total"] if "oracle" in row["model"]]
    (curve,) = curves_of([row], (), "here")
    assert (curve.first, [accuracy for _, _, accuracy in curve.bins]) == (1.0, [None, 1.0, None, 1.0])


def test_what_upstream_writes_for_an_empty_bin_is_no_accuracy(tmp_path: Path) -> None:
    header = "model,idq_total,idq_correct,idq_accuracy," + ",".join(
        f"bin{n}_{column}" for n in range(1, 5) for column in ("lo", "hi", "total", "correct", "accuracy")
    )
    values = "gem,4,2,0.5,0,25,0,0,0.0,25,50,4,1,0.25,50,75,0,0,0.0,75,100,4,3,0.75"
    (tmp_path / "ptbxl").mkdir()
    file = tmp_path / "ptbxl" / "total.csv"
    file.write_text(f"{header}\n{values}\n", encoding="utf-8")
    made = list(plot("forced_commit", [tmp_path], Wish(layout="separate"), tmp_path))
    assert [path.name for path in made] == [f"forced_commit_ptbxl_total_separate.{kind}" for kind in ("pdf", "png")]
    row = dict(zip(header.split(","), values.split(","), strict=True))
    (curve,) = curves_of([row], (), "here")
    assert [accuracy for _, _, accuracy in curve.bins] == [None, 0.25, None, 0.75]


def test_unknown_models_names_and_sources_are_told(forced: Run, tmp_path: Path) -> None:
    for wish, what in ((Wish(models=("gem",)), "gem"), (Wish(names=("x",)), "'x'")):
        with pytest.raises(BadInput, match=what):
            list(plot("forced_commit", [forced.folder], wish, tmp_path))
    with pytest.raises(BadInput, match="no run and no table"):
        list(plot("forced_commit", [tmp_path / "nowhere"], Wish(), tmp_path))
    with pytest.raises(BadInput, match="figure"):
        list(plot("pie", [forced.folder], Wish(), tmp_path))
    (tmp_path / "other.csv").write_text("model,accuracy\ngem,1\n", encoding="utf-8")
    with pytest.raises(BadInput, match="forced commitment"):
        list(plot("forced_commit", [tmp_path / "other.csv"], Wish(names=("other",)), tmp_path))


def test_a_teacher_forced_run_is_refused(trees: ModuleType, tmp_path: Path) -> None:
    data = {"ecg_reasoning": str(trees.ecg_reasoning(tmp_path / "samples"))}
    run, _ = pipeline.run(Settings("ecg_reasoning", ("chance",), data, "", "none", out=str(tmp_path / "run")))
    with pytest.raises(BadInput, match="protocol default"):
        list(plot("forced_commit", [run.folder], Wish(), tmp_path))
