"""Runs a model inside a foreign environment: Python 3.8 or later, numpy, and nothing of overread.

`overread.models.foreign` starts it as

    PYTHON worker.py SCRIPT.py --options JSON --pipes REQUESTS ANSWERS LIFE --folder FOLDER --heartbeat SECONDS

By hand, without --pipes, it loads the script, prints its greeting and ends. docs/foreign.md has the protocol.

Two processes: the first imports nothing heavy and guards; the second, forked from it, runs the script. Whatever the
script does (a crash, a hang in C), the guard still sees the end of the parent and then removes the media and the rest.
"""

from __future__ import annotations

import argparse
import faulthandler
import hashlib
import json
import os
import select
import shutil
import signal
import sys
import threading
import time
import traceback
import types
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, Iterator, Mapping  # noqa: UP035 (Python 3.8)

PROTOCOL = 1
MAX_LINE = 16 * 1024 * 1024
"""Bytes of one message, both ways; larger things travel as files."""
MAX_TRACEBACK = 8000
EXIT_FAILED, EXIT_CUT_OFF = 1, 70

Fields = Dict[str, Any]  # noqa: UP006 (evaluated, so as Python 3.8 writes it)


class Channel:
    """JSON lines over two pipes to which nothing else writes."""

    def __init__(self, requests: int, answers: int) -> None:
        self._requests = os.fdopen(requests, "rb")
        self._answers = answers
        self._lock = threading.Lock()

    def send(self, message: Fields) -> None:
        """Writes one line; a parent that cannot be reached ends the process, as nobody else would."""
        data = json.dumps(message, allow_nan=False).encode("ascii") + b"\n"
        if len(data) > MAX_LINE:
            raise ValueError(f"the message is longer than {MAX_LINE} bytes; hand large things over as a blob")
        with self._lock:
            rest = memoryview(data)
            try:
                while rest:
                    rest = rest[os.write(self._answers, rest) :]
            except OSError as error:
                os.write(2, f"the worker lost its pipe: {error}\n".encode())
                os._exit(EXIT_CUT_OFF)

    def messages(self) -> Iterator[Fields]:
        """The parent's messages, until it closes the pipe."""
        for line in self._requests:
            yield json.loads(line)


class Heart:
    """Tells the parent, while a request is being worked on, that this Python still turns over."""

    def __init__(self, channel: Channel, seconds: float) -> None:
        self._channel = channel
        self._seconds = seconds
        self._busy: tuple[int, float] | None = None
        threading.Thread(target=self._beat, daemon=True).start()

    def busy(self, request: int | None) -> None:
        """Beats for this request from now on; None: rests."""
        self._busy = None if request is None else (request, time.monotonic())

    def _beat(self) -> None:
        while True:
            time.sleep(self._seconds)
            busy = self._busy
            if busy is not None:
                seconds = round(time.monotonic() - busy[1], 3)
                self._channel.send({"type": "alive", "request": busy[0], "busy_seconds": seconds})


class Question:
    """One question to be answered: what the protocol says of it, and its whole prompt."""

    def __init__(self, sent: Fields, script: list[Fields]) -> None:
        self.id: str = sent["id"]
        self.kind: str = sent["kind"]
        self.options: list[str] = sent["options"]
        self.many: bool = sent["many"]
        self.low: float | None = sent["low"]
        self.high: float | None = sent["high"]
        self.whole: bool = sent["whole"]
        self.unit: str = sent["unit"]
        self.seed: int = sent["seed"]
        self.sample: int = sent["sample"]
        self.text: str = sent["asked"]["text"]
        self.messages: list[Fields] = [*script[: sent["upto"]], sent["asked"]]
        """`{"role", "text", "media": [names]}`, the last one asks; nothing after it may reach the model."""

    def answer(self, **fields: Any) -> Fields:
        """An answer to this question: `question.answer(text="...")`."""
        return dict(fields, question=self.id)


class Arrays(Mapping[str, Any]):
    """The media by name, each read at its first use: numpy arrays, or paths as text."""

    def __init__(self, media: Mapping[str, Fields], folder: Path) -> None:
        self._media = media
        self._folder = folder
        self._read: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._read:
            entry = self._media[name]
            if entry["path"] is not None:
                self._read[name] = entry["path"]
            elif entry["array"]:
                import numpy as np

                self._read[name] = np.load(str(self._folder / entry["file"]), allow_pickle=False)
            else:
                self._read[name] = str(self._folder / entry["file"])
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._media)

    def __len__(self) -> int:
        return len(self._media)


class Request:
    """A dialogue as the script gets it."""

    def __init__(self, sent: Fields, folder: Path) -> None:
        self._sent: dict[str, Fields] = sent["media"]
        self.questions: list[Question] = [Question(q, sent["script"]) for q in sent["questions"]]
        self.media = Arrays(self._sent, folder)
        self.facts: dict[str, Fields] = {name: m["facts"] for name, m in self._sent.items()}
        self.forms: dict[str, str] = {name: m["form"] for name, m in self._sent.items()}
        self.indices: dict[str, list[int]] = {name: m["indices"] for name, m in self._sent.items()}

    def fed(self, name: str, array: Any, indices: Iterable[int] | None = None, tokens: int | None = None) -> Fields:
        """The receipt of a medium, for an answer's `seen`, from the very array that entered the network.

        `indices`: the native positions in it (`request.indices[name]` or some of them); may be left out only where
        the array is the delivered one, unchanged. `tokens`: how many media tokens it became.
        """
        import numpy as np

        held = np.ascontiguousarray(array)
        digest = hashlib.sha256(held.tobytes()).hexdigest()[:24]
        if indices is None:
            if digest != self._sent[name]["hash"]:
                raise ValueError(f"fed({name!r}) got another array than was delivered: say which indices are in it")
            indices = self.indices[name]
        places = [int(i) for i in indices]
        shape = [int(n) for n in held.shape]
        return {"media": name, "shape": shape, "hash": digest, "indices": places, "tokens": tokens}


def load_script(path: str) -> Any:
    """The user's script as a module, as if it had been run from its own folder."""
    module: Any = types.ModuleType("overread_script")
    module.__file__ = path
    sys.modules[module.__name__] = module
    # Not through importlib: that may run an older compiled copy, and the parent's identity hashes these bytes.
    exec(compile(Path(path).read_bytes(), path, "exec"), module.__dict__)
    missing = [name for name in ("KINDS", "FORMS", "load") if not hasattr(module, name)]
    if not hasattr(module, "answer") and not hasattr(module, "answer_batch"):
        missing.append("answer")
    if missing:
        raise ImportError("the script does not define " + ", ".join(missing))
    return module


def greeting(script: Any, model: Any) -> Fields:
    """What the parent has to know before it asks."""
    import numpy as np

    batch = getattr(script, "BATCH", 1) if hasattr(script, "answer_batch") else 1
    return {
        "type": "hello",
        "protocol": PROTOCOL,
        "python": ".".join(map(str, sys.version_info[:3])),
        "numpy": np.__version__,
        "kinds": list(script.KINDS),
        "forms": dict(script.FORMS),
        "identity": script.identity(model) if hasattr(script, "identity") else {},
        "batch": batch,
    }


def plain(value: Any) -> Any:
    """numpy scalars and arrays as Python's own, all else as it is."""
    import numpy as np

    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    return value


def trouble(error: BaseException) -> Fields:
    """An exception as the protocol tells it."""
    lines = traceback.format_exception(type(error), error, error.__traceback__)
    summary = traceback.format_exception_only(type(error), error)[-1].strip()
    frames = traceback.extract_tb(error.__traceback__)
    at = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return {"error": summary[:MAX_TRACEBACK], "at": at, "traceback": "".join(lines)[-MAX_TRACEBACK:]}


class Service:
    """Answers requests with the loaded script."""

    def __init__(self, script: Any, model: Any, channel: Channel, folder: Path) -> None:
        self._script = script
        self._model = model
        self._channel = channel
        self._folder = folder
        self._blobs = 0

    def ask(self, message: Fields) -> None:
        """Sends answers and errors of one request as they come, then `done`."""
        number = message["request"]
        requests = [Request(sent, self._folder) for sent in message["dialogues"]]
        if hasattr(self._script, "answer_batch"):
            self._answers(number, None, self._script.answer_batch, requests)
        else:
            for place, request in enumerate(requests):
                self._answers(number, place, self._script.answer, request)
        self._channel.send({"type": "done", "request": number})

    def _answers(self, number: int, place: int | None, answer: Callable[..., Any], asked: Any) -> None:
        about = {"request": number, "dialogue": place}
        try:
            answers = answer(self._model, asked)
            if answers is None or isinstance(answers, (dict, str, bytes)) or not hasattr(answers, "__iter__"):
                raise TypeError(f"answer() must return a list of dicts, or yield them; it gave {type(answers)}")
            for given in answers:
                self._channel.send(dict(about, type="answer", answer=self._packed(given)))
        except BaseException as error:  # noqa: BLE001 (the script is foreign: whatever it raises is told to the parent)
            self._channel.send(dict(about, type="error", **trouble(error)))

    def _packed(self, given: Any) -> Fields:
        if not isinstance(given, dict):
            raise TypeError(f"an answer must be a dict, not {type(given)}")
        packed: Fields = dict(given)
        if packed.get("blob") is not None:
            packed["blob"] = self._side_file(packed["blob"])
        packed = plain(packed)
        try:
            size = len(json.dumps(packed, allow_nan=False))
        except (TypeError, ValueError) as error:
            reason = f"the answer is not plain JSON (NaN, infinity or an object in it?): {error}"
            return {"question": packed.get("question"), "status": "failed", "reason": reason[:500]}
        if size > MAX_LINE // 2:
            reason = f"the answer is longer than {MAX_LINE // 2} bytes; hand large things over as a blob"
            return {"question": packed.get("question"), "status": "failed", "reason": reason}
        return packed

    def _side_file(self, blob: Any) -> Fields:
        import numpy as np

        self._blobs += 1
        name = f"blob-{self._blobs}"
        with (self._folder / name).open("wb") as file:
            if isinstance(blob, (bytes, bytearray)):
                file.write(blob)
            else:
                np.save(file, np.asarray(blob), allow_pickle=False)
        data = (self._folder / name).read_bytes()
        return {"file": name, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def serve(settings: argparse.Namespace) -> int:
    """Loads the script, greets, and answers until the parent says goodbye; gives the exit code."""
    requests, answers, _ = settings.pipes
    # Libraries print, some of them from C: descriptor 1 becomes stderr, and programs the script starts get no pipe.
    os.dup2(2, 1)
    os.set_inheritable(requests, False)
    os.set_inheritable(answers, False)
    channel = Channel(requests, answers)
    stage = "import"
    try:
        script = load_script(settings.script)
        stage = "load"
        model = script.load(json.loads(settings.options))
        stage = "greeting"
        channel.send(greeting(script, model))
    except BaseException as error:  # noqa: BLE001 (as above: told to the parent, which ends)
        channel.send(dict(trouble(error), type="failed", stage=stage))
        return EXIT_FAILED
    heart = Heart(channel, settings.heartbeat)
    service = Service(script, model, channel, Path(settings.folder))
    for message in channel.messages():
        if message["type"] == "goodbye":
            channel.send({"type": "bye"})
            break
        heart.busy(message["request"])
        service.ask(message)
        heart.busy(None)
    return 0


def guard(child: int, life: int, wake: int, folder: str) -> int:
    """Waits for the worker's end or the parent's; gives the exit code, 128 + n for an end by signal n."""
    while True:
        ready = select.select([life, wake], [], [])[0]
        if life in ready:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            shutil.rmtree(folder, ignore_errors=True)
            os.killpg(0, signal.SIGKILL)  # whatever the script has started, and this process
        os.read(wake, 1024)
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def run_guarded(settings: argparse.Namespace) -> int:
    """Forks the worker and guards it."""
    requests, answers, life = settings.pipes
    wake, waker = os.pipe()
    os.set_blocking(waker, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(waker)
    child = os.fork()
    if child == 0:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for descriptor in (life, wake, waker):
            os.close(descriptor)
        faulthandler.enable()
        code = serve(settings)
        sys.stderr.flush()
        os._exit(code)  # the script's threads and exit handlers must not hold up the end
    os.close(requests)
    os.close(answers)
    return guard(child, life, wake, settings.folder)


def try_by_hand(settings: argparse.Namespace) -> int:
    """Loads the script and prints its greeting."""
    script = load_script(settings.script)
    hello = greeting(script, script.load(json.loads(settings.options)))
    sys.stdout.write(json.dumps(hello, indent=2, allow_nan=False) + "\n")
    return 0


def main(arguments: list[str]) -> int:
    """Entry point; see the head of this file."""
    parser = argparse.ArgumentParser(description="Runs a model script for overread.")
    parser.add_argument("script")
    parser.add_argument("--options", default="{}", help="a JSON object, handed to load()")
    parser.add_argument("--pipes", type=int, nargs=3, metavar=("REQUESTS", "ANSWERS", "LIFE"))
    parser.add_argument("--folder", help="where media and blobs are exchanged")
    parser.add_argument("--heartbeat", type=float, default=5.0, help="seconds between signs of life")
    settings = parser.parse_args(arguments)
    # This file's own folder would shadow modules such as `media` and `models` that the script may bring itself.
    own = str(Path(__file__).resolve().parent)
    sys.path[:] = [p for p in sys.path if not p or str(Path(p).resolve()) != own]
    sys.path.insert(0, str(Path(settings.script).resolve().parent))
    return try_by_hand(settings) if settings.pipes is None else run_guarded(settings)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
