"""What a run may spend on a model: counted as replies come, reserved before a question is asked, estimated before all.

Every question reserves what it may cost at most, so the limit holds however many are asked at once. A call that the
server may have charged for without saying so (it timed out, or what came was broken) counts as estimated.
"""

from __future__ import annotations

import asyncio
import dataclasses
import math
from collections.abc import Iterable, Mapping
from typing import Any

from overread.models.chat_options import Options
from overread.models.contract import Load

CHARACTERS_A_TOKEN = 4
"""A rough rule for Latin text."""
MESSAGE_TOKENS = 8
"""What a chat template puts around each message, about."""
PICTURES_OF = {"clip": 32, "volume": 100}
"""How many pictures a medium is taken to be, where nothing is selected of it."""
MILLION = 1_000_000


@dataclasses.dataclass(frozen=True, slots=True)
class Cost:
    """Tokens read and written."""

    read: float = 0.0
    written: float = 0.0

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.read + other.read, self.written + other.written)

    def __sub__(self, other: Cost) -> Cost:
        return Cost(self.read - other.read, self.written - other.written)

    def money(self, options: Options) -> float:
        """What they cost, in the currency of the prices."""
        return (self.read * options.price_in + self.written * options.price_out) / MILLION


def text_tokens(characters: int, messages: int) -> float:
    """What a text is, before any server has counted it."""
    return characters / CHARACTERS_A_TOKEN + messages * MESSAGE_TOKENS


class Budget:
    """The ledger of one model in one process, and what the run had spent on it before."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._spent = Cost()
        self._held = Cost()
        self._told = self._guessed = 0.0
        self._change = asyncio.Condition()

    def already(self, usages: Iterable[Mapping[str, Any]]) -> None:
        """Takes over what the replies of this run have cost so far, in place of what was known."""
        self._spent = sum((spent_of(usage) for usage in usages), Cost())

    async def reserve(self, read: float) -> Cost | None:
        """Holds back what a question may cost; waits while others may still give back. None: the limit is reached.

        `read` is the estimate of its tokens, made better by what the server has counted of others.
        """
        wanted = Cost(read * self._correction(), self._options.new_tokens)
        if not self._options.metered:
            return wanted
        async with self._change:
            while self._exceeds(self._spent + self._held + wanted):
                if not self._held.written:
                    return None
                await self._change.wait()
            self._held += wanted
        return wanted

    async def settle(self, held: Cost, usage: Mapping[str, Any], read: float) -> None:
        """Gives back what was held, and counts what was spent."""
        if "prompt_tokens" in usage and read and not usage.get("uncounted_tokens"):
            self._told, self._guessed = self._told + usage["prompt_tokens"], self._guessed + read
        self._spent += spent_of(usage)
        if self._options.metered:
            async with self._change:
                self._held -= held
                self._change.notify_all()

    @property
    def spent(self) -> str:
        """What was spent, in words."""
        return _in_words(self._spent, self._options)

    def _correction(self) -> float:
        """How many times more the server counts than was guessed."""
        return self._told / self._guessed if self._guessed else 1.0

    def _exceeds(self, cost: Cost) -> bool:
        tokens, money = self._options.budget_tokens, self._options.budget_money
        return (0 < tokens < cost.read + cost.written) or (0 < money < cost.money(self._options))


def spent_of(usage: Mapping[str, Any]) -> Cost:
    """What the usage of a reply says that it cost."""
    read = usage.get("prompt_tokens", 0) + usage.get("uncounted_tokens", 0)
    return Cost(float(read), float(usage.get("tokens", 0) + usage.get("uncounted_written", 0)))


def written_of(document: Mapping[str, Any]) -> int:
    """About how many tokens a reply is, where the server does not tell; what it thought unseen is not in it."""
    message = document["choices"][0]["message"]
    told = (message.get(name) for name in ("content", "reasoning_content", "refusal"))
    return math.ceil(text_tokens(sum(len(text) for text in told if isinstance(text, str)), 0))


def forecast(load: Load, options: Options) -> dict[str, Any]:
    """What asking everything will cost, about."""
    pictures = sum(count * PICTURES_OF.get(kind, 1) for kind, count in load.whole.items()) + load.pictures
    read = text_tokens(load.characters, load.messages) + pictures * options.picture_tokens
    most = Cost(read, float(load.questions * options.new_tokens))
    told: dict[str, Any] = {
        "questions": load.questions,
        "tokens read, about": round(read),
        "of these in pictures, about": pictures * options.picture_tokens,
        "tokens written, at most": round(most.written),
    }
    if options.price_in or options.price_out:
        told["price, at most about"] = round(most.money(options), 2)
    if options.budget_tokens:
        told["limit in tokens"] = options.budget_tokens
    if options.budget_money:
        told["limit in money"] = options.budget_money
    return told


def _in_words(cost: Cost, options: Options) -> str:
    tokens = f"{round(cost.read)} tokens read and {round(cost.written)} written"
    return f"{tokens}, {cost.money(options):.4g} in money" if options.price_in or options.price_out else tokens
