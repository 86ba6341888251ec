from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overread.errors import BadInput
from overread.roots import Roots, inside, split, variable_of


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "data" / "a").mkdir(parents=True)
    (tmp_path / "data" / "a" / "x.txt").write_text("x")
    (tmp_path / "secret.txt").write_text("s")
    return tmp_path


def refusal(roots: Roots, uri: str) -> str:
    with pytest.raises(BadInput) as caught:
        roots.resolve(uri)
    assert caught.value.what
    assert caught.value.where
    assert caught.value.do
    return str(caught.value)


def test_an_address_becomes_a_path_below_its_alias(folder: Path) -> None:
    roots = Roots({"d": folder / "data"})
    assert roots.resolve("d://a/x.txt") == folder / "data" / "a" / "x.txt"
    assert roots.resolve("d://a/x.txt") is roots.resolve("d://a/x.txt")


def test_what_is_given_precedes_the_environment_which_precedes_the_settings_file(folder: Path) -> None:
    (folder / "overread.toml").write_text('[data]\none = "t1"\ntwo-b = "t2"\nthree = "t3"\n')
    environment = {
        "OVERREAD_DATA_ONE": "e1",
        "OVERREAD_DATA_TWO_B": "e2",
        "OVERREAD_DATA_FOUR": "e4",
        "OVERREAD_REAL_DATA": "no",
        "OVERREAD_DATA_EMPTY": "",
    }
    for name in ("g1", "e1", "e2", "t3", "e4"):
        (folder / name).mkdir()
    roots = Roots.find({"one": "g1"}, folder, environment)
    found = {alias: roots.root(alias).name for alias in ("one", "two-b", "three", "four")}
    assert found == {"one": "g1", "two-b": "e2", "three": "t3", "four": "e4"}
    assert roots.names() == ("four", "one", "three", "two-b")


def test_relative_folders_start_at_the_folder_given_and_need_no_settings_file(folder: Path) -> None:
    roots = Roots.find({"d": "data"}, folder, {})
    assert roots.resolve("d://a/x.txt").is_file()


def test_variables_are_named_after_their_alias() -> None:
    assert variable_of("ptb-xl.v1") == "OVERREAD_DATA_PTB_XL_V1"


def test_an_unknown_alias_says_how_to_give_it(folder: Path) -> None:
    text = refusal(Roots({"ptbxl": folder}), "ptb_xl://x")
    assert "--data ptb_xl=PATH" in text
    assert "ptbxl" in text
    assert "--data ptb_xl=PATH" in refusal(Roots({}), "ptb_xl://x")


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "x",
        "d:/a",
        "://a",
        "d://",
        "d:///etc/passwd",
        "d://../secret.txt",
        "d://a/../../secret.txt",
        "d://a/x\0",
        "d://\\\\host\\x",
        "d://C:\\x",
        "d://a\\..\\..\\secret.txt",
        "é://a",
        "../d://a",
        "d://a/none.txt",
        "d://" + "n" * 5000,
        "d://\ud800",
    ],
)
def test_an_address_that_is_no_file_below_its_alias_is_refused(folder: Path, uri: str) -> None:
    refusal(Roots({"d": folder / "data"}), uri)


def test_going_up_is_refused_even_where_it_stays_inside(folder: Path) -> None:
    assert "'..'" in refusal(Roots({"d": folder / "data"}), "d://a/../a/x.txt")


def test_two_dots_inside_a_name_are_no_way_up(folder: Path) -> None:
    (folder / "data" / "a..b").write_text("x")
    assert Roots({"d": folder / "data"}).resolve("d://a..b").is_file()


def test_a_link_that_leaves_the_root_is_refused_and_one_that_stays_is_not(folder: Path) -> None:
    root = folder / "data"
    (root / "out").symlink_to(folder / "secret.txt")
    (root / "up").symlink_to(folder)
    (root / "in").symlink_to(root / "a" / "x.txt")
    (root / "loop").symlink_to(root / "loop")
    roots = Roots({"d": root})
    assert "symbolic link" in refusal(roots, "d://out")
    assert "symbolic link" in refusal(roots, "d://up/secret.txt")
    refusal(roots, "d://loop")
    assert roots.resolve("d://in") == root / "in"
    with pytest.raises(BadInput, match="symbolic link"):
        roots.resolve("d://up/none", must_exist=False)


def test_a_root_may_itself_be_a_link(folder: Path) -> None:
    (folder / "linked").symlink_to(folder / "data")
    assert Roots({"d": folder / "linked"}).resolve("d://a/x.txt").is_file()


def test_a_sibling_whose_name_starts_alike_is_outside(folder: Path) -> None:
    (folder / "data2").mkdir()
    (folder / "data2" / "y").write_text("y")
    (folder / "data" / "y").symlink_to(folder / "data2" / "y")
    refusal(Roots({"d": folder / "data"}), "d://y")


def test_a_record_without_its_extension_resolves_when_asked_so(folder: Path) -> None:
    roots = Roots({"d": folder / "data"})
    assert roots.resolve("d://a/record", must_exist=False) == folder / "data" / "a" / "record"
    refusal(roots, "d://a/record")


def test_a_place_inside_a_file_is_kept_and_the_file_is_what_must_be_there(folder: Path) -> None:
    root = folder / "data"
    (root / "x.hdf5").write_text("x")
    (folder / "secret.hdf5").write_text("s")
    (root / "out.h5").symlink_to(folder / "secret.hdf5")
    (root / "a#b.txt").write_text("x")
    roots = Roots({"d": root})
    assert roots.resolve("d://x.hdf5#exam=12") == root / "x.hdf5#exam=12"
    assert inside(str(root / "x.hdf5#exam=12")) == (str(root / "x.hdf5"), "exam=12")
    assert inside("x.hdf5#exam=1/../..") == ("x.hdf5#exam=1/../..", "")
    assert roots.resolve("d://a#b.txt").is_file(), "elsewhere the sign is a letter like any other"
    assert "symbolic link" in refusal(roots, "d://out.h5#exam=1")
    for uri in (
        "d://none.hdf5#exam=1",
        "d://x.hdf5#exam=-1",
        "d://x.hdf5#",
        "d://../secret.hdf5#exam=1",
        "d://a#exam=1",
    ):
        refusal(roots, uri)


def test_a_root_that_is_not_there_is_named(folder: Path) -> None:
    assert str(folder / "gone") in refusal(Roots({"d": folder / "gone"}), "d://a")
    refusal(Roots({"d": folder / "secret.txt"}), "d://a")


@pytest.mark.parametrize(
    ("text", "line"),
    [(b'[data]\nx = "a"\ny = \n', 3), (b'[data]\nx = "a"\n\ny = "unfinished', 4), (b"[data]\n# \xff\n", 2)],
)
def test_malformed_settings_name_file_and_line(folder: Path, text: bytes, line: int) -> None:
    (folder / "overread.toml").write_bytes(text)
    with pytest.raises(BadInput) as caught:
        Roots.find({}, folder, {})
    assert caught.value.where == f"{folder / 'overread.toml'}:{line}"


@pytest.mark.parametrize("text", ["data = 3", "[data]\nx = 3", '[data]\nx = ""', '[data]\n"a b" = "x"', "[[data]]"])
def test_settings_of_another_shape_are_refused(folder: Path, text: str) -> None:
    (folder / "overread.toml").write_text(text)
    with pytest.raises(BadInput):
        Roots.find({}, folder, {})


@pytest.mark.parametrize("given", [{"a/b": "x"}, {"": "x"}, {"a": ""}])
def test_given_aliases_are_checked(folder: Path, given: dict[str, str]) -> None:
    with pytest.raises(BadInput):
        Roots.find(given, folder, {})


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=40) | st.text("./\\:~ad\0", max_size=20).map("d://".__add__))
def test_whatever_the_address_nothing_outside_is_reached(uri: str) -> None:
    here = Path(__file__).parent
    try:
        path = Roots({"d": here / "media"}).resolve(uri, must_exist=False)
    except BadInput:
        return
    assert os.path.realpath(path).startswith(str((here / "media").resolve()))
    assert split(uri)[0] == "d"
