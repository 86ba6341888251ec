"""Models that count what they cost, and models that are to be asked no more."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from overread.engines.candidates import seat_candidate
from overread.engines.loads import load_of, spent_by
from overread.runs.folder import Run

Sit = Callable[..., tuple[Run, list[str]]]

MODEL = """
'''Answers some questions and then no more'''
import json, pathlib
from overread.errors import Stopped
from overread.models.contract import Answer
from overread.tables import Json
KINDS, FORMS, SAMPLES = ("choice",), {}, False
NOTES = pathlib.Path(__file__).with_name("begun.json")

def load(setting):
    return Miser()

class Miser:
    batch = 2

    def identity(self):
        return {"edition": 1}

    def begin(self, usages):
        self.spent = sum(usage["tokens"] for usage in usages)
        self.batches = []
        NOTES.write_text(json.dumps([*json.loads(NOTES.read_text() if NOTES.exists() else "[]"), self.spent]))

    def answer(self, dialogues):
        posed = list(dialogues)
        assert len(posed) <= 2
        for one in posed:
            for p in one.questions:
                if self.spent >= LIMIT:
                    raise Stopped("nothing is left")
                self.spent += 1
                yield Answer(p.question.id, p.seed, p.sample, choice=(0,), usage=Json(tokens=1))
"""


@pytest.fixture
def miser(tmp_path: Path) -> Callable[[int], str]:
    def make(limit: int) -> str:
        path = tmp_path / "miser.py"
        path.write_text(MODEL.replace("LIMIT", "int(pathlib.Path(__file__).with_name('limit').read_text())"))
        (tmp_path / "limit").write_text(str(limit))
        return str(path)

    return make


def test_what_a_stopped_model_leaves_is_missing_and_the_next_run_goes_on(
    sit: Sit, miser: Callable[[int], str], tmp_path: Path
) -> None:
    run, notes = sit("ecg_steps", miser(7), protocol="single")
    questions = run.table("questions").height
    assert questions > 14
    replies = run.table("replies")
    assert replies.height == 7 and set(replies["status"]) == {"answered"}
    (note,) = [note for note in notes if "nothing is left" in note]
    assert "goes on with what is missing" in note
    run, _ = sit("ecg_steps", miser(14), protocol="single")
    assert run.table("replies").height == 14
    run, notes = sit("ecg_steps", miser(10_000), protocol="single")
    assert run.table("replies").height == questions and run.table("replies")["question"].is_unique().all()
    assert not any("nothing is left" in note for note in notes)
    told = json.loads((tmp_path / "begun.json").read_text())
    assert told == [0, 7, 14], "before the first question a model is told what the run has cost so far"


def test_the_usage_of_a_run_is_that_of_all_replies_of_one_model(sit: Sit, miser: Callable[[int], str]) -> None:
    run, _ = sit("ecg_steps", miser(5), "chance", protocol="single")
    identities = {seat.model: seat.identity for seat in run.seats()}
    assert [usage["tokens"] for usage in spent_by(run, identities[miser(5)])] == [1] * 5
    assert spent_by(run, identities["chance"]) == []


def test_an_exams_load_counts_all_that_precedes_each_question(sit: Sit) -> None:
    single, _ = sit("ecg_steps", "chance", protocol="single", limit=3)
    load = load_of(single)
    questions = single.table("questions")
    assert load.questions == questions.height and load.whole == {"ecg": questions.height} and load.pictures == 0
    assert load.characters >= questions["asked"].str.len_chars().sum()
    assert load_of(single, repeats=3).characters == 3 * load.characters


def test_later_questions_of_a_chain_carry_the_earlier_ones(sit: Sit, tmp_path: Path) -> None:
    chain, _ = sit("ecg_steps", "chance", protocol="chain", limit=3, out=str(tmp_path / "chain"))
    load = load_of(chain)
    assert load.characters > 1.5 * chain.table("questions")["asked"].str.len_chars().sum()
    assert load.whole == {"ecg": load.questions}, "the study is sent with every question"


def test_selected_frames_are_counted_and_others_are_told_by_kind(sit: Sit) -> None:
    run, _ = sit("heartbeat", "chance", limit=2)
    load = load_of(run)
    media = run.table("dialogues").select(
        "id", positions=pl.col("media").list.first().struct.field("select").list.len()
    )
    asked = run.table("questions").join(media, left_on="dialogue", right_on="id")
    assert load.pictures == asked["positions"].sum() and load.pictures + sum(load.whole.values()) > 0


def test_a_model_says_itself_how_many_dialogues_it_takes_at_once(miser: Callable[[int], str], toy: Any) -> None:
    assert seat_candidate(miser(1), lambda: pytest.fail("fitted"), ()).batch == 2
    assert seat_candidate(toy("steady"), lambda: pytest.fail("fitted"), ()).batch == 4
