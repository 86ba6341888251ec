"""The command line: what it prints, how it ends, and that bad input is told and never thrown."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import click.testing
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from overread.cli import main
from overread.runs.folder import Run


def call(*words: str) -> click.testing.Result:
    return click.testing.CliRunner().invoke(main, list(words))


def told(result: click.testing.Result, *said: str) -> None:
    """Ended with code 2 and a message for the user, without a traceback."""
    assert result.exit_code == 2, (result.output, result.exception)
    assert "Traceback" not in result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    for text in said:
        assert text in result.stderr


@pytest.fixture
def data(phantom_data: dict[str, str]) -> str:
    return f"phantoms={phantom_data['phantoms']}"


def test_list_names_everything_as_json() -> None:
    found = json.loads(call("list", "--json").stdout)
    assert set(found) >= {"benchmarks", "models", "judges", "metrics", "archives"}
    names = {kind: {entry["name"] for entry in entries} for kind, entries in found.items()}
    assert {"ecg_steps", "heartbeat"} <= names["benchmarks"]
    assert {"chance", "prior", "oracle", "foreign"} <= names["models"]
    assert {"option", "number"} <= names["judges"]
    assert {"accuracy", "mean_error", "coverage"} <= names["metrics"]
    assert "phantoms" in names["archives"]
    assert all(entry["title"] for entries in found.values() for entry in entries)


def test_list_of_one_kind_is_a_table() -> None:
    result = call("list", "metrics")
    assert result.exit_code == 0
    assert "accuracy" in result.stdout and "phantoms" not in result.stdout


def test_run_prints_the_headline_and_says_where_the_report_lies(data: str, tmp_path: Path) -> None:
    out = str(tmp_path / "run")
    words = ["run", "ecg_steps", "--model", "chance", "--model", "prior", "--data", data, "--out", out]
    result = call(*words, "--conditions", "none")
    assert result.exit_code == 0, result.output
    assert "prior" in result.stdout
    assert "report.html" in result.stderr
    assert (tmp_path / "run" / "report.html").stat().st_size > 1000
    assert Run(tmp_path / "run").manifest["command"][0] == "overread"
    again = call(*words, "--conditions", "none", "--json")
    assert {row["model"] for row in json.loads(again.stdout)} == {"chance", "prior"}


def test_a_run_file_says_the_same_as_options_and_options_come_first(data: str, tmp_path: Path) -> None:
    alias, path = data.split("=", 1)
    text = f"""
        benchmark = "ecg_steps"
        models = ["chance"]
        conditions = "none"
        limit = 3
        out = {json.dumps(str(tmp_path / "run"))}
        [data]
        {alias} = {json.dumps(path)}
        [set.score]
        resamples = 50
    """
    (tmp_path / "run.toml").write_text(text)
    result = call("run", "--file", str(tmp_path / "run.toml"), "--limit", "2")
    assert result.exit_code == 0, result.output
    assert Run(tmp_path / "run").exam["limit"] == 2


def test_a_dry_run_prints_one_whole_prompt_and_the_cost_and_leaves_nothing(
    data: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = call("run", "ecg_steps", "--model", "chance", "--data", data, "--dry-run")
    assert result.exit_code == 0, result.output
    assert "--- system" in result.stdout and "[ecg ecg: phantoms://" in result.stdout
    assert "<the model's own reply>" in result.stdout
    assert "questions a model" in result.stdout
    assert list(tmp_path.iterdir()) == []


def test_partial_results_end_with_code_3(data: str, tmp_path: Path) -> None:
    words = ["run", "ecg_steps", "--model", "chance", "--data", data, "--out", str(tmp_path / "run")]
    result = call(*words, "--conditions", "none", "--shard", "1/2")
    assert result.exit_code == 3
    assert "partial" in result.stderr


def test_judge_score_report_compare_and_export_work_on_a_run(data: str, tmp_path: Path) -> None:
    out = str(tmp_path / "run")
    done = call("run", "ecg_steps", "--model", "chance", "--model", "prior", "--model", "oracle", "--data", data,
                "--out", out, "--conditions", "none")  # fmt: skip
    assert done.exit_code == 0
    assert call("judge", out, "--judge", "option").exit_code == 0
    scores = json.loads(call("score", out, "--json", "--set", "score.resamples=20").stdout)
    assert {"accuracy", "completion"} <= {score["metric"] for score in scores}
    assert call("report", out, "--out", str(tmp_path / "page")).exit_code == 0
    assert (tmp_path / "page" / "report.html").exists()
    rows = json.loads(call("compare", out, out, "--json").stdout)
    assert {(row["first"], row["second"]) for row in rows} == {
        ("chance", "oracle"), ("chance", "prior"), ("oracle", "prior"),
    }  # fmt: skip
    assert all(row["effect"] < 0 for row in rows if row["second"] == "oracle")
    for format_ in ("jsonl", "csv"):
        assert call("export", out, "--format", format_, "--out", str(tmp_path / format_)).exit_code == 0
        assert {path.stem for path in (tmp_path / format_).iterdir()} >= {"cases", "replies", "scores"}


def test_an_audit_gives_chance_and_the_prior_for_every_stage(data: str, tmp_path: Path) -> None:
    result = call("audit", "ecg_steps", "--data", data, "--out", str(tmp_path / "audit"), "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert set(found["stages"]) == {"diagnosis", "criterion", "finding", "measurement", "decision"}
    assert found["stages"]["diagnosis"]["chance"] == 0.5
    assert {"accuracy", "completion", "depth"} <= set(found["metrics"])


def test_data_check_names_what_is_missing(data: str, tmp_path: Path) -> None:
    assert call("data").exit_code == 0
    whole = call("data", "check", "phantoms", "--data", data, "--json")
    assert json.loads(whole.stdout)["found"]["truth.jsonl"] == 1
    (tmp_path / "empty").mkdir()
    empty = call("data", "check", "phantoms", "--data", f"phantoms={tmp_path / 'empty'}")
    assert empty.exit_code == 3
    assert "missing" in empty.stdout
    assert "overread build phantoms" in call("data", "get", "phantoms").stdout


def test_data_check_of_an_alias_that_is_not_set_says_what_is_expected_and_how_to_set_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OVERREAD_DATA_PHANTOMS", raising=False)
    result = call("data", "check", "phantoms")
    assert result.exit_code == 3
    assert "truth.jsonl" in result.stdout and "missing" in result.stdout
    assert "terms: open" in result.stdout and "overread build phantoms" in result.stdout
    for way in ("--data phantoms=PATH", "OVERREAD_DATA_PHANTOMS", "overread.toml", "[data]"):
        assert way in result.stderr
    found = json.loads(call("data", "check", "phantoms", "--json").stdout)
    assert found["root"] is None and set(found["missing"]) == set(found["expected"])
    monkeypatch.setenv("OVERREAD_DATA_PHANTOMS", str(tmp_path))
    assert json.loads(call("data", "check", "phantoms", "--json").stdout)["root"] == str(tmp_path)


def test_build_phantoms_says_how_to_use_them(tmp_path: Path) -> None:
    result = call("build", "phantoms", "--out", str(tmp_path / "p"), "--patients", "2", "--kind", "ecg")
    assert result.exit_code == 0, result.output
    assert "--data phantoms=" in result.stderr
    assert (tmp_path / "p" / "truth.jsonl").exists()


LATER = [
    ["build", "echo_ground", "x"], ["view", "runs/x"], ["train", "vlm", "r"], ["train", "echo", "r"],
    ["train", "probe", "r"],
]  # fmt: skip


@pytest.mark.parametrize("words", LATER, ids=" ".join)
def test_commands_whose_subject_comes_later_say_so(words: list[str]) -> None:
    told(call(*words), "in this version")


BAD = {
    "unknown benchmark": (["run", "ecg_stepz", "--model", "chance"], "did you mean ecg_steps"),
    "misspelt alias": (["run", "ecg_steps", "--model", "chance", "--data", "fantoms=x"], "did you mean phantoms"),
    "unknown model": (["run", "ecg_steps", "--model", "chanse"], "did you mean chance"),
    "unknown variant": (["run", "ecg_steps", "--model", "prior:x"], "known: chain"),
    "no model": (["run", "ecg_steps"], "no model was named"),
    "no benchmark": (["run", "--model", "chance"], "no benchmark was named"),
    "unknown protocol": (["run", "ecg_steps", "--model", "chance", "--protocol", "x"], "protocol of ecg_steps"),
    "unknown condition": (["run", "ecg_steps", "--model", "chance", "--conditions", "x"], "no condition 'x'"),
    "unknown setting": (["run", "ecg_steps", "--model", "chance", "--set", "ask.x=1"], "setting of ask"),
    "setting of nothing": (["run", "ecg_steps", "--model", "chance", "--set", "x=1"], "belongs to nothing"),
    "not a pair": (["run", "ecg_steps", "--model", "chance", "--set", "x"], "not KEY=VALUE"),
    "shard": (["run", "ecg_steps", "--model", "chance", "--shard", "3/2"], "not a shard"),
    "limit": (["run", "ecg_steps", "--model", "chance", "--limit", "0"], "at least 1"),
    "seeds": (["run", "ecg_steps", "--model", "chance", "--seeds", "0"], "at least 1"),
    "engine": (["run", "ecg_steps", "--model", "chance", "--engine", "x"], "engine"),
    "model options": (["run", "ecg_steps", "--model", "chance[x=1]"], "x"),
    "model brackets": (["run", "ecg_steps", "--model", "chance[x"], ""),
    "unknown judge of a run": (["run", "ecg_steps", "--model", "chance", "--judge", "nope"], "no judge named 'nope'"),
    "model option value": (["run", "ecg_steps", "--model", "oracle[anywhere=maybe]"], "must be true or false"),
    "foreign without a script": (["run", "ecg_steps", "--model", "foreign"], "needs a script"),
    "foreign's script": (["run", "ecg_steps", "--model", "foreign[script=nowhere.py]"], "cannot be read"),
    "resamples": (["run", "ecg_steps", "--model", "chance", "--set", "score.resamples=abc"], "positive number"),
    "clean": (["run", "ecg_steps", "--model", "chance", "--set", "score.clean=maybe"], "must be yes or no"),
    "seconds": (["run", "ecg_steps", "--model", "chance", "--set", "ask.seconds=x"], "positive number"),
    "batch": (["run", "ecg_steps", "--model", "chance", "--set", "ask.batch=1.5"], "whole number"),
    "base": (["run", "ecg_steps", "--model", "chance", "--set", "score.base=nomodel=>chance"], "model of the run"),
    "base of": (["run", "ecg_steps", "--model", "chance", "--set", "score.base=chance=>prior"], "known: chance"),
    "benchmark option": (["run", "ecg_steps", "--model", "chance", "--set", "ecg_steps.x=1"], "setting of ecg_steps"),
    "missing run file": (["run", "--file", "nowhere.toml"], "nowhere.toml"),
    "file of a long name": (["run", "x/" * 1500 + "x.py", "--model", "chance"], "no such file"),
    "model of a long name": (["run", "ecg_steps", "--model", "x" * 3000 + ".py"], "no such file"),
    "run of a long name": (["score", "x" * 3000], "there is no run here"),
    "data of a long name": (["data", "check", "phantoms", "--data", "phantoms=" + "x" * 3000], "not there"),
    "missing file": (["run", "./nowhere.py", "--model", "chance"], "no such file"),
    "no run": (["score", "nowhere"], "there is no run here"),
    "no run to report": (["report", "nowhere"], "there is no run here"),
    "unknown judge": (["judge", "nowhere", "--judge", "x"], ""),
    "unknown alias": (["data", "check", "x"], "archive with the alias"),
    "export format": (["export", "nowhere", "--format", "x", "--out", "y"], ""),
    "builder kind": (["build", "phantoms", "--out", "p", "--kind", "x"], "ecg"),
    "unknown command": (["rum"], ""),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_told_with_what_to_do(
    case: str, data: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words, said = BAD[case]
    more = ["--data", data] if words[0] == "run" else []
    told(call(*words, *more), said)
    assert list(tmp_path.iterdir()) == [], "what is wrong is found before anything is written"


def test_judges_that_do_not_fit_the_questions_are_refused_before_any_is_asked(data: str, tmp_path: Path) -> None:
    words = ["run", "ecg_steps", "--model", "chance", "--data", data, "--out", str(tmp_path / "run")]
    told(call(*words, "--judge", "number"), "no judge of 'number' takes questions of kind choice")
    assert not (tmp_path / "run" / "replies").exists()


def test_a_dry_run_tells_what_a_run_would(data: str) -> None:
    words = ["run", "ecg_steps", "--model", "chance", "--data", data, "--dry-run"]
    told(call(*words, "--judge", "nope"), "no judge named 'nope'")
    told(call(*words, "--set", "score.resamples=abc"), "positive number")


def test_scoring_again_knows_the_models_of_the_run(data: str, tmp_path: Path) -> None:
    out = str(tmp_path / "run")
    words = ["run", "ecg_steps", "--model", "chance", "--data", data, "--out", out, "--conditions", "none"]
    assert call(*words, "--limit", "2").exit_code == 0
    told(call("score", out, "--set", "score.base=chance=>prior"), "no model of the run named 'prior'")
    told(call("score", out, "--set", "score.resamples=x"), "positive number")


def test_an_error_that_quotes_what_was_typed_lets_nothing_reach_the_terminal(data: str) -> None:
    result = call("run", "./\x1b[2J.py", "--model", "chance", "--data", data)
    told(result, "<U+001B>[2J.py")
    assert "\x1b" not in result.output


def test_a_missing_alias_says_how_to_give_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    told(call("run", "ecg_steps", "--model", "chance"), "--data phantoms=PATH")


def test_a_folder_with_another_exam_is_refused(data: str, tmp_path: Path) -> None:
    words = ["run", "ecg_steps", "--model", "chance", "--data", data, "--out", str(tmp_path), "--conditions", "none"]
    assert call(*words).exit_code == 0
    told(call(*words, "--seed", "1"), "another exam", "seed: 0 there, 1 now")


def test_a_file_that_fails_when_loaded_is_named(data: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def load(setting):\n    pass\nraise RuntimeError('oh')\n")
    words = ["run", "ecg_steps", "--model", str(tmp_path / "mine.py"), "--data", data, "--out", str(tmp_path / "o")]
    told(call(*words), "RuntimeError: oh", "mine.py")


TYPED = """
    run judge score report compare audit export build data check list phantoms ecg_steps heartbeat chance prior:chain
    --model --data --set --limit --shard --seed --conditions --protocol --out --file --json --format --judge
    phantoms=. x=y = :: ../.. /etc a://b -1 1e9 [ chance[ ] \u202e é \udcff
"""
WORDS = st.lists(
    st.sampled_from(["", *TYPED.split()])
    | st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=6),
    max_size=7,
)


@settings(max_examples=250, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words=WORDS)
def test_whatever_is_typed_ends_with_a_message_and_no_traceback(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = call(*words)
    assert result.exit_code in (0, 2, 3), (words, result.exception)
    assert result.exception is None or isinstance(result.exception, SystemExit), words


def a_run(data: str, folder: Path) -> Path:
    words = ["run", "ecg_steps", "--model", "chance", "--data", data, "--limit", "2", "--conditions", "none"]
    assert call(*words, "--out", str(folder)).exit_code == 0
    return folder


def test_scoring_before_judging_says_what_to_do(data: str, tmp_path: Path) -> None:
    run = a_run(data, tmp_path / "run")
    shutil.rmtree(run / "verdicts")
    told(call("score", str(run)), "nothing of this run has been judged", "overread judge")


def test_a_judge_that_raises_is_told_with_its_file(data: str, tmp_path: Path) -> None:
    judge = tmp_path / "broken.py"
    judge.write_text('"""Broken"""\nKINDS = ("choice",)\ndef judge(table):\n    return table["nothing"]\n')
    told(call("judge", str(a_run(data, tmp_path / "run")), "--judge", str(judge)), str(judge), "fails")


def test_replies_that_no_worker_tells_of_are_not_dropped_silently(data: str, tmp_path: Path) -> None:
    run = a_run(data, tmp_path / "run")
    shutil.rmtree(run / "workers")
    told(call("judge", str(run)), "no file in workers/", "same models")
    assert a_run(data, run) == run, "the same command tells of them anew"


def test_a_terminal_that_knows_few_characters_gets_question_marks(tmp_path: Path, data: str) -> None:
    words = ["run", "heartbeat", "--data", data, "--model", "chance", "--conditions", "none", "--limit", "2"]
    command = [sys.executable, "-m", "overread", *words, "--out", str(tmp_path / "run-é")]
    plain = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = subprocess.run(command, env=plain, capture_output=True, text=True, check=False)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
