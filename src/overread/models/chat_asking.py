"""Many questions at once: an event loop in a thread of its own, which lives as long as its model."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator
from typing import Any

from overread.models.contract import Answer, Pending, Posed

HELD_SECONDS = 0.05
"""So long an answer waits for others to be handed over with."""

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
        said: queue.SimpleQueue[list[Answer] | None] = queue.SimpleQueue()
        post = _Post(self._loop, said.put)
        work = _all([(posed, pending) for posed in dialogues for pending in posed.questions], one, together, post.add)
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        future.add_done_callback(lambda _: post.close())
        try:
            while (answers := said.get()) is not None:
                yield from answers
            future.result()
        finally:
            future.cancel()

    def close(self, last: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Gives up what is under way, does something last, and ends."""
        asyncio.run_coroutine_threadsafe(_end(last), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class _Post:
    """Hands answers over in handfuls: to wake another thread for each of thousands would cost more than the asking."""

    def __init__(self, loop: asyncio.AbstractEventLoop, tell: Callable[[list[Answer] | None], None]) -> None:
        self._loop = loop
        self._tell = tell
        self._come: list[Answer] = []

    def add(self, answer: Answer) -> None:
        """An answer has come."""
        if not self._come:
            self._loop.call_later(HELD_SECONDS, self._hand_over)
        self._come.append(answer)

    def _hand_over(self) -> None:
        come, self._come = self._come, []
        if come:
            self._tell(come)

    def close(self) -> None:
        """There will be no more."""
        self._hand_over()
        self._tell(None)


async def _end(last: Callable[[], Coroutine[Any, Any, None]]) -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await last()


async def _all(work: list[tuple[Posed, Pending]], one: One, together: int, tell: Callable[[Answer], None]) -> None:
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
