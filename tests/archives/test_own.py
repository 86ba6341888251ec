"""A file of one's own cases: read, sat, resumed, and every fault in it named with its line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click.testing
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overread.archives import own
from overread.cli import main
from overread.errors import BadInput
from overread.runs.folder import Run

YES_NO: dict[str, Any] = {"text": "Is the rhythm regular?", "options": ["Yes", "No"], "answer": "Yes"}
RATE: dict[str, Any] = {
    "text": "How fast is the heart?", "answer": 71, "unit": "bpm", "low": 30, "high": 220, "tolerance": 5,
}  # fmt: skip
Write = Callable[..., Path]


@pytest.fixture
def write(phantom_data: dict[str, str], tmp_path: Path) -> Write:
    """Writes a file of cases beside the phantoms' files, which links make appear below its folder."""

    def make(*cases: dict[str, Any] | str) -> Path:
        folder = tmp_path / "mine"
        if not folder.exists():
            (folder / "ecg").mkdir(parents=True)
            for path in (Path(phantom_data["phantoms"]) / "ecg").iterdir():
                (folder / "ecg" / path.name).write_bytes(path.read_bytes())
        lines = (case if isinstance(case, str) else json.dumps(case) for case in cases)
        (folder / "cases.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        return folder / "cases.jsonl"

    return make


def case(number: int, *questions: dict[str, Any], **changes: Any) -> dict[str, Any]:
    name = f"c{number}"
    media = [f"ecg/{number:05d}.hea"]
    return {"id": name, "patient": name, "media": media, "questions": list(questions or [YES_NO]), **changes}


def call(*words: object) -> click.testing.Result:
    return click.testing.CliRunner().invoke(main, [str(word) for word in words])


@pytest.mark.parametrize("protocol", ["single", "chain", "free"])
def test_a_file_of_cases_is_an_exam(write: Write, tmp_path: Path, protocol: str) -> None:
    file = write(case(1, YES_NO, RATE), case(2, RATE, YES_NO), case(3))
    words = ("run", file, "--model", "chance", "--model", "prior", "--protocol", protocol, "--out", tmp_path / "run")
    done = call(*words)
    assert done.exit_code == 0, done.output
    run = Run(tmp_path / "run")
    plain = run.table("dialogues").filter(condition="plain")
    assert plain.height == (5 if protocol == "single" else 3)
    assert run.table("questions").filter(template=YES_NO["text"])["options"].to_list()[0] == ["Yes", "No"]
    assert call(*words).exit_code == 0


def test_a_model_that_looks_gets_the_files_that_the_lines_name(write: Write, tmp_path: Path) -> None:
    file = write(case(1), case(2))
    model = Path(__file__).parents[1] / "contracts" / "examples" / "model.py"
    done = call("run", file, "--model", model, "--conditions", "blank", "--out", tmp_path / "run")
    assert done.exit_code == 0, done.output
    receipts = Run(tmp_path / "run").table("receipts")
    assert set(receipts["media"]) == {"own://ecg/00001", "own://ecg/00002"}
    assert set(receipts["level"]) == {"tensor"}


def test_the_data_may_lie_elsewhere(write: Write, tmp_path: Path) -> None:
    file = write(case(1))
    moved = tmp_path / "cases.jsonl"
    file.rename(moved)
    model = Path(__file__).parents[1] / "contracts" / "examples" / "model.py"
    out = ("--out", tmp_path / "run", "--conditions", "none")
    assert call("run", moved, "--model", model, *out).exit_code == 3, "the files are not beside it"
    assert call("run", moved, "--model", model, *out, "--data", f"own={file.parent}").exit_code == 0


def test_a_changed_file_is_another_exam(write: Write, tmp_path: Path) -> None:
    file = write(case(1))
    words = ("run", file, "--model", "chance", "--out", tmp_path / "run")
    assert call(*words).exit_code == 0
    write(case(1, {**YES_NO, "answer": "No"}))
    done = call(*words)
    assert done.exit_code == 2 and "another exam" in done.output


def test_the_audit_reads_it_too(write: Write, tmp_path: Path) -> None:
    done = call("audit", write(case(1), case(2)), "--out", tmp_path / "audit", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["metrics"]["accuracy"]["chance"] == pytest.approx(0.5)


FAULTS: list[tuple[dict[str, Any] | str, str]] = [
    ("{", "not JSON"),
    ("[]", "no object"),
    (case(1, id=""), "no 'id'"),
    (case(1, patient=7), "no 'patient'"),
    (case(1, terms="secret"), "terms"),
    (case(1, extra=1), "no field 'extra'"),
    (case(1, media="ecg/1.hea"), "no list"),
    (case(1, media=["../ecg/1.hea"]), "goes up"),
    (case(1, media=["/etc/passwd.png"]), "absolute"),
    (case(1, media=["ecg/1"]), "cannot be told"),
    (case(1, media=[{"file": "a.png", "select": [-1]}]), "positions"),
    (case(1, media=["a.png", {"file": "b.png", "name": "image"}]), "one name"),
    (case(1, questions=[]), "empty"),
    (case(1, {"text": "Why?"}), "no 'answer'"),
    (case(1, {"text": "Why?", "answer": "So"}), "needs options"),
    (case(1, {**YES_NO, "answer": 1}), "needs options"),
    (case(1, {**YES_NO, "answer": True}), "'answer'"),
    (case(1, {**YES_NO, "options": ["Yes", 2]}), "no text"),
    (case(1, {**YES_NO, "many": "yes"}), "'many'"),
    (case(1, {**RATE, "answer": float("nan")}), "cannot be kept"),
]


@pytest.mark.parametrize(("fault", "told"), FAULTS, ids=lambda value: value if isinstance(value, str) else "")
def test_a_fault_is_named_with_its_line(write: Write, fault: dict[str, Any] | str, told: str) -> None:
    file = write(case(7), "", fault)
    with pytest.raises(BadInput, match=told) as error:
        list(own.cases_of(file))
    assert f"{file}:3" in str(error.value)


def test_an_answer_that_is_no_option_is_told(write: Write, tmp_path: Path) -> None:
    done = call("run", write(case(1, {**YES_NO, "answer": "Maybe"})), "--model", "chance", "--out", tmp_path / "run")
    assert done.exit_code == 2 and "cases.jsonl:1" in done.output and "not among the options" in done.output


def test_the_same_id_twice_is_told(write: Write) -> None:
    with pytest.raises(BadInput, match="earlier line"):
        list(own.cases_of(write(case(1), case(1))))


JSON = st.recursive(st.none() | st.booleans() | st.floats() | st.text(max_size=5), lambda x: st.lists(x, max_size=3))


@given(st.dictionaries(st.sampled_from(["id", "patient", "media", "facts", "terms", "questions"]), JSON))
def test_no_line_ends_in_anything_but_a_case_or_bad_input(
    tmp_path_factory: pytest.TempPathFactory, fields: dict[str, Any]
) -> None:
    file = tmp_path_factory.mktemp("own") / "cases.jsonl"
    file.write_text(json.dumps(fields) + "\n", encoding="utf-8")
    try:
        assert all(found.patient.startswith("own/") for found in own.cases_of(file))
    except BadInput as error:
        assert error.where.startswith(str(file))
