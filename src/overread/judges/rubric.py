"""Lets a model decide whether a reply says what the key says: TRUE or FALSE, with a reason

asks: a model, named in brackets as --model takes it: rubric[openai_chat[model=NAME,url=URL]]

What needs no model is decided without one: a choice by its index, a distribution by expectation, a text that is the
key's own. A reply that the model could not be asked about has no verdict; one that it answered with neither TRUE nor
FALSE is unreadable.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Any

import polars as pl
import yaml

from overread.exam.framing import PROMPTS
from overread.judges.contract import RULING
from overread.judges.rows import UNREADABLE, Finding, Row, by_row, in_parts, only
from overread.judges.wording import spoken

KINDS = ("choice", "text")

LONGEST_REPLY = 8_000
"""Characters of a reply that are shown to the model, counted from its end, where answers stand."""
LONGEST_REASON = 300

_RULING = re.compile(r"\W*(true|false)\b", re.IGNORECASE)


def ask(table: pl.DataFrame) -> list[str | None]:
    """For each reply what the model is asked; None where there is nothing to ask."""
    return [_prompt(row) for row in table.iter_rows(named=True)]


def judge(table: pl.DataFrame) -> pl.DataFrame:
    """The findings; the column `ruling`, where there is one, holds what the model said to `ask`."""
    only(table, KINDS, "rubric")
    if RULING not in table.columns:
        table = table.with_columns(pl.lit(None, dtype=pl.String).alias(RULING))
    return in_parts(
        table,
        [
            (pl.col("choice").is_not_null() | pl.col("text").is_null(), lambda part: by_row(part, _structured)),
            (pl.col(RULING).is_not_null(), lambda part: _findings(part, "ruling")),
            (pl.lit(True), lambda part: _findings(part, "text")),
        ],
    )


@functools.cache
def _words() -> Mapping[str, str]:
    found: dict[str, str] = yaml.safe_load((PROMPTS / "rubric.yaml").read_text(encoding="utf-8"))
    return found


def _prompt(row: Mapping[str, Any]) -> str | None:
    text = row["text"]
    if row["status"] != "answered" or row["choice"] is not None or text is None or not text.strip():
        return None
    if _same(text, row["answer"]):
        return None
    shown = text.strip()[-LONGEST_REPLY:]
    parts = {"{question}": row["asked"], "{key}": "\n".join(row["answer"]), "{reply}": shown}
    return re.sub(r"\{(?:question|key|reply)\}", lambda found: str(parts[found[0]]), _words()["ask"])


def _same(text: str, answer: list[str]) -> bool:
    return text.strip().casefold() in {", ".join(answer).casefold(), "\n".join(answer).casefold()}


def _structured(row: Row) -> Finding:
    """A choice by its index; what is neither a choice nor a text is unreadable."""
    if row.choice is None or not all(0 <= index < len(row.options) for index in row.choice):
        return UNREADABLE
    said = [row.options[index] for index in sorted(set(row.choice))]
    if not row.many and len(said) != 1:
        return UNREADABLE
    right = set(said) == set(row.answer) if row.many else said[0] in row.answer
    return Finding("read", "\n".join(said), right, float(right))


def _findings(part: pl.DataFrame, column: str) -> pl.DataFrame:
    """Findings row by row, from what the model ruled or from the text alone."""
    find = _ruled if column == "ruling" else _plain
    found = [find(row) for row in part.iter_rows(named=True)]
    frame = pl.DataFrame(found, schema=list(Finding._fields), orient="row", infer_schema_length=None)
    return frame.with_columns(part["reply"])


def _ruled(row: Mapping[str, Any]) -> Finding:
    said = spoken(row[RULING])
    ruling = _RULING.match(said)
    if ruling is None:
        return UNREADABLE
    right = ruling[1].lower() == "true"
    return Finding("read", " ".join(said.split())[:LONGEST_REASON], right, float(right))


def _plain(row: Mapping[str, Any]) -> Finding:
    """The key's own words are right; of others nothing is known without the model."""
    return Finding("read", row["text"].strip(), True, 1.0) if _same(row["text"], row["answer"]) else UNREADABLE
