from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from overread.archives.contract import check
from overread.errors import BadInput


def archive() -> ModuleType:
    module = ModuleType("made_up")
    vars(module).update(ALIAS="made", TERMS="credentialed", ACCESS="ask at the desk", cases=lambda root: iter(()))
    vars(module)["EXPECTED"] = (("list.csv", "the list"), ("signals/*.hea", "headers"))
    return module


def test_files_are_counted_and_what_is_missing_is_named(tmp_path: Path) -> None:
    (tmp_path / "signals" / "folder.hea").mkdir(parents=True)
    (tmp_path / "signals" / "a.hea").touch()
    (tmp_path / "signals" / "b.hea").touch()
    found = check(archive(), tmp_path)
    assert found.found == {"list.csv": 0, "signals/*.hea": 2}
    assert found.missing == ("list.csv",)
    assert found.expected["list.csv"] == "the list"
    assert (found.alias, found.terms, found.access) == ("made", "credentialed", "ask at the desk")


def test_a_folder_that_is_not_there_says_where_to_ask(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"--data made=PATH.*ask at the desk"):
        check(archive(), tmp_path / "nowhere")
