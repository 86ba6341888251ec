"""One question put to a server: calls, waits and calls again, until there is a reply or a reason why there is none."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import email.utils
import json
import time
from collections.abc import Mapping
from typing import Any

import httpx2
import openai

from overread.errors import Stopped
from overread.models.chat_connections import connections
from overread.models.chat_options import OPENAI, Options
from overread.models.chat_replies import Malformed, Said, failure, parse
from overread.tables import content_id

PATH = "/chat/completions"
FIRST_WAIT_SECONDS = 0.5
LONGEST_WAIT_SECONDS = 60.0
REASON_LENGTH = 200
GONE_AFTER = 50
"""A server that so many questions in a row could not reach is taken to be gone."""
WRONG_ADDRESS = (401, 404)
"""Wrong for every question alike: the key, the model's name, the address."""
SHORTEST_CUT = 8
"""Shorter keys, such as EMPTY, stand for none; they are words that an answer may hold."""
FILTERED = ("content_filter", "content_policy_violation", "moderation_blocked", "safety")


@dataclasses.dataclass(eq=False)
class Trouble(Exception):
    """A call that brought no reply."""

    reason: str
    again: bool = False
    """Whether the same call may bring one later."""
    wait: float | None = None
    """Seconds that the server asks to wait."""
    charged: bool = False
    """Whether the server may have charged for it."""
    refused: bool = False
    everywhere: bool = False
    """Whether every other question would meet the same."""


@dataclasses.dataclass(frozen=True, slots=True)
class Reached:
    """What became of a question."""

    document: Mapping[str, Any] | None
    said: Said | None
    """Why there is no document."""
    calls: int
    charged: int
    """Calls that brought nothing and may have been charged for."""


class Client:
    """The SDK's client for one server; made and used in one event loop."""

    def __init__(self, options: Options, url: str) -> None:
        """`url`: where the server is; that of the options, or where it was started."""
        self._options = options
        self._secret = options.secret()
        # A server of this machine is not to be looked for behind a proxy, and no server hands studies on to another.
        web: Any = openai.DefaultAsyncHttpxClient(
            follow_redirects=False, **connections(options.concurrency, proxies=bool(options.remote))
        )
        self._sdk = openai.AsyncOpenAI(
            api_key=self._secret or "none",
            base_url=url,
            max_retries=0,
            timeout=options.timeout,
            http_client=web,
        )
        if options.url != OPENAI:
            self._sdk.organization = self._sdk.project = None  # the SDK reads them from the environment: not for others
        self._open_again = 0.0
        self._unreached = 0

    async def close(self) -> None:
        """Ends all connections."""
        await self._sdk.close()

    async def models(self) -> None:
        """Asks for the list of models: whether the server is there at all."""
        await self._sdk.models.list()

    async def ask(self, body: Mapping[str, Any], question: str) -> Reached:
        """The reply to a request. Raises `Stopped` where every other request would fail as well."""
        until = time.monotonic() + self._options.patience
        calls = charged = 0
        while True:
            calls += 1
            try:
                await self._until_open(until)
                document = await self._call(body, until)
                self._unreached = 0
                return Reached(document, None, calls, charged)
            except Trouble as trouble:
                charged += trouble.charged
                if trouble.everywhere:
                    raise Stopped(trouble.reason, where=self._options.host) from trouble
                wait = trouble.wait if trouble.wait is not None else _back_off(calls, question)
                late = time.monotonic() + wait > until
                if trouble.again and calls <= self._options.retries and not late:
                    await self._wait(trouble, wait)
                    continue
                return Reached(None, self._given_up(trouble, calls, wait if late else 0.0), calls, charged)

    def scrubbed(self, text: str) -> str:
        """A text of a server without the key, short and on one line."""
        clean = text.replace(self._secret, "[key]") if self._secret else text
        return " ".join(clean.split())[:REASON_LENGTH]

    def _without_key(self, data: bytes) -> bytes:
        """What a server sent, should it repeat the key: its texts are kept and shown."""
        if len(self._secret) < SHORTEST_CUT:
            return data
        for form in {self._secret, json.dumps(self._secret)[1:-1], self._secret.replace("/", "\\/")}:
            data = data.replace(form.encode(), b"[key]")
        return data

    async def _call(self, body: Mapping[str, Any], until: float) -> dict[str, Any]:
        try:
            async with asyncio.timeout(min(self._options.timeout, max(0.0, until - time.monotonic()))):
                # The SDK's own way for requests of any form: `create` would rebuild every body by its types first,
                # which takes longer than all the rest of a call.
                raw = await self._sdk.post(PATH, cast_to=httpx2.Response, body=body)
            return parse(self._without_key(raw.content))
        except (TimeoutError, openai.APITimeoutError) as error:
            raise Trouble(f"no reply within {self._options.timeout:g} s", again=True, charged=True) from error
        except openai.APIStatusError as error:
            raise self._status(error) from error
        except openai.APIConnectionError as error:
            why = self.scrubbed(str(error.__cause__ or error))
            raise Trouble(f"the connection failed: {why}", again=True, charged=True) from error
        except Malformed as error:
            raise Trouble(f"the server sent something broken: {error}", again=True, charged=True) from error

    def _status(self, error: openai.APIStatusError) -> Trouble:
        code = error.status_code
        told = f"{code}: {self.scrubbed(_message(error))}"
        kind = str(error.code or error.type or "")
        if code in WRONG_ADDRESS:
            return Trouble(f"the server refuses every question ({told})", everywhere=True)
        if code == 429 and kind == "insufficient_quota":
            return Trouble(f"the account has nothing left ({told})", everywhere=True)
        if code in (408, 409, 425, 429) or code >= 500:
            return Trouble(f"the server answered {told}", again=True, wait=_asked_to_wait(error.response.headers))
        if any(word in kind for word in FILTERED):
            return Trouble(f"the server's filter refused the question ({told})", refused=True)
        return Trouble(f"the server answered {told}")

    async def _wait(self, trouble: Trouble, seconds: float) -> None:
        if trouble.wait is not None:
            # Told to one, meant for all: others hold back too instead of being turned away one by one.
            self._open_again = max(self._open_again, time.monotonic() + seconds)
        await asyncio.sleep(seconds)

    async def _until_open(self, until: float) -> None:
        while (left := self._open_again - time.monotonic()) > 0:
            if self._open_again > until:
                raise Trouble("the server asks to wait for longer than `patience`")
            await asyncio.sleep(left)

    def _given_up(self, trouble: Trouble, calls: int, wait: float) -> Said:
        if trouble.refused:
            return Said("refused", trouble.reason)
        if trouble.again:
            self._unreached += 1
            if self._unreached >= GONE_AFTER:
                raise Stopped(
                    f"{self._unreached} questions in a row had no reply: {trouble.reason}", where=self._options.host
                )
        often = f" ({calls} calls)" if calls > 1 else ""
        long = f"; it would have to wait {wait:.0f} s" if wait else ""
        return failure(f"{trouble.reason}{often}{long}")


def _back_off(calls: int, question: str) -> float:
    """Seconds before the next call: doubled each time, and not the same for all questions."""
    share = int(content_id(question, str(calls))[:8], 16) / 0xFFFFFFFF
    return float(min(LONGEST_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2 ** (calls - 1)) * (0.5 + share))


def _asked_to_wait(headers: Any) -> float | None:
    """Seconds that a server asks to wait: in milliseconds, in seconds, or until a date."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        told = headers.get(name)
        if told is None:
            continue
        with contextlib.suppress(ValueError):
            return max(0.0, float(told) * unit)
        with contextlib.suppress(ValueError, OverflowError):  # a year that no calendar has
            date = email.utils.parsedate_tz(told)
            if date is not None:
                return max(0.0, email.utils.mktime_tz(date) - time.time())
    return None


def _message(error: openai.APIStatusError) -> str:
    """What the server says is wrong; never the whole body, which may repeat the question and its pictures."""
    body = error.body
    if isinstance(body, dict):
        inner = body.get("error", body)
        told = inner.get("message") if isinstance(inner, dict) else inner
        return told if isinstance(told, str) else json.dumps(sorted(map(str, body)))
    return error.response.reason_phrase
