"""Generated chains: they lint clean, are keyed by the truth alone, and their options give nothing away."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from pathlib import Path
from typing import Any

import click.testing
import numpy as np
import polars as pl
import pytest

from overread.archives import ecg_reasoning as samples
from overread.archives import phantoms as archive
from overread.archives.reasoning_lint import lint, segments
from overread.archives.split import part_of
from overread.builders import ecg_items, ecg_reasoning, ecg_studies, phantoms
from overread.cli import main
from overread.errors import BadInput
from overread.guidelines.diagnoses import book, diagnoses
from overread.phantoms.ecg import recipes
from overread.roots import Roots
from overread.runs.folder import Run
from overread.tables import Json


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A phantom of every recipe."""
    folder = tmp_path_factory.mktemp("build") / "phantoms"
    return phantoms.build(folder, patients=len(recipes()), kinds=("ecg",), ecgs=tuple(recipes()))


@pytest.fixture(scope="module")
def exam(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ecg_reasoning.build(list(archive.cases(root)), tmp_path_factory.mktemp("exam") / "exam", per=3)


def raw(exam: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (exam / "phantoms.jsonl").read_text(encoding="utf-8").splitlines()]


def test_the_words_are_there_for_every_finding_and_diagnosis() -> None:
    words = ecg_reasoning.questions()
    assert set(words["findings"]) == set(book()["findings"]) and set(words["names"]) == set(diagnoses())
    labels = Counter(one["label"] for one in words["findings"].values())
    assert max(labels.values()) == 1


def test_a_generated_exam_lints_clean_and_every_diagnosis_is_balanced(exam: Path) -> None:
    assert lint(exam)[1] == []
    labels = Counter((one["metadata"]["target_dx"], one["metadata"]["dx_label"]) for one in raw(exam))
    assert len(labels) == 2 * len(diagnoses())
    assert all(labels[name, True] == labels[name, False] > 0 for name, _ in labels)
    assert all(one["metadata"]["split"] == part_of(f"phantoms/{one['metadata']['subject_id']}") for one in raw(exam))


def test_the_keys_are_those_of_the_graphs_on_the_phantoms_truth(root: Path, exam: Path) -> None:
    truth = {case.media[0].uri: case.facts for case in archive.cases(root)}
    for sample in raw(exam):
        facts = truth[sample["metadata"]["record"]]
        assert sample["metadata"]["dx_label"] is (sample["metadata"]["target_dx"] in facts["diagnoses"])
        for loop in sample["data"]["reasoning"]:
            for step in loop["ecg_grounding"]:
                if "whole QRS complex" not in step["question"]:
                    continue
                for text, (start, end) in segments(tuple(step["options"])).items():
                    whole = [a for a, b in facts["waves"]["qrs"] if start <= a / 500 and b / 500 < end]
                    touched = [a for a, b in facts["waves"]["qrs"] if a / 500 < end and b / 500 >= start]
                    assert bool(whole) is (text in step["answer"]) is bool(touched)


def test_segments_have_one_length_and_evidence_stands_beside_the_answers(exam: Path) -> None:
    lengths: dict[str, set[float]] = {}
    for sample in raw(exam):
        for loop in sample["data"]["reasoning"]:
            for step in loop["ecg_grounding"]:
                spans = segments(tuple(step["options"])).values()
                lengths.setdefault(step["question"], set()).update(round(end - start, 2) for start, end in spans)
    assert {len(found) for question, found in lengths.items() if "segments" in question} == {1}
    lines = (exam / "evidence" / "evidence.jsonl").read_text(encoding="utf-8").splitlines()
    evidence = {one["id"]: one["steps"] for one in map(json.loads, lines)}
    asked = sum(
        1
        for s in raw(exam)
        for lp in s["data"]["reasoning"]
        for g in lp["ecg_grounding"]
        if g["question_type"] == "wave_grounding"
    )
    told = [step for steps in evidence.values() for step in steps if step["type"] == "wave_grounding"]
    assert len(told) == asked > 0 and all(0 <= a < b < 5000 for a, b in (step["samples"] for step in told))


def test_ranges_around_numbers_of_one_crowd_are_equally_likely_right() -> None:
    """However skewed the crowd is: the right range is as often the lowest as the highest."""
    rng = np.random.default_rng(0)
    crowd = np.sort(100 + 40 * rng.exponential(size=400)).tolist()
    unit = {"unit": "ms", "usual": 10, "least": 1, "decimals": 1}
    places: dict[int, Counter[int]] = {3: Counter(), 4: Counter(), 5: Counter()}
    for n in rng.integers(len(crowd), size=6000).tolist():
        asked = ecg_items.ranges(rng, crowd[n], crowd[:n] + crowd[n + 1 :], unit)
        if asked is not None:
            places[len(asked.options)][asked.options.index(asked.answer[0])] += 1
    assert sum(map(Counter.total, places.values())) > 3000, "most can be asked"
    for count, limit in ((3, 13.8), (4, 16.3), (5, 18.5)):  # chi-square, p 0.001
        expected = places[count].total() / count
        assert expected > 50 and sum((places[count][n] - expected) ** 2 / expected for n in range(count)) < limit


def test_leads_are_offered_as_often_where_they_are_right_as_where_not() -> None:
    rng = np.random.default_rng(1)
    truths = [{lead: bool(rng.random() < p) for lead, p in (("I", 0.9), ("II", 0.5), ("V1", 0.2))} for _ in range(200)]
    offers = ecg_items.lead_offers(rng, truths)
    for lead in ("I", "II", "V1"):
        sides = Counter(offer[lead] for offer in offers if lead in offer)
        assert sides[True] == sides[False]
    assert any(offers) and all(not offer or (len(offer) > 1 and any(offer.values())) for offer in offers)


def test_of_two_leads_either_is_the_right_one_as_often() -> None:
    rng = np.random.default_rng(2)
    heights = [
        {lead: float(rng.normal(mean)) for lead, mean in (("I", 0.0), ("II", 0.4), ("V1", 1.0))} for _ in range(300)
    ]
    pairs = ecg_items.lead_pairs(rng, heights)
    sides = Counter(pair for pair in pairs if pair is not None)
    assert sides.total() > 100 and all(sides[one, other] == sides[other, one] for one, other in sides)
    asked = [(pair, known) for pair, known in zip(pairs, heights, strict=True) if pair is not None]
    assert all(known[right] - known[wrong] >= ecg_items.CLEAR_MV for (right, wrong), known in asked)
    assert ecg_items.lead_pairs(rng, [{"I": 1.0, "II": 0.95}, {"I": 0.9}]) == [None, None]


def test_the_lead_that_is_right_has_the_greater_number_in_truth(root: Path, exam: Path) -> None:
    truth = {case.media[0].uri: case.facts["lead_facts"] for case in archive.cases(root)}
    facts = {"R higher": ("r_mv", 1), "S deeper": ("s_mv", 1), "the J point higher": ("j_mv", 1)}
    facts |= {"the J point lower": ("j_mv", -1), "T inverted more deeply": ("t_mv", -1)}
    seen = 0
    for sample in raw(exam):
        for step in (one for loop in sample["data"]["reasoning"] for one in loop["ecg_grounding"]):
            which = next((words for words in facts if f"two leads is {words}?" in step["question"]), None)
            if which is not None:
                fact, sign = facts[which]
                heights = {
                    option: sign * truth[sample["metadata"]["record"]][option[5:]][fact] for option in step["options"]
                }
                assert step["answer"] == [max(heights, key=heights.__getitem__)]
                seen += 1
    assert seen


def test_the_same_seed_gives_the_same_exam_and_another_another(root: Path, exam: Path, tmp_path: Path) -> None:
    cases = list(archive.cases(root))
    again = ecg_reasoning.build(cases, tmp_path / "again", per=3)
    assert (again / "phantoms.jsonl").read_bytes() == (exam / "phantoms.jsonl").read_bytes()
    other = ecg_reasoning.build(cases, tmp_path / "other", per=3, seed=1)
    assert (other / "phantoms.jsonl").read_bytes() != (exam / "phantoms.jsonl").read_bytes()


def test_the_command_builds_what_a_model_that_looks_can_sit(root: Path, tmp_path: Path) -> None:
    data = f"phantoms={root}"
    out, run = str(tmp_path / "exam"), str(tmp_path / "run")
    built = click.testing.CliRunner().invoke(
        main, ["build", "ecg_reasoning", "phantoms", "--data", data, "--out", out, "--per", "1"]
    )
    assert built.exit_code == 0, built.output
    words = [
        "run",
        "ecg_reasoning",
        "--data",
        f"ecg_reasoning={out}",
        "--data",
        data,
        "--conditions",
        "none",
        "--out",
        run,
    ]
    sat = click.testing.CliRunner().invoke(main, [*words, "--model", "oracle", "--limit", "4"])
    assert sat.exit_code == 0, sat.output
    scores = Run(Path(run)).table("scores")
    rows = scores.rows_by_key(["model", "metric", "slice"], named=True, include_key=True)
    assert rows["oracle", "completion_hard", "all"][0]["value"] == 1.0
    assert {case.terms for case in samples.cases(Path(out))} == {"open"}


def test_the_solver_reasons_nearly_every_chain_out_and_says_where_it_looked(
    root: Path, exam: Path, tmp_path: Path
) -> None:
    words = ["run", "ecg_reasoning", "--data", f"ecg_reasoning={exam}", "--data", f"phantoms={root}"]
    words += ["--conditions", "none", "--out", str(tmp_path / "run"), "--model", "ecg_solver"]
    sat = click.testing.CliRunner().invoke(main, words)
    assert sat.exit_code == 0, sat.output
    run = Run(tmp_path / "run")
    scores = run.table("scores").rows_by_key(["metric", "slice"], named=True, include_key=True)
    assert scores["completion_hard", "all"][0]["value"] >= 0.85
    waves = run.table("key").filter(pl.col("stage") == "wave_grounding")["question"]
    shown = (
        run.table("replies")
        .filter(pl.col("question").is_in(waves.implode()))
        .join(run.table("receipts"), left_on=pl.col("receipts").list.last(), right_on="id")
    )
    assert shown.height > 50 and (shown["evidence"].list.len() > 0).mean() > 0.95


def test_recordings_are_keyed_by_what_is_measured_and_that_is_true(root: Path, tmp_path: Path) -> None:
    """Phantoms stand in for recordings: the builder is told nothing of their truth."""
    cases = list(archive.cases(root))
    bare = [dataclasses.replace(case, facts=Json({})) for case in cases]
    truth = {case.media[0].uri: case.facts["diagnoses"] for case in cases}
    made = ecg_reasoning.build(bare, tmp_path / "exam", archive="ludb", roots=Roots({"phantoms": root}), per=3)
    assert lint(made)[1] == []
    found = [json.loads(line)["metadata"] for line in (made / "ludb.jsonl").read_text(encoding="utf-8").splitlines()]
    right = [one["dx_label"] is (one["target_dx"] in truth[one["record"]]) for one in found]
    assert len(found) > 60 and np.mean(right) == 1.0
    lines = (made / "evidence" / "evidence.jsonl").read_text(encoding="utf-8").splitlines()
    steps = [step for line in lines for step in json.loads(line)["steps"]]
    assert {"wave_grounding", "measurement_grounding"} <= {step["type"] for step in steps}
    assert all(0 <= first <= last < 5000 for first, last in (step["samples"] for step in steps))


def test_what_is_not_sure_makes_no_chain(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bare = [dataclasses.replace(case, facts=Json({})) for case in archive.cases(root)]
    monkeypatch.setattr(ecg_studies, "LEAST_SURE", 1.01)
    with pytest.raises(BadInput, match="with and without"):
        ecg_reasoning.build(bare, tmp_path, archive="ludb", roots=Roots({"phantoms": root}))


def test_recordings_that_cannot_be_measured_are_named(root: Path, tmp_path: Path) -> None:
    case = next(iter(archive.cases(root)))
    gone = dataclasses.replace(case.media[0], uri="phantoms://ecg/nowhere")
    left_out: list[str] = []
    lost = [dataclasses.replace(case, media=(gone,))]
    assert list(ecg_studies.studies(lost, "ludb", Roots({"phantoms": root}), left_out)) == []
    assert len(left_out) == 1 and "nowhere" in left_out[0]


def test_what_cannot_be_built_is_said(root: Path, tmp_path: Path) -> None:
    cases = list(archive.cases(root))
    with pytest.raises(BadInput, match="ludbb"):
        ecg_reasoning.build(cases, tmp_path, archive="ludbb")
    with pytest.raises(BadInput, match="where the recordings lie"):
        ecg_reasoning.build(cases, tmp_path, archive="ludb")
    with pytest.raises(BadInput, match="with and without"):
        ecg_reasoning.build(cases[:1], tmp_path)
