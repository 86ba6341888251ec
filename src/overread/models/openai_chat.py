"""Any model behind an OpenAI-compatible server: OpenAI, Gemini, Anthropic, vLLM, SGLang, Ollama, transformers serve

media: ecg, clip, volume, image
licence: that of the provider
options: model, url, key, returns, system, sheet, frames, detail, mode, constrain, temperature, top_p, new_tokens,
  reasoning, seeds, extra, concurrency, timeout, retries, patience, budget_tokens, budget_money, price_in, price_out,
  picture_tokens, serve, serve_seconds (docs/api_models.md)

Several questions are asked at once; calls that fail for a moment are made again. What reached the server are the bytes
that were sent, and their hash stands in the receipt; what the server makes of them, nobody here can see.
"""

from __future__ import annotations

import asyncio
import importlib.metadata
import importlib.util
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from overread.errors import BadInput, OverreadError, Stopped
from overread.models.chat_asking import Loop
from overread.models.chat_budget import Budget, forecast, text_tokens, written_of
from overread.models.chat_options import Options, read_options
from overread.models.chat_pictures import Album, Sent, sent
from overread.models.chat_prompts import body_of, words
from overread.models.chat_replies import Said, failure, read, usage_of
from overread.models.chat_serving import Server
from overread.models.contract import Answer, Load, Look, Message, Pending, Posed, Setting
from overread.tables import Json, Media

if TYPE_CHECKING:
    from overread.models.chat_client import Client, Reached

KINDS = ("choice", "text", "number")
FORMS = {"ecg": "sheet", "clip": "frames", "volume": "slices", "image": "image"}

ENCODERS = 2
"""Threads that make pictures ready; more would only wait for each other."""
DIALOGUES_EACH = 32
"""A batch is so many dialogues for each question that can be under way, so that waiting for its last ones costs little.
A dialogue that has not been asked yet is little more than its text."""


def check(setting: Setting) -> None:
    """Refuses options that cannot be meant; asks no server."""
    read_options(setting.options, _where(setting))


def remote(setting: Setting) -> str:
    """The server's host, where it is another machine: studies that are not open do not go there unasked."""
    return read_options(setting.options, _where(setting)).remote


def estimate(setting: Setting, load: Load) -> Mapping[str, Any]:
    """What asking everything will cost, about."""
    return forecast(load, read_options(setting.options, _where(setting)))


def load(setting: Setting) -> OpenAIChat:
    """Reads options and key; the server is not called yet."""
    options = read_options(setting.options, _where(setting))
    if importlib.util.find_spec("openai") is None:
        raise BadInput("the SDK is not installed", where=_where(setting), do='pip install "overread[api]"')
    options.secret()
    return OpenAIChat(options)


def _where(setting: Setting) -> str:
    return f"--model {setting.name}"


class OpenAIChat:
    """A model behind a server."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.forms = {**FORMS, **({"ecg": f"sheet:{options.sheet}"} if options.sheet else {})}
        self.samples = options.sampled
        self.batch = DIALOGUES_EACH * options.concurrency
        self._budget = Budget(options)
        self._album = Album(4 * options.concurrency)
        self._making: dict[Any, asyncio.Future[Sent]] = {}
        self._server: Server | None = None
        self._loop: Loop | None = None
        self._client: Client | None = None
        self._threads: ThreadPoolExecutor | None = None

    def identity(self) -> Mapping[str, Any]:
        """Server, model and everything that a request says beside the question."""
        return {"adapter": 1, "prompts": words()["version"], **self.options.identity()}

    def provenance(self) -> Mapping[str, Any]:
        """Where it was asked, and through which SDK."""
        return {"url": self.options.url, "openai": importlib.metadata.version("openai")}

    def begin(self, usages: Iterable[Mapping[str, Any]] = ()) -> None:
        """Takes over what the run has spent so far, and starts the server where there is one to start."""
        from overread.models.chat_client import Client

        self._budget.already(usages)
        url = self.options.url
        if self.options.serve and self._server is None:
            self._server = Server(self.options.serve, url)
            self._server.wait(self.options.serve_seconds)
        self._client = Client(self.options, self._server.url if self._server else url)
        self._threads = ThreadPoolExecutor(ENCODERS, "overread-pictures")
        self._loop = Loop()

    def answer(self, dialogues: Iterable[Posed]) -> Iterator[Answer]:
        """All questions of a batch of dialogues, in the order in which their replies come."""
        if self._loop is None:
            self.begin()
        assert self._loop is not None  # noqa: S101  for the type checker: `begin` has made it
        yield from self._loop.answers(dialogues, self._one, self.options.concurrency)

    def close(self) -> None:
        """Ends connections, threads and the server."""
        loop, self._loop = self._loop, None
        if loop is not None and self._client is not None and self._threads is not None:
            loop.close(self._client.close)
            self._threads.shutdown(wait=False, cancel_futures=True)
        server, self._server = self._server, None
        if server is not None:
            server.close()

    async def _one(self, posed: Posed, pending: Pending) -> Answer:
        began = time.monotonic()
        messages = posed.prompt(pending)
        try:
            shown = {m: await self._sent(m, posed.look) for message in messages for m in message.media}
        except OverreadError as error:
            return _answer(pending, failure(f"a medium cannot be shown: {error.what}"), (), {}, began)
        reached, usage = await self._ask(messages, shown, pending)
        said = reached.said if reached.document is None else read(reached.document, pending.question, self.options)
        assert said is not None  # noqa: S101  for the type checker: there is a document or a reason
        return _answer(pending, said, tuple(shown.values()), usage, began)

    async def _ask(
        self, messages: Sequence[Message], shown: Mapping[Media, Sent], pending: Pending
    ) -> tuple[Reached, dict[str, Any]]:
        assert self._client is not None  # noqa: S101  for the type checker
        pictures = sum(shown[medium].pictures for message in messages for medium in message.media)
        characters = sum(len(message.text) for message in messages)
        guess = text_tokens(characters, len(messages)) + pictures * self.options.picture_tokens
        held = await self._budget.reserve(guess)
        if held is None:
            raise Stopped(f"the limit is reached: {self._budget.spent}; what is left was not asked")
        usage: dict[str, Any] = {}
        try:
            reached = await self._client.ask(body_of(messages, shown, pending, self.options), pending.question.id)
            usage = self._usage(reached, guess)
        finally:
            await self._budget.settle(held, usage, guess)
        return reached, usage

    def _usage(self, reached: Reached, guess: float) -> dict[str, Any]:
        """What the server counted; where it does not tell, or calls were lost, what it may have counted."""
        usage = usage_of(reached.document) if reached.document is not None else {}
        lost = reached.charged + (reached.document is not None and "prompt_tokens" not in usage)
        if lost:
            usage["uncounted_tokens"] = round(lost * guess)
        if reached.document is not None and "tokens" not in usage:
            usage["uncounted_written"] = written_of(reached.document)
        if reached.calls > 1:
            usage["calls"] = reached.calls
        return usage

    async def _sent(self, medium: Media, look: Look) -> Sent:
        """A medium made ready to be sent: once for all questions that show it, and beside the event loop."""
        known: Sent | None = self._album.get(medium)
        if known is not None:
            look(medium)  # the engine remembers what each dialogue was handed
            return known
        if medium not in self._making:
            work = asyncio.get_running_loop().run_in_executor(self._threads, self._make, medium, look)
            self._making[medium] = work
            work.add_done_callback(lambda _: self._making.pop(medium, None))
            made = await asyncio.shield(work)
            self._album.put(medium, made)
            return made
        made = await asyncio.shield(self._making[medium])
        look(medium)
        return made

    def _make(self, medium: Media, look: Look) -> Sent:
        return sent(medium, look(medium), frames=self.options.frames, detail=self.options.detail)


def _answer(pending: Pending, said: Said, shown: Sequence[Sent], usage: Mapping[str, Any], began: float) -> Answer:
    return Answer(
        pending.question.id,
        pending.seed,
        pending.sample,
        status=said.status,
        reason=said.reason,
        text=said.text,
        choice=said.choice,
        option_scores=said.option_scores,
        number=said.number,
        seen=tuple(one.seen for one in shown),
        usage=Json(usage),
        seconds=round(time.monotonic() - began, 4),
    )
