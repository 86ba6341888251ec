from __future__ import annotations

import dataclasses
import typing

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overread.columns import rows_of, to_frame
from overread.tables import ROWS, Case, Json, Media, Reply, canonical, content_id, schema

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@pytest.mark.parametrize("row", ROWS)
def test_every_row_has_a_table_whose_columns_are_its_fields(row: type) -> None:
    assert row.TABLE
    assert list(schema(row)) == [field.name for field in dataclasses.fields(row)]
    assert to_frame([], row).schema == pl.Schema(schema(row))


@pytest.mark.parametrize("row", ROWS)
def test_every_row_is_frozen_and_documented(row: type) -> None:
    assert row.__doc__
    assert row.__dataclass_params__.frozen


def test_the_required_fields_of_a_reply_come_first() -> None:
    required = [f.name for f in dataclasses.fields(Reply) if f.default is f.default_factory is dataclasses.MISSING]
    assert required == ["id", "question", "place", "model", "identity", "seed", "sample", "prompt", "status"]


replies = st.builds(
    Reply,
    id=TEXT, question=TEXT, place=st.integers(0, 2**40), model=TEXT, identity=TEXT, seed=st.integers(0, 9),
    sample=st.integers(0, 9), prompt=TEXT, status=st.sampled_from(["answered", "refused", "failed"]), reason=TEXT,
    text=st.none() | TEXT, choice=st.none() | st.lists(st.integers(0, 9)).map(tuple),
    option_scores=st.none() | st.lists(st.floats(0, 1)).map(tuple), number=st.none() | st.floats(-1e9, 1e9),
    receipts=st.lists(TEXT).map(tuple), usage=st.dictionaries(TEXT, st.integers(0, 99)).map(Json),
    seconds=st.floats(0, 9), at=st.floats(0, 9), provenance=TEXT,
)  # fmt: skip


@given(st.lists(replies, max_size=4))
def test_replies_survive_the_way_through_a_data_frame(rows: list[Reply]) -> None:
    assert list(rows_of(to_frame(rows, Reply), Reply)) == rows


def test_a_case_with_media_survives_and_its_facts_are_stored_as_text() -> None:
    case = Case("c", "phantoms", "phantoms/p1", (Media("ecg", "ecg", "phantoms://ecg/1", (0, 100)),), Json(b=1, a=[2]))
    frame = to_frame([case], Case)
    assert frame["facts"].to_list() == ['{"a":[2],"b":1}']
    assert list(rows_of(frame, Case)) == [case]


def test_an_empty_choice_and_no_choice_stay_different() -> None:
    base = Reply("i", "q", 0, "m", "id", 0, 0, "p", "answered")
    rows = [dataclasses.replace(base, choice=()), base]
    assert [row.choice for row in rows_of(to_frame(rows, Reply), Reply)] == [(), None]


@given(st.lists(TEXT, min_size=1, max_size=4), st.lists(TEXT, min_size=1, max_size=4))
def test_content_ids_tell_lists_of_parts_apart(one: list[str], other: list[str]) -> None:
    assert (content_id(*one) == content_id(*other)) == (one == other)


def test_canonical_text_does_not_depend_on_the_order_of_keys_and_refuses_nan() -> None:
    assert canonical({"b": 1, "a": 2}) == canonical({"a": 2, "b": 1})
    with pytest.raises(ValueError):
        canonical({"a": float("nan")})


def test_annotations_are_of_the_kinds_that_have_a_column() -> None:
    for row in ROWS:
        assert set(typing.get_type_hints(row)) - {"TABLE"} == set(schema(row))
