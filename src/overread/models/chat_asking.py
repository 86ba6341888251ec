"""Many questions at once: an event loop in a thread of its own, which lives as long as its model."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator
from typing import Any

from overread.models.contract import Answer, Pending, Posed

One = Callable[[Posed, Pending], Awaitable[Answer]]


class Loop:
    """The event loop."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="overread-chat", daemon=True)
        self._thread.start()

    def answers(self, dialogues: Iterable[Posed], one: One, together: int) -> Iterator[Answer]:
        """The answers to all questions of some dialogues as they come, at most `together` being asked at once.

        When one raises, those that are under way still come before it is raised, and no others are asked.
        """
        said: queue.SimpleQueue[Answer | None] = queue.SimpleQueue()
        work = _all([(posed, pending) for posed in dialogues for pending in posed.questions], one, together, said.put)
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        future.add_done_callback(lambda _: said.put(None))
        try:
            while (answer := said.get()) is not None:
                yield answer
            future.result()
        finally:
            future.cancel()

    def close(self, last: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Gives up what is under way, does something last, and ends."""
        asyncio.run_coroutine_threadsafe(_end(last), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _end(last: Callable[[], Coroutine[Any, Any, None]]) -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await last()


async def _all(
    work: list[tuple[Posed, Pending]], one: One, together: int, tell: Callable[[Answer | None], None]
) -> None:
    left = iter(work)
    wrong: list[BaseException] = []

    async def ask_on() -> None:
        for posed, pending in left:
            try:
                tell(await one(posed, pending))
            except Exception as error:  # noqa: BLE001  raised below, once those under way have come
                wrong.append(error)
            if wrong:
                return

    await asyncio.gather(*(ask_on() for _ in range(min(together, len(work)))))
    if wrong:
        raise wrong[0]
