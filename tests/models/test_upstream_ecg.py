"""Model classes written for ECG-Reasoning-Benchmark run as they are, and what they were handed is told."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from overread import pipeline
from overread.errors import BadInput
from overread.exam.framing import load_framings
from overread.exam.script import Ask
from overread.media.contract import Delivered
from overread.models import upstream_ecg
from overread.models.contract import Answer, Message, Pending, Posed, Setting
from overread.models.upstream_names import PACKAGE, Conversation
from overread.runs.folder import Run
from overread.runs.replies import receipts_of, replies_of
from overread.settings import Settings
from overread.tables import Dialogue, Media, Question

HERE = Path(__file__).parent / "upstream"
LEADS = ("I", "II", "III", "aVR", "aVL", "aVF", "V1", "V2", "V3", "V4", "V5", "V6")
ECG = Media("ecg", "ecg", "phantoms://one")
SIGNAL = (np.random.default_rng(0).normal(size=(12, 5000)) / 5).astype(np.float32)


def loaded(file: str, **options: str) -> upstream_ecg.UpstreamEcg:
    return upstream_ecg.load(Setting("upstream_ecg", options={"path": str(HERE / file), **options}))


def asked(text: str, options: tuple[str, ...]) -> str:
    return load_framings()["plain"].ask(Ask("t", text, "choice", (options[0],), options))


def posed(*earlier: tuple[str, str], look_at: bool = True) -> Posed:
    """A dialogue whose first turn shows an ECG; earlier questions with their answers stand before the last."""
    options = ("Yes", "No", "Further findings")
    turns = [(asked(text, ("Yes", "No")), said) for text, said in earlier]
    script = [Message("system", "You read ECGs.")]
    media = (ECG,) if look_at else ()
    for number, (text, said) in enumerate(turns):
        script += [Message("user", text, media if number == 0 else ()), Message("assistant", said)]
    last = Message("user", asked("Is it broad?", options), () if turns else media)
    question = Question("q", "d", 0, "i", "t", "choice", last.text, last.text, "key", "p", options)
    pending = Pending(question, len(script), last, 0, 0)
    facts = {"rate_hz": 500.0, "leads": LEADS}
    given = Delivered("signal", SIGNAL, (0, 5000), SIGNAL.shape, "abc", facts)
    return Posed(
        Dialogue("d", "b", "p", "c", "a/1", "i", "plain", "open", (ECG,), ()),
        tuple(script),
        (pending,),
        lambda _: given,
    )


def answer(model: upstream_ecg.UpstreamEcg, dialogue: Posed) -> Answer:
    (said,) = model.answer([dialogue])
    return said


def test_a_class_is_handed_the_picture_as_it_wants_it_and_answers_with_an_option() -> None:
    said = answer(loaded("looks.py"), posed())
    assert (said.status, said.text in ("Yes", "No", "Further findings")) == ("answered", True)
    (seen,) = said.seen
    assert (seen.level, seen.form, seen.shape) == ("sent", "image", (1003, 2072, 3))
    assert seen.hash and seen.hash != "abc"


def test_build_model_gets_every_argument_of_the_command_line_and_more_where_told() -> None:
    said = answer(loaded("looks.py", **{"model_variant": "8B", "arg.shout": "yes"}), posed())
    assert said.text == (said.text or "").upper() and said.text


def test_relative_imports_find_the_package_and_files_beside_the_model() -> None:
    model = loaded("signal_only.py")
    (seen,) = answer(model, posed()).seen
    assert (seen.form, seen.hash, seen.shape) == ("signal", "abc", (12, 5000))


def test_a_class_that_never_names_the_record_is_known_not_to_look() -> None:
    model = loaded("guesses.py")
    assert model.forms == {}
    assert answer(model, posed(look_at=False)).text in ("Yes", "No", "Further findings")


def test_a_class_of_modality_text_that_reads_the_record_is_given_its_path() -> None:
    model = loaded("ignores.py", model="reads_record")
    assert model.forms == {"ecg": "path"}
    dialogue = posed()
    record = Delivered("path", Path("ecg") / "00001.hea", (0, 5000), (), "abc", {})
    said = answer(model, Posed(dialogue.dialogue, dialogue.script, dialogue.questions, lambda _: record))
    assert said.text == str(Path("ecg") / "00001")
    assert said.seen[0].level == "sent" and said.seen[0].form == "path"


def test_a_class_that_takes_neither_picture_nor_signal_has_no_receipt() -> None:
    said = answer(loaded("ignores.py", model="ignores"), posed())
    assert said.status == "answered" and said.seen == ()


@pytest.mark.parametrize(("name", "said"), [("raises", "RuntimeError: out of memory"), ("silent", "NoneType")])
def test_what_goes_wrong_in_a_class_is_the_reason_of_a_failed_reply(name: str, said: str) -> None:
    reply = answer(loaded("ignores.py", model=name), posed())
    assert reply.status == "failed" and said in reply.reason


def test_questions_and_options_are_told_apart_also_in_the_history() -> None:
    model = loaded("looks.py")
    dialogue = posed(("Is it fast?", "No"))
    conversation = model._conversation(dialogue, dialogue.prompt(dialogue.questions[0]), dialogue.questions[0], {})
    first, answered, last = conversation.conversation[1:]
    assert (first["question"], first["options"]) == ("Is it fast?", ["Yes", "No"])
    assert answered == {"role": "model", "text": "No"}
    assert (last["question"], last["options"]) == ("Is it broad?", ["Yes", "No", "Further findings"])
    assert "image" in first and "image" not in last
    assert model._condensed(conversation) is False


def test_the_three_history_policies_differ_as_told() -> None:
    def turns(policy: str) -> list[dict[str, object]]:
        conversation = Conversation("system", policy=policy)
        conversation.add_user_turn("first", ["Yes", "No"], ecg_signal=1, ecg_image=2)
        assert [turn["question"] for turn in conversation.get_turns_for_prompt()] == ["first"]
        conversation.add_model_turn("Yes")
        conversation.add_user_turn("second", ["a"])
        conversation.add_model_turn("a")
        conversation.add_user_turn("third", ["b"])
        return conversation.get_turns_for_prompt()

    kept, last, stub = turns("C"), turns("B"), turns("A")
    assert [turn.get("question", turn.get("text")) for turn in kept] == ["first", "Yes", "second", "a", "third"]
    assert [turn.get("question", turn.get("text")) for turn in last] == ["second", "a", "third"]
    assert (last[-1]["signal"], last[-1]["image"], "image" in last[0]) == (1, 2, False)
    assert dict(stub[0]) == {"signal": 1, "image": 2}
    assert [turn.get("question", turn.get("text")) for turn in stub[1:]] == ["second", "a", "third"]


def test_the_package_is_there_for_its_classes_alone() -> None:
    before = {name for name in sys.modules if name.startswith(PACKAGE)}
    answer(loaded("looks.py"), posed())
    assert {name for name in sys.modules if name.startswith(PACKAGE)} == before


def test_what_overread_does_itself_says_so(tmp_path: Path) -> None:
    path = tmp_path / "calls.py"
    path.write_text("from ecg_reasoning_benchmark import Inferencer\nInferencer(None)\n")
    with pytest.raises(BadInput, match="Inferencer is not there"):
        upstream_ecg.load(Setting("upstream_ecg", options={"path": str(path)}))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "no file None"),
        ({"path": "nowhere.py"}, "no file 'nowhere.py'"),
        ({"path": str(HERE / "looks.py"), "polisy": "A"}, "no option of upstream_ecg named 'polisy'"),
        ({"path": str(HERE / "looks.py"), "policy": "D"}, "no history policy named 'D'"),
        ({"path": str(HERE / "looks.py"), "sheet": "x"}, "x"),
        ({"path": str(HERE / "ignores.py")}, "registers 4 models"),
        ({"path": str(HERE / "beside.py")}, "registers no model"),
        ({"path": str(HERE / "looks.py"), "model": "look"}, "did you mean looks"),
    ],
)
def test_what_cannot_be_meant_is_refused(options: dict[str, str], said: str) -> None:
    with pytest.raises(BadInput) as caught:
        upstream_ecg.load(Setting("upstream_ecg", options=options))
    assert said in str(caught.value)


@pytest.fixture(scope="module")
def upstream_run(phantom_data: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Run:
    models = tuple(
        f"upstream_ecg[path={HERE / file}{more}]"
        for file, more in (("looks.py", ""), ("ignores.py", ",model=ignores"), ("guesses.py", ""))
    )
    out = tmp_path_factory.mktemp("upstream") / "run"
    return pipeline.run(Settings("ecg_steps", models, phantom_data, conditions="blank", limit=4, out=str(out)))[0]


def test_an_exam_is_sat_and_a_class_that_does_not_look_gets_no_score(upstream_run: Run) -> None:
    names = {seat.identity: seat.model for seat in upstream_run.seats()}
    replies = replies_of(upstream_run.folder).with_columns(file=pl.col("identity").replace_strict(names))
    status = {
        file: set(replies.filter(pl.col("file").str.contains(file))["status"])
        for file in ("looks", "guesses", "ignores")
    }
    assert status == {"looks": {"answered"}, "guesses": {"answered"}, "ignores": {"failed"}}
    assert "nothing shows that 'ecg' reached the model" in replies.filter(pl.col("status") == "failed")["reason"][0]
    assert set(receipts_of(upstream_run.folder)["level"]) == {"sent"}
