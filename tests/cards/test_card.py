"""Cards: what their files may say, and how they are named."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from overread import catalog
from overread.cards.card import read_card
from overread.cards.finding import COMPLETE, cards, find_card, setting_of
from overread.engines.candidates import check_model, parse_model, seat_candidate
from overread.errors import BadInput, OverreadError
from overread.models.contract import ExamTables

ADAPTERS = ("clip", "foreign", "hf_vlm", "openai_chat")
MINE = """
title = "Mine"
kind = "answerer"
adapter = "chance"
weights = "me/mine"
revision = "abc"

[options]
path = "{weights}"
revision = "{revision}"
style = "{\\"a\\": 1}"

[links]
paper = "https://example.org/paper"

[[published]]
benchmark = "b"
metric = "m"
value = 1
source = "s"

[variants.small]
weights = "me/small"
[variants.small.options]
bits = "4"
"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OVERREAD_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def mine(folder: Path, text: str = MINE) -> Path:
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_card_by_path_gives_its_adapter_and_what_that_is_told(tmp_path: Path) -> None:
    path = mine(tmp_path)
    wanted, setting = parse_model(str(path))
    assert (wanted, setting.name, setting.variant) == ("chance", "chance", "")
    assert setting.options == {"path": "me/mine", "revision": "abc", "style": '{"a": 1}'}


def test_what_the_user_says_comes_before_the_card(tmp_path: Path) -> None:
    _, setting = parse_model(f"{mine(tmp_path)}[path=elsewhere,more=x]")
    assert setting.options["path"] == "elsewhere"
    assert setting.options["more"] == "x"
    assert setting.options["revision"] == "abc"


def test_a_variant_changes_weights_and_options_and_drops_the_revision_of_other_weights(tmp_path: Path) -> None:
    path = mine(tmp_path)
    _, setting = parse_model(f"{path}:small")
    assert setting.options["path"] == "me/small"
    assert setting.options["bits"] == "4"
    assert "revision" not in setting.options, "an option that comes out empty is left out"
    with pytest.raises(BadInput, match="no variant of mine named 'smal'"):
        parse_model(f"{path}:smal")


def test_staged_weights_are_taken_once_they_are_complete(tmp_path: Path, cache: Path) -> None:
    path = mine(tmp_path)
    here = cache / "weights" / "me" / "mine"
    here.mkdir(parents=True)
    assert parse_model(str(path))[1].options["path"] == "me/mine"
    (here / COMPLETE).touch()
    assert parse_model(str(path))[1].options["path"] == str(here)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("adaptor = 'chance'", "no key of a card named 'adaptor'"),
        ("[link]\npaper = 'x'", "no key of a card named 'link'"),
        ("[links]\npapers = 'x'", "no key of \\[links\\] named 'papers'"),
        ("[input]\nspacing = '1 1 1'", "no key of \\[input\\] named 'spacing'"),
        ("media = ['ekg']", "no medium named 'ekg'"),
        ("media = 'ecg'", "media must be a list of texts"),
        ("memory = 3", "memory must be text"),
        ("[options]\nbits = 4", "options.bits must be text"),
        ("[[published]]\nbenchmark = 'b'\nmetric = 'm'\nvalue = '1'\nsource = 's'", "value must be a number"),
        ("[[published]]\nbenchmark = 'b'\nmetric = 'm'\nvalue = 1", "has no source"),
        ("[variants.x]\nweight = 'w'", "no key of \\[variants.x\\] named 'weight'"),
        ("quirks = [", "not TOML"),
    ],
)
def test_a_mistake_in_a_card_is_named_with_its_file(tmp_path: Path, change: str, said: str) -> None:
    path = mine(tmp_path, f"title = 'Mine'\nkind = 'answerer'\n{change}\n")
    with pytest.raises(BadInput, match=said) as caught:
        read_card(path)
    assert str(path) in caught.value.where
    assert caught.value.do


@pytest.mark.parametrize(("text", "said"), [("kind = 'answerer'", "no title"), ("title = 'x'\nkind = 'a'", "kind")])
def test_a_card_needs_title_and_kind(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        read_card(mine(tmp_path, text))


def test_a_file_that_is_not_there_is_told() -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        parse_model("./nowhere.toml")


def test_a_name_that_is_no_card_is_left_to_the_catalogue() -> None:
    assert find_card("chance") is None and find_card("../cards/gpt-4o") is None
    assert setting_of("chance", {}) is None
    assert parse_model("chance")[0] == "chance"
    with pytest.raises(BadInput, match="did you mean qwen3-vl-8b") as caught:
        check_model("qwen3-vl-8")
    assert "chance" in caught.value.do


def test_a_card_that_cannot_be_asked_says_why() -> None:
    with pytest.raises(BadInput, match="no public code"):
        check_model("ms-vlm")
    with pytest.raises(BadInput, match="it is a dataset"):
        check_model("deeptumorvqa")


def test_only_what_the_adapter_is_told_is_part_of_the_identity(tmp_path: Path) -> None:
    def nothing() -> ExamTables:
        raise AssertionError

    plain = "title = 'Mine'\nkind = 'answerer'\nadapter = 'chance'\n"
    described = plain + "memory = 'much'\nquirks = ['none']\n[links]\ncode = 'https://example.org'\n"
    seats = []
    for text in (plain, described):
        seats.append(seat_candidate(str(mine(tmp_path, text)), nothing, ()).seat)
    assert seats[0].identity == seats[1].identity == seat_candidate("chance", nothing, ()).seat.identity
    assert seats[0].model == str(tmp_path / "mine.toml")


@pytest.mark.parametrize("name", sorted(cards()))
def test_every_card_names_an_adapter_that_takes_its_options(name: str) -> None:
    card = cards()[name]
    assert card.title and card.path.stem == name
    assert name not in catalog.entries("models"), "a card must not hide a file"
    entry = catalog.describe("models", name)
    assert (entry.name, entry.title) == (name, card.title)
    for variant in ("", *card.variants):
        varied = card.varied(variant)
        if varied.adapter == "hf_vlm":
            from overread.models.hf_options import read_options

            told = parse_model(f"{name}:{variant}" if variant else name)[1].options
            assert read_options(told, name).path == varied.weights
    assert card.adapter in {"", *ADAPTERS}
    if card.adapter in ("clip", "openai_chat") and card.adapter in catalog.entries("models"):
        catalog.load("models", card.adapter).check(parse_model(name)[1])
    if card.adapter == "foreign":
        assert set(card.options) >= {"python", "script"} and card.environment
        catalog.load("models", "foreign").check(parse_model(f"{name}[python={sys.executable}]")[1])


def test_every_published_figure_has_a_source_and_every_kind_is_there() -> None:
    figures = [figure for card in cards().values() for figure in card.published]
    assert all(figure.source and figure.benchmark and figure.metric for figure in figures)
    assert {card.kind for card in cards().values()} == {
        "answerer", "contrastive", "slice-based", "dataset only", "no public code",
    }  # fmt: skip


def test_the_figures_of_pulse_are_those_of_its_project_page() -> None:
    found = {(f.benchmark, f.metric): f.value for f in cards()["pulse-7b"].published}
    assert found["ECGBench PTB-XL super", "AUC on hard answers"] == 82.4
    assert found["ECGBench CODE-15", "macro F1"] == 85.4
    assert found["ECGBench CPSC 2018", "Hamming loss"] == 8.6
    assert found["ECGBench Arena", "arena score"] == 38.9
    assert len(found) == 15


def test_an_environment_that_was_not_built_is_told_with_the_command_that_builds_it() -> None:
    with pytest.raises(OverreadError, match="is not built on this machine") as caught:
        parse_model("pulse-7b")
    assert "overread models check pulse-7b" in caught.value.do
    _, setting = parse_model("pulse-7b[python=python3]")
    assert setting.options["python"] == "python3"
    assert setting.options["option.weights"] == "PULSE-ECG/PULSE-7B"
