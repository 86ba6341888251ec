"""Connections of a client that has many requests under way.

The pool of an httpx client looks through all of its connections whenever a request begins or ends, so that a thousand
requests at once cost more in looking than in asking. Here a request takes a free connection off a pile, or opens one.
"""

from __future__ import annotations

import ssl
import urllib.request
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx2


def connections(together: int, *, proxies: bool) -> dict[str, Any]:
    """Arguments for an httpx client with so many requests under way at once.

    `proxies`: whether those of the environment hold. Behind one the client's own pool is used.
    """
    if proxies and urllib.request.getproxies():
        limits = httpx2.Limits(max_connections=together, max_keepalive_connections=together)
        return {"limits": limits, "trust_env": True}
    return {"transport": Pile(), "trust_env": proxies}


class Pile(httpx2.AsyncBaseTransport):
    """Single connections; as many are opened as there are requests under way at once."""

    def __init__(self) -> None:
        self._trusted = ssl.create_default_context()
        self._all: list[httpx2.AsyncHTTPTransport] = []
        self._free: list[httpx2.AsyncHTTPTransport] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Sends a request; its connection is free again when the reply has been read."""
        taken = self._free.pop() if self._free else self._open()
        try:
            reply = await taken.handle_async_request(request)
        except BaseException:
            self._free.append(taken)
            raise
        reply.stream = _Watched(reply.stream, lambda: self._free.append(taken))
        return reply

    async def aclose(self) -> None:
        """Ends all connections."""
        for one in self._all:
            await one.aclose()

    def _open(self) -> httpx2.AsyncHTTPTransport:
        limits = httpx2.Limits(max_connections=1, max_keepalive_connections=1)
        self._all.append(httpx2.AsyncHTTPTransport(verify=self._trusted, limits=limits))
        return self._all[-1]


class _Watched(httpx2.AsyncByteStream):
    """A reply's bytes; tells once when they have been read, or given up."""

    def __init__(self, stream: Any, at_end: Callable[[], None]) -> None:
        self._stream = stream
        self._at_end: Callable[[], None] | None = at_end

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()
        at_end, self._at_end = self._at_end, None
        if at_end is not None:
            at_end()
