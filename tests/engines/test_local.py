"""What the local engine does with models that behave, and with those that do not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from overread.errors import BadInput
from overread.runs.folder import Run
from overread.runs.parts import write_part

Sit = Callable[..., tuple[Run, list[str]]]
Toy = Callable[[str], str]


def toy_model(folder: Path, body: str, *, forms: str = "{}", extra: str = "") -> str:
    """Writes a model whose `answer` has the given body; returns its path."""
    text = f'''"""A toy"""
import time
from overread.models.contract import Answer, Seen, seen_by_tensor
KINDS = ("choice",)
FORMS = {forms}
SAMPLES = False
BATCH = 3
{extra}
class Model:
    def identity(self):
        return {{}}
    def answer(self, dialogues):
{body}
def load(setting):
    return Model()
'''
    path = folder / "toy.py"
    path.write_text(text)
    return str(path)


EACH = "        for p in dialogues:\n            for q in p.questions:\n"
RIGHT = "                yield Answer(q.question.id, q.seed, q.sample, choice=(0,))\n"


def statuses(run: Run) -> dict[tuple[str, str], int]:
    counts = run.table("replies").group_by("status", "reason").len()
    return {(status, reason): n for status, reason, n in counts.iter_rows()}


def test_every_question_gets_exactly_one_reply_with_a_receipt_for_what_it_was_shown(sit: Sit, toy: Toy) -> None:
    run, notes = sit("ecg_steps", toy("steady"), conditions="blank,text")
    replies, questions = run.table("replies").filter(pl.col("model") == toy("steady")), run.table("questions")
    assert notes == []
    assert sorted(replies["question"]) == sorted(questions["id"])
    shown = questions.join(run.table("dialogues").select("id", "condition"), left_on="dialogue", right_on="id")
    receipts = replies.join(shown.select("condition", question="id"), on="question")
    held = receipts.group_by("condition").agg(pl.col("receipts").list.len().unique())
    assert {row[0]: row[1] for row in held.iter_rows()} == {"plain": [1], "blank": [1], "text": [0]}
    assert set(replies["receipts"].explode().drop_nulls()) <= set(run.table("receipts")["id"])


def test_running_again_asks_nothing(sit: Sit, toy: Toy) -> None:
    before = sit("ecg_steps", toy("steady"))[0].table("replies")
    after = sit("ecg_steps", toy("steady"))[0].table("replies")
    assert before.sort("id").equals(after.sort("id"))


def test_a_model_that_raises_at_one_question_fails_there_alone_and_is_asked_again(sit: Sit, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.touch()
    check = f"                if q.question.template.startswith('first/') and pathlib.Path({str(broken)!r}).exists():\n"
    body = EACH + check + "                    raise RuntimeError('no')\n" + RIGHT
    model = toy_model(tmp_path, body, extra="import pathlib")
    run, notes = sit("ecg_steps", model, protocol="single")
    failed, questions = run.table("replies").filter(pl.col("status") == "failed"), run.table("questions")
    assert set(failed["reason"]) == {"the model raised RuntimeError: no"}
    assert failed.height == questions.filter(pl.col("template").str.starts_with("first/")).height
    assert run.table("replies").height == questions.height
    assert "failed" in notes[0]
    scores = run.table("scores").filter((pl.col("slice") == "all") & (pl.col("metric") == "coverage"))
    assert scores["value"][0] == pytest.approx(1 - failed.height / questions.height)
    broken.unlink()
    again, _ = sit("ecg_steps", model, protocol="single")
    assert again.table("replies").height == questions.height + failed.height
    assert again.table("verdicts")["place"].to_list() == questions["place"].to_list()
    assert set(again.table("verdicts")["status"]) == {"read"}


FAULTS = {
    "too few": (EACH + "                if q.question.place % 2: " + RIGHT.strip() + "\n", "the model gave no answer"),
    "nan": (EACH + RIGHT.replace("choice=(0,)", "option_scores=(float('nan'), 1.0)"), "not finite"),
    "empty": (EACH + RIGHT.replace(", choice=(0,)", ""), "empty answer"),
    "no answer type": (EACH + RIGHT.replace("choice=(0,)", "choice=('x',)"), "something that is no answer"),
    "unknown status": (EACH + RIGHT.replace("choice=(0,)", "text='a', status='fine'"), "unknown status"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_an_answer_that_is_none_fails_with_the_reason(sit: Sit, tmp_path: Path, fault: str) -> None:
    body, reason = FAULTS[fault]
    run, _ = sit("ecg_steps", toy_model(tmp_path, body), protocol="single")
    failed = run.table("replies").filter(pl.col("status") == "failed")
    assert failed.height > 0
    assert all(reason in text for text in failed["reason"])
    assert run.table("replies").height == run.table("questions").height


def test_answers_that_nobody_asked_for_are_told_and_not_kept(sit: Sit, tmp_path: Path) -> None:
    body = EACH + RIGHT + RIGHT.replace("q.question.id", "'nobody'")
    run, notes = sit("ecg_steps", toy_model(tmp_path, body), protocol="single")
    count = run.table("questions").height
    assert run.table("replies").height == count
    assert notes == [f"{tmp_path / 'toy.py'}: answered {count} questions that nobody asked and 0 twice"]


def test_a_question_that_is_answered_twice_fails_and_is_asked_again(sit: Sit, tmp_path: Path) -> None:
    often = tmp_path / "often"
    often.touch()
    again = (
        f"                for _ in range(1 + 2 * (q.question.place == 3 and pathlib.Path({str(often)!r}).exists())):\n"
    )
    body = EACH + again + "    " + RIGHT
    model = toy_model(tmp_path, body, extra="import pathlib")
    run, notes = sit("ecg_steps", model, protocol="single")
    verdicts = run.table("verdicts")
    assert verdicts.filter(pl.col("status") == "failed")["place"].to_list() == [3]
    assert verdicts["place"].to_list() == list(range(run.table("questions").height)), "the rest stands"
    assert any("twice" in note for note in notes)
    often.unlink()
    assert set(sit("ecg_steps", model, protocol="single")[0].table("verdicts")["status"]) == {"read"}


def test_a_model_that_hangs_is_left_behind_and_given_up_after_three_times(sit: Sit, tmp_path: Path) -> None:
    body = EACH + "                if q.question.place == 7: time.sleep(30)\n" + RIGHT
    run, notes = sit("ecg_steps", toy_model(tmp_path, body), protocol="single", set={"ask.seconds": "0.3"})
    failed = run.table("replies").filter(pl.col("status") == "failed")
    assert failed["place"].to_list() == [7]
    assert failed["reason"].to_list() == ["the model said nothing for 0.3 s"]
    assert run.table("replies").height == run.table("questions").height
    assert len(notes) == 1
    always = toy_model(tmp_path, "        time.sleep(30)\n        yield\n")
    given_up, notes = sit("ecg_steps", always, protocol="single", set={"ask.seconds": "0.1"}, out=str(tmp_path / "b"))
    assert "given up after it hung" in notes[-1]
    assert given_up.table("replies").height < given_up.table("questions").height


LOOK = "                m = p.prompt(q)[-1].media[0]; d = p.look(m)\n"
SEEN = {
    "no receipt": "()",
    "has no hash": "(Seen('tensor', m, d.form, d.indices, d.shape),)",
    "drops or resamples": "(Seen('tensor', m, d.form, d.indices[:1], d.shape, d.hash),)",
    "nothing shows that": "(Seen('none', m, d.form, d.indices, d.shape, d.hash),)",
}


@pytest.mark.parametrize("said", SEEN)
def test_an_answer_without_a_proper_receipt_fails(sit: Sit, tmp_path: Path, said: str) -> None:
    body = EACH + LOOK + RIGHT.replace("choice=(0,)", f"choice=(0,), seen={SEEN[said]}")
    model = toy_model(tmp_path, body, forms='{"ecg": "signal"}')
    run, _ = sit("ecg_steps", model, protocol="single", limit=1)
    replies = run.table("replies")
    assert set(replies["status"]) == {"failed"}
    assert all(said in reason for reason in replies["reason"])


def test_a_model_that_takes_other_media_is_refused_before_anything_is_asked(sit: Sit, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="takes clip and this exam shows ecg"):
        sit("ecg_steps", toy_model(tmp_path, EACH + RIGHT, forms='{"clip": "frames"}'))


def test_questions_of_a_kind_that_a_model_does_not_answer_fail_with_that_reason(sit: Sit, tmp_path: Path) -> None:
    run, _ = sit("heartbeat", toy_model(tmp_path, EACH + RIGHT))
    assert set(run.table("replies")["reason"]) == {"the model does not answer questions of kind number"}


def test_text_that_no_file_can_hold_is_kept_as_far_as_it_goes(sit: Sit, tmp_path: Path) -> None:
    body = EACH + RIGHT.replace("choice=(0,)", "text='a' + chr(0xd800) + chr(0) + chr(10) + '\"'")
    run, _ = sit("ecg_steps", toy_model(tmp_path, body), protocol="single", limit=1)
    assert set(run.table("replies")["text"]) == {'a?\x00\n"'}


def test_disjoint_shards_together_are_the_whole_run(sit: Sit, toy: Toy, tmp_path: Path) -> None:
    whole, _ = sit("ecg_steps", toy("steady"))
    out = str(tmp_path / "shards")
    held = []
    for number in (1, 2, 3):
        run, _ = sit("ecg_steps", toy("steady"), out=out, shard=(number, 3))
        held.append(run.table("replies").height)
    assert held == sorted(set(held))
    assert held[-1] == whole.table("replies").height
    assert run.table("scores").equals(whole.table("scores"))


def test_seeds_and_samples_are_asked_of_models_that_can_differ_and_of_no_other(sit: Sit, tmp_path: Path) -> None:
    body = EACH + RIGHT
    sampled = toy_model(tmp_path, body, extra="SAMPLES = True")
    run, _ = sit("ecg_steps", sampled, "chance", protocol="single", limit=2, seeds=2, samples=3)
    per_model = run.table("replies").group_by("model").len()
    counts = dict(per_model.iter_rows())
    questions = run.table("questions").height
    assert counts == {sampled: 6 * questions, "chance": questions}


def test_when_a_first_reply_is_asked_again_and_differs_its_followers_are_asked_again(sit: Sit, tmp_path: Path) -> None:
    other = tmp_path / "other"
    choose = (
        f"                later = pathlib.Path({str(other)!r}).exists()\n"
        "                pick = int(later and q.question.template.startswith('first/'))\n"
    )
    model = toy_model(tmp_path, EACH + choose + RIGHT.replace("(0,)", "(pick,)"), extra="import pathlib")
    run, _ = sit("ecg_steps", model, protocol="chain")
    before, questions = run.table("replies"), run.table("questions")
    first = questions.filter(pl.col("template").str.starts_with("first/"))["place"]
    (part,) = (run.folder / "replies").glob("*.parquet")
    lost = first.head(2)
    write_part(part, before.filter(~pl.col("place").is_in(lost.implode())))
    other.touch()
    after = sit("ecg_steps", model, protocol="chain")[0].table("replies")
    followers = questions.filter(pl.col("parents").list.len() > 0).filter(
        pl.col("dialogue").is_in(questions.filter(pl.col("place").is_in(lost.implode()))["dialogue"].implode())
    )
    asked = after.join(before.select("id"), on="id", how="anti")
    assert sorted(asked["place"]) == sorted([*lost, *followers["place"]])
    verdicts = run.table("verdicts")
    assert verdicts["place"].to_list() == questions["place"].to_list()
    stale = before.filter(pl.col("place").is_in(followers["place"].implode()))["id"]
    assert not set(verdicts["reply"]) & set(stale)
    again = sit("ecg_steps", model, protocol="chain")[0].table("replies")
    assert again.height == after.height


def test_followers_of_a_failed_first_reply_are_held_back_and_counted_as_missing(sit: Sit, tmp_path: Path) -> None:
    raising = EACH + "                if q.question.template.startswith('first/'): raise RuntimeError('no')\n" + RIGHT
    run, _ = sit("ecg_steps", toy_model(tmp_path, raising), protocol="chain")
    replies = run.table("replies")
    assert set(replies["status"]) == {"failed"}
    assert replies.height == run.table("dialogues").height
    scores = run.table("scores").filter((pl.col("slice") == "all") & (pl.col("metric") == "accuracy"))
    assert scores.row(0, named=True)["n"] == run.table("questions").height
    assert scores["coverage"][0] == scores["value"][0] == 0.0


LOOKS = '{"ecg": "signal"}'


def fed(hash_: str) -> str:
    """A model that looks at what it is shown and says that an input of this hash reached its network."""
    return (
        "        for p in dialogues:\n"
        "            for q in p.questions:\n"
        "                media = [m for message in p.prompt(q) for m in message.media]\n"
        "                given = [p.look(m) for m in media]\n"
        f"                seen = tuple(Seen('tensor', m, g.form, g.indices, (3, 8), {hash_}) "
        "for m, g in zip(media, given))\n"
        "                yield Answer(q.question.id, q.seed, q.sample, choice=(0,), seen=seen)\n"
    )


def test_no_reply_of_a_model_counts_that_gets_the_same_input_for_different_studies(sit: Sit, tmp_path: Path) -> None:
    run, notes = sit("ecg_steps", toy_model(tmp_path, fed("'00' * 12"), forms=LOOKS))
    assert set(run.table("replies")["status"]) == {"failed"}
    assert "reached the model as the same input" in " ".join(notes)
    assert run.table("scores").filter((pl.col("model") == str(tmp_path / "toy.py")) & (pl.col("value") > 0)).is_empty()


def test_blank_studies_may_reach_a_model_as_the_same_input(sit: Sit, tmp_path: Path) -> None:
    same = "g.hash if not m.change else 'ff' * 12"
    run, notes = sit("ecg_steps", toy_model(tmp_path, fed(same), forms=LOOKS), conditions="blank")
    assert notes == [] and set(run.table("replies")["status"]) == {"answered"}


def test_a_single_study_proves_nothing_and_its_replies_are_kept(sit: Sit, tmp_path: Path) -> None:
    run, notes = sit("ecg_steps", toy_model(tmp_path, fed("'00' * 12"), forms=LOOKS), limit=1)
    assert notes == [] and set(run.table("replies")["status"]) == {"answered"}


@pytest.mark.parametrize(
    "answer",
    [
        "choice=(10**23 - 1,)",
        "choice=(0.7,)",
        "text=b'ab'",
        "choice=(0,), seen=None",
        "choice=(0,), seen=('x',)",
        "choice=(0,), seen=(Seen('tensor', None, 'signal'),)",
        "choice=(0,), seen=(Seen('tensor', p.dialogue.media[0], 'signal', hash=3),)",
        "choice=(0,), seen=(Seen('tensor', p.dialogue.media[0], 'signal', hash='a', tokens=10**30),)",
        "choice=(0,), seen=(Seen('tensor', p.dialogue.media[0], 'signal', shape=(10**30,), hash='a'),)",
    ],
)
def test_what_is_no_answer_fails_with_its_reason_and_leaves_the_run_whole(
    sit: Sit, tmp_path: Path, answer: str
) -> None:
    body = EACH + f"                yield Answer(q.question.id, q.seed, q.sample, {answer})\n"
    run, notes = sit("ecg_steps", toy_model(tmp_path, body, forms=LOOKS), limit=2)
    replies = run.table("replies")
    assert set(replies["status"]) == {"failed"} and "the model returned something that is no answer" in notes[0]
    run, _ = sit("ecg_steps", "chance", limit=2)
    assert run.table("replies").filter(pl.col("status") == "answered").height == run.table("questions").height
