from __future__ import annotations

from overread.foreign.lament import CHARACTERS, KEPT_BYTES, LINES, WITHHELD, Lament, tell


def test_only_the_last_lines_are_told() -> None:
    told = tell("\n".join(str(n) for n in range(100)))
    assert told.splitlines() == [str(n) for n in range(100 - LINES, 100)]


def test_long_lines_are_cut_to_their_end() -> None:
    assert tell("x" * 9999 + "end") == "x" * (CHARACTERS - 3) + "end"


def test_every_line_of_a_prompt_is_withheld_also_in_a_printed_string() -> None:
    prompt = "Patient A. Example\n  was born in 1950\nyes"
    told = tell(f"failed on {prompt!r}: yes\n{prompt}", [prompt])
    assert "Example" not in told
    assert "1950" not in told
    assert told.startswith(f"failed on '{WITHHELD}")
    assert told.endswith("yes")


def test_control_characters_do_not_reach_a_terminal() -> None:
    assert tell("\x1b[31mred\x07") == "?[31mred?"


def test_a_prompt_cut_by_the_memory_is_not_told_in_part() -> None:
    lament = Lament()
    lament.add(b"my secret prompt\nx" * (KEPT_BYTES // 8))
    lament.add(b"\nthe end")
    told = lament.told(["my secret prompt"])
    assert "secret" not in told
    assert told.endswith("the end")
    lament.clear()
    assert lament.told() == ""
