"""Judges that ask a model: through the engine, once for each thing to be asked, and on from where it stopped."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import overread
from overread import pipeline
from overread.errors import BadInput
from overread.judging import Panel, label_of, split_judge
from overread.runs.folder import Run

Start = Callable[..., Any]
Cases = Callable[..., str]
WORDY = """
'''Says the same in other words'''
from overread.models.contract import Answer, seen_by_tensor
KINDS, FORMS, SAMPLES = ("choice",), {"image": "image"}, False

def load(setting):
    return Wordy(setting.options.get("word", "it"))

class Wordy:
    def __init__(self, word):
        self.word = word

    def identity(self):
        return {"word": self.word}

    def answer(self, dialogues):
        for posed in dialogues:
            for p in posed.questions:
                seen = tuple(seen_by_tensor(m, posed.look(m)) for part in posed.prompt(p) for m in part.media)
                said = f"{self.word} is number {p.question.place}"
                yield Answer(p.question.id, p.seed, p.sample, text=said, seen=seen)
"""


@pytest.fixture
def sat(picture_cases: Cases, tmp_path: Path) -> Callable[..., Run]:
    """A run whose replies only a model can judge: sat(word, judge, ...)."""
    model = tmp_path / "wordy.py"
    model.write_text(WORDY)

    def sit(word: str, judge: str, **more: Any) -> Run:
        cases = picture_cases(5, 4)
        spec = f"{model}[word={word}]"
        return overread.run(cases, spec, out=tmp_path / "run", conditions="none", judges=[judge], **more)

    return sit


def calls(server: Any) -> int:
    return sum(server.stats()["done"].values())


def test_each_reply_is_ruled_on_once_however_often_it_is_judged(sat: Callable[..., Run], chat_server: Start) -> None:
    server = chat_server()
    judge = f"rubric[{server.spec()}]"
    run = sat("it", judge)
    assert set(run.table("verdicts")["status"]) == {"read"} and run.table("verdicts").height == 20
    assert {parsed.partition(":")[0] for parsed in run.table("verdicts")["parsed"]} == {"TRUE", "FALSE"}
    assert calls(server) == 20
    before = run.table("verdicts").sort("reply")
    pipeline.judge(run, [judge])
    assert calls(server) == 20 and run.table("verdicts").sort("reply").equals(before)
    run = sat("this", judge)
    assert calls(server) == 40 and run.table("verdicts").height == 40, "only the new replies are asked about"


def test_another_model_judges_for_itself(sat: Callable[..., Run], chat_server: Start) -> None:
    server = chat_server()
    one, other = (f"rubric[{server.spec(option)}]" for option in ("new_tokens=64", "new_tokens=65"))
    run = sat("it", one)
    folder = pipeline.judge(run, [other])
    assert calls(server) == 40
    assert {path.name for path in (run.folder / "verdicts").glob("*")} == {
        folder, label_of([one]).replace("~", "-"),
    }  # fmt: skip


def test_replies_that_were_not_ruled_on_have_no_verdict_until_they_are(
    sat: Callable[..., Run], chat_server: Start
) -> None:
    server = chat_server("--plan", json.dumps({"empty": 0.5}))
    judge = f"rubric[{server.spec()}]"
    run = sat("it", judge)
    missing = 20 - run.table("verdicts").height
    assert 0 < missing < 20
    assert any(f"{missing} replies have no verdict" in note for note in run.notes)
    assert run.table("scores")["coverage"].min() == pytest.approx(1 - missing / 20)
    for _ in range(12):
        pipeline.judge(run, [judge])
    assert run.table("verdicts").height == 20
    stats = server.stats()
    assert sum(stats["answered"].values()) == 20 and max(stats["answered"].values()) == 1


def test_a_judges_limit_holds_over_all_that_it_was_asked(sat: Callable[..., Run], chat_server: Start) -> None:
    server = chat_server()

    def limited(tokens: int) -> int:
        """How many rulings, of 105 tokens each, there are under this limit."""
        run = sat("it", f"rubric[{server.spec(f'budget_tokens={tokens}', 'new_tokens=5', 'concurrency=1')}]")
        assert calls(server) * 105 <= tokens
        (rulings,) = {path.parent for path in (run.folder / "rulings").glob("rubric/*")}
        return sum(Run(path).table("replies").height for path in rulings.glob("*"))

    first = limited(1_000)
    assert 4 <= first < 10
    assert first < limited(1_800) < 18
    assert limited(9_000) == 20 == calls(server)


def test_a_judge_that_asks_needs_its_model_and_one_that_does_not_takes_none(chat_server: Start) -> None:
    assert split_judge("rubric[openai_chat[model=m,url=http://h/v1]]") == (
        "rubric", "openai_chat[model=m,url=http://h/v1]",
    )  # fmt: skip
    with pytest.raises(BadInput, match="needs the model"):
        Panel.of(["rubric"])
    with pytest.raises(BadInput, match="asks no model"):
        Panel.of(["option[chance]"])


def test_a_judges_model_is_checked_before_anything_is_asked(picture_cases: Cases, tmp_path: Path) -> None:
    for judge, wrong in (("rubric[openai_chat[modle=m]]", "modle"), ("rubric[nobody]", "nobody")):
        with pytest.raises(BadInput, match=wrong):
            overread.run(picture_cases(), "chance", out=tmp_path / "run", judges=[judge])
    assert not (tmp_path / "run").exists()


def test_a_model_that_learns_from_the_key_cannot_judge_by_it(sat: Callable[..., Run]) -> None:
    with pytest.raises(BadInput, match="cannot judge by it"):
        sat("it", "rubric[prior]")
