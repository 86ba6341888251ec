"""Some replies to look at: right, wrong and unreadable ones of each model that looks, always the same of a run."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from overread.judging import parts_of
from overread.metrics.floors import PLAIN
from overread.report.numbers import number
from overread.report.texts import clean
from overread.runs.folder import Run
from overread.runs.parts import read_part
from overread.runs.replies import ReplyReader
from overread.runs.standing import shown_text

WANTED = {"right": 3, "wrong": 3, "unreadable": 2}
"""So many of each are shown a model: those with the smallest question ids."""

SHORT = 600
"""Characters of a reply."""


@dataclasses.dataclass(frozen=True, slots=True)
class Example:
    """One question with its key and one model's reply."""

    model: str
    outcome: str
    """right, wrong or unreadable."""
    question: str
    stage: str
    asked: str
    key: str
    reply: str
    parsed: str
    judge: str
    receipts: tuple[Mapping[str, Any], ...]
    """What reached the model: the columns of `Receipt`."""


def examples_of(run: Run, panel: str, receipts: pl.DataFrame) -> list[Example]:
    """The examples of a run under one panel of judges; `receipts` are those of the run."""
    looking = [seat.model for seat in run.seats() if seat.looks]
    chosen = _chosen(run, panel, looking)
    if chosen.is_empty():
        return []
    found = [
        example for (index,), rows in chosen.group_by("part") for example in _read(run, int(index), rows, receipts)
    ]
    order = list(WANTED)
    return sorted(found, key=lambda e: (looking.index(e.model), order.index(e.outcome), e.question))


def _chosen(run: Run, panel: str, looking: list[str]) -> pl.DataFrame:
    """The verdicts that are shown, each with its part."""
    kept: list[pl.DataFrame] = []
    for index, verdicts in parts_of(run, panel):
        plain = run.part("dialogues", index, ["id", "condition"]).filter(pl.col("condition") == PLAIN)
        asked = run.part("questions", index, ["place", "dialogue"]).join(plain, left_on="dialogue", right_on="id")
        mine = verdicts.filter(pl.col("model").is_in(looking)).join(asked.select("place"), on="place", how="semi")
        mine = mine.with_columns(outcome=_outcome(), part=pl.lit(index)).drop_nulls("outcome")
        kept = [_first(pl.concat([*kept, mine]))]
    return kept[0] if kept else pl.DataFrame()


def _outcome() -> pl.Expr:
    read = pl.col("status") == "read"
    return (
        pl.when(read & pl.col("correct"))
        .then(pl.lit("right"))
        .when(read & ~pl.col("correct"))
        .then(pl.lit("wrong"))
        .when(pl.col("status") == "unreadable")
        .then(pl.lit("unreadable"))
    )


def _first(verdicts: pl.DataFrame) -> pl.DataFrame:
    # One reply a question: several seeds and samples would show the same question over and over.
    ordered = verdicts.sort("question", "seed", "sample").unique(
        ["model", "outcome", "question"], keep="first", maintain_order=True
    )
    groups = ordered.group_by("model", "outcome", maintain_order=True)
    return pl.concat([ordered.clear(), *(rows.head(WANTED[str(outcome)]) for (_, outcome), rows in groups)])


def _read(run: Run, index: int, chosen: pl.DataFrame, receipts: pl.DataFrame) -> Iterator[Example]:
    start, stop = run.parts[index]
    reader = ReplyReader(run.folder)
    reader.refresh()
    replies = reader.between(start, stop).filter(pl.col("id").is_in(chosen["reply"].implode()))
    replies_by_id = {row["id"]: row for row in replies.iter_rows(named=True)}
    questions = {row["place"]: row for row in _rows(run, "questions", index, chosen)}
    keys = {row["place"]: row for row in _rows(run, "key", index, chosen)}
    held = receipts.filter(pl.col("id").is_in(replies["receipts"].explode().drop_nulls().implode()))
    held_by_id = {row["id"]: row for row in held.iter_rows(named=True)}
    for verdict in chosen.iter_rows(named=True):
        question, key, reply = questions[verdict["place"]], keys[verdict["place"]], replies_by_id[verdict["reply"]]
        yield Example(
            model=verdict["model"],
            outcome=verdict["outcome"],
            question=verdict["question"],
            stage=key["stage"],
            asked=question["asked"],
            key=_key_text(key, question),
            reply=clean(said(reply, question["options"]), SHORT),
            parsed=", ".join((verdict["parsed"] or "").split("\n")),
            judge=verdict["judge"],
            receipts=tuple(held_by_id[id_] for id_ in reply["receipts"] if id_ in held_by_id),
        )


def _rows(run: Run, table: str, index: int, chosen: pl.DataFrame) -> Iterator[dict[str, Any]]:
    path = run.part_path(table, index)
    return read_part(path, None, pl.col("place").is_in(chosen["place"].implode())).iter_rows(named=True)


def _key_text(key: Mapping[str, Any], question: Mapping[str, Any]) -> str:
    text = ", ".join(key["answer"])
    if key["tolerance"]:
        text += f" (right within {number(key['tolerance'])}{' ' if question['unit'] else ''}{question['unit']})"
    return text


def said(reply: Mapping[str, Any], options: list[str]) -> str:
    """What a reply says, in whichever form it came."""
    if any(reply[name] is not None for name in ("text", "choice", "number")):
        return shown_text(reply, options)
    if reply["option_scores"] is not None:
        pairs = zip(options, reply["option_scores"], strict=False)
        return "; ".join(f"{option}: {number(score, share=True)} %" for option, score in pairs)
    if reply["spread"] is not None:
        return f"{len(reply['spread'])} equally likely numbers"
    return "" if reply["blob"] is None else f"a side file with the hash {reply['blob']}"
