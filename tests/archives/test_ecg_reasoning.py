"""Samples of ECG-Reasoning-Benchmark: every file form, one shape; what is broken is named and the rest is kept."""

from __future__ import annotations

import copy
import json
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import click.testing
import polars as pl
import pytest

from overread.archives import ecg_reasoning
from overread.archives.reasoning_files import read_all
from overread.archives.reasoning_releases import again
from overread.archives.reasoning_samples import Step
from overread.cli import main
from overread.errors import BadInput

Change = Callable[[dict[str, Any]], object]


def write(root: Path, samples: list[Any], name: str = "ptbxl") -> Path:
    root.mkdir(exist_ok=True)
    lines = (sample if isinstance(sample, str) else json.dumps(sample) for sample in samples)
    (root / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return root


def single(root: Path, sample: dict[str, Any], number: int = 0) -> Path:
    file = root / "ptbxl" / "first_degree_av_block" / f"{number}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(sample), encoding="utf-8")
    return file


def oldest(sample: dict[str, Any]) -> dict[str, Any]:
    """The same sample as files had it before March 2026."""
    old = copy.deepcopy(sample)
    del old["metadata"]["id"], old["data"]["initial_diagnostic_question"]["answer"]
    names = {"finding_identification": "finding", "ecg_grounding": "grounding", "diagnostic_decision": "decision"}
    for number, loop in enumerate(old["data"]["reasoning"]):
        for question in loop["ecg_grounding"]:
            if len(question["answer"]) == 1:
                question["answer"], question["answer_idx"] = question["answer"][0], question["answer_idx"][0]
        old["data"]["reasoning"][number] = {names.get(key, key): value for key, value in loop.items()}
    return old


def questions(root: Path) -> list[tuple[str, Step]]:
    (sample,) = [found.sample for found in read_all(root)]
    assert sample is not None
    return list(sample.steps())


def test_all_forms_of_a_sample_give_the_same_questions(trees: ModuleType, tmp_path: Path) -> None:
    sample = trees.reasoning_sample()
    lines = questions(write(tmp_path / "lines", [sample]))
    assert [step.stage for _, step in lines] == [
        "initial_diagnostic_question", "criterion_selection", "finding_identification", "diagnostic_decision",
        "criterion_selection", "finding_identification", "lead_grounding", "wave_grounding", "measurement_grounding",
        "diagnostic_decision",
    ]  # fmt: skip
    single(tmp_path / "files", sample)
    single(tmp_path / "old", oldest(sample))
    (tmp_path / "table" / "ptbxl").mkdir(parents=True)
    pl.DataFrame([sample], strict=False).write_parquet(tmp_path / "table" / "ptbxl.parquet")
    for form in ("files", "old", "table"):
        assert questions(tmp_path / form) == lines, form


def test_a_case_has_its_ecg_by_address_and_the_terms_of_its_archive(trees: ModuleType, tmp_path: Path) -> None:
    cases = {case.facts["source"]: case for case in ecg_reasoning.cases(trees.ecg_reasoning(tmp_path))}
    assert cases["ptbxl"].media[0].uri == "ptbxl://records500/01000/01002_hr"
    assert (cases["ptbxl"].patient, cases["ptbxl"].terms) == ("ptbxl/study-1002", "open")
    assert cases["mimic_iv_ecg"].media[0].uri == "mimic_ecg://files/p1000/p10000117/s43834530/43834530"
    assert (cases["mimic_iv_ecg"].patient, cases["mimic_iv_ecg"].terms) == ("mimic_ecg/10000117", "credentialed")


def test_the_label_is_the_key_of_the_first_question_whatever_its_answer_says(trees: ModuleType, tmp_path: Path) -> None:
    sample = trees.reasoning_sample(label=False)
    sample["data"]["initial_diagnostic_question"]["answer"] = "Yes"
    (found,) = read_all(write(tmp_path, [sample]))
    assert found.sample is not None and found.sample.first.answer == ("No",)
    assert [fault.kind for fault in found.faults] == ["label"]


def _loop(sample: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = sample["data"]["reasoning"][1]
    return found


BROKEN: dict[str, Change] = {
    "not_a_sample": lambda s: s.pop("data"),
    "metadata": lambda s: s["metadata"].update(dx_label="yes"),
    "no_loops": lambda s: s["data"].update(reasoning=[]),
    "missing_step": lambda s: _loop(s).pop("diagnostic_decision"),
    "unknown_stage": lambda s: _loop(s)["ecg_grounding"][0].update(question_type="guess"),
    "no_options": lambda s: _loop(s)["finding_identification"].update(options=[]),
    "no_answer": lambda s: _loop(s)["finding_identification"].update(answer=None),
    "answer_not_offered": lambda s: _loop(s)["ecg_grounding"][1].update(answer=["[0.00s - 0.10s]"]),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_sample_is_named_and_left_out_and_the_rest_is_kept(
    kind: str, trees: ModuleType, tmp_path: Path
) -> None:
    broken = trees.reasoning_sample(7)
    BROKEN[kind](broken)
    root = write(tmp_path, [trees.reasoning_sample(0), broken, trees.reasoning_sample(1, ecg="2")])
    assert [case.facts["sample"] for case in ecg_reasoning.cases(root)] == [0, 1]
    (line,) = ecg_reasoning.left_out(root)
    assert "7" in line or "ptbxl.jsonl:2" in line
    assert [fault.kind for found in read_all(root) for fault in found.faults] == [kind]


def test_an_empty_grounding_is_no_fault_and_a_missing_one_is(trees: ModuleType, tmp_path: Path) -> None:
    sample = trees.reasoning_sample()
    _loop(sample)["ecg_grounding"] = []
    assert [found.faults for found in read_all(write(tmp_path, [sample]))] == [[]]
    del _loop(sample)["ecg_grounding"]
    assert [f.kind for found in read_all(write(tmp_path, [sample])) for f in found.faults] == ["missing_step"]


def test_an_id_is_taken_once_within_a_source_and_may_come_again_in_another(trees: ModuleType, tmp_path: Path) -> None:
    one, other = trees.reasoning_sample(3), trees.reasoning_sample(3, label=False)
    write(tmp_path, [one, one, other])
    write(tmp_path, [trees.reasoning_sample(3, "mimic_iv_ecg", subject_id="10000032")], "mimic_iv_ecg")
    found = list(read_all(tmp_path))
    assert [one.sample.name for one in found if one.sample] == ["mimic_iv_ecg/3", "ptbxl/3"]
    assert [fault.kind for one in found for fault in one.faults] == ["duplicate", "duplicate_id"]


def test_lines_and_files_that_hold_no_json_are_named(trees: ModuleType, tmp_path: Path) -> None:
    write(tmp_path / "lines", [trees.reasoning_sample(), '{"metadata":'])
    assert [next(iter(ecg_reasoning.left_out(tmp_path / "lines")))] == ["ptbxl.jsonl:2: it is no object"]
    single(tmp_path / "files", trees.reasoning_sample())
    single(tmp_path / "files", {}, 1).write_bytes(b"")
    single(tmp_path / "files", {}, 2).write_bytes(b"{")
    kinds = [fault.kind for found in read_all(tmp_path / "files") for fault in found.faults]
    assert kinds == ["empty_file", "not_json"]


def test_the_release_is_told_by_words_and_releases_are_never_mixed(trees: ModuleType, tmp_path: Path) -> None:
    def fascicular(number: int, words: str) -> dict[str, Any]:
        sample: dict[str, Any] = trees.reasoning_sample(number, ecg=str(number + 1))
        sample["metadata"]["target_dx"] = "left_anterior_fascicular_block"
        sample["data"]["reasoning"][0]["criterion_selection"]["question"] = words
        return sample

    old, new = fascicular(0, "Which criteria should be evaluated?"), fascicular(1, "Which must be ruled out?")
    plain = trees.reasoning_sample(2)
    for sample, release in ((old, "0.0.1"), (new, "0.0.2")):
        cases = list(ecg_reasoning.cases(write(tmp_path, [sample, plain])))
        assert [case.facts["release"] for case in cases] == [release, release]
    with pytest.raises(BadInput, match=r"0\.0\.1 and 0\.0\.2"):
        list(ecg_reasoning.cases(write(tmp_path, [old, new])))


def test_what_changed_between_the_releases_is_known_by_sample() -> None:
    assert again("ptbxl", "left_ventricular_hypertrophy", 1)[0] == "must"
    assert again("ptbxl", "complete_left_bundle_branch_block", 464)[0] == "should"
    assert again("mimic_iv_ecg", "complete_left_bundle_branch_block", 464)[0] == ""
    assert again("mimic_iv_ecg", "lateral_ischemia", 3224)[0] == "should"


@pytest.mark.real
def test_all_real_samples_make_cases(real_data: Path) -> None:
    cases = list(ecg_reasoning.cases(real_data / "ecg_reasoning"))
    assert Counter(case.facts["source"] for case in cases) == {"ptbxl": 204, "mimic_iv_ecg": 204}
    assert {case.facts["release"] for case in cases} == {"0.0.1"}
    assert list(ecg_reasoning.left_out(real_data / "ecg_reasoning")) == []
    assert len(list(ecg_reasoning.cases(real_data / "ecg_reasoning" / "per_file"))) == 12


def test_samples_are_fetched_from_the_hub_and_read_as_it_lays_them_out(
    trees: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def snapshot(name: str, *, repo_type: str, local_dir: str, allow_patterns: list[str]) -> str:
        assert (name, repo_type) == ("Jwoo5/ECG-Reasoning-Benchmark", "dataset")
        folder = Path(local_dir) / "ptbxl"
        folder.mkdir(parents=True)
        pl.DataFrame([trees.reasoning_sample()], strict=False).write_parquet(folder / "test-00000-of-00001.parquet")
        return local_dir

    hub = ModuleType("huggingface_hub")
    monkeypatch.setattr(hub, "snapshot_download", snapshot, raising=False)
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
    result = click.testing.CliRunner().invoke(main, ["data", "get", "ecg_reasoning", "--out", str(tmp_path / "hub")])
    assert result.exit_code == 0, result.output
    (case,) = ecg_reasoning.cases(tmp_path / "hub")
    assert case.facts["source"] == "ptbxl"


def test_a_hub_that_cannot_be_reached_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: object, **__: object) -> None:
        raise ConnectionError("no route")

    hub = ModuleType("huggingface_hub")
    monkeypatch.setattr(hub, "snapshot_download", away, raising=False)
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
    for words, what in ((["ecg_reasoning"], "no route"), (["ptbxl"], "cannot be fetched")):
        result = click.testing.CliRunner().invoke(main, ["data", "get", *words, "--out", str(tmp_path / "hub")])
        assert result.exit_code == 2 and what in result.output
