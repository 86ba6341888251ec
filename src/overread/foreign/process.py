"""One worker process: its start, its pipes, its end.

The worker leads a process group of its own, so that its end takes along whatever the script has started. It is ended
by `end()`, when this object is collected, or at exit; if this process is killed, the worker's guard sees the pipe
`life` close and does the same, the media's folder included.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import selectors
import shutil
import signal
import subprocess
import tempfile
import time
import weakref
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from overread import worker
from overread.errors import BadInput, ModelFault
from overread.foreign.lament import Lament
from overread.foreign.lines import Lines

CHUNK = 1 << 16
GRACE_SECONDS = 3.0
"""How long a worker may take to end by itself."""
NOT_PASSED_ON = ("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONINSPECT", "__PYVENV_LAUNCHER__")


@dataclasses.dataclass(frozen=True, slots=True)
class Start:
    """What a worker is started with."""

    python: str
    script: Path
    options: str
    """A JSON object."""
    heartbeat: float
    """Seconds between signs of life."""


def environment(parent: Mapping[str, str]) -> dict[str, str]:
    """The worker's environment: the parent's, without what would pull the parent's packages in."""
    kept = {name: value for name, value in parent.items() if name not in NOT_PASSED_ON}
    kept.update(PYTHONNOUSERSITE="1", PYTHONUNBUFFERED="1")
    return kept


def _end(owner: int, popen: subprocess.Popen[bytes], descriptors: Sequence[int], folder: Path) -> None:
    if os.getpid() != owner:
        return  # a fork of the owner is ending: the worker is not its own
    for descriptor in descriptors:
        os.close(descriptor)
    try:
        os.killpg(popen.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        popen.poll()  # macOS says "permission" of a group of which only a zombie is left
    popen.wait()
    shutil.rmtree(folder, ignore_errors=True)


class Process:
    """A running worker; `send` and `receive` raise ModelFault with the reason when it can no longer be talked to."""

    def __init__(self, start: Start) -> None:
        self.lament = Lament()
        self.folder = Path(tempfile.mkdtemp(prefix="overread-foreign-"))
        self._lines = Lines()
        self._ready: deque[dict[str, Any]] = deque()
        theirs_in, self._requests = os.pipe()
        self._answers, theirs_out = os.pipe()
        theirs_life, life = os.pipe()
        self._errors, theirs_err = os.pipe()
        given = (theirs_in, theirs_out, theirs_life)
        ours = (self._requests, self._answers, life, self._errors)
        command = [start.python, worker.__file__, str(start.script), "--options", start.options]
        command += ["--pipes", *map(str, given), "--folder", str(self.folder), "--heartbeat", str(start.heartbeat)]
        try:
            self._popen = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=theirs_err,
                stderr=theirs_err,
                pass_fds=given,
                start_new_session=True,
                env=environment(os.environ),
            )
        except OSError as error:
            for descriptor in ours:
                os.close(descriptor)
            self.folder.rmdir()
            raise BadInput(
                f"the model's Python cannot be started: {error.strerror}",
                where=start.python,
                do="give the interpreter of the model's environment: python=ENVIRONMENT/bin/python",
            ) from error
        finally:
            for descriptor in (*given, theirs_err):
                os.close(descriptor)
        for descriptor in (self._requests, self._answers, self._errors):
            os.set_blocking(descriptor, False)
        self._finish = weakref.finalize(self, _end, os.getpid(), self._popen, ours, self.folder)

    @property
    def pid(self) -> int:
        """The process id, which is also that of its group."""
        return self._popen.pid

    @property
    def alive(self) -> bool:
        """Whether it runs."""
        return self._finish.alive and self._popen.poll() is None

    def send(self, line: bytes, seconds: float) -> None:
        """Hands one line over within so many seconds."""
        rest = memoryview(line)
        until = time.monotonic() + seconds
        while rest:
            if not self._wait(self._requests, selectors.EVENT_WRITE, until - time.monotonic()):
                raise ModelFault(f"took nothing for {seconds:g} s")
            try:
                rest = rest[os.write(self._requests, rest[:CHUNK]) :]
            except BlockingIOError:
                continue
            except OSError as error:
                raise ModelFault(self.how_it_ended()) from error

    def receive(self, seconds: float) -> dict[str, Any] | None:
        """The next message; None when none came within so many seconds."""
        until = time.monotonic() + seconds
        while not self._ready:
            if not self._wait(self._answers, selectors.EVENT_READ, until - time.monotonic()):
                return None
            data = os.read(self._answers, CHUNK)
            if not data:
                raise ModelFault(self.how_it_ended())
            self._ready.extend(self._lines.feed(data))
        return self._ready.popleft()

    def _wait(self, descriptor: int, event: int, seconds: float) -> bool:
        """Whether the descriptor became ready in time; stderr is read meanwhile, so that the worker never blocks."""
        until = time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            selector.register(descriptor, event)
            errors: int | None = self._errors
            selector.register(self._errors, selectors.EVENT_READ)
            while True:
                ready = {key.fd for key, _ in selector.select(max(0.0, until - time.monotonic()))}
                if errors in ready and not self._read_errors():
                    selector.unregister(self._errors)
                    errors = None
                if descriptor in ready:
                    return True
                if time.monotonic() >= until:
                    return False

    def _read_errors(self) -> bool:
        """Reads what stands in stderr; False at its end."""
        try:
            data = os.read(self._errors, CHUNK)
        except BlockingIOError:
            return True
        self.lament.add(data)
        return bool(data)

    def forget_errors(self) -> None:
        """Reads stderr up to now and forgets it."""
        self._drain()
        self.lament.clear()

    def _drain(self) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self._errors, selectors.EVENT_READ)
            for _ in range(64):  # a script that never stops printing must not hold us up
                if not selector.select(0) or not self._read_errors():
                    return

    def how_it_ended(self) -> str:
        """The reason, for a worker whose pipe is closed."""
        try:
            code = self._popen.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            return "closed its pipe but went on running"
        self._drain()
        number = code - 128 if code > 128 else -code
        if number > 0 and number in set(signal.Signals):
            return f"was ended by signal {signal.Signals(number).name}"
        if code == worker.EXIT_CUT_OFF:
            return "lost its pipe: something in the script closed it"
        return f"ended by itself with exit code {code}"

    def say_goodbye(self) -> None:
        """Asks an idle worker to end by itself and gives it a moment, so that its script can let go of its device."""
        try:
            self.send(b'{"type": "goodbye"}\n', GRACE_SECONDS)
            while self.receive(GRACE_SECONDS) is not None:
                pass
        except ModelFault:
            return  # it has ended, which is all that was wanted

    def clear_folder(self) -> None:
        """Removes the media and blobs of the requests so far."""
        for path in self.folder.iterdir():
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()

    def kill(self) -> None:
        """Kills the worker and all that it has started, and nothing else; what waits for it sees its pipe close."""
        if self.alive:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._popen.pid, signal.SIGKILL)

    def end(self) -> None:
        """Kills the worker and all that it has started, and removes its folder; more than once does nothing."""
        self._finish()
