"""What `ecg_reasoning` asks, and what each question's history shows; the golden files are read by people.

To write them anew after a wanted change: OVERREAD_WRITE_GOLDEN=1 pytest tests/benchmarks
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import polars as pl
import pytest

from overread import pipeline
from overread.errors import BadInput
from overread.runs.folder import Run
from overread.settings import Settings

GOLDEN = Path(__file__).parent / "golden"
MANNERS: dict[str, tuple[str, dict[str, str]]] = {
    "default_c": ("default", {}),
    "default_c_condensed": ("default", {"condensed": "true"}),
    "default_a": ("default", {"history": "A"}),
    "default_b": ("default", {"history": "B"}),
    "forced_commit_c": ("forced-commit", {}),
    "forced_commit_a": ("forced-commit", {"history": "A"}),
    "forced_commit_b_condensed": ("forced-commit", {"history": "B", "condensed": "true"}),
    "free_c": ("free", {}),
}
Sit = Callable[..., Run]


@pytest.fixture
def samples(trees: ModuleType, tmp_path: Path) -> Path:
    """Two samples: one with the diagnosis, one without."""
    root = tmp_path / "samples"
    root.mkdir()
    made = [trees.reasoning_sample(0), trees.reasoning_sample(1, ecg="2", label=False)]
    (root / "ptbxl.jsonl").write_text("".join(json.dumps(one) + "\n" for one in made), encoding="utf-8")
    return root


@pytest.fixture
def sit_samples(samples: Path, tmp_path: Path) -> Sit:
    def run(*models: str, protocol: str = "default", **settings: Any) -> Run:
        chosen = {f"ecg_reasoning.{key}": value for key, value in settings.pop("chosen", {}).items()}
        data = {"ecg_reasoning": str(samples), **settings.pop("data", {})}
        out = str(tmp_path / settings.pop("out", "run"))
        exam = settings.pop("exam", "ecg_reasoning")
        asked = Settings(exam, models, data, protocol, "none", {**chosen, "score.resamples": "20"}, out=out, **settings)
        return pipeline.run(asked)[0]

    return run


def prompts(file: Path) -> dict[str, list[Any]]:
    """What was sent for each question, by the question's name."""
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return {line["item"]: line["prompt"] for line in sorted(lines, key=lambda line: line["place"])}


def readable(sent: list[Any]) -> str:
    return "\n".join(f"[{role}{''.join(f' +{uri}' for uri in media)}] {text}" for role, media, text in sent)


@pytest.mark.parametrize("name", MANNERS)
def test_what_a_model_is_sent_is_what_the_golden_file_shows(
    name: str, sit_samples: Sit, toy: Callable[[str], str], tmp_path: Path
) -> None:
    protocol, chosen = MANNERS[name]
    sit_samples(f"{toy('witness')}[out={tmp_path / 'sent'}]", protocol=protocol, chosen=chosen)
    sent = {item: prompt for item, prompt in prompts(tmp_path / "sent").items() if "/ptbxl/1" in item}
    first, *_, last = sent
    text = "\n".join(f"== {item}\n{readable(sent[item])}\n" for item in (first, last))
    golden = GOLDEN / f"{name}.txt"
    if os.environ.get("OVERREAD_WRITE_GOLDEN"):
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


def test_the_first_reply_is_shown_and_later_ones_are_not(
    sit_samples: Sit, toy: Callable[[str], str], tmp_path: Path
) -> None:
    """The sample without the diagnosis: the toy says Yes where the key is No, and the first option everywhere."""
    sit_samples(f"{toy('witness')}[out={tmp_path / 'sent'}]")
    (last,) = (prompt for item, prompt in prompts(tmp_path / "sent").items() if item.endswith("/ptbxl/1/8"))
    said = [text for role, _, text in last if role == "assistant"]
    assert said[0] == "Yes"
    assert said[1:] == [
        "Conduction", "Yes", "Further findings are required to confirm the diagnosis", "PR interval", "No",
        "[3.10s - 3.30s]", "Below 120ms",
    ]  # fmt: skip


def test_a_forced_decision_has_two_options_and_is_shown_with_three(
    sit_samples: Sit, toy: Callable[[str], str], tmp_path: Path
) -> None:
    run = sit_samples(f"{toy('witness')}[out={tmp_path / 'sent'}]", protocol="forced-commit")
    forced = run.table("questions").filter(pl.col("item").str.contains("commit"))
    assert set(map(tuple, forced["options"])) == {("Yes", "No")}
    key = run.table("key").filter(pl.col("stage") == "forced_commit")
    assert key["slices"].list.last().to_list() == ["coverage=(25, 50]", "coverage=(75, 100]"] * 2
    assert key["answer"].list.first().to_list() == ["Yes", "Yes", "No", "No"]
    (second,) = (p for item, p in prompts(tmp_path / "sent").items() if "/ptbxl/1/commit2" in item)
    (shown,) = (text for role, _, text in second[:-1] if text.startswith("What follows?"))
    assert "- Further findings" in shown and "- Further findings" not in second[-1][2]


def test_an_option_that_stands_there_twice_is_asked_once(trees: ModuleType, samples: Path, sit_samples: Sit) -> None:
    sample = trees.reasoning_sample()
    question = sample["data"]["reasoning"][1]["ecg_grounding"][1]
    question["options"] = [*question["options"], question["options"][3]]
    (samples / "ptbxl.jsonl").write_text(json.dumps(sample) + "\n", encoding="utf-8")
    run = sit_samples("chance")
    options = run.table("questions").filter(pl.col("template").str.starts_with("wave_grounding"))["options"]
    assert [len(offered) for offered in options] == [4]


def test_a_broken_sample_is_told_and_makes_the_run_partial(samples: Path, sit_samples: Sit) -> None:
    with (samples / "ptbxl.jsonl").open("a", encoding="utf-8") as stream:
        stream.write('{"metadata": {"id": 9}, "data": {}}\n')
    run = sit_samples("chance")
    assert run.manifest["counts"]["items"] == 2
    (line,) = run.manifest["left_out"]
    assert "ptbxl.jsonl:3" in line or "/9" in line
    assert any("left out" in note for note in pipeline.told_of(run))


def test_samples_of_another_release_than_was_given_are_refused(samples: Path, sit_samples: Sit) -> None:
    assert "0.0.2/ptbxl/0" in set(sit_samples("chance", chosen={"release": "0.0.2"}).table("dialogues")["item"])
    lines = (samples / "ptbxl.jsonl").read_text(encoding="utf-8")
    old = lines.replace("first_degree_av_block", "left_anterior_fascicular_block")
    old = old.replace("What is looked at first?", "Which criteria should be evaluated?")
    (samples / "ptbxl.jsonl").write_text(old, encoding="utf-8")
    with pytest.raises(BadInput, match="different releases"):
        sit_samples("chance", chosen={"release": "0.0.2"}, out="other")


def test_phantoms_stand_in_where_that_is_wanted_and_it_is_said(sit_samples: Sit, phantom_data: dict[str, str]) -> None:
    run = sit_samples("ecg_solver", chosen={"media": "phantoms"}, data=phantom_data)
    media = run.table("dialogues")["media"].explode().struct.field("uri")
    assert all(uri.startswith("phantoms://ecg/") for uri in media)
    assert any("made-up ECGs" in note for note in pipeline.told_of(run))
    assert "made-up ECGs stand in" in (run.folder / "report.html").read_text(encoding="utf-8")
    assert set(run.table("replies")["status"]) <= {"answered", "refused"}


def test_a_model_that_looks_is_not_asked_without_the_ecgs(sit_samples: Sit) -> None:
    with pytest.raises(BadInput, match="ptbxl"):
        sit_samples("ecg_solver")


def test_another_file_of_prompts_changes_what_is_sent_and_belongs_to_the_exam(
    sit_samples: Sit, toy: Callable[[str], str], tmp_path: Path
) -> None:
    own = (Path(pipeline.__file__).parent / "prompts" / "ecg_reasoning.yaml").read_text(encoding="utf-8")
    file = tmp_path / "mine.yaml"
    file.write_text(own.replace("Exactly one of these answers is right:", "Choose:"), encoding="utf-8")
    chosen = {"prompts": str(file), "note": "false"}
    run = sit_samples(f"{toy('witness')}[out={tmp_path / 'sent'}]", chosen=chosen)
    first = next(iter(prompts(tmp_path / "sent").values()))[-1][2]
    assert first.startswith("Does this ECG suggest a first-degree block?\n\nChoose:\n- Yes")
    assert run.exam["framing"]
    file.write_text(own.replace("system:", "sistem:"), encoding="utf-8")
    with pytest.raises(BadInput, match="system"):
        sit_samples("chance", chosen=chosen, out="other")


@pytest.mark.parametrize(
    ("chosen", "protocol"),
    [({"history": "D"}, "default"), ({"history": "B"}, "free"), ({"condensed": "maybe"}, "default"),
     ({"media": "x"}, "default"), ({"release": "9"}, "default"), ({"prompts": "nowhere.yaml"}, "default")],
)  # fmt: skip
def test_settings_that_cannot_be_meant_are_refused(chosen: dict[str, str], protocol: str, sit_samples: Sit) -> None:
    with pytest.raises(BadInput):
        sit_samples("chance", chosen=chosen, protocol=protocol)


def test_a_variant_holds_the_samples_of_one_source(trees: ModuleType, sit_samples: Sit, tmp_path: Path) -> None:
    root = trees.ecg_reasoning(tmp_path / "both")
    run = sit_samples("chance", exam="ecg_reasoning:mimic_iv_ecg", data={"ecg_reasoning": str(root)})
    assert set(run.table("dialogues")["terms"]) == {"credentialed"}
    assert run.manifest["counts"]["items"] == 3


@pytest.mark.real
@pytest.mark.parametrize("protocol", ["default", "forced-commit"])
def test_all_real_samples_are_sat_by_models_that_never_look(protocol: str, real_data: Path, sit_samples: Sit) -> None:
    data = {"ecg_reasoning": str(real_data / "ecg_reasoning")}
    run = sit_samples("chance", "prior", protocol=protocol, data=data)
    assert run.manifest["counts"]["items"] == 408
    assert run.manifest["counts"]["questions"] == (4514 if protocol == "default" else 408 + 932)
    assert run.table("scores")["coverage"].min() == 1.0
