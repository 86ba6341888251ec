from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overread.errors import BadInput
from overread.media.deliver import as_path, chosen, digest, order, reading


def test_the_hash_is_that_of_the_bytes_in_order_whatever_the_layout() -> None:
    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    told = hashlib.sha256(array.tobytes()).hexdigest()[:24]
    assert digest(array) == told
    assert digest(np.asfortranarray(array)) == told
    assert digest(array.astype(">f4")) == told
    assert digest(array.tobytes()) == told
    assert digest("é") == digest("é".encode())


@given(st.integers(0, 60), st.integers(0, 2**63))
def test_an_order_is_a_permutation_and_the_identity_only_where_there_is_no_other(count: int, seed: int) -> None:
    drawn = order(count, seed)
    assert sorted(drawn) == list(range(count))
    assert drawn == order(count, seed)
    assert count < 2 or drawn != tuple(range(count))


def test_orders_stay_the_same_between_versions() -> None:
    assert order(8, 1) == (5, 0, 1, 4, 2, 6, 3, 7)


def test_positions_are_checked() -> None:
    assert chosen((), 3, "frame", Path("x")) == (0, 1, 2)
    assert chosen((2, 2), 3, "frame", Path("x")) == (2, 2)
    with pytest.raises(BadInput, match="no frame 3"):
        chosen((0, 3), 3, "frame", Path("x"))


def test_a_path_has_the_hash_of_its_address() -> None:
    assert as_path(Path("/x/y"), (), "", "d://y").hash == digest("d://y")


def test_whatever_a_library_raises_names_the_file_and_our_own_errors_pass() -> None:
    with pytest.raises(BadInput, match="as a clip: KeyError") as caught, reading(Path("f.avi"), "a clip"):
        raise KeyError
    assert caught.value.where == "f.avi"
    own = BadInput("mine")
    with pytest.raises(BadInput) as caught, reading(Path("f.avi"), "a clip"):
        raise own
    assert caught.value is own
