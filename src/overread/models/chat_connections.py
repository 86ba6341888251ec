"""Connections of a client that has many requests under way.

One pool looks through all of its connections whenever a request begins or ends, so that a thousand in one pool cost
more than the requests themselves. Several small pools do not.
"""

from __future__ import annotations

import ssl
import urllib.request
from collections.abc import Callable
from typing import Any

import httpx2

IN_A_POOL = 32


def connections(together: int, *, proxies: bool) -> dict[str, Any]:
    """Arguments for an httpx client with so many requests under way at once.

    `proxies`: whether those of the environment hold. Behind one there is a single pool.
    """
    if together <= IN_A_POOL or (proxies and urllib.request.getproxies()):
        return {"limits": _limits(together), "trust_env": proxies}
    return {"transport": Pools(together), "trust_env": proxies}


class Pools(httpx2.AsyncBaseTransport):
    """Small pools; each request goes to the one with the fewest under way."""

    def __init__(self, together: int) -> None:
        trusted = ssl.create_default_context()
        limits = _limits(IN_A_POOL)
        count = -(-together // IN_A_POOL)
        self._pools = [httpx2.AsyncHTTPTransport(verify=trusted, limits=limits) for _ in range(count)]
        self._busy = [0] * count

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Sends a request; the pool is free again when its reply has been read."""
        place = min(range(len(self._pools)), key=self._busy.__getitem__)
        self._busy[place] += 1
        try:
            reply = await self._pools[place].handle_async_request(request)
        except BaseException:
            self._busy[place] -= 1
            raise
        reply.stream = _Counted(reply.stream, lambda: self._free(place))
        return reply

    def _free(self, place: int) -> None:
        self._busy[place] -= 1

    async def aclose(self) -> None:
        """Ends all connections."""
        for pool in self._pools:
            await pool.aclose()


class _Counted(httpx2.AsyncByteStream):
    """A reply's bytes; tells when they are at their end."""

    def __init__(self, stream: Any, at_end: Callable[[], None]) -> None:
        self._stream = stream
        self._at_end: Callable[[], None] | None = at_end

    async def __aiter__(self) -> Any:
        async for chunk in self._stream:
            yield chunk

    async def aclose(self) -> None:
        """The reply has been read, or given up."""
        at_end, self._at_end = self._at_end, None
        if at_end is not None:
            at_end()
        await self._stream.aclose()


def _limits(together: int) -> httpx2.Limits:
    return httpx2.Limits(max_connections=together, max_keepalive_connections=together)
