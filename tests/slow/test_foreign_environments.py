from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from overread.media.contract import Delivered
from overread.models import foreign
from overread.models.contract import Answer, Message, Pending, Posed, Setting
from overread.models.foreign import Foreign
from overread.tables import Dialogue, Media, Question

pytestmark = pytest.mark.slow

ECG = Media("ecg", "ecg", "alias://one.hea")
SIGNAL = np.linspace(-1, 1, 24, dtype=np.float32).reshape(2, 12)
SCRIPT = """
import numpy as np
KINDS = ["choice"]
FORMS = {"ecg": "signal"}
def load(options):
    return options
def answer(model, request):
    array = request.media["ecg"]
    for q in request.questions:
        seen = [request.fed("ecg", array)]
        yield q.answer(number=float(np.round(array.std(), 4)), seen=seen, usage={"n": array.size})
"""


def posed(*options: str) -> Posed:
    """A dialogue with one question of these options."""
    digest = hashlib.sha256(SIGNAL.tobytes()).hexdigest()[:24]
    question = Question("q", "d", 0, "i", "t", "choice", "well?", "well?", "key", "p", options)
    pending = Pending(question, 0, Message("user", "well?", (ECG,)), 0, 0)
    dialogue = Dialogue("d", "b", "p", "c", "a/1", "i", "plain", "open", (ECG,), ())
    return Posed(dialogue, (), (pending,), lambda _: Delivered("signal", SIGNAL, (0, 12), SIGNAL.shape, digest, {}))


def make_environment(python: str, place: Path, numpy: str) -> str:
    """The interpreter of a new virtual environment with one version of numpy."""
    subprocess.run([python, "-m", "venv", str(place)], check=True)
    inside = str(place / "bin" / "python")
    install = [inside, "-m", "pip", "install", "--quiet", "--only-binary", ":all:", f"numpy=={numpy}"]
    done = subprocess.run(install, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"pip cannot install numpy {numpy} here")
    return inside


def start(python: str, script: Path, **options: str) -> Foreign:
    return foreign.load(Setting("foreign", options={"python": python, "script": str(script), **options}))


def test_conflicting_environments_give_the_same_answer(tmp_path: Path) -> None:
    script = tmp_path / "my_model.py"
    script.write_text(SCRIPT)
    answers: dict[str, Answer] = {}
    identities = []
    for numpy in ("1.26.4", "2.2.6"):
        model = start(make_environment(sys.executable, tmp_path / numpy, numpy), script)
        try:
            assert model.provenance()["numpy"] == numpy
            identities.append(model.identity())
            (answers[numpy],) = model.answer([posed("yes", "no")])
        finally:
            model.close()
    one, other = answers.values()
    assert one.status == "answered"
    assert (one.number, one.seen, one.usage) == (other.number, other.seen, other.usage)
    assert one.seen[0].level == "tensor"
    assert identities[0] == identities[1]


def test_the_oldest_python_that_is_promised_can_run_a_worker(tmp_path: Path) -> None:
    python = shutil.which("python3.8")
    if python is None or subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode:
        pytest.skip("there is no Python 3.8 here")
    script = tmp_path / "my_model.py"
    script.write_text(SCRIPT)
    model = start(make_environment(python, tmp_path / "old", "1.24.4"), script)
    try:
        assert model.provenance()["python"].startswith("3.8.")
        (answer,) = model.answer([posed("yes", "no")])
        assert (answer.status, answer.seen[0].level) == ("answered", "tensor")
    finally:
        model.close()


def test_a_hang_that_holds_the_lock_is_told_from_a_slow_model(tmp_path: Path) -> None:
    script = tmp_path / "my_model.py"
    script.write_text(
        SCRIPT.partition("def answer")[0]
        + textwrap.dedent("""
        import itertools, time
        def answer(model, request):
            q = request.questions[0]
            if q.options[0] == "bad":
                sum(itertools.repeat(1))  # for ever, without letting go of the lock
            time.sleep(4)
            return [q.answer(choice=0)]
        """)
    )
    model = start(sys.executable, script, silence_seconds="2")
    try:
        slow, hung, after = model.answer([posed("fine"), posed("bad"), posed("fine")])
    finally:
        model.close()
    assert (slow.status, hung.status, after.status) == ("answered", "failed", "answered")
    assert "no sign of life for 2 s" in hung.reason


PARENT = """
import runpy, sys
tests = runpy.run_path(sys.argv[1])
model = tests["start"](sys.executable, sys.argv[2])
print(model._process.pid, model._process.folder, flush=True)
list(model.answer([tests["posed"]("yes")]))
"""


def group(pid: int) -> Iterator[str]:
    """The states of the processes of a group, zombies left out."""
    listing = subprocess.run(["ps", "-e", "-o", "pgid=,stat="], capture_output=True, text=True, check=True).stdout
    for line in listing.splitlines():
        leader, state = line.split()
        if leader == str(pid) and state[0] not in "ZX":
            yield state


@pytest.mark.parametrize("hang", ["time.sleep(60)", "sum(itertools.repeat(1))"])
def test_a_killed_parent_leaves_neither_worker_nor_media(tmp_path: Path, hang: str) -> None:
    script = tmp_path / "my_model.py"
    child = "CHILD = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
    script.write_text(
        "import itertools, subprocess, sys, time\n"
        + child
        + SCRIPT.partition("def answer")[0]
        + f"def answer(model, request):\n    open({str(tmp_path / 'asked')!r}, 'w').close()\n    {hang}\n"
    )
    (tmp_path / "parent.py").write_text(PARENT)
    command = [sys.executable, str(tmp_path / "parent.py"), __file__, str(script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid, place = parent.stdout.readline().split()
        wait_for((tmp_path / "asked").exists)
        assert len(list(group(int(pid)))) == 3, "guard, worker and the script's own child"
        assert list(Path(place).iterdir()), "no media were written"
        parent.kill()
    wait_for(lambda: not list(group(int(pid))))
    wait_for(lambda: not Path(place).exists())


def wait_for(condition: Callable[[], bool], seconds: float = 10.0) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not come about"
        time.sleep(0.05)
