"""The plain questions of an exam with their key, patient, and context, as one table."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from overread.errors import BadInput
from overread.models.contract import ExamTables
from overread.priors.cells import fold_of, half_of
from overread.priors.context import LEVELS, WILDCARD, Step, contexts

CONTEXT_COLUMNS = tuple(f"context{i}" for i in range(len(LEVELS)))
"""One column of hashes for each level."""

COLUMNS = ("id", "template", "kind", "options", "many", "low", "high", "whole", "shows")


def read(exam: ExamTables) -> pl.DataFrame:
    """One row a plain question that has a key, dialogues together and in their order.

    Columns: those of `COLUMNS`; `answer`, `number`, `tolerance` of the key; `dialogue` (a number), `half`, `fold`,
    `ordinal` (its place among the questions of its dialogue, from 0) and `CONTEXT_COLUMNS`.
    """
    dialogues = exam.dialogues.filter(pl.col("condition") == "plain").select("id", "patient").collect()
    if dialogues.is_empty():
        raise BadInput(
            "the prior learns from the plain condition, and this exam has none", do="add plain to the conditions"
        )
    dialogues = dialogues.with_row_index("dialogue").with_columns(_by_patient(dialogues["patient"]))
    questions = exam.questions.select(*COLUMNS, pl.col("dialogue").alias("of"))
    questions = questions.join(dialogues.drop("patient").lazy(), left_on="of", right_on="id").drop("of")
    key = exam.key.select("question", "answer", "number", "tolerance", "scored")
    rows = questions.join(key, left_on="id", right_on="question", how="left").collect()
    rows = rows.join(_contexts(_steps(exam, rows)), on="id")
    rows = rows.filter(pl.col("answer").is_not_null() & pl.col("scored")).drop("scored")
    return rows.sort("dialogue", "ordinal")


def _by_patient(patients: pl.Series) -> list[pl.Series]:
    names = patients.unique().to_list()
    halves, folds = {p: half_of(p) for p in names}, {p: fold_of(p) for p in names}
    return [
        patients.replace_strict(halves, return_dtype=pl.UInt8).alias("half"),
        patients.replace_strict(folds, return_dtype=pl.UInt8).alias("fold"),
    ]


def _steps(exam: ExamTables, rows: pl.DataFrame) -> pl.DataFrame:
    """One row a dialogue: its questions and what is shown after each, two lists of the same length."""
    turns = (
        exam.dialogues.filter(pl.col("condition") == "plain")
        .select("id", "turns")
        .with_row_index("dialogue")
        .explode("turns")
        .unnest("turns")
    )
    scripted = pl.col("question").is_null() & pl.col("source").is_null()
    said = pl.when(scripted & (pl.col("role") == "assistant")).then("text")
    flat = turns.select(
        "dialogue", "question", pl.col("source").is_not_null().alias("own"), said.alias("text")
    ).collect()
    shown = rows.select("id", "shows", pl.col("answer").list.join(", ").alias("right"))
    flat = flat.join(shown, left_on="question", right_on="id", how="left", maintain_order="left")
    after = (
        pl.when("own")
        .then(pl.lit(WILDCARD))
        .when(pl.col("shows") == "key")
        .then("right")
        .when(pl.col("shows") == "reply")
        .then(pl.lit(WILDCARD))
        .otherwise("text")
    )
    return flat.group_by("dialogue", maintain_order=True).agg("question", after.alias("shown"))


def _contexts(steps: pl.DataFrame) -> pl.DataFrame:
    ids: list[str] = []
    ordinals: list[int] = []
    hashes: list[tuple[int, ...]] = []
    parts: list[pl.DataFrame] = []
    for walk in _walks(steps):
        for question, ordinal, context in contexts(walk):
            ids.append(question)
            ordinals.append(ordinal)
            hashes.append(context)
        if len(ids) >= 100_000:
            parts.append(_part(ids, ordinals, hashes))
            ids, ordinals, hashes = [], [], []
    parts.append(_part(ids, ordinals, hashes))
    return pl.concat(parts)


def _walks(steps: pl.DataFrame) -> Iterator[Iterator[Step]]:
    for questions, shown in steps.select("question", "shown").iter_rows():
        yield zip(questions, shown, strict=True)


def _part(ids: list[str], ordinals: list[int], hashes: list[tuple[int, ...]]) -> pl.DataFrame:
    table = np.array(hashes, dtype=np.uint64).reshape(len(ids), len(LEVELS))
    columns = {name: table[:, i] for i, name in enumerate(CONTEXT_COLUMNS)}
    return pl.DataFrame(
        {"id": pl.Series(ids, dtype=pl.String), "ordinal": pl.Series(ordinals, dtype=pl.Int32), **columns}
    )
