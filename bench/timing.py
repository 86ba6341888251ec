"""How long work takes, told by the process that does it; needs nothing but Python, in any environment."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from typing import Any


def cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def timed(work: Callable[[], Any]) -> dict[str, float]:
    wall, cpu = time.perf_counter(), cpu_seconds()
    work()
    return {"wall": time.perf_counter() - wall, "cpu": cpu_seconds() - cpu}
