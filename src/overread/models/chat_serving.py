"""A server of this machine that is started for a run, watched until it answers, and ended with the run."""

from __future__ import annotations

import os
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import weakref
from typing import IO
from urllib.parse import urlsplit

from overread.errors import BadInput
from overread.models import chat_guard

POLL_SECONDS = 0.25
LAST_CHARACTERS = 1500
"""So much of what the server wrote is shown where it does not start."""


class Server:
    """A running server; ended by `close()`, when this object is collected, at exit, or when this process is killed."""

    def __init__(self, command: str, url: str) -> None:
        """`{port}` in the command and the address is a free port."""
        self.port = _free_port()
        self.url = url.replace("{port}", str(self.port))
        words = [word.replace("{port}", str(self.port)) for word in shlex.split(command)]
        if not words or shutil.which(words[0]) is None:
            raise BadInput(
                "the command that `serve` names cannot be run", where=words[0] if words else "serve=", do="install it"
            )
        self._log = tempfile.TemporaryFile()  # noqa: SIM115  without a name, so that nothing is left behind by a kill
        self._guard = subprocess.Popen(
            [sys.executable, chat_guard.__file__, *words],
            stdin=subprocess.PIPE,
            stdout=self._log,
            stderr=self._log,
            start_new_session=True,
        )
        self._finish = weakref.finalize(self, _end, os.getpid(), self._guard, self._log)

    def wait(self, seconds: float) -> None:
        """Returns when the server says that it is ready; BadInput where it ends or does not within its time."""
        until = time.monotonic() + seconds
        while not any(map(_answers, self._signs())):
            code = self._guard.poll()
            late = time.monotonic() > until
            if code is not None or late:
                wrote = self._last_words()
                self.close()
                why = f"does not answer within {seconds:g} s" if late else f"ended with code {code}"
                raise BadInput(f"the server that `serve` started {why}: {wrote}", where=self.url, do="mend the command")
            time.sleep(POLL_SECONDS)

    def _last_words(self) -> str:
        """The end of what the server wrote; read beside the place where it goes on writing."""
        size = os.fstat(self._log.fileno()).st_size
        end = os.pread(self._log.fileno(), 4 * LAST_CHARACTERS, max(0, size - 4 * LAST_CHARACTERS))
        return end.decode(errors="replace")[-LAST_CHARACTERS:].strip()

    def _signs(self) -> tuple[str, str]:
        """Where servers tell that they are ready: most list their models, some say only whether they are well."""
        parts = urlsplit(self.url)
        return f"{self.url.rstrip('/')}/models", f"{parts.scheme}://{parts.netloc}/health"

    def close(self) -> None:
        """Ends it; doing so twice does no harm."""
        self._finish()


def _end(owner: int, guard: subprocess.Popen[bytes], log: IO[bytes]) -> None:
    if os.getpid() != owner:
        return  # a fork of the owner is ending: the server is not its own
    if guard.stdin is not None:
        guard.stdin.close()  # the guard sees it, and ends the server and all that it has started
    guard.wait()
    log.close()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def _answers(url: str) -> bool:
    """Whether something at an address answers as a server that is ready; proxies are not asked."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=5) as reply:
            return bool(reply.status == 200)
    except urllib.error.HTTPError as error:
        return error.code in (401, 403)  # it is there, and wants the key that only the client knows
    except OSError:
        return False
