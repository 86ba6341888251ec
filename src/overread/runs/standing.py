"""Which reply counts, for every question, and what later turns show of it.

A question can have several replies: two processes asked it, a worker was lost, it failed and was asked again, or the
reply in its history changed. Exactly one counts. The rule, in this order:

0. its worker did not void it: a model that answers a question twice has answered nothing;
1. its prompt hash is that of the history as it stands now (a changed parent makes its followers stale);
2. answered or refused before failed;
3. the earliest; then the smallest worker name and id, so that everybody decides alike.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from overread.tables import content_id

Slot = tuple[str, str, int, int]
"""One place for a reply: question, identity, seed, sample."""

TWICE = "the model answered this question twice"
"""The reason of a failed reply that voids what its worker had recorded of the question before."""

COLUMNS = [
    "id", "question", "place", "identity", "seed", "sample", "prompt", "status", "reason",
    "text", "choice", "number", "at", "provenance",
]  # fmt: skip
"""What of a reply decides whether it counts."""


@dataclasses.dataclass(frozen=True, slots=True)
class Standing:
    """The replies that count, in one part of an exam."""

    replies: pl.DataFrame
    """One row a slot that has a valid reply, with the columns that were given."""
    said: Mapping[Slot, str]
    """What later turns show of the replies that later turns show at all."""

    def prompt(self, question: Mapping[str, Any], identity: str, seed: int, sample: int) -> str | None:
        """The hash of the question's history as it stands; None while a reply in it is missing or failed."""
        return _prompt(question["prompt"], question["parents"], self.said, (identity, seed, sample))


def standing(questions: pl.DataFrame, replies: pl.DataFrame) -> Standing:
    """Decides for one part; `questions` and `replies` are those of whole items."""
    ordered = _not_void(replies).sort([pl.col("status") == "failed", "at", "provenance", "id"])
    free = questions.filter(pl.col("parents").list.len() == 0).select("place", expected="prompt")
    counted = [_first(ordered.join(free, on="place").filter(pl.col("prompt") == pl.col("expected")).drop("expected"))]
    shown = questions["parents"].explode().drop_nulls().unique()
    said: dict[Slot, str] = {}
    if shown.len():
        told = questions.filter(pl.col("id").is_in(shown.implode())).select("id", "options")
        options = dict(zip(told["id"].to_list(), told["options"].to_list(), strict=True))
        _hear(counted[0], options, said)
        for wave in sorted(set(questions["wave"]) - {0}):
            waiting = questions.filter((pl.col("wave") == wave) & (pl.col("parents").list.len() > 0))
            candidates = ordered.join(waiting.select("place", "parents", own="prompt"), on="place")
            valid = _valid(candidates, said)
            counted.append(_first(candidates.drop("parents", "own").filter(valid)))
            _hear(counted[-1], options, said)
    return Standing(pl.concat(counted), said)


def _not_void(replies: pl.DataFrame) -> pl.DataFrame:
    twice = replies.filter((pl.col("status") == "failed") & (pl.col("reason") == TWICE))
    if twice.is_empty():
        return replies
    slot = ["place", "identity", "seed", "sample", "provenance"]
    return replies.filter(pl.col("status") == "failed").vstack(
        replies.filter(pl.col("status") != "failed").join(twice.select(slot), on=slot, how="anti")
    )


def _first(replies: pl.DataFrame) -> pl.DataFrame:
    return replies.unique(["place", "identity", "seed", "sample"], keep="first", maintain_order=True)


def _prompt(own: str, parents: Iterable[str], said: Mapping[Slot, str], who: tuple[str, int, int]) -> str | None:
    texts = [said.get((parent, *who)) for parent in parents]
    known = [text for text in texts if text is not None]
    if len(known) < len(texts):
        return None
    return content_id(own, *known) if known else own


def _valid(candidates: pl.DataFrame, said: Mapping[Slot, str]) -> pl.Series:
    """Whether the prompt of each reply is that of its question's history as it stands."""
    # Column by column: there are as many rows as questions, and a row at a time costs several times as much.
    names = ("own", "parents", "identity", "seed", "sample", "prompt")
    columns = (candidates[name].to_list() for name in names)
    found = [
        _prompt(own, parents, said, (identity, seed, sample)) == prompt
        for own, parents, identity, seed, sample, prompt in zip(*columns, strict=True)
    ]
    return pl.Series(found, dtype=pl.Boolean)


def _hear(replies: pl.DataFrame, options: Mapping[str, list[str]], said: dict[Slot, str]) -> None:
    """Takes down what later turns show of replies to the questions whose options are given."""
    heard = replies.filter(pl.col("question").is_in(list(options)) & (pl.col("status") != "failed"))
    for row in heard.select("question", "identity", "seed", "sample", "text", "choice", "number").iter_rows(named=True):
        slot = (row["question"], row["identity"], row["seed"], row["sample"])
        said[slot] = shown_text(row, options[row["question"]])


def shown_text(reply: Mapping[str, Any], options: list[str]) -> str:
    """A reply as later turns show it: its text, or its choice or number in words."""
    if reply["text"] is not None:
        return str(reply["text"])
    if reply["choice"] is not None:
        return ", ".join(options[i] for i in reply["choice"] if 0 <= i < len(options))
    return "" if reply["number"] is None else f"{reply['number']:g}"
