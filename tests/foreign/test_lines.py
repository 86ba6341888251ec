from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overread.errors import ModelFault
from overread.foreign.lines import Lines

MESSAGES = st.lists(st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=9)), max_size=6)


@given(MESSAGES, st.lists(st.integers(1, 40), max_size=30))
def test_messages_arrive_whole_however_the_stream_is_cut(sent: list[dict[str, object]], cuts: list[int]) -> None:
    messages = [{**message, "type": "x"} for message in sent]
    stream = b"".join(json.dumps(message).encode() + b"\n" for message in messages)
    lines, got = Lines(), []
    for cut in [*cuts, len(stream)]:
        got += lines.feed(stream[:cut])
        stream = stream[cut:]
    assert got == messages


@given(st.binary(max_size=200))
def test_whatever_comes_is_a_message_or_a_fault(data: bytes) -> None:
    try:
        messages = Lines().feed(data + b"\n")
    except ModelFault:
        return
    assert all(isinstance(message["type"], str) for message in messages)


@pytest.mark.parametrize(
    "line", [b"", b"{]", b"[]", b'"x"', b"{}", b'{"type": 1}', b'{"type": "x", "n": NaN}', b"\xff"]
)
def test_a_line_that_is_no_message_is_a_fault(line: bytes) -> None:
    with pytest.raises(ModelFault, match="sent a line"):
        Lines().feed(line + b"\n")


def test_a_line_nested_without_end_is_a_fault() -> None:
    with pytest.raises(ModelFault, match="no JSON"):
        Lines().feed(b"[" * 100_000 + b"\n")


def test_a_line_may_be_as_long_as_allowed_and_no_longer() -> None:
    line = b'{"type": "x"}'
    assert Lines(longest=len(line)).feed(line + b"\n" + line + b"\n") == [{"type": "x"}] * 2
    with pytest.raises(ModelFault, match="longer than 12 bytes"):
        Lines(longest=12).feed(line)
