"""Reads choices: an index, probabilities or a text of any sober form; what is not certain is unreadable.

Also compares the text of an open question with its one right text, after normalisation. Of a structured reply the
choice counts, then the text, then the probabilities: without a choice they are scored by expectation (of one-of the
normalised probability of the right options, of many-of the product over independent options).
"""

from __future__ import annotations

import polars as pl

from overread.errors import BadInput
from overread.judges.choosing import read
from overread.judges.contract import FINDING
from overread.judges.offered import offered
from overread.judges.rows import UNREADABLE, Finding, Row, by_row, in_parts, only
from overread.judges.wording import bare, plain, spoken

KINDS = ("choice", "text")

_OPEN = pl.col("kind") == "text"
_INDEX = "__index"


def judge(table: pl.DataFrame) -> pl.DataFrame:
    """The findings on choices and open texts."""
    only(table, KINDS, "option")
    _check_key(table)
    return in_parts(
        table,
        [
            (_OPEN & pl.col("text").is_not_null(), lambda part: by_row(part, _open_text)),
            (_OPEN, lambda part: by_row(part, lambda row: UNREADABLE)),
            (pl.col("choice").is_not_null(), _chosen),
            (pl.col("text").is_not_null(), _written),
            (pl.col("option_scores").is_not_null(), _expected),
        ],
    )


def _check_key(table: pl.DataFrame) -> None:
    """A key that no reply could match is a broken exam, not a wrong answer."""
    answers = pl.col("answer").list.len().fill_null(0)
    stray = pl.col("answer").list.set_difference("options").list.len().fill_null(0)
    empty = (answers == 0) & (_OPEN | ~pl.col("many") | pl.col("answer").is_null())
    broken = table.filter(empty | (~_OPEN & (stray > 0)))
    if not broken.height:
        return
    row = broken.row(0, named=True)
    strays = [answer for answer in row["answer"] or [] if answer not in row["options"]]
    what = f"the key's answer {strays[0]!r} is not among the options" if strays else "the key has no answer"
    offer = f"the options are {', '.join(map(repr, row['options']))}; " if strays else ""
    raise BadInput(what, where=f"template {row['template']!r}", do=f"{offer}mend the benchmark that wrote this key")


def _marked(frame: pl.DataFrame) -> pl.DataFrame:
    """Findings from rows with `picked`: indices of the options chosen, or null where nothing could be read."""
    texts = pl.col("options").list.gather(pl.col("picked"), null_on_oob=True).list.unique(maintain_order=True)
    frame = frame.with_columns(texts.alias("texts"))
    wrong = pl.col("texts").list.set_symmetric_difference("answer").list.len() > 0
    hit = pl.col("texts").list.set_intersection("answer").list.len() > 0
    is_read = pl.col("picked").is_not_null()
    correct = is_read & pl.when(pl.col("many")).then(~wrong).otherwise(hit)
    frame = frame.with_columns(
        pl.when(is_read).then(pl.lit("read")).otherwise(pl.lit("unreadable")).alias("status"),
        pl.when(is_read).then(pl.col("texts").list.join("\n")).alias("parsed"),
        correct.fill_null(False).alias("correct"),
        correct.fill_null(False).cast(pl.Float64).alias("credit"),
        pl.lit(None, dtype=pl.Float64).alias("error"),
        pl.when(is_read).then(_right(frame)).alias("probability"),
    )
    return frame.select(*FINDING)


def _chosen(table: pl.DataFrame) -> pl.DataFrame:
    choice = pl.col("choice")
    distinct = choice.list.eval(pl.element().unique().sort())  # `list.sort` is a hundred times slower
    inside = (choice.list.min() >= 0) & (choice.list.max() < pl.col("options").list.len().cast(pl.Int64))
    whole = ~choice.list.contains(pl.lit(None, dtype=pl.Int64), nulls_equal=True)
    enough = pl.when(pl.col("many")).then(True).otherwise(distinct.list.len() == 1)
    usable = whole & enough & inside.fill_null(choice.list.len() == 0)
    return _marked(table.with_columns(pl.when(usable).then(distinct).alias("picked")))


def _written(table: pl.DataFrame) -> pl.DataFrame:
    """Texts are read row by row; what was read is marked like any other choice."""
    found = by_row(table, _read)
    picked = found["parsed"].str.split(",").cast(pl.List(pl.Int64))
    return _marked(table.with_columns(picked.alias("picked")))


def _read(row: Row) -> Finding:
    picked = read(row.text or "", offered(row.options), many=row.many)
    return UNREADABLE if picked is None else Finding("read", ",".join(map(str, picked)))


def _expected(table: pl.DataFrame) -> pl.DataFrame:
    expected = _right(table)
    usable = expected.is_not_null()
    return table.select(
        "reply",
        pl.when(usable).then(pl.lit("expected")).otherwise(pl.lit("unreadable")).alias("status"),
        pl.lit(None, dtype=pl.String).alias("parsed"),
        pl.when(usable).then(pl.lit(None, dtype=pl.Boolean)).otherwise(False).alias("correct"),
        expected.fill_null(0.0).alias("credit"),
        pl.lit(None, dtype=pl.Float64).alias("error"),
        expected.alias("probability"),
    )


def _right(table: pl.DataFrame) -> pl.Series:
    """The probability that the scores give to the right answer; null where there are none or they are no probabilities.

    One-of scores are normalised, so any sum above 0 will do; many-of scores must lie within 0 and 1.
    """
    nothing = pl.Series("probability", [None] * table.height, dtype=pl.Float64)
    length = pl.col("option_scores").list.len()
    rows = table.with_row_index(_INDEX).select(_INDEX, "options", "answer", "many", "option_scores")
    rows = rows.filter((length == pl.col("options").list.len()) & (length > 0))
    if not rows.height:
        return nothing
    score, right, top = pl.col("option_scores"), pl.col("right"), pl.when(pl.col("many")).then(1.0 + 1e-9)
    cells = rows.explode("options", "option_scores").with_columns(
        pl.col("options").is_in(pl.col("answer")).alias("right"),
        (score.is_finite() & (score >= 0) & (score <= top.otherwise(float("inf")))).fill_null(False).alias("fine"),
    )
    sums = cells.group_by(_INDEX).agg(
        pl.col("fine").all(),
        pl.col("many").first(),
        (score.filter(right).sum() / score.sum()).alias("one"),
        pl.when(right).then(score).otherwise(1.0 - score).clip(0.0, 1.0).product().alias("all"),
    )
    value = pl.when(pl.col("many")).then("all").otherwise("one")
    value = pl.when(pl.col("fine") & value.is_finite()).then(value).alias("probability")
    places = pl.DataFrame({_INDEX: pl.Series(range(table.height), dtype=pl.UInt32)})
    found = places.join(sums.select(_INDEX, value), on=_INDEX, how="left", maintain_order="left")
    return found["probability"]


def _open_text(row: Row) -> Finding:
    said = bare(plain(spoken(row.text or "")))
    if not said:
        return UNREADABLE
    correct = said in {bare(plain(answer)) for answer in row.answer}
    return Finding("read", said, correct, float(correct))
