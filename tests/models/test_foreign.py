from __future__ import annotations

import contextlib
import gc
import hashlib
import io
import os
import re
import signal
import sys
import textwrap
import threading
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
PUPPET = """
import ctypes, itertools, os, re, sys, textwrap, time
import numpy as np
KINDS = ["choice", "text"]
FORMS = {"ecg": "signal"}
def load(options):
    return options
def writer():
    return int(sys.argv[sys.argv.index("--pipes") + 2])
def answer(model, request):
    q = request.questions[0]
    scope = dict(globals())
    exec("def body(request, q):\\n" + textwrap.indent(q.options[0], "    "), scope)
    return scope["body"](request, q)
"""
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


@pytest.fixture(scope="module")
def puppet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Foreign]:
    """A model whose `answer` is what the first option of a dialogue's first question says; started once."""
    path = tmp_path_factory.mktemp("puppet") / "my_model.py"
    path.write_text(PUPPET)
    model = foreign.load(Setting("foreign", options={"script": str(path), "silence_seconds": "20"}))
    yield model
    model.close()


def told(code: str, *more: Question) -> Posed:
    """A dialogue that tells the puppet what to do: a body for `answer`, in which `q` is its first question."""
    return posed(question("a", options=(textwrap.dedent(code), "no")), *more)


def about(code: str, media: tuple[Media, ...], look: Callable[[Media], Delivered]) -> Posed:
    """The same about other media, under the condition `blank`."""
    asked = Message("user", "well?", media)
    dialogue = Dialogue("d", "b", "p", "c", "a/1", "i", "blank", "open", media, ())
    return Posed(dialogue, (), (Pending(question("a", options=(textwrap.dedent(code),)), 0, asked, 0, 0),), look)


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


def test_a_question_is_told_nothing_that_comes_after_it(puppet: Foreign) -> None:
    code = """
        assert "key of " "b" not in repr(vars(request)) + repr([vars(q) for q in request.questions])
        for q in request.questions:
            yield q.answer(text=" | ".join(m["text"][-8:] for m in q.messages))
    """
    first, second = puppet.answer([told(code, question("b"))])
    assert first.text == "urmur a?"
    assert second.text == "urmur a? | key of a | urmur b?"


def test_address_and_condition_stay_here(puppet: Foreign) -> None:
    hidden = Media("ecg", "ecg", "alias://blanked.hea", change="blank")
    code = "import json\nyield q.answer(text=json.dumps([request._sent, vars(q)]))"
    text = only(puppet.answer([about(code, (hidden,), lambda _: delivered())])).text
    assert text is not None
    assert "well?" in text
    assert "blank" not in text


def test_a_receipt_tells_what_was_fed(puppet: Foreign) -> None:
    fed = "return [q.answer(choice=0, seen=[request.fed('ecg', request.media['ecg']%s)])]"
    whole, part = puppet.answer([told(fed % ", tokens=7"), told(fed % "[:, 4:8] * 2, indices=(4, 8)")])
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
def test_a_receipt_that_shows_a_fault_fails_the_question(puppet: Foreign, seen: str, reason: str) -> None:
    answer = only(puppet.answer([told(f"yield q.answer(choice=0, seen={seen})")]))
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
def test_an_answer_that_cannot_be_used_fails_its_question_only(puppet: Foreign, fields: str, reason: str) -> None:
    code = f"return [q.answer({fields}), request.questions[1].answer(choice=1)]"
    bad, good = puppet.answer([told(code, question("b"))])
    assert (bad.question, bad.status) == ("a", "failed")
    assert reason in bad.reason
    assert (good.status, good.choice) == ("answered", (1,))


def test_numpy_values_vectors_and_refusals_arrive(puppet: Foreign) -> None:
    code = """
        a, b, c, d = request.questions
        yield a.answer(choice=np.int64(1), usage={"tokens": np.int32(5)})
        yield b.answer(option_scores=np.array([0.25, 0.75], dtype=np.float32))
        yield c.answer(blob=np.arange(3, dtype=np.float32))
        yield d.answer(status="refused", text="I would rather not", reason="policy")
    """
    a, b, c, d = puppet.answer([told(code, *map(question, "bcd"))])
    assert (a.choice, dict(a.usage)) == ((1,), {"tokens": 5})
    assert b.option_scores == (0.25, 0.75)
    assert c.blob is not None
    assert np.load(io.BytesIO(c.blob)).tolist() == [0, 1, 2]
    assert (d.status, d.reason) == ("refused", "policy")


def test_ids_of_an_earlier_dialogue_are_not_taken_for_new_ones(puppet: Foreign) -> None:
    fine = only(puppet.answer([told("np.stale = q.id\nreturn [q.answer(choice=0)]")]))
    stray, missed = puppet.answer([told('return [{"question": np.stale, "choice": 1}]')])
    assert (fine.status, missed.question, missed.status) == ("answered", "a", "failed")
    assert "not asked" in missed.reason
    assert stray.question != "a"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("return None", "must return a list"),
        ("return 'yes'", "must return a list"),
        ("return ['yes']", "must be a dict"),
        ("return []", "gave no answer"),
    ],
)
def test_a_script_that_fails_on_one_dialogue_goes_on_with_the_next(puppet: Foreign, body: str, reason: str) -> None:
    pid = worker_pid(puppet)
    bad, good = puppet.answer([told(body), told("return [q.answer(choice=0)]")])
    assert (bad.status, good.status) == ("failed", "answered")
    assert reason in bad.reason
    assert worker_pid(puppet) == pid


def test_an_exception_is_told_with_its_line_but_without_the_prompt(begin: Begin) -> None:
    model = begin("""
        def answer(model, request):
            raise RuntimeError("about " + request.questions[0].text)
    """)
    assert only(model.answer([posed(question("a"))])).reason == (
        "the script raised RuntimeError: about [withheld] (my_model.py:8)"
    )


def test_answers_given_before_a_failure_stand(puppet: Foreign) -> None:
    first, second = puppet.answer([told("yield q.answer(choice=0)\nraise ValueError('second')", question("b"))])
    assert (first.status, second.status) == ("answered", "failed")
    assert "ValueError: second" in second.reason


def test_printing_is_harmless_also_from_c(puppet: Foreign) -> None:
    code = """
        print("not json")
        os.write(1, b'{"type": "done", "request": 1}\\n')
        os.system("echo from a program")
        for _ in range(300):
            os.write(2, b"x" * 1000)
        return [q.answer(choice=0)]
    """
    assert only(puppet.answer([told(code)])).choice == (0,)


@pytest.mark.parametrize(
    ("death", "reason"),
    [
        ("os._exit(3)", "exit code 3"),
        ("os.kill(os.getpid(), 9)", "SIGKILL"),
        ("ctypes.string_at(0)", "SIGSEGV"),
        ("os.closerange(3, 200)", "lost its pipe"),
        ("os.closerange(3, 200); time.sleep(60)", "went on running"),
        ("os.write(writer(), b'{]\\n')", "no JSON"),
    ],
)
def test_a_worker_that_is_lost_fails_its_dialogue_and_is_replaced(
    puppet: Foreign, monkeypatch: pytest.MonkeyPatch, death: str, reason: str
) -> None:
    monkeypatch.setattr("overread.foreign.process.GRACE_SECONDS", 0.5)
    pid, place = worker_pid(puppet), folder(puppet)
    code = f"yield q.answer(choice=0)\ntime.sleep(0.05)\n{death}\nyield request.questions[1].answer(choice=1)"
    first, lost, good = puppet.answer([told(code, question("b")), told("return [q.answer(choice=1)]")])
    assert (first.status, lost.status, good.choice) == ("answered", "failed", (1,))
    assert reason in lost.reason
    assert worker_pid(puppet) != pid
    assert gone(pid)
    assert not place.exists()


def test_a_line_without_end_is_cut_off(puppet: Foreign) -> None:
    answer = only(puppet.answer([told("while True:\n    os.write(writer(), b'x' * 65536)")]))
    assert "longer than" in answer.reason


def test_a_hang_that_holds_the_lock_is_noticed(begin: Begin) -> None:
    model = begin(
        """
        import itertools
        def answer(model, request):
            sum(itertools.repeat(1))  # for ever, without letting go of the lock
        """,
        silence_seconds="0.5",
    )
    assert "no sign of life for 0.5 s" in only(model.answer([posed(question("a"))])).reason


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
    dialogues = [posed(question(str(n), options=("bad", "x") if n % 2 else ("x", "y"))) for n in range(7)]
    assert [a.status for a in model.answer(dialogues)] == ["answered", "failed"] * 3 + ["answered"]


def test_a_worker_that_died_while_idle_costs_no_reply(puppet: Foreign) -> None:
    assert only(puppet.answer([told("return [q.answer(choice=0)]")])).status == "answered"
    pid = worker_pid(puppet)
    os.killpg(pid, signal.SIGKILL)
    assert gone(pid)
    assert only(puppet.answer([told("return [q.answer(choice=0)]")])).status == "answered"


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
    assert [(a.question, a.text) for a in answers[:3]] == [("c", "3"), ("b", "3"), ("a", "3")]
    assert "ValueError: alone" in answers[3].reason


def test_images_and_paths_are_handed_over_as_paths(puppet: Foreign, tmp_path: Path) -> None:
    picture, clip = Media("sheet", "image", "alias://a.png"), Media("clip", "clip", "alias://b.avi")
    (tmp_path / "b.avi").write_text("moving")
    data = {picture: delivered(b"\x89PNG rest", "image", ()), clip: delivered(tmp_path / "b.avi", "path", ())}
    code = """
        texts = [open(request.media[name], "rb").read().decode("latin-1") for name in request.media]
        yield q.answer(text=repr((texts, [request.media[name][-4:] for name in request.media])))
    """
    answer = only(puppet.answer([about(code, (picture, clip, picture), data.__getitem__)]))
    assert answer.text == repr((["\x89PNG rest", "moving"], [".png", ".avi"]))
    assert [(s.media, s.level) for s in answer.seen] == [(picture, "sent"), (clip, "sent")]
    assert list(folder(puppet).iterdir()) == []


def test_two_media_of_one_name_are_told_apart(puppet: Foreign) -> None:
    before, after = Media("ecg", "ecg", "alias://1"), Media("ecg", "ecg", "alias://2")
    data = {before: delivered(SIGNAL), after: delivered(SIGNAL + 1)}
    code = 'yield q.answer(text=str([float(request.media[n].sum()) for n in q.messages[-1]["media"]]))'
    answer = only(puppet.answer([about(code, (before, after), data.__getitem__)]))
    assert answer.text == "[276.0, 300.0]"


def test_a_medium_that_cannot_be_read_fails_its_dialogue_only(puppet: Foreign) -> None:
    def broken(_: Media) -> Delivered:
        raise BadInput("the file is cut short")

    bad, good = puppet.answer([posed(question("a"), look=broken), told("return [q.answer(choice=0)]")])
    assert (bad.status, bad.reason, good.status) == ("failed", "the file is cut short", "answered")


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("import nothing_of_that_name", "ModuleNotFoundError"),
        ("def load(options):\n    raise OSError('no weights')", "no weights"),
        ("def identity(model):\n    return {'a': float('nan')}", "greeting"),
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


@pytest.mark.parametrize(
    ("options", "reason"),
    [({}, "needs a script"), ({"script": ""}, "cannot be read"), ({"script": "absent.py"}, "cannot be read")],
)
def test_a_model_without_its_script_is_an_error(options: dict[str, str], reason: str) -> None:
    with pytest.raises(BadInput, match=reason):
        foreign.load(Setting("foreign", options=options))


def test_identity_follows_the_script_and_its_options_but_not_the_limits(begin: Begin) -> None:
    script = "def answer(model, request):\n    return []\n"
    one = begin(script).identity()
    assert begin(script, silence_seconds="33").identity() == one
    other = begin(script + "# changed\n", **{"option.a": "1"}).identity()
    assert {key for key in one if one[key] != other[key]} == {"script", "options"}


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


def test_a_reader_who_leaves_early_gets_a_worker_in_step_next_time(puppet: Foreign) -> None:
    reading = puppet.answer(
        [told("yield q.answer(choice=0)\nyield request.questions[1].answer(choice=0)", question("b"))]
    )
    assert next(reading).question == "a"
    reading.close()  # type: ignore[attr-defined]
    assert only(puppet.answer([told("return [q.answer(choice=1)]")])).choice == (1,)


def test_a_model_closed_by_another_thread_fails_at_once_and_ends_its_worker(begin: Begin) -> None:
    model = begin("""
        import time
        def answer(model, request):
            yield request.questions[0].answer(choice=0)
            time.sleep(60)
    """)
    pid = worker_pid(model)
    answers = model.answer([posed(question("a"), question("b")), posed(question("c"))])
    assert next(answers).status == "answered"
    threading.Timer(0.2, model.close).start()
    assert "SIGKILL" in next(answers).reason
    with pytest.raises(ModelFault, match="closed while"):
        next(answers)
    assert gone(pid)


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


def test_the_example_of_the_manual_runs(begin: Begin) -> None:
    manual = Path(__file__).parents[2] / "docs" / "foreign.md"
    example = re.search(r"```python\n(.*?)```", manual.read_text(encoding="utf-8"), re.DOTALL)
    assert example is not None
    model = begin(example[1], head="", **{"option.gain": "2"})
    loud, chosen = model.answer([posed(question("a", "number", ())), posed(question("b"))])
    assert (loud.number, chosen.choice) == (46.0, (0,))
    assert [s.level for s in loud.seen] == ["tensor"]
