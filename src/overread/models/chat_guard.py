"""Runs a server and ends it, with all that it has started, as soon as standard input closes: also when its owner is
killed. Started by `chat_serving.py` as a program of its own: python chat_guard.py COMMAND..."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading

GRACE_SECONDS = 10.0


def main(words: list[str]) -> int:
    """Runs the command until it ends by itself or its owner is gone; returns its exit code."""
    server = subprocess.Popen(words, stdin=subprocess.DEVNULL, start_new_session=True)
    threading.Thread(target=_watch, args=(server.pid,), daemon=True).start()
    code = server.wait()
    _signal(server.pid, signal.SIGKILL)
    return code


def _watch(group: int) -> None:
    while os.read(0, 1 << 12):
        continue
    _signal(group, signal.SIGTERM)
    threading.Event().wait(GRACE_SECONDS)
    _signal(group, signal.SIGKILL)


def _signal(group: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
