from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from overread.errors import BadInput
from overread.foreign.request import pack, request
from overread.media.contract import Delivered
from overread.models.contract import Message, Pending, Posed
from overread.tables import Dialogue, Media, Question

ECG = Media("ecg", "ecg", "alias://one.hea")
LATER = Media("later", "ecg", "alias://later.hea")


def posed(data: Any = None, facts: dict[str, Any] | None = None) -> Posed:
    """Two questions; after the second one, its key and a turn with a medium that nobody asks about."""
    given = np.zeros(3, np.float32) if data is None else data
    script = (
        Message("user", "first?", (ECG,)),
        Message("assistant", "key of the first"),
        Message("user", "second?"),
        Message("assistant", "key of the second"),
        Message("user", "afterwards", (LATER,)),
    )
    questions = [Question(n, "d", 0, "i", "t", "choice", n, n, "key", "p", ("yes", "no")) for n in ("one", "two")]
    pending = tuple(Pending(q, 2 * n, script[2 * n], 0, 0) for n, q in enumerate(questions))
    dialogue = Dialogue("d", "b", "p", "c", "a/1", "i", "plain", "open", (ECG, LATER), ())
    return Posed(dialogue, script, pending, lambda _: Delivered("signal", given, (0, 3), (3,), "h", facts or {}))


def test_what_follows_the_last_question_is_not_sent(tmp_path: Path) -> None:
    packed = pack(posed(), tmp_path, "7.0", 10_000)
    assert [m["text"] for m in json.loads(packed.text)["script"]] == ["first?", "key of the first"]
    assert b"key of the second" not in packed.text
    assert list(json.loads(packed.text)["media"]) == ["ecg"]
    assert list(packed.asked) == ["7.0.0", "7.0.1"]
    assert list(packed.asked["7.0.1"].media) == ["ecg"]


def test_facts_with_numpy_values_are_sent_and_a_line_holds_all_dialogues(tmp_path: Path) -> None:
    packed = [pack(posed(facts={"spacing_mm": np.float32(0.5)}), tmp_path, stem, 10_000) for stem in ("7.0", "7.1")]
    line = request(7, packed)
    assert line.count(b"\n") == 1
    message = json.loads(line)
    assert (message["type"], message["request"], len(message["dialogues"])) == ("ask", 7, 2)
    assert message["dialogues"][1]["media"]["ecg"]["facts"] == {"spacing_mm": 0.5}
    files = [dialogue["media"]["ecg"]["file"] for dialogue in message["dialogues"]]
    assert len(set(files)) == 2
    assert all((tmp_path / file).exists() for file in files)


@pytest.mark.parametrize(
    ("dialogue", "reason"),
    [
        (posed(facts={"a": float("nan")}), "facts of a medium"),
        (posed(facts={"a": object()}), "facts of a medium"),
        (posed(data=[1, 2]), "cannot be handed list"),
    ],
)
def test_what_cannot_be_sent_is_named(tmp_path: Path, dialogue: Posed, reason: str) -> None:
    with pytest.raises(BadInput, match=reason):
        pack(dialogue, tmp_path, "7.0", 10_000)


def test_a_dialogue_that_is_too_long_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="the worker takes 100"):
        pack(posed(), tmp_path, "7.0", 100)
