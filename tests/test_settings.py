"""Settings from the command line, from run files and from Python, and what is said where they cannot be meant."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from overread.errors import BadInput
from overread.settings import Settings, number_in, parse_pairs, parse_shard, read_run_file


def run_file(folder: Path, text: str | bytes) -> Path:
    path = folder / "run.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_a_run_file_holds_every_setting_and_flattens_its_tables(tmp_path: Path) -> None:
    text = """
        benchmark = "ecg_steps"
        models = ["chance", "prior:chain"]
        judges = []
        seed = -3
        shard = "2/3"
        [data]
        phantoms = "p"
        [set]
        "ask.seconds" = 30
        [set.score]
        resamples = 50
        clean = "no"
    """
    assert read_run_file(run_file(tmp_path, text)) == {
        "benchmark": "ecg_steps",
        "models": ("chance", "prior:chain"),
        "judges": (),
        "seed": -3,
        "shard": (2, 3),
        "data": {"phantoms": "p"},
        "set": {"ask.seconds": "30", "score.resamples": "50", "score.clean": "no"},
    }
    assert read_run_file(run_file(tmp_path, "")) == {}


WRONG = {
    "modles = []": "did you mean models",
    "command = ['x']": "no setting of a run file named 'command'",
    "models = 'chance'": "models must be a list of names",
    "models = [1]": "models must be a list of names",
    "judges = {a = 1}": "judges must be a list of names",
    "seed = '1'": "seed must be a whole number",
    "limit = 1.5": "limit must be a whole number",
    "samples = true": "samples must be a whole number",
    "data = 'x'": "data must be a table",
    "set = ['a=1']": "set must be a table",
    "benchmark = 3": "benchmark must be text",
    "out = 1979-05-27": "out must be text",
    "shard = 3": "not a shard",
    "seed = ": "not TOML",
    "seed = 1\nseed = 2": "not TOML",
    f"seed = {'1' * 5000}": "not TOML",
    f"a = {'[' * 3000}": "not TOML",
}


@pytest.mark.parametrize("text", WRONG, ids=lambda text: text[:20])
def test_a_run_file_with_a_wrong_setting_is_named_with_what_is_right(tmp_path: Path, text: str) -> None:
    path = run_file(tmp_path, text)
    with pytest.raises(BadInput) as error:
        read_run_file(path)
    assert WRONG[text] in str(error.value)
    assert str(path) in str(error.value) or "shard" in text


@pytest.mark.parametrize("path", ["nowhere.toml", ".", "a\x00b"])
def test_a_run_file_that_cannot_be_read_is_told(path: str) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        read_run_file(Path(path))


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=40) | st.text(max_size=40).map(str.encode))
def test_any_bytes_are_settings_or_an_error_for_the_user(tmp_path: Path, text: bytes) -> None:
    try:
        assert isinstance(read_run_file(run_file(tmp_path, text)), dict)
    except BadInput as error:
        assert str(error)


@pytest.mark.parametrize(("text", "shard"), [("1/1", (1, 1)), ("2/10", (2, 10)), ("007/7", (7, 7))])
def test_a_shard_is_read(text: str, shard: tuple[int, int]) -> None:
    assert parse_shard(text) == shard


@pytest.mark.parametrize(
    "text", ["", "1", "0/2", "3/2", "-1/2", "1/2/3", "a/b", "1/", " 1/2", "1/" + "9" * 5000, "²/3"]
)
def test_what_is_no_shard_is_said(text: str) -> None:
    with pytest.raises(BadInput, match="not a shard"):
        parse_shard(text)


def test_pairs_keep_what_stands_behind_the_first_equals_sign() -> None:
    assert parse_pairs(["a=b=c", " k =", "a=d"], "--set") == {"a": "d", "k": ""}
    for text in ("x", "=1", " =1", ""):
        with pytest.raises(BadInput, match="not KEY=VALUE"):
            parse_pairs([text], "--set")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"benchmark": "ecg_stepz"}, "did you mean ecg_steps"),
        ({"set": {"resamples": "1"}}, "belongs to nothing"),
        ({"set": {"heartbeat.x": "1"}}, "write ecg_steps.KEY=VALUE"),
        ({"seeds": 0}, "--seeds must be at least 1"),
        ({"samples": -1}, "--samples must be at least 1"),
        ({"limit": -1}, "--limit must be at least 1"),
        ({"limit": 0}, "at least 1"),
    ],
)
def test_settings_that_cannot_be_meant_are_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput) as error:
        Settings(**{"benchmark": "ecg_steps", **changes}).checked()
    assert said in str(error.value)


def test_good_settings_are_given_back_unchanged() -> None:
    good = Settings("ecg_steps", set={"score.resamples": "5", "ask.batch": "2"}, limit=1)
    assert good.checked() is good


def test_a_section_fills_in_defaults_and_knows_its_keys() -> None:
    one = Settings("b", set={"score.resamples": "5", "ask.seconds": "1", "ask.a.b": "2"})
    assert one.section("score", {"resamples": "1000", "clean": "yes"}) == {"resamples": "5", "clean": "yes"}
    assert one.section("ask", {"seconds": "9", "a.b": ""}) == {"seconds": "1", "a.b": "2"}
    with pytest.raises(BadInput, match="did you mean resample"):
        one.section("score", {"resample": "1"})


@pytest.mark.parametrize("text", ["", "x", "0", "-1", "nan", "inf", "1e9"])
def test_a_number_of_a_section_is_positive(text: str) -> None:
    with pytest.raises(BadInput, match="must be a positive number"):
        number_in({"seconds": text}, "seconds", "ask")
    assert number_in({"seconds": "0.5"}, "seconds", "ask") == 0.5


@pytest.mark.parametrize(
    ("benchmark", "out", "folder"),
    [
        ("ecg_steps", "", "runs/ecg_steps"),
        ("ecg_bench:code15", "", "runs/ecg_bench-code15"),
        ("./my folder/mine.py", "", "runs/mine"),
        ("ecg_steps", "there", "there"),
    ],
)
def test_the_run_folder_is_named_after_the_benchmark(benchmark: str, out: str, folder: str) -> None:
    assert Settings(benchmark, out=out).folder == Path(folder)
