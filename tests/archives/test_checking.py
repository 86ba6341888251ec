"""`overread data` and `overread list archives`, for every archive of ECGs."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType

import click.testing
import pytest

from overread.cli import main

ECG_ARCHIVES = ("ptbxl", "mimic_ecg", "ludb", "code15", "ecg_folder")


def call(*words: str) -> click.testing.Result:
    return click.testing.CliRunner().invoke(main, list(words))


@pytest.mark.parametrize("alias", ECG_ARCHIVES)
def test_what_of_an_archive_is_there_is_told(alias: str, tmp_path: Path, trees: ModuleType) -> None:
    place = f"{alias}={tmp_path}"
    empty = call("data", "check", alias, "--data", place)
    assert empty.exit_code == 3 and "missing" in empty.output
    trees.MAKERS[alias](tmp_path)
    result = call("data", "check", alias, "--data", place, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["missing"] == [] and all(found["found"].values()) and found["access"]


@pytest.mark.parametrize("alias", ECG_ARCHIVES)
def test_how_to_get_an_archive_and_under_which_terms_is_told(alias: str) -> None:
    result = call("data", "get", alias)
    assert result.exit_code == 0 and f"--data {alias}=PATH" in result.output
    assert ("credentialed" in result.output) == (alias == "mimic_ecg")


def test_the_archives_are_listed() -> None:
    listed = {entry["name"] for entry in json.loads(call("list", "archives", "--json").stdout)["archives"]}
    assert set(ECG_ARCHIVES) <= listed
