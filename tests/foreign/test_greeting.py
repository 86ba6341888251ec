from __future__ import annotations

from typing import Any

import pytest

from overread.foreign.greeting import read_greeting, same

GOOD: dict[str, Any] = {
    "type": "hello",
    "protocol": 1,
    "python": "3.8.18",
    "numpy": "1.24.4",
    "kinds": ["choice"],
    "forms": {"ecg": "signal"},
    "identity": {"weights": "v2"},
    "batch": 2,
}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"type": "hi"}, "protocol 1"),
        ({"protocol": 2}, "protocol 1"),
        ({"kinds": []}, "KINDS"),
        ({"kinds": ["guess"]}, "KINDS"),
        ({"kinds": [["choice"]]}, "KINDS"),
        ({"forms": {"xray": "image"}}, "FORMS"),
        ({"forms": {"ecg": 1}}, "FORMS"),
        ({"forms": None}, "FORMS"),
        ({"identity": "v2"}, "identity"),
        ({"batch": 0}, "BATCH"),
        ({"batch": True}, "BATCH"),
        ({"batch": 10**6}, "BATCH"),
    ],
)
def test_a_greeting_that_says_nonsense_is_refused(change: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        read_greeting({**GOOD, **change})


def test_workers_are_the_same_in_all_but_versions() -> None:
    one = read_greeting(GOOD)
    assert same(one, read_greeting({**GOOD, "python": "3.12.1", "numpy": "2.0"}))
    assert not same(one, read_greeting({**GOOD, "identity": {"weights": "v3"}}))
