"""What can be told to a model behind an OpenAI-compatible server, on the command line or by its card."""

from __future__ import annotations

import dataclasses
import ipaddress
import json
import os
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from overread.errors import BadInput, unknown_name

OPENAI = "https://api.openai.com/v1"
OPENAI_KEY = "OPENAI_API_KEY"

CHOICES: dict[str, tuple[str, ...]] = {
    "system": ("keep", "user", "drop"),
    "frames": ("images", "jpegs", "video"),
    "detail": ("", "auto", "low", "high"),
    "mode": ("generate", "score"),
    "constrain": ("none", "json_schema", "guided_choice", "structured_outputs"),
    "new_tokens_as": ("", "max_tokens", "max_completion_tokens"),
    "seeds": ("send", "keep"),
}

_KEY_NAMES = ("_KEY", "_TOKEN")
"""What ends so is the name of a variable, and no key."""
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_DATED = r"-(\d{4}-?\d{2}-?\d{2}|\d{3,8})|@[\w.-]+"
"""How a server may say more exactly which edition or revision of a model has answered."""

_PLACE = ("url", "key", "serve", "serve_seconds", "returns")
_PACE = ("concurrency", "timeout", "retries", "patience")
_PRICE = ("budget_tokens", "budget_money", "price_in", "price_out", "picture_tokens")
NOT_IDENTITY = frozenset((*_PLACE, *_PACE, *_PRICE))
"""Where, how fast and for how much a model is asked does not change what it says."""


@dataclasses.dataclass(frozen=True, slots=True)
class Options:
    """All of them; what changes what a model says stands in its identity."""

    model: str = ""
    """The model's name, as the server knows it."""
    url: str = OPENAI
    """The server's address up to and with `/v1`; `{port}` where `serve` starts it on a free port."""
    key: str = ""
    """The NAME of the environment variable that holds the key; empty: OPENAI_API_KEY for OpenAI, none for others."""
    returns: str = ""
    """The name that the server's replies carry, where it is not that of the model."""
    system: str = "keep"
    """What becomes of a system message: kept, put before the first user message, or left out."""
    sheet: str = ""
    """The profile of ECG sheets, such as `upstream`; empty: the usual one."""
    frames: str = "images"
    """How a clip is sent: one PNG a frame, as JPEG frames of one video (vLLM), or as an MP4 film."""
    detail: str = ""
    """`low`, `high` or `auto`, sent with every picture; empty: not sent."""
    mode: str = "generate"
    """`score` asks for the letter of one of the options and reads how probable each is."""
    constrain: str = "none"
    """How a server is held to the options: not at all, by a JSON schema, or by one of vLLM's two ways."""
    temperature: float | None = 0.0
    """`none`: not sent, for models that take none."""
    top_p: float | None = None
    new_tokens: int = 1024
    new_tokens_as: str = ""
    """How the server calls that limit; empty: `max_completion_tokens` for OpenAI, `max_tokens` for others."""
    reasoning: str = ""
    """Sent as `reasoning_effort` where it is set."""
    seeds: str = "send"
    """`keep` does not send them, for servers that take none."""
    extra: str = ""
    """A JSON object that is sent along."""
    concurrency: int = 16
    timeout: float = 120.0
    """Seconds that one call may take."""
    retries: int = 6
    patience: float = 540.0
    """Seconds that one question may take with all its retries; keep it below the run's own `ask.seconds`."""
    budget_tokens: int = 0
    """Tokens, read and written, that a run may spend on this model; 0: no limit."""
    budget_money: float = 0.0
    """The same in the currency of the prices."""
    price_in: float = 0.0
    """Price of a million tokens read."""
    price_out: float = 0.0
    """Price of a million tokens written."""
    picture_tokens: int = 1000
    """Tokens that a picture is taken to be before the server has counted any."""
    serve: str = ""
    """A command that starts the server; `{port}` in it is a free port."""
    serve_seconds: float = 900.0
    """So long it may take to start."""

    @property
    def host(self) -> str:
        """The server's host."""
        return urlsplit(self.url.replace("{port}", "1")).hostname or ""

    @property
    def remote(self) -> str:
        """The host, where it is another machine; empty for a server on this one."""
        return "" if is_loopback(self.host) else self.host

    @property
    def limit_name(self) -> str:
        """How the server calls the limit of new tokens."""
        return self.new_tokens_as or ("max_completion_tokens" if self.url == OPENAI else "max_tokens")

    @property
    def sampled(self) -> bool:
        """Whether another seed or sample can give another answer."""
        return self.temperature != 0.0

    @property
    def metered(self) -> bool:
        """Whether there is a limit to keep."""
        return bool(self.budget_tokens or self.budget_money)

    def identity(self) -> dict[str, Any]:
        """What makes two replies the same thing."""
        told = {name: value for name, value in dataclasses.asdict(self).items() if name not in NOT_IDENTITY}
        return {**told, "server": self.remote or "this machine", "new_tokens_as": self.limit_name}

    def secret(self) -> str:
        """The key; empty where none is needed. It is read here and nowhere kept but in the client.

        A line break, or another sign that no header can hold, would come back in the words of whoever refuses it.
        """
        name = self.key or (OPENAI_KEY if self.url == OPENAI else "")
        found = os.environ.get(name, "") if name else ""
        if name and not found:
            # What was given for `key` may be a key after all, so it is not repeated here.
            named = name if not self.key or name.endswith(_KEY_NAMES) else "that `key` names"
            raise BadInput(
                f"the environment variable {named} is not set",
                where="openai_chat",
                do="export the key under that name, or name another variable: key=NAME",
            )
        if not all("!" <= sign <= "~" for sign in found):
            raise BadInput(
                "the key holds a blank, a line break or another sign that no key has",
                where="openai_chat",
                do="export it again without what stands around it",
            )
        return found

    def is_asked_for(self, returned: str) -> bool:
        """Whether a name that a reply carries is that of the model, or of a dated edition of it."""
        wanted = self.returns or self.model
        edition = re.escape(wanted.removesuffix("-latest"))
        return returned == wanted or re.fullmatch(f"{edition}({_DATED})", returned) is not None


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def read_options(given: Mapping[str, str], where: str) -> Options:
    """The options of `NAME[key=value,...]`, checked; nothing is asked of any server."""
    known = {field.name: field for field in dataclasses.fields(Options)}
    values: dict[str, Any] = {}
    for name, text in given.items():
        if name not in known:
            raise unknown_name("option", name, known, where=where)
        if name in CHOICES and text not in CHOICES[name]:
            raise BadInput(f"{name}={text} is not known", where=where, do=f"give one of {', '.join(CHOICES[name])}")
        values[name] = _value(name, str(known[name].type), text, where)
    options = Options(**values)
    _check(options, where)
    return options


def _value(name: str, kind: str, text: str, where: str) -> Any:
    if kind == "str":
        return text
    if kind.endswith("None") and text == "none":
        return None
    try:
        number = int(text) if kind == "int" else float(text)
    except ValueError as error:
        raise BadInput(f"{name}={text} is not a number", where=where, do=f"give {name} as a number") from error
    if not 0 <= number < 1e12:
        raise BadInput(f"{name}={text} cannot be meant", where=where, do="give a number from 0")
    return number


def _check(options: Options, where: str) -> None:
    if options.key and not _VARIABLE.fullmatch(options.key):
        raise BadInput(
            "what was given for `key` is not the name of an environment variable",
            where=where,
            do="export the key, and give the variable's name: key=OPENAI_API_KEY; a key itself is never given here",
        )
    if not options.model:
        raise BadInput("no model is named", where=where, do="write openai_chat[model=NAME,url=http://HOST:PORT/v1]")
    parts = urlsplit(options.url.replace("{port}", "1"))
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BadInput("the url is not that of a server", where=where, do="write url=http://HOST:PORT/v1")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise BadInput("the url says more than an address", where=where, do="give keys by key=VARIABLE, and no query")
    if options.serve and options.remote:
        # Whatever `serve` starts, it is not what answers there: all terms would be passed by.
        raise BadInput(
            f"`serve` starts a server of this machine, and {options.host} is another one",
            where=where,
            do="write url=http://127.0.0.1:{port}/v1, or leave `serve` out",
        )
    for name in ("concurrency", "new_tokens", "timeout", "patience"):
        if not getattr(options, name):
            raise BadInput(f"{name} must not be 0", where=where, do=f"give {name} as a positive number")
    if options.budget_money and not (options.price_in or options.price_out):
        raise BadInput("a limit in money needs prices", where=where, do="give price_in and price_out, a million tokens")
    _extra(options.extra, where)


def _extra(text: str, where: str) -> None:
    try:
        read = json.loads(text or "{}")
    except ValueError as error:
        raise BadInput(f"extra is not JSON: {error}", where=where, do='write extra={"name": value}') from error
    if not isinstance(read, dict):
        raise BadInput("extra is not a JSON object", where=where, do='write extra={"name": value}')
