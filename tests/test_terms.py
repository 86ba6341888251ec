"""Studies that are not open stay on this machine, unless the user says that the agreement lets them go."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import overread
from overread import pipeline
from overread.columns import to_frame
from overread.commands import check_model
from overread.engines.candidates import remote_of
from overread.errors import BadInput
from overread.runs.folder import Run, write_exam_part
from overread.runs.parts import write_part
from overread.tables import Case, Dialogue, Json, Media
from overread.terms import allowed_here, check_terms, closed_archives

Cases = Callable[..., str]
FAR = "openai_chat[model=m,url=https://models.example/v1]"


def sit(cases: str, out: Path, *models: str, **more: Any) -> Run:
    return overread.run(cases, models, out=out, conditions="none", **more)


@pytest.mark.parametrize("terms", ["credentialed", "local-only"])
def test_a_remote_candidate_is_refused_before_anything_is_asked(
    terms: str, picture_cases: Cases, tmp_path: Path
) -> None:
    with pytest.raises(BadInput) as error:
        sit(picture_cases(terms=terms), tmp_path / "run", "chance", FAR)
    told = str(error.value)
    assert f"own ({terms})" in told and "models.example" in told
    assert "--allow-remote own" in told and "allow_remote" in told
    assert not list((tmp_path / "run").glob("replies/*"))


def test_a_remote_judge_is_refused_before_anything_is_asked(picture_cases: Cases, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"own \(credentialed\)"):
        sit(picture_cases(terms="credentialed"), tmp_path / "run", "chance", judges=[f"rubric[{FAR}]"])
    assert not list((tmp_path / "run").glob("replies/*"))


def test_a_remote_judge_of_a_run_that_is_there_is_refused(picture_cases: Cases, tmp_path: Path) -> None:
    run = sit(picture_cases(terms="credentialed"), tmp_path / "run", "chance")
    with pytest.raises(BadInput, match=r"own \(credentialed\)"):
        pipeline.judge(run, [f"rubric[{FAR}]"])


def test_a_remote_model_that_is_only_checked_is_refused_as_well(picture_cases: Cases, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"own \(credentialed\)"):
        check_model.check(check_model.Wish(FAR, on=picture_cases(terms="credentialed"), out=tmp_path))


def test_open_studies_and_servers_of_this_machine_are_free(
    chat_server: Callable[..., Any], picture_cases: Cases, tmp_path: Path
) -> None:
    model = chat_server().spec()
    assert remote_of(model) == "" and remote_of(FAR) == "models.example"
    run = sit(picture_cases(terms="credentialed"), tmp_path / "run", model, judges=[f"rubric[{model}]"])
    assert set(run.table("replies")["status"]) == {"answered"}
    check_terms(sit(picture_cases(), tmp_path / "open", "chance"), {"m": "models.example"}, ())


@pytest.fixture
def elsewhere(chat_server: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> str:
    """A server of this machine that is taken to be another one."""
    monkeypatch.setattr("overread.models.chat_options.is_loopback", lambda host: False)
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    spec: str = chat_server().spec()
    assert remote_of(spec) == "127.0.0.1"
    return spec


def test_candidate_and_judge_are_asked_once_the_user_allows_it(
    elsewhere: str, picture_cases: Cases, tmp_path: Path
) -> None:
    cases, judges = picture_cases(terms="credentialed"), [f"rubric[{elsewhere}]"]
    with pytest.raises(BadInput, match="--allow-remote own"):
        sit(cases, tmp_path / "run", elsewhere, judges=judges, allow_remote=["another"])
    run = sit(cases, tmp_path / "run", elsewhere, judges=judges, allow_remote=["own"])
    assert set(run.table("replies")["status"]) == {"answered"}
    assert set(run.table("verdicts")["status"]) == {"read"}
    (asked,) = (run.folder / "rulings").glob("*/*")
    assert set(Run(asked).table("dialogues")["terms"]) == {"credentialed"}
    worker = next(run.workers())
    assert (worker["allow_remote"], worker["remote"]) == (["own"], {elsewhere: "127.0.0.1"})


def test_overread_toml_may_say_it_for_a_machine(tmp_path: Path) -> None:
    assert allowed_here(("a",), tmp_path) == ("a",)
    (tmp_path / "overread.toml").write_text('allow_remote = ["b", "a"]\n[data]\nb = "x"\n')
    assert allowed_here(("a",), tmp_path) == ("a", "b")
    (tmp_path / "overread.toml").write_text('allow_remote = "b"\n')
    with pytest.raises(BadInput, match="no list of texts"):
        allowed_here((), tmp_path)


def made(folder: Path, cases: list[Case], dialogue: Dialogue) -> Run:
    write_part(folder / "cases" / "part-00000.parquet", to_frame(cases, Case))
    write_exam_part(folder, 0, {"dialogues": to_frame([dialogue], Dialogue)})
    return Run.publish(folder, {"exam": {"benchmark": "b"}, "parts": [(0, 1)]})


@pytest.mark.parametrize("partner_known", [True, False])
def test_a_swapped_study_counts_with_its_own_terms(partner_known: bool, tmp_path: Path) -> None:
    mine, theirs = (Media("ecg", "ecg", f"{alias}://x") for alias in ("free", "bound"))
    cases = [
        Case("1", "free", "free/1", (mine,), Json()),
        Case("2", "bound", "bound/2", (theirs,), Json(), "local-only"),
    ]
    swap = Dialogue("d", "b", "p", "1", "free/1", "i", "swap", "local-only", (theirs,), ())
    run = made(tmp_path / "run", cases if partner_known else cases[:1], swap)
    assert closed_archives(run) == {"bound": "local-only"}


def test_a_dialogue_that_swaps_a_study_in_has_the_stricter_terms(picture_cases: Cases, tmp_path: Path) -> None:
    cases = Path(picture_cases(cases=8))
    lines = [json.loads(line) for line in cases.read_text().splitlines()]
    for n, line in enumerate(lines):
        line["terms"] = "credentialed" if n % 2 else "open"
        for question in line["questions"]:
            question["answer"] = ["Yes", "No"][n % 2]
    cases.write_text("\n".join(map(json.dumps, lines)))
    run = overread.run(str(cases), "chance", out=tmp_path / "run", conditions="swap")
    swapped = run.table("dialogues").filter(pl.col("condition") == "swap")
    assert swapped.height and set(swapped["terms"]) == {"credentialed"}
