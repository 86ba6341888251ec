"""Every benchmark against its contract, each protocol for itself; a new file is tested without an edit here."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import polars as pl
import pytest

from overread import catalog, pipeline
from overread.exam.script import Ask, Options, Script
from overread.judges.contract import COLUMNS
from overread.judging import Panel
from overread.marking import marks_of
from overread.media.conditions import BLIND, TEXT_PROBES
from overread.media.contract import KINDS as MEDIA_KINDS
from overread.models.contract import ExamTables, Posed, Setting
from overread.runs.folder import Run
from overread.settings import Settings
from overread.tables import QUESTION_KINDS, Case, schema
from overread.tables import Key as KeyRow

EXAMPLE = str(Path(__file__).parent / "examples" / "benchmark.py")
NAMES = [*catalog.entries("benchmarks"), EXAMPLE]
SITTINGS = [(name, protocol) for name in NAMES for protocol in catalog.describe("benchmarks", name).texts("PROTOCOLS")]
CasesOf = Callable[[Sequence[str]], list[Case]]
Compile = Callable[..., Run]


@pytest.fixture
def compiled(everyone: dict[str, str], cases_of: CasesOf, tmp_path: Path) -> Compile:
    def make(name: str, protocol: str, conditions: str = "none", limit: int | None = 8) -> Run:
        cases_of(catalog.load("benchmarks", name).ARCHIVES)
        settings = Settings(name, (), everyone, protocol, conditions, limit=limit, out=str(tmp_path / "run"))
        return pipeline.compile_exam(settings)

    return make


@pytest.fixture
def scripts_of(cases_of: CasesOf) -> Callable[[str, str], list[Script]]:
    def make(name: str, protocol: str) -> list[Script]:
        module = catalog.load("benchmarks", name)
        return list(module.exam(cases_of(module.ARCHIVES), 3, Options(protocol)))

    return make


@pytest.mark.parametrize("name", NAMES)
def test_the_card_says_media_licence_and_terms(name: str) -> None:
    card = catalog.describe("benchmarks", name).card
    assert {"media", "licence", "terms"} <= set(card)
    assert {word.strip() for word in card["media"].split(",")} <= set(MEDIA_KINDS)
    assert card["terms"] in ("open", "credentialed", "local-only")


@pytest.mark.parametrize("name", NAMES)
def test_the_constants_name_things_of_the_catalogue(name: str) -> None:
    entry, module = catalog.describe("benchmarks", name), catalog.load("benchmarks", name)
    for constant, kind in (("ARCHIVES", "archives"), ("JUDGES", "judges"), ("METRICS", "metrics")):
        assert getattr(module, constant), constant
        for one in getattr(module, constant):
            catalog.load(kind, one)
    for model in getattr(module, "MODELS", ()):
        catalog.describe("models", model)
    kinds = [word.strip() for word in entry.card["media"].split(",")]
    changes = {change for kind in kinds for change in __import__(f"overread.media.{kind}", fromlist=["x"]).CHANGES}
    assert set(module.PROBES) <= changes, "a probe that none of its media has"
    assert not set(module.PROBES) & {"plain", *BLIND, *TEXT_PROBES}
    assert entry.texts("PROTOCOLS") == tuple(module.PROTOCOLS), "PROTOCOLS must be readable without importing"


@pytest.mark.parametrize(("name", "protocol"), SITTINGS)
def test_the_same_cases_and_seed_give_the_same_scripts(
    name: str, protocol: str, scripts_of: Callable[[str, str], list[Script]]
) -> None:
    first = scripts_of(name, protocol)
    assert first
    assert first == scripts_of(name, protocol)


@pytest.mark.parametrize(("name", "protocol"), SITTINGS)
def test_every_question_has_a_template_a_stage_and_a_judge(
    name: str, protocol: str, scripts_of: Callable[[str, str], list[Script]]
) -> None:
    asks = [ask for script in scripts_of(name, protocol) for ask in script.asks()]
    panel = Panel.of(catalog.load("benchmarks", name).JUDGES)
    assert asks
    for ask in asks:
        assert ask.template and ask.stage and ask.text, ask
        assert all(re.fullmatch(r"[a-z_]+=.+", label) for label in ask.slices)
        assert ask.kind in QUESTION_KINDS and ask.kind in panel.by_kind
        assert set(ask.follow) <= set(catalog.load("benchmarks", name).PROBES)


@pytest.mark.parametrize(("name", "protocol"), SITTINGS)
def test_scripts_of_one_item_follow_each_other_and_have_names_of_their_own(
    name: str, protocol: str, scripts_of: Callable[[str, str], list[Script]]
) -> None:
    groups = [(item, list(group)) for item, group in itertools.groupby(scripts_of(name, protocol), lambda s: s.item)]
    assert len({item for item, _ in groups}) == len(groups)
    for _, group in groups:
        assert len({script.name for script in group}) == len(group)
        assert len({script.case.patient for script in group}) == 1


@pytest.mark.parametrize(("name", "protocol"), SITTINGS)
def test_the_whole_exam_compiles_under_all_conditions_with_keys_that_can_be_met(
    name: str, protocol: str, compiled: Compile
) -> None:
    run = compiled(name, protocol, "full", limit=None)
    module = catalog.load("benchmarks", name)
    assert set(run.exam["conditions"]) == {"plain", *BLIND, *TEXT_PROBES, *module.PROBES}
    found = set(run.table("dialogues")["condition"])
    with_options = run.table("questions")["options"].list.len().max() or 0
    reordered = {"order"} if int(str(with_options)) > 1 else set()
    assert {"plain", "blank", "text", "guess", "wording", *module.PROBES, *reordered} == found - {"swap"}
    both = run.table("questions").join(run.table("key"), left_on="id", right_on="question")
    assert both.height == run.table("questions").height
    numbers = both.filter(pl.col("kind") == "number")
    assert numbers["number"].null_count() == 0
    inside = (numbers["number"] >= numbers["low"]) & (numbers["number"] <= numbers["high"])
    assert inside.fill_null(True).all(), "a key outside of the range that is asked for"
    assert set(run.table("key").schema) == set(schema(KeyRow))


def judged(run: Run, posed: Sequence[Posed], model: object, judges: Sequence[str]) -> pl.DataFrame:
    """The findings of a benchmark's judges on what a model answers, with condition and kind of each question."""
    answers = {answer.question: answer for answer in model.answer(posed)}  # type: ignore[attr-defined]
    key = run.table("key").select("answer", "tolerance", "stage", "scored", id="question", key_number="number")
    dialogues = run.table("dialogues").select("condition", dialogue="id")
    whole = run.table("questions").join(key, on="id").join(dialogues, on="dialogue")
    fields = ("status", "text", "choice", "option_scores", "number", "spread")
    said = [{"id": q, **{name: getattr(answer, name) for name in fields}} for q, answer in answers.items()]
    types = {"id": pl.String(), **{name: COLUMNS[name] for name in fields}}
    table = whole.join(pl.DataFrame(said, schema=types), on="id").with_columns(
        reply="id", blob=pl.lit(None, dtype=pl.String)
    )
    panel = Panel.of(judges)
    found = [
        panel.by_kind[str(kind)][1].judge(rows.select(list(COLUMNS)))
        for (kind,), rows in table.group_by("kind", maintain_order=True)
    ]
    return pl.concat(found).join(table.select("reply", "condition", "kind"), on="reply")


@pytest.mark.parametrize(("name", "protocol"), SITTINGS)
def test_the_key_gets_full_marks_from_its_judges_under_every_condition(
    name: str, protocol: str, compiled: Compile, posed_of: Callable[..., list[Posed]]
) -> None:
    run = compiled(name, protocol, "full")
    oracle = catalog.load("models", "oracle").load(Setting("oracle", options={"anywhere": "true"}))
    oracle.fit(ExamTables(*(run.table(table).lazy() for table in ("dialogues", "questions", "key"))))
    kinds = catalog.load("models", "oracle").KINDS
    posed = posed_of(run, dict.fromkeys(MEDIA_KINDS, "path"), kinds)  # the oracle looks at nothing
    found = judged(run, posed, oracle, catalog.load("benchmarks", name).JUDGES)
    assert set(found["condition"]) == set(run.table("dialogues")["condition"])
    assert found.filter((pl.col("credit") < 1) | (pl.col("status") != "read")).to_dicts() == []
    assert found["error"].fill_null(0.0).sum() == 0.0


@pytest.mark.parametrize(("name", "protocol"), SITTINGS)
def test_what_a_uniform_guess_gets_is_what_its_marks_say(
    name: str, protocol: str, everyone: dict[str, str], cases_of: CasesOf, tmp_path: Path
) -> None:
    cases_of(catalog.load("benchmarks", name).ARCHIVES)
    out = str(tmp_path / "run")
    settings = Settings(name, ("chance",), everyone, protocol, "none", {"score.resamples": "10"}, limit=8, out=out)
    run = pipeline.compile_exam(settings.checked())
    pipeline.ask(run, settings)
    marks = pl.concat(marks_of(run, pipeline.judge(run)))
    guessed = marks.filter(pl.col("status") == "expected")
    assert guessed.height == marks.filter(pl.col("kind").is_in(["choice", "number"])).height
    assert guessed["credit"].to_list() == pytest.approx(guessed["chance_credit"].to_list(), abs=1e-3)
    numbers = guessed.drop_nulls("chance_error")
    assert numbers["error"].to_list() == pytest.approx(numbers["chance_error"].to_list(), rel=1e-3)


def test_a_benchmark_that_draws_anew_each_time_would_be_seen(cases_of: CasesOf) -> None:
    count = itertools.count()
    case = cases_of(("phantoms",))[0]

    def exam() -> list[Script]:
        return [Script(case, "i", (Ask("t", str(next(count)), "choice", ("a",), ("a", "b")),))]

    assert exam() != exam()
