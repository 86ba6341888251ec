from __future__ import annotations

from collections import Counter

from overread.archives.split import PARTS, part_of


def test_the_parts_have_their_sizes_and_every_patient_always_the_same() -> None:
    drawn = [part_of(f"made/{i}") for i in range(5000)]
    assert drawn == [part_of(f"made/{i}") for i in range(5000)]
    counts = Counter(drawn)
    assert set(counts) == set(PARTS)
    assert abs(counts["train"] / 5000 - 0.8) < 0.02
    assert abs(counts["val"] / 5000 - 0.1) < 0.02


def test_the_rule_stays_the_same_between_versions() -> None:
    assert [part_of(f"code15/{i}") for i in range(12)] == [
        "train",
        "val",
        "test",
        "test",
        "train",
        "train",
        "train",
        "train",
        "test",
        "train",
        "train",
        "train",
    ]
