"""Generated bad input: run files, settings, and data that are damaged somewhere.

Each run either works, fails with a message (exit code 2), or is partial and says so (exit code 3).
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import click.testing
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from overread.builders import phantoms
from overread.cli import main

many = settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
VALUES = st.one_of(
    st.integers(-3, 3), st.integers(), st.floats(), st.booleans(), st.text(max_size=8), st.just("ecg_steps"),
    st.lists(st.sampled_from(["chance", "prior:chain", "nobody", "chance[x=1]", ""]), max_size=3),
    st.dictionaries(st.text(max_size=4), st.integers() | st.text(max_size=4), max_size=2),
)  # fmt: skip
KEYS = st.sampled_from(
    ["benchmark", "models", "data", "protocol", "conditions", "set", "judges", "seed", "seeds", "samples", "limit",
     "engine", "shard", "out", "command", "nonsense"]
)  # fmt: skip


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return phantoms.build(tmp_path_factory.mktemp("tiny") / "phantoms", patients=3, kinds=("ecg", "echo"))


def ends_well(words: list[str], *, codes: tuple[int, ...] = (0, 2, 3)) -> click.testing.Result:
    result = click.testing.CliRunner().invoke(main, words)
    assert result.exit_code in codes, (words, result.output, result.exception)
    assert result.exception is None or isinstance(result.exception, SystemExit), (words, result.exception)
    assert "Traceback" not in result.output
    return result


def toml(document: dict[str, object]) -> str:
    """A document as TOML; what TOML cannot hold makes a file that is none, which is as good."""
    tables = {key: value for key, value in document.items() if isinstance(value, dict)}
    lines = [f"{key} = {json.dumps(value)}" for key, value in document.items() if key not in tables]
    for key, table in tables.items():
        lines += [f"[{key}]", *(f"{json.dumps(name)} = {json.dumps(value)}" for name, value in table.items())]
    return "\n".join(lines)


@many
@given(document=st.dictionaries(KEYS, VALUES, max_size=4), meant=st.booleans())
def test_any_run_file_works_or_is_told(
    document: dict[str, object], meant: bool, tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    base = {"benchmark": "ecg_steps", "models": ["chance"], "conditions": "none", "data": {"phantoms": str(tiny)}}
    whole = {**(base if meant else {}), **document}
    for count in ("seeds", "samples"):
        if type(whole.get(count)) is int and int(str(whole[count])) > 3:
            whole[count] = 3  # many seeds are no bad input, only a long test
    (tmp_path / "run.toml").write_text(toml(whole), encoding="utf-8", errors="replace")
    ends_well(["run", "--file", "run.toml", "--set", "score.resamples=5"])
    shutil.rmtree(tmp_path / "runs", ignore_errors=True)


@many
@given(
    key=st.sampled_from(["ask.seconds", "ask.batch", "score.resamples", "score.clean", "score.base", "ecg_steps.x"]),
    value=st.one_of(st.integers(-2, 3).map(str), st.floats().map(str), st.text(max_size=6), st.just("a=>b;c")),
    option=st.sampled_from(["--seed", "--limit", "--conditions", "--protocol", "--shard"]),
    said=st.one_of(st.integers().map(str), st.text(st.characters(exclude_characters="\x00"), max_size=5)),
)
def test_any_setting_works_or_is_told(key: str, value: str, option: str, said: str, tiny: Path, tmp_path: Path) -> None:
    words = ["run", "ecg_steps", "--model", "chance", "--data", f"phantoms={tiny}", "--conditions", "none"]
    ends_well([*words, "--out", str(tmp_path / "run"), "--set", f"{key}={value}", option, said])
    shutil.rmtree(tmp_path / "run", ignore_errors=True)


@many
@given(data=st.data())
def test_data_damaged_anywhere_are_told_or_cost_only_their_own_replies(
    data: st.DataObject, tiny: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    place = Path(shutil.copytree(tiny, folder / "phantoms"))
    files = sorted(
        path.relative_to(place) for path in place.rglob("*") if path.suffix in (".dat", ".hea", ".avi", ".jsonl")
    )
    victim = place / data.draw(st.sampled_from(files))
    content = bytearray(victim.read_bytes())
    if data.draw(st.booleans()):
        content = content[: data.draw(st.integers(0, len(content)))]
    else:
        for _ in range(data.draw(st.integers(1, 8))):
            content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    victim.write_bytes(bytes(content))
    clip = victim.suffix == ".avi"
    words = ["run", "heartbeat" if clip else "ecg_steps", "--model", "echo_solver" if clip else "ecg_solver"]
    words += ["--data", f"phantoms={place}", "--conditions", "none", "--set", "score.resamples=5"]
    ends_well([*words, "--out", str(folder / "run")])
    shutil.rmtree(folder)
