from __future__ import annotations

import contextlib
import gc
import hashlib
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from overread.errors import BadInput, ModelFault
from overread.media.contract import Delivered
from overread.models import foreign
from overread.models.contract import Answer, Message, Pending, Posed, Setting
from overread.models.foreign import Foreign
from overread.tables import QUESTION_KINDS, Dialogue, Media, Question

ECG = Media("ecg", "ecg", "alias://one.hea")
SIGNAL = np.arange(24, dtype=np.float32).reshape(2, 12)
SECRET = "Mrs Example, born 1950, has a murmur"
PLAIN = """
KINDS = ["choice", "text"]
FORMS = {"ecg": "signal"}
def load(options):
    return options
"""


def delivered(data: Any = SIGNAL, form: str = "signal", indices: tuple[int, ...] = (0, 12)) -> Delivered:
    raw = data.tobytes() if isinstance(data, np.ndarray) else bytes(str(data), "ascii")
    shape = data.shape if isinstance(data, np.ndarray) else ()
    return Delivered(form, data, indices, shape, hashlib.sha256(raw).hexdigest()[:24], {"rate_hz": 500.0})


def question(name: str, kind: str = "choice", options: tuple[str, ...] = ("yes", "no")) -> Question:
    return Question(name, "d", 0, "i", "t", kind, SECRET, SECRET, "key", "p", options)  # type: ignore[arg-type]


def posed(*questions: Question, look: Callable[[Media], Delivered] = lambda _: delivered(), name: str = "d") -> Posed:
    """A dialogue whose questions follow each other, each shown with its key."""
    dialogue = Dialogue(name, "b", "p", "c", "a/1", "i", "plain", "open", (ECG,), ())
    script: list[Message] = []
    pending = []
    for number, one in enumerate(questions):
        asked = Message("user", f"{SECRET} {one.id}?", (ECG,) if number == 0 else ())
        pending.append(Pending(one, len(script), asked, seed=number, sample=0))
        script += [asked, Message("assistant", f"key of {one.id}")]
    return Posed(dialogue, tuple(script), tuple(pending), look)


Begin = Callable[..., Foreign]


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Begin]:
    """Starts models from the text of their script; all are closed at the end."""
    with contextlib.ExitStack() as stack:

        def start(script: str, *, head: str = PLAIN, **options: str) -> Foreign:
            path = tmp_path / "my_model.py"
            path.write_text(head + textwrap.dedent(script))
            given = {"python": sys.executable, "script": str(path), "silence_seconds": "20", **options}
            model = foreign.load(Setting("foreign", options=given))
            stack.callback(model.close)
            return model

        yield start


def worker_pid(model: Foreign) -> int:
    assert model._process is not None
    return model._process.pid


def folder(model: Foreign) -> Path:
    assert model._process is not None
    return model._process.folder


def gone(pid: int, seconds: float = 5.0) -> bool:
    """Whether nothing of a process group is left, zombies aside."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        states = [
            stat.rpartition(")")[2].split()
            for path in Path("/proc").glob("[0-9]*/stat")
            if (stat := _text(path)) is not None
        ]
        if not [s for s in states if s and s[2] == str(pid) and s[0] not in "ZX"]:
            return True
        time.sleep(0.02)
    return False


def _text(path: Path) -> str | None:
    try:
        return path.read_text()
    except OSError:
        return None


def only(answers: Iterator[Answer]) -> Answer:
    (answer,) = answers
    return answer


def test_its_kinds_are_those_of_questions() -> None:
    assert foreign.KINDS == QUESTION_KINDS


def test_a_script_is_asked_and_says_what_it_takes(begin: Begin) -> None:
    model = begin(
        """
        def identity(model):
            return {"weights": model["weights"]}
        def answer(model, request):
            for q in request.questions:
                array = request.media["ecg"]
                yield q.answer(text="%s %s %s %s" % (array.dtype, array.sum(), request.facts["ecg"]["rate_hz"], q.seed))
        """,
        **{"option.weights": "v2"},
    )
    assert (model.kinds, dict(model.forms)) == (("choice", "text"), {"ecg": "signal"})
    answers = list(model.answer([posed(question("a"), question("b"))]))
    assert [(a.question, a.seed, a.text) for a in answers] == [
        ("a", 0, "float32 276.0 500.0 0"),
        ("b", 1, "float32 276.0 500.0 1"),
    ]
    assert all(a.seconds > 0 for a in answers)
    assert [(s.level, s.media, s.indices, s.shape) for s in answers[0].seen] == [("sent", ECG, (0, 12), (2, 12))]
    identity = model.identity()
    assert (identity["options"], identity["identity"]) == ({"weights": "v2"}, {"weights": "v2"})
    assert model.provenance() == {"python": sys.version.split()[0], "numpy": np.__version__}


def test_a_question_is_told_nothing_that_comes_after_it(begin: Begin) -> None:
    model = begin("""
        def answer(model, request):
            for q in request.questions:
                yield q.answer(text=" | ".join(m["text"][-8:] for m in q.messages))
            assert "key of b" not in repr(vars(request)) + repr([vars(q) for q in request.questions])
    """)
    first, second = model.answer([posed(question("a"), question("b"))])
    assert first.text == " murmur a?"[-8:]
    assert second.text == "urmur a? | key of a | urmur b?"


def test_address_and_condition_stay_here(begin: Begin) -> None:
    hidden = Media("ecg", "ecg", "alias://blanked.hea", change="blank")
    one = question("a")
    asked = Pending(one, 0, Message("user", "well?", (hidden,)), 0, 0)
    dialogue = Dialogue("d", "b", "p", "c", "a/1", "i", "blank", "open", (hidden,), ())
    model = begin("""
        import json
        def answer(model, request):
            yield request.questions[0].answer(text=json.dumps([request._sent, [vars(q) for q in request.questions]]))
    """)
    text = only(model.answer([Posed(dialogue, (), (asked,), lambda _: delivered())])).text
    assert text is not None
    assert "well?" in text
    assert "blank" not in text


def test_a_receipt_tells_what_was_fed(begin: Begin) -> None:
    model = begin("""
        import numpy as np
        def answer(model, request):
            whole = request.media["ecg"]
            for q in request.questions:
                if q.seed == 0:
                    seen = request.fed("ecg", whole, tokens=7)
                else:
                    seen = request.fed("ecg", whole[:, 4:8] * 2, indices=(4, 8))
                yield q.answer(choice=0, seen=[seen])
    """)
    one = posed(question("a"))
    two = Posed(one.dialogue, (), (Pending(question("b"), 0, one.script[0], 1, 0),), one.look)
    whole, part = model.answer([one, two])
    sent = delivered()
    assert [(s.level, s.indices, s.shape, s.hash, s.tokens) for s in whole.seen] == [
        ("tensor", (0, 12), (2, 12), sent.hash, 7)
    ]
    digest = hashlib.sha256(np.ascontiguousarray(SIGNAL[:, 4:8] * 2).tobytes()).hexdigest()[:24]
    assert [(s.level, s.indices, s.shape, s.hash) for s in part.seen] == [("tensor", (4, 8), (2, 4), digest)]


@pytest.mark.parametrize(
    ("seen", "reason"),
    [
        ("[]", "never got ecg"),
        ("[request.fed('ecg', request.media['ecg'] * 2)]", "say which indices"),
        ("[request.fed('ecg', request.media['ecg'], indices=(0, 13))]", "not delivered"),
        ("[request.fed('ecg', request.media['ecg'][:0], indices=(0, 12))]", "nothing was fed"),
        ("[request.fed('ecg', request.media['ecg'])] * 2", "twice"),
        ("[{'media': 'ecg', 'shape': [1], 'indices': [0, 12], 'hash': 'x'}]", "no sha256"),
    ],
)
def test_a_receipt_that_shows_a_fault_fails_the_question(begin: Begin, seen: str, reason: str) -> None:
    model = begin(f"""
        def answer(model, request):
            yield request.questions[0].answer(choice=0, seen={seen})
    """)
    answer = only(model.answer([posed(question("a"))]))
    assert answer.status == "failed"
    assert reason in answer.reason


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ("number=float('nan')", "NaN"),
        ("option_scores=np.array([np.inf, 0])", "infinity"),
        ("choice=2", "not among the 2 options"),
        ("choice=[0, 0]", "twice"),
        ("choice=True", "no whole number"),
        ("option_scores=[1.0]", "1 option_scores for 2 options"),
        ("option_scores=[3.0, -2.0]", "no probabilities"),
        ("number=10 ** 400", "not finite"),
        ("number='4'", "no number"),
        ("text=b'x'", "plain JSON"),
        ("text=chr(0xd800)", "no valid Unicode"),
        ("text='x' * (1 << 24)", "longer than"),
        ("txt='yes'", "not known: txt"),
        ("status='maybe', text='x'", "none of answered"),
        ("choice=None", "says nothing"),
        ("text='x', usage={'tokens': [1]}", "no number"),
        ("text='x', seconds='long'", "no number"),
    ],
)
def test_an_answer_that_cannot_be_used_fails_its_question_only(begin: Begin, fields: str, reason: str) -> None:
    model = begin(f"""
        import numpy as np
        def answer(model, request):
            bad, good = request.questions
            return [bad.answer({fields}), good.answer(choice=1)]
    """)
    bad, good = model.answer([posed(question("a"), question("b"))])
    assert (bad.question, bad.status) == ("a", "failed")
    assert reason in bad.reason
    assert (good.status, good.choice) == ("answered", (1,))


def test_numpy_values_vectors_and_refusals_arrive(begin: Begin) -> None:
    model = begin("""
        import numpy as np
        def answer(model, request):
            a, b, c, d = request.questions
            yield a.answer(choice=np.int64(1), usage={"tokens": np.int32(5)})
            yield b.answer(option_scores=np.array([0.25, 0.75], dtype=np.float32))
            yield c.answer(blob=np.arange(3, dtype=np.float32))
            yield d.answer(status="refused", text="I would rather not", reason="policy")
    """)
    a, b, c, d = model.answer([posed(*map(question, "abcd"))])
    assert (a.choice, dict(a.usage)) == ((1,), {"tokens": 5})
    assert b.option_scores == (0.25, 0.75)
    assert c.blob is not None
    (folder(model) / "x.npy").write_bytes(c.blob)
    assert np.load(folder(model) / "x.npy").tolist() == [0, 1, 2]
    assert (d.status, d.reason) == ("refused", "policy")


@pytest.mark.parametrize("wrong", ["'nobody'", "None", "7", "stale", "request.questions[0].id"])
def test_ids_that_were_not_asked_or_come_twice_spoil_the_dialogue(begin: Begin, wrong: str) -> None:
    model = begin(f"""
        kept = []
        def answer(model, request):
            kept.append(request.questions[0].id)
            if len(kept) == 1:
                return [request.questions[0].answer(choice=0)]
            stale = kept[0]
            return [request.questions[0].answer(choice=0), {{"question": {wrong}, "choice": 1}}]
    """)
    fine, spoilt = model.answer([posed(question("a")), posed(question("b"))])
    assert (fine.status, spoilt.status) == ("answered", "failed")
    assert "not asked" in spoilt.reason or "twice" in spoilt.reason


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("raise RuntimeError('about ' + q.text)", r"RuntimeError: about \[withheld\] \(my_model.py:10\)"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("return None", "must return a list"),
        ("return 'yes'", "must return a list"),
        ("return ['yes']", "must be a dict"),
        ("return []", "gave no answer"),
    ],
)
def test_a_script_that_fails_on_one_dialogue_goes_on_with_the_next(begin: Begin, body: str, reason: str) -> None:
    model = begin(f"""
        def answer(model, request):
            q = request.questions[0]
            if q.options[0] == "bad":
                {body}
            return [q.answer(choice=0)]
    """)
    pid = worker_pid(model)
    bad, good = model.answer([posed(question("a", options=("bad",))), posed(question("b"))])
    assert (bad.status, good.status) == ("failed", "answered")
    assert re.search(reason, bad.reason), bad.reason
    assert worker_pid(model) == pid


def test_answers_given_before_a_failure_stand(begin: Begin) -> None:
    model = begin("""
        def answer(model, request):
            yield request.questions[0].answer(choice=0)
            raise ValueError("second")
    """)
    first, second = model.answer([posed(question("a"), question("b"))])
    assert (first.status, second.status) == ("answered", "failed")
    assert "ValueError: second" in second.reason


def test_printing_is_harmless_also_from_c(begin: Begin) -> None:
    model = begin("""
        import os, sys
        print("{hello}")
        def answer(model, request):
            print("not json")
            os.write(1, b'{"type": "done", "request": 1}\\n')
            os.system("echo from a program")
            for _ in range(300):
                os.write(2, b"x" * 1000)
            return [request.questions[0].answer(choice=0)]
    """)
    assert only(model.answer([posed(question("a"))])).choice == (0,)


@pytest.mark.parametrize(
    ("death", "reason"),
    [
        ("os._exit(3)", "exit code 3"),
        ("os.kill(os.getpid(), 9)", "SIGKILL"),
        ("ctypes.string_at(0)", "SIGSEGV"),
        ("os.closerange(3, 200)", "lost its pipe"),
        ("os.closerange(3, 200); time.sleep(60)", "went on running"),
        ("os.write(writer(), b'{]\\n')", "no JSON"),
        ("os.write(writer(), b'[' * 100000 + b'\\n')", "no JSON"),
        ("os.write(writer(), b'[]\\n')", "no message"),
        ("os.write(writer(), b'{\"type\": \"done\", \"request\": 9}\\n')", "another request"),
        ("os.write(writer(), b'{\"type\": \"answer\", \"request\": 1, \"dialogue\": 5, \"answer\": {}}\\n')", "not given"),
        ("os.write(writer(), b'{\"type\": \"shrug\", \"request\": 1}\\n')", "unknown message"),
    ],
)
def test_a_worker_that_is_lost_fails_its_dialogue_and_is_replaced(
    begin: Begin, monkeypatch: pytest.MonkeyPatch, death: str, reason: str
) -> None:
    monkeypatch.setattr("overread.foreign.process.GRACE_SECONDS", 0.5)
    model = begin(f"""
        import ctypes, os, sys, time
        def writer():
            return int(sys.argv[sys.argv.index("--pipes") + 2])
        def answer(model, request):
            q = request.questions[0]
            if q.options[0] == "bad":
                yield q.answer(choice=0)
                time.sleep(0.05)
                {death}
            yield request.questions[-1].answer(choice=1)
    """)
    pid, place = worker_pid(model), folder(model)
    first, lost, good = model.answer([posed(question("a", options=("bad",)), question("b")), posed(question("c"))])
    assert (first.status, lost.status, good.choice) == ("answered", "failed", (1,))
    assert reason in lost.reason
    assert worker_pid(model) != pid
    assert gone(pid)
    assert not place.exists()


def test_a_line_without_end_is_cut_off(begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("overread.foreign.lines.Lines.__init__.__defaults__", (1 << 18,))
    model = begin("""
        import os, sys
        def answer(model, request):
            while True:
                os.write(int(sys.argv[sys.argv.index("--pipes") + 2]), b"x" * 4096)
    """)
    assert "longer than" in only(model.answer([posed(question("a"))])).reason


def test_a_hang_that_holds_the_lock_is_told_from_a_slow_model(begin: Begin) -> None:
    model = begin(
        """
        import re, time
        def answer(model, request):
            q = request.questions[0]
            if q.options[0] == "bad":
                re.match("(a?){60}a{60}b", "a" * 60)  # for ages, without letting go of the lock
            time.sleep(1.2)
            return [q.answer(choice=0)]
        """,
        silence_seconds="0.6",
    )
    slow, hung, after = model.answer(
        [posed(question("a")), posed(question("b", options=("bad",))), posed(question("c"))]
    )
    assert (slow.status, hung.status, after.status) == ("answered", "failed", "answered")
    assert "no sign of life for 0.6 s" in hung.reason


def test_a_model_that_is_alive_but_never_answers_is_given_up(begin: Begin) -> None:
    model = begin(
        """
        import time
        def answer(model, request):
            time.sleep(60)
        """,
        answer_seconds="0.5",
    )
    assert "busy for 0.5 s" in only(model.answer([posed(question("a"))])).reason


def test_three_losses_in_a_row_end_the_model_without_telling_the_prompt(begin: Begin) -> None:
    model = begin("""
        import os, sys
        def answer(model, request):
            sys.stderr.write("early\\n" * 100 + "cannot bear " + request.questions[0].text + "\\nfatal: no memory\\n")
            sys.stderr.flush()
            os._exit(3)
    """)
    answers = []
    with pytest.raises(ModelFault, match="lost 3 times in a row") as fault:
        for answer in model.answer([posed(question(name)) for name in "abcde"]):
            answers.append(answer)
    assert [a.question for a in answers] == ["a", "b", "c"]
    told = str(fault.value)
    assert "fatal: no memory" in told
    assert "[withheld]" in told
    assert SECRET not in told
    assert len(fault.value.what) < 700
    with pytest.raises(ModelFault):
        next(model.answer([posed(question("f"))]))


def test_losses_with_answers_between_do_not_end_the_model(begin: Begin) -> None:
    model = begin("""
        import os
        def answer(model, request):
            q = request.questions[0]
            if q.options[0] == "bad":
                os._exit(1)
            return [q.answer(choice=0)]
    """)
    dialogues = [posed(question(str(n), options=("bad", "x") if n % 2 else ("x", "y"))) for n in range(8)]
    assert [a.status for a in model.answer(dialogues)] == ["answered", "failed"] * 4


def test_a_worker_that_died_while_idle_costs_no_reply(begin: Begin) -> None:
    model = begin("""
        def answer(model, request):
            return [request.questions[0].answer(choice=0)]
    """)
    assert only(model.answer([posed(question("a"))])).status == "answered"
    pid = worker_pid(model)
    os.killpg(pid, signal.SIGKILL)
    assert gone(pid)
    assert only(model.answer([posed(question("b"))])).status == "answered"


def test_batches_reach_the_script_together_and_its_errors_all_of_them(begin: Begin) -> None:
    model = begin("""
        BATCH = 3
        def answer_batch(model, requests):
            if len(requests) == 1:
                raise ValueError("alone")
            for request in reversed(requests):
                yield request.questions[0].answer(text=str(len(requests)))
    """)
    answers = list(model.answer([posed(question(name)) for name in "abcd"]))
    assert [(a.question, a.text) for a in answers[:3]] == [("a", "3"), ("b", "3"), ("c", "3")]
    assert "ValueError: alone" in answers[3].reason


def test_images_and_paths_are_handed_over_as_paths(begin: Begin, tmp_path: Path) -> None:
    picture, clip = Media("sheet", "image", "alias://a.png"), Media("clip", "clip", "alias://b.avi")
    (tmp_path / "b.avi").write_text("moving")
    data = {picture: delivered(b"\x89PNG rest", "image", ()), clip: delivered(tmp_path / "b.avi", "path", ())}
    asked = Message("user", "well?", (picture, clip, picture))
    model = begin("""
        def answer(model, request):
            texts = [open(request.media[name], "rb").read().decode("latin-1") for name in request.media]
            names = [request.media[name][-4:] for name in request.media]
            yield request.questions[0].answer(text=repr((texts, names)))
    """)
    dialogue = posed().dialogue
    answer = only(model.answer([Posed(dialogue, (), (Pending(question("a"), 0, asked, 0, 0),), data.__getitem__)]))
    assert answer.text == repr((["\x89PNG rest", "moving"], [".png", ".avi"]))
    assert [(s.media, s.level) for s in answer.seen] == [(picture, "sent"), (clip, "sent")]
    assert list(folder(model).iterdir()) == []


def test_two_media_of_one_name_are_told_apart(begin: Begin) -> None:
    before, after = Media("ecg", "ecg", "alias://1"), Media("ecg", "ecg", "alias://2")
    data = {before: delivered(SIGNAL), after: delivered(SIGNAL + 1)}
    asked = Message("user", "which?", (before, after))
    model = begin("""
        def answer(model, request):
            q = request.questions[0]
            yield q.answer(text=str([float(request.media[n].sum()) for n in q.messages[-1]["media"]]))
    """)
    dialogue = posed().dialogue
    answer = only(model.answer([Posed(dialogue, (), (Pending(question("a"), 0, asked, 0, 0),), data.__getitem__)]))
    assert answer.text == "[276.0, 300.0]"


def test_a_medium_that_cannot_be_read_fails_its_dialogue_only(begin: Begin) -> None:
    def broken(_: Media) -> Delivered:
        raise BadInput("the file is cut short")

    model = begin("""
        def answer(model, request):
            return [request.questions[0].answer(choice=0)]
    """)
    bad, good = model.answer([posed(question("a"), look=broken), posed(question("b"))])
    assert (bad.status, bad.reason, good.status) == ("failed", "the file is cut short", "answered")


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("import nothing_of_that_name", "ModuleNotFoundError"),
        ("def load(options):\n    raise OSError('no weights')", "no weights"),
        ("KINDS = ['guess']", "KINDS must name"),
        ("FORMS = {'xray': 'image'}", "FORMS must give"),
        ("def identity(model):\n    return 3", "identity"),
        ("def identity(model):\n    return {'a': float('nan')}", "greeting"),
        ("answer_batch = answer\nBATCH = 0", "BATCH"),
        ("del load", "does not define load"),
        ("import os; os._exit(4)", "exit code 4"),
        ("this is no Python", "SyntaxError"),
        ("import time; time.sleep(60)", "not loaded within 0.8 s"),
    ],
)
def test_a_script_that_cannot_be_loaded_is_an_error_at_once(begin: Begin, script: str, reason: str) -> None:
    head = PLAIN + "def answer(model, request):\n    return []\n"
    with pytest.raises(BadInput) as error:
        begin(script, head=head, start_seconds="0.8" if "sleep" in script else "20")
    assert reason in str(error.value)
    assert "my_model.py" in error.value.where


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"script": ""}, "cannot be read"),
        ({"script": "absent.py"}, "cannot be read"),
        ({"python": "absent-python"}, "no program"),
        ({"python": "."}, "no program"),
        ({"silence_seconds": "soon"}, "no time"),
        ({"silence_seconds": "-1"}, "no time"),
        ({"weights": "v2"}, "option.weights"),
    ],
)
def test_a_wrong_option_is_named(begin: Begin, options: dict[str, str], reason: str) -> None:
    with pytest.raises(BadInput) as error:
        begin("", **options)
    assert reason in str(error.value)


def test_a_model_without_a_script_is_an_error() -> None:
    with pytest.raises(BadInput, match="needs a script"):
        foreign.load(Setting("foreign"))


def test_identity_follows_the_script_and_its_options_but_not_the_limits(begin: Begin) -> None:
    script = "def answer(model, request):\n    return []\n"
    one = begin(script).identity()
    assert begin(script, silence_seconds="33").identity() == one
    assert begin(script, **{"option.a": "1"}).identity() != one
    assert begin(script + "# changed\n").identity() != one


def test_a_script_that_changes_during_a_run_is_refused(begin: Begin, tmp_path: Path) -> None:
    model = begin("""
        import os
        def answer(model, request):
            os._exit(1)
    """)
    with (tmp_path / "my_model.py").open("a") as file:
        file.write("# changed")
    with pytest.raises(BadInput, match="changed during the run"):
        list(model.answer([posed(question("a")), posed(question("b"))]))


def test_modules_beside_the_script_come_before_ours_and_ours_cannot_be_imported(begin: Begin, tmp_path: Path) -> None:
    (tmp_path / "tables.py").write_text("MINE = True\n")
    model = begin("""
        import tables
        assert tables.MINE
        try:
            import errors
        except ImportError:
            pass
        else:
            raise AssertionError("a module of overread's folder was imported")
        def answer(model, request):
            return [request.questions[0].answer(choice=0)]
    """)
    assert only(model.answer([posed(question("a"))])).choice == (0,)


def test_the_environment_keeps_our_packages_out(begin: Begin, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "ours").mkdir()
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "ours"))
    model = begin("""
        import os, sys
        def answer(model, request):
            parts = [os.environ.get("PYTHONPATH"), os.environ["PYTHONNOUSERSITE"], any("ours" in p for p in sys.path)]
            return [request.questions[0].answer(text=repr(parts))]
    """)
    assert only(model.answer([posed(question("a"))])).text == "[None, '1', False]"


def test_an_interrupted_request_does_not_answer_the_next_one(begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    model = begin("""
        import time
        def answer(model, request):
            q = request.questions[0]
            time.sleep(0.3 if q.options[0] == "slow" else 0)
            return [q.answer(text=q.options[0])]
    """)
    with monkeypatch.context() as patch:
        patch.setattr("overread.foreign.process.Process.receive", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
        with pytest.raises(KeyboardInterrupt):
            list(model.answer([posed(question("a", options=("slow",)))]))
    assert only(model.answer([posed(question("b", options=("quick",)))])).text == "quick"


STARTS_A_CHILD = """
import subprocess, sys
CHILD = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
def answer(model, request):
    import time
    time.sleep(60)
"""


def test_closing_ends_the_worker_and_what_it_started(begin: Begin) -> None:
    model = begin(STARTS_A_CHILD)
    pid, place = worker_pid(model), folder(model)
    model.close()
    assert gone(pid)
    assert not place.exists()


def test_a_model_that_is_let_go_leaves_no_orphan(tmp_path: Path) -> None:
    path = tmp_path / "my_model.py"
    path.write_text(PLAIN + STARTS_A_CHILD)
    model = foreign.load(Setting("foreign", options={"python": sys.executable, "script": str(path)}))
    pid, place = worker_pid(model), folder(model)
    del model
    gc.collect()
    assert gone(pid)
    assert not place.exists()


@pytest.mark.parametrize("hang", ["import time; time.sleep(60)", "import re; re.match('(a?){60}a{60}b', 'a' * 60)"])
def test_a_killed_parent_leaves_neither_worker_nor_media(tmp_path: Path, hang: str) -> None:
    script = tmp_path / "my_model.py"
    script.write_text(PLAIN + STARTS_A_CHILD.replace("import time\n    time.sleep(60)", hang))
    parent = tmp_path / "parent.py"
    parent.write_text(
        textwrap.dedent(f"""
        import runpy
        from overread.models import foreign
        from overread.models.contract import Setting
        tests = runpy.run_path({str(Path(__file__))!r})
        model = foreign.load(Setting("foreign", options={{"script": {str(script)!r}}}))
        print(model._process.pid, model._process.folder, flush=True)
        list(model.answer([tests["posed"](tests["question"]("a"))]))
        """)
    )
    with subprocess.Popen([sys.executable, str(parent)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        pid, place = process.stdout.readline().split()
        until = time.monotonic() + 5
        while not list(Path(place).iterdir()) and time.monotonic() < until:
            time.sleep(0.02)
        assert list(Path(place).iterdir()), "no media were written"
        time.sleep(0.2)
        process.kill()
    assert gone(int(pid))
    until = time.monotonic() + 5
    while Path(place).exists() and time.monotonic() < until:
        time.sleep(0.02)
    assert not Path(place).exists()


def test_the_example_of_the_manual_runs(begin: Begin) -> None:
    manual = Path(__file__).parents[2] / "docs" / "foreign.md"
    example = re.search(r"```python\n(.*?)```", manual.read_text(encoding="utf-8"), re.DOTALL)
    assert example is not None
    model = begin(example[1], head="", **{"option.gain": "2"})
    loud, chosen = model.answer([posed(question("a", "number", ())), posed(question("b"))])
    assert (loud.number, chosen.choice) == (46.0, (0,))
    assert [s.level for s in loud.seen] == ["tensor"]


