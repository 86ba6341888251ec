"""The way between rows and data frames, column by column.

Handing lists and structs over value by value would cost five to ten times as much.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import operator
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import polars as pl

from overread.quick import quick
from overread.tables import Json, canonical, schema

Row = TypeVar("Row")


def to_frame(rows: Iterable[Any], row: type[Any]) -> pl.DataFrame:
    """Rows as a data frame with exactly the columns of their table."""
    kinds = schema(row)
    columns = list(zip(*map(operator.attrgetter(*kinds), rows), strict=True)) or [()] * len(kinds)
    return pl.DataFrame(
        {name: _as_column(list(values), kind) for (name, kind), values in zip(kinds.items(), columns, strict=True)}
    )


def records_frame(records: Sequence[Mapping[str, Any]], row: type[Any]) -> pl.DataFrame:
    """Rows as plain dictionaries with the types of their table, such as JSON gives them.

    A field that one lacks has its usual value; one that must be there is null.
    """
    usual = {name: "{}" if value == Json() else value for name, value in usual_values(row).items()}
    return pl.DataFrame(
        {n: _as_column([one.get(n, usual.get(n)) for one in records], kind) for n, kind in schema(row).items()}
    )


def usual_values(row: type[Any]) -> dict[str, Any]:
    """What the fields of a row hold where nothing is said; those that must be given are not among them."""
    found = {}
    for field in dataclasses.fields(row):
        if field.default is not dataclasses.MISSING:
            found[field.name] = field.default
        elif field.default_factory is not dataclasses.MISSING:
            found[field.name] = field.default_factory()
    return found


def _as_column(values: list[Any], kind: pl.DataType) -> pl.Series:
    if isinstance(kind, pl.Struct):
        if not values or isinstance(values[0], dict):
            return pl.Series(values, dtype=kind, strict=True)
        return to_frame(values, type(values[0])).to_struct()
    if not isinstance(kind, pl.List):
        if values and isinstance(values[0], Json):
            values = [canonical(value) if value else "{}" for value in values]
        return pl.Series(values, dtype=kind)
    filled = [value for value in values if value]
    inner = typing.cast("pl.DataType", kind.inner)
    flat = _as_column([element for value in filled for element in value], inner)
    lists = _cut(flat, [len(value) for value in filled])
    if len(filled) == len(values):
        return lists.cast(kind)
    numbers = iter(range(len(filled)))
    places = [next(numbers) if value else len(filled) + (value is None) for value in values]
    return pl.concat([lists.cast(kind), pl.Series("list", [[], None], dtype=kind)]).gather(places)


def _cut(flat: pl.Series, lengths: list[int]) -> pl.Series:
    """A series of lists out of one of elements; none of the lists is empty."""
    if lengths and len(set(lengths)) == 1 and not isinstance(flat.dtype, pl.Struct):
        return flat.alias("list").reshape((len(lengths), lengths[0])).arr.to_list()  # the common case, for nothing
    owners = pl.Series("owner", [n for n, length in enumerate(lengths) for _ in range(length)], dtype=pl.UInt32)
    grouped = pl.DataFrame({"owner": owners, "list": flat}).group_by("owner", maintain_order=True)
    return grouped.agg("list")["list"]


def rows_of(frame: pl.DataFrame, row: type[Row]) -> Iterator[Row]:
    """The rows of a data frame, one object each, in order."""
    hints = typing.get_type_hints(row)
    columns = [_values(frame[name], hints[name]) for name in schema(row)]
    return itertools.starmap(quick(row), zip(*columns, strict=True))


def _values(column: pl.Series, hint: Any) -> list[Any]:
    """What the fields of an annotation hold, one value a row."""
    if hint is Json:
        return [Json(json.loads(text)) for text in column]
    if isinstance(column.dtype, pl.Struct):
        return list(rows_of(column.struct.unnest(), hint))
    if not isinstance(column.dtype, pl.List):
        return column.to_list()
    # Flat and cut again: handing lists over one by one would take five times as long.
    inner = next(i for option in (hint, *typing.get_args(hint)) if (i := _element(option)) is not None)
    counts = column.list.len()
    elements = iter(_values(column.filter(counts > 0).explode(), inner))
    return [None if count is None else tuple(itertools.islice(elements, count)) for count in counts.to_list()]


def _element(hint: Any) -> Any:
    """X of `tuple[X, ...]`; None of anything else."""
    return typing.get_args(hint)[0] if typing.get_origin(hint) is tuple else None
