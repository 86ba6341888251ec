"""Judging row by row: the one helper that all such judges share.

What a finding says where there is nothing to judge is decided here, once:

    failed, refused    `correct` null: there is no verdict on content; credit 0
    unreadable         `correct` false: an unreadable reply is wrong, and counted as unreadable; credit 0
    expected           `correct` null: a distribution is neither right nor wrong; credit is its expectation
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

import polars as pl

from overread.errors import BadInput
from overread.judges.contract import FINDING
from overread.judges.draws import draws_of
from overread.tables import VerdictStatus


class Row(NamedTuple):
    """What a reply is judged by; equal rows are judged once."""

    kind: str
    template: str
    """For error messages; of the first of several equal rows."""
    options: tuple[str, ...]
    many: bool
    low: float | None
    high: float | None
    whole: bool
    unit: str
    answer: tuple[str, ...]
    key_number: float | None
    tolerance: float | None
    text: str | None
    choice: tuple[int, ...] | None
    option_scores: tuple[float, ...] | None
    number: float | None
    spread: tuple[float, ...] | None
    blob: str | None
    stage: str | None = None
    """The kind of step that the question is; judges that mark steps in different ways go by it."""


class Finding(NamedTuple):
    """A judge's finding on one reply; the columns of `FINDING` after `reply`."""

    status: VerdictStatus
    parsed: str | None = None
    correct: bool | None = None
    credit: float = 0.0
    error: float | None = None
    probability: float | None = None


UNREADABLE = Finding("unreadable", correct=False)
Part = tuple[pl.Expr, Callable[[pl.DataFrame], pl.DataFrame]]

_OUTCOME = {name: kind for name, kind in FINDING.items() if name != "reply"}
_INDEX, _WANTED = "__row", "__wanted"


def only(table: pl.DataFrame, kinds: Collection[str], judge: str) -> None:
    """Refuses questions of a kind that a judge does not know."""
    others = table.filter(~pl.col("kind").is_in(list(kinds)))
    if others.height:
        kind, template = others.row(0, named=True)["kind"], others.row(0, named=True)["template"]
        raise BadInput(
            f"the judge {judge!r} cannot judge questions of kind {kind!r}",
            where=f"template {template!r}",
            do=f"choose another judge for them; {judge!r} judges {', '.join(kinds)}",
        )


def constant(table: pl.DataFrame, finding: Finding) -> pl.DataFrame:
    """The same finding for every row."""
    values = zip(_OUTCOME.items(), finding, strict=True)
    return table.select("reply", *(pl.lit(value, dtype=kind).alias(name) for (name, kind), value in values))


def unanswered(table: pl.DataFrame) -> pl.DataFrame:
    """The findings on replies that failed or were refused: their status, and no verdict on content."""
    return constant(table, Finding("failed")).with_columns(table["status"])


def in_parts(table: pl.DataFrame, parts: Sequence[Part]) -> pl.DataFrame:
    """Judges each part of a table in its own way and puts the findings back into the table's order.

    A row belongs to the first part whose condition it meets. Failed and refused replies are judged before all parts,
    and a row of no part is unreadable.
    """
    rest = table.rechunk().with_row_index(_INDEX)
    found: list[pl.DataFrame] = []
    everything: list[Part] = [
        (pl.col("status") != "answered", unanswered),
        *parts,
        (pl.lit(True), lambda left: constant(left, UNREADABLE)),
    ]
    for condition, judge in everything:
        rest = rest.with_columns(condition.fill_null(False).alias(_WANTED))
        part, rest = (rest.filter(side).drop(_WANTED) for side in (pl.col(_WANTED), ~pl.col(_WANTED)))
        if part.height:
            findings = judge(part.drop(_INDEX)).select(pl.col(name).cast(kind) for name, kind in FINDING.items())
            found.append(findings.with_columns(part[_INDEX]))
    if not found:
        return pl.DataFrame(schema=FINDING)
    return pl.concat(found).sort(_INDEX).drop(_INDEX)


def by_row(table: pl.DataFrame, find: Callable[[Row], Finding]) -> pl.DataFrame:
    """The findings of a judge that looks at one reply at a time.

    `find` is called once for all answered rows that are equal in everything it can see, and must depend on nothing
    else. A reply that is only a distribution is taken apart: `find` sees each of its draws, and the finding is their
    expectation. Columns that hold a structured answer should go through expressions instead (see `in_parts`).
    """
    return in_parts(table, [(pl.lit(True), lambda answered: _each(answered, lambda row: expected(row, find)))])


def expected(row: Row, find: Callable[[Row], Finding]) -> Finding:
    """The finding on a reply; of one that is only a distribution, the expectation over its draws."""
    if row.text is not None or row.choice is not None or row.number is not None or row.blob is not None:
        return find(row)
    draws = [
        (weight, find(row._replace(option_scores=None, spread=None, choice=choice, number=number)))
        for weight, choice, number in draws_of(row.option_scores, row.spread, len(row.options), many=row.many)
    ]
    read = [(weight, finding) for weight, finding in draws if finding.status == "read"]
    if not read:
        return find(row)
    return Finding(
        "expected",
        credit=min(1.0, sum(weight * finding.credit for weight, finding in read)),
        error=None if any(f.error is None for _, f in read) else sum(w * (f.error or 0.0) for w, f in read),
        probability=min(1.0, sum(w for w, finding in read if finding.correct)) if row.option_scores else None,
    )


def _each(table: pl.DataFrame, find: Callable[[Row], Finding]) -> pl.DataFrame:
    seen = [name for name in Row._fields if name != "template"]
    groups = table.select(seen).with_row_index(_INDEX).group_by(seen, maintain_order=True).agg(_INDEX)
    first = table.select(Row._fields)[groups[_INDEX].list.first()]
    columns = [_cells(first[name]) for name in Row._fields]
    findings = [find(Row(*values)) for values in zip(*columns, strict=True)]
    outcome = pl.DataFrame(findings, schema=_OUTCOME, orient="row").with_columns(groups[_INDEX])
    return outcome.explode(_INDEX).sort(_INDEX).drop(_INDEX).with_columns(table["reply"])


def _cells(column: pl.Series) -> list[Any]:
    cells = column.to_list()
    return [None if cell is None else tuple(cell) for cell in cells] if column.dtype == pl.List else cells
