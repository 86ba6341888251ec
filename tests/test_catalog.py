"""Finding things by file name, by path and in other packages, without importing anything."""

from __future__ import annotations

import importlib.metadata
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from overread import catalog
from overread.errors import BadInput

MODEL = '''"""A toy

paper: none
Not a card: line
"""
KINDS = ("choice",)
FORMS = {}
def load(setting):
    return 1
'''
METRIC = '"""M"""\nUNIT, DIRECTION = "question", "more"\ndef values(marks):\n    return marks\n'
BENCHMARK = '''"""B"""
ARCHIVES = ("phantoms",)
PROTOCOLS = ("p",)
PROBES = ()
JUDGES = ("option",)
METRICS = ("accuracy", {metric!r})
def exam(cases, seed, options):
    return []
'''


@pytest.fixture(autouse=True)
def forgetful(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(catalog, "_brought", {})
    yield
    catalog.entries.cache_clear()


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("kind", catalog.KINDS)
def test_everything_listed_can_be_imported_and_keeps_its_constants(kind: str) -> None:
    assert catalog.entries(kind)
    for name, entry in catalog.entries(kind).items():
        module = catalog.load(kind, name)
        assert entry.title and not entry.title.endswith(".")
        for constant, value in entry.constants.items():
            assert getattr(module, constant) == value


def test_listing_reads_and_never_runs_a_file(tmp_path: Path) -> None:
    path = write(tmp_path / "bomb.py", MODEL + "raise RuntimeError\n")
    entry = catalog.describe("models", str(path))
    assert (entry.name, entry.title, entry.card) == ("bomb", "A toy", {"paper": "none"})
    assert entry.constants["KINDS"] == ("choice",) and entry.variants == ()
    with pytest.raises(BadInput, match="RuntimeError"):
        catalog.load("models", str(path))
    with pytest.raises(BadInput, match="RuntimeError"):
        catalog.load("models", str(path))


def test_names_variants_and_paths_are_told_apart() -> None:
    assert catalog.split_variant("prior:chain") == ("prior", "chain")
    assert catalog.split_variant("prior") == ("prior", "")
    assert catalog.split_variant("C:/models/mine.py") == ("C:/models/mine.py", "")
    assert [catalog.is_path(text) for text in ("mine", "mine.py", "./mine", "a\\b")] == [False, True, True, True]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("chanse", "did you mean chance"),
        ("chance:drew", "variant of chance"),
        ("oracle:x", "known: none"),
        ("./nowhere.py", "no such file"),
        ("./", "no such file"),
        ("a\x00.py", "no such file"),
        ("", "no model named"),
    ],
)
def test_what_is_not_there_is_said_with_what_is(text: str, said: str) -> None:
    with pytest.raises(BadInput) as error:
        catalog.describe("models", text)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def other(): pass", "defines no function load"),
        ("def load(:", "not a Python file"),
        ("\x00", "not a Python file"),
        (MODEL.replace('KINDS = ("choice",)\n', ""), "lacks KINDS"),
        (MODEL.replace("FORMS = {}\n", ""), "lacks FORMS"),
        (MODEL.replace('("choice",)', '("choice")'), "KINDS = 'choice', which is no tuple"),
    ],
)
def test_a_file_that_breaks_its_contract_is_named(tmp_path: Path, text: str, said: str) -> None:
    path = write(tmp_path / "mine.py", text)
    with pytest.raises(BadInput) as error:
        catalog.load("models", str(path))
    assert said in str(error.value) and str(path) in str(error.value)


def test_a_changed_file_is_loaded_anew_and_an_unchanged_one_is_not(tmp_path: Path) -> None:
    path = write(tmp_path / "mine.py", MODEL)
    first = catalog.load("models", str(path))
    assert catalog.load("models", str(path)) is first
    write(path, MODEL.replace('("choice",)', '("number",)'))
    assert catalog.load("models", str(path)).KINDS == ("number",)


def test_equal_files_in_two_folders_are_two_modules(tmp_path: Path) -> None:
    files = [write(tmp_path / folder / "mine.py", MODEL) for folder in "ab"]
    assert [catalog.load("models", str(path)).__file__ for path in files] == [str(path) for path in files]


def test_what_a_benchmark_names_by_path_lies_beside_it_and_goes_by_its_own_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    write(tmp_path / "mine" / "parts" / "near.py", METRIC)
    bench = write(tmp_path / "mine" / "bench.py", BENCHMARK.format(metric="parts/near.py"))
    with pytest.raises(BadInput, match="no metric named"):
        catalog.load("metrics", "near")
    assert catalog.load("benchmarks", str(bench)).METRICS == ("accuracy", "near")
    assert catalog.load("benchmarks", str(bench)).METRICS == ("accuracy", "near")
    assert catalog.load("metrics", "near").UNIT == "question"
    assert "near" not in catalog.entries("metrics")
    with pytest.raises(BadInput, match="no judge named"):
        catalog.describe("judges", "near")


def test_a_file_with_the_name_of_something_else_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "accuracy.py", METRIC)
    bench = write(tmp_path / "bench.py", BENCHMARK.format(metric="./accuracy.py"))
    with pytest.raises(BadInput, match="two metrics are named 'accuracy'"):
        catalog.load("benchmarks", str(bench))
    for folder, text in (("a", METRIC), ("b", METRIC.replace("more", "less"))):
        write(tmp_path / folder / "mine.py", text)
        write(tmp_path / folder / "bench.py", BENCHMARK.format(metric="./mine.py"))
    catalog.load("benchmarks", str(tmp_path / "a" / "bench.py"))
    with pytest.raises(BadInput, match="two metrics are named 'mine'"):
        catalog.load("benchmarks", str(tmp_path / "b" / "bench.py"))


def test_a_missing_file_that_a_benchmark_names_is_told(tmp_path: Path) -> None:
    bench = write(tmp_path / "bench.py", BENCHMARK.format(metric="./gone.py"))
    with pytest.raises(BadInput, match="no such file") as error:
        catalog.load("benchmarks", str(bench))
    assert str(tmp_path / "gone.py") in str(error.value)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Another package that offers models; one of its entry points leads nowhere."""
    write(tmp_path / "other_package" / "__init__.py", "")
    write(tmp_path / "other_package" / "parts.py", "KINDS = ('choice',)\n")
    text = MODEL.replace('KINDS = ("choice",)', "from .parts import KINDS")
    write(tmp_path / "other_package" / "their_model.py", text)
    monkeypatch.syspath_prepend(tmp_path)

    def points(*, group: str) -> list[importlib.metadata.EntryPoint]:
        offered = {"theirs": "other_package.their_model", "gone": "no_package.x", "chance": "other_package.their_model"}
        named = offered if group == "overread.models" else {}
        return [importlib.metadata.EntryPoint(name, value, group) for name, value in named.items()]

    monkeypatch.setattr(importlib.metadata, "entry_points", points)
    catalog.entries.cache_clear()
    yield "theirs"
    for name in [name for name in sys.modules if name.startswith("other_package")]:
        del sys.modules[name]


def test_another_package_can_offer_models_that_import_their_own_parts(package: str) -> None:
    assert catalog.entries("models")[package].title == "A toy"
    assert catalog.load("models", package).KINDS == ("choice",)


def test_another_package_cannot_take_the_place_of_ours_nor_break_the_list(package: str) -> None:
    assert "gone" not in catalog.entries("models")
    assert catalog.load("models", "chance").__name__ == "overread.models.chance"
