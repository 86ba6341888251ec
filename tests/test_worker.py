from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from overread import worker
from overread.worker import Arrays, Request

FILE = Path(worker.__file__)


def sent(**media: dict[str, Any]) -> dict[str, Any]:
    entry = {"form": "signal", "array": True, "path": None, "indices": [0, 4], "shape": [4], "hash": "", "facts": {}}
    return {"script": [], "questions": [], "media": {name: {**entry, **given} for name, given in media.items()}}


def test_it_is_written_for_python_3_8() -> None:
    tree = ast.parse(FILE.read_text(encoding="utf-8"), feature_version=(3, 8))
    newer = [node for node in ast.walk(tree) if type(node).__name__ in ("Match", "TryStar")]
    assert newer == []


def test_it_needs_only_the_standard_library_and_numpy() -> None:
    tree = ast.parse(FILE.read_text(encoding="utf-8"))
    imported: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            imported.add((node.module or "").partition(".")[0])
    assert imported - set(sys.stdlib_module_names) == {"numpy"}


def test_no_module_beside_it_hides_one_of_the_standard_library() -> None:
    # Started as a program, Python puts its folder first until main() takes it out.
    beside = {path.stem for path in FILE.parent.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert beside & set(sys.stdlib_module_names) <= {"__init__"}


def test_by_hand_it_prints_the_greeting(tmp_path: Path) -> None:
    script = tmp_path / "mine.py"
    script.write_text(
        "KINDS = ('text',)\nFORMS = {}\n"
        "def load(options):\n    return options\n"
        "def identity(model):\n    return model\n"
        "def answer_batch(model, requests):\n    return []\n"
    )
    command = [sys.executable, str(FILE), str(script), "--options", '{"a": "1"}']
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == {
        "type": "hello",
        "protocol": 1,
        "python": sys.version.split()[0],
        "numpy": np.__version__,
        "kinds": ["text"],
        "forms": {},
        "identity": {"a": "1"},
        "batch": 1,
    }


def test_a_stray_file_without_the_needed_names_says_so(tmp_path: Path) -> None:
    script = tmp_path / "mine.py"
    script.write_text("KINDS = ()\n")
    with pytest.raises(ImportError, match="does not define FORMS, load, answer"):
        worker.load_script(str(script))
    del sys.modules["overread_script"]


def test_arrays_are_read_once_and_never_unpickled(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.arange(4))
    np.save(tmp_path / "evil.npy", np.array([object()], dtype=object), allow_pickle=True)
    arrays = Arrays(sent(a={"file": "a.npy"}, evil={"file": "evil.npy"})["media"], tmp_path)
    assert list(arrays) == ["a", "evil"]
    assert arrays["a"] is arrays["a"]
    with pytest.raises(ValueError, match="allow_pickle"):
        arrays["evil"]


def test_a_receipt_of_a_changed_array_needs_its_positions(tmp_path: Path) -> None:
    given = np.arange(4, dtype=np.float32)
    np.save(tmp_path / "a.npy", given)
    unchanged = Request(sent(a={"file": "a.npy"}), tmp_path).fed("a", given, indices=[0, 4])
    request = Request(sent(a={"file": "a.npy", "hash": unchanged["hash"]}), tmp_path)
    assert request.fed("a", request.media["a"]) == unchanged
    with pytest.raises(ValueError, match="say which indices"):
        request.fed("a", given[:2])
    assert request.fed("a", given[::2], indices=np.array([0, 3])) == {
        "media": "a",
        "shape": [2],
        "hash": Request(sent(a={}), tmp_path).fed("a", given[::2].copy(), indices=[])["hash"],
        "indices": [0, 3],
        "tokens": None,
    }


def test_a_parent_that_is_gone_ends_the_worker() -> None:
    code = (
        "import os, sys\nsys.path.insert(0, sys.argv[1])\nimport worker\n"
        "requests, answers = os.pipe(), os.pipe()\nos.close(answers[0])\n"
        "worker.Channel(requests[0], answers[1]).send({'type': 'alive'})\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(FILE.parent)], capture_output=True, text=True, check=False)
    assert done.returncode == worker.EXIT_CUT_OFF
    assert "lost its pipe" in done.stderr


def test_a_message_that_is_too_long_is_refused_before_it_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "MAX_LINE", 20)
    reading, writing = os.pipe()
    requests, unused = os.pipe()
    channel = worker.Channel(requests, writing)
    with pytest.raises(ValueError, match="longer than 20 bytes"):
        channel.send({"type": "x" * 20})
    channel.send({"type": "x"})
    assert os.read(reading, 100) == b'{"type": "x"}\n'
    channel._requests.close()
    for descriptor in (reading, writing, unused):
        os.close(descriptor)


def test_numpy_values_become_plain_ones() -> None:
    given = {"a": np.float32(0.5), "b": [np.int64(1), (np.bool_(True),)], "c": np.arange(2), "d": "x"}
    assert json.dumps(worker.plain(given)) == '{"a": 0.5, "b": [1, [true]], "c": [0, 1], "d": "x"}'


def test_it_keeps_its_pipe_to_itself_and_leaves_when_told_to(tmp_path: Path) -> None:
    script = tmp_path / "mine.py"
    script.write_text(
        "import os\nprint('hello')\nKINDS = ('text',)\nFORMS = {}\n"
        "def load(options):\n    os.write(1, b'from C')\n"
        "def answer(model, request):\n    return []\n"
    )
    theirs_in, requests = os.pipe()
    answers, theirs_out = os.pipe()
    theirs_life, life = os.pipe()
    given = (theirs_in, theirs_out, theirs_life)
    os.write(requests, b'{"type": "goodbye"}\n')
    done = subprocess.run(
        [sys.executable, str(FILE), str(script), "--pipes", *map(str, given), "--folder", str(tmp_path / "none")],
        pass_fds=given,
        capture_output=True,
        check=True,
        start_new_session=True,
    )
    for descriptor in given:
        os.close(descriptor)
    told = [json.loads(line)["type"] for line in os.read(answers, 10_000).splitlines()]
    for descriptor in (requests, answers, life):
        os.close(descriptor)
    assert told == ["hello", "bye"]
    assert done.stdout == b""
    assert b"from C" in done.stderr
