from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from overread.report.page import write_page
from overread.runs.folder import Run

HOSTILE = (
    '<script>alert("x")</script><img src=//evil.example/x onerror=y>&amp;"\'\u202e\x07\x1b[31m\u200b' + "Z" * 1_000_000
)


class Page(HTMLParser):
    """Tags with their attributes, and the text of each table row by cell."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.rows: list[list[str]] = []
        self._in_cell = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
            self._in_cell = True

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._in_cell = False

    def handle_data(self, data: str) -> None:
        if self._in_cell:
            self.rows[-1][-1] += data

    def row(self, label: str) -> list[str]:
        return next([" ".join(cell.split()) for cell in row] for row in self.rows if row and row[0].strip() == label)


def page_of(*runs: Run, out: Path) -> str:
    return write_page(runs, out / "page.html").read_text(encoding="utf-8")


def test_the_headline_shows_lift_floors_and_receipts(usual: Any, tmp_path: Path) -> None:
    text = page_of(usual.run(), out=tmp_path)
    row = Page(text).row("seer")
    assert row[1] == "+25.0 [+5.0, +45.0]"
    assert row[2:10] == ["prior", "80.0 [70.0, 90.0]", "50.0", "55.0", "40.0", "not asked", "–", "not asked"]
    assert row[10:] == ["100 %", "0 %", "tensor"]
    assert 'class="forest above"' in text
    assert Page(text).row("prior")[1:3] == ["–", "–"]
    assert "never looks" in Page(text).row("chance")


def test_every_dash_says_why(usual: Any, tmp_path: Path) -> None:
    text = page_of(usual.run(), out=tmp_path)
    dashes = re.findall(r"<td[^>]*>\s*(?:<span[^>]*>)?–", text)
    assert dashes and all("title=" in cell for cell in dashes)


def test_no_cell_is_empty(usual: Any, tmp_path: Path) -> None:
    page = Page(page_of(usual.run(), out=tmp_path))
    body = [row for row in page.rows if "above the best floor" not in " ".join(row)]
    assert all(cell.strip() for row in body for cell in row)


def test_hostile_text_is_shown_as_shortened_text(made: Callable[..., Any], tmp_path: Path) -> None:
    run = made(asked=HOSTILE, command=("overread", HOSTILE))
    run.model("chance", lambda q: ("Yes", "read", True), looks=False)
    run.model(HOSTILE[:90], lambda q: (HOSTILE, "unreadable", False))
    run.score(HOSTILE[:90], "accuracy", 0.1).score(HOSTILE[:90], "accuracy", 0.1, slice=f"{HOSTILE[:60]}={HOSTILE}")
    text = page_of(run.run(), out=tmp_path)
    page = Page(text)
    assert {"script", "img"}.isdisjoint(tag for tag, _ in page.tags)
    assert not any(name.startswith("on") for _, attributes in page.tags for name in attributes)
    assert re.search("[\x00-\x08\x0b-\x1f\x7f\u200b\u202e]", text) is None
    assert "&lt;script&gt;" in text and "&lt;U+202E&gt;" in text
    assert "the first 600 of 1,000," in text
    assert len(text) < 400_000


def test_the_page_asks_nothing_of_the_network(usual: Any, tmp_path: Path) -> None:
    text = page_of(usual.run(), usual.run(), out=tmp_path)
    page = Page(text)
    asking = {"src", "srcset", "data", "action", "poster", "background", "xlink:href"}
    links = [attributes["href"] for _, attributes in page.tags if "href" in attributes]
    assert links == ["#run-1", "#run-2"]
    assert not any(asking & attributes.keys() for _, attributes in page.tags)
    assert {"script", "link", "iframe", "object", "form"}.isdisjoint(tag for tag, _ in page.tags)
    assert "://" not in text.replace("phantoms://", "")
    assert "@import" not in text and "url(" not in text


def test_a_complete_run_has_no_banner(usual: Any, tmp_path: Path) -> None:
    assert 'class="banner"' not in page_of(usual.run(), out=tmp_path)


def test_missing_and_failed_replies_are_told_by_model(made: Callable[..., Any], tmp_path: Path) -> None:
    def patchy(question: Any) -> tuple[str, str, bool | None] | None:
        if question.id.endswith("-1"):
            return None
        return ("the server <hung>", "failed", None) if "blank" in question.id else ("Yes", "read", True)

    run = made().model("whole", lambda q: ("Yes", "read", True)).model("patchy", patchy)
    run.score("whole", "accuracy", 1.0).score("patchy", "accuracy", 0.5, coverage=0.5)
    text = page_of(run.run(), out=tmp_path)
    banner = text[text.index('class="banner"') : text.index("Did they look?")]
    assert "This run is incomplete" in banner
    assert "<b>patchy</b>: 9 of 18 replies missing, 3 failed: “the server &lt;hung&gt;” (3)" in banner
    assert "whole" not in banner


def test_a_run_of_which_a_reply_failed_is_incomplete(made: Callable[..., Any], tmp_path: Path) -> None:
    run = made().model("seer", lambda q: ("x", "read", True) if q.place else ("", "failed", None))
    text = page_of(run.score("seer", "accuracy", 0.5, coverage=0.9).run(), out=tmp_path)
    assert "<b>seer</b>: 1 of 18 replies failed" in text


@pytest.mark.parametrize("level", ["", "none"])
def test_a_model_without_receipts_is_told_apart(made: Callable[..., Any], tmp_path: Path, level: str) -> None:
    run = made().model("blindfolded", lambda q: ("Yes", "read", True), level=level)
    text = page_of(run.score("blindfolded", "accuracy", 0.9).run(), out=tmp_path)
    assert "Nothing shows that these models saw the study" in text
    assert Page(text).row("blindfolded")[-1] == "none"


def test_less_is_better_is_said_in_words(made: Callable[..., Any], tmp_path: Path) -> None:
    run = made(benchmark="heartbeat").model("prior", lambda q: ("1", "read", True), looks=False)
    run.model("seer", lambda q: ("1", "read", True))
    run.score("prior", "mean_error", 4.0, direction="less").score("seer", "mean_error", 3.0, direction="less")
    run.score("seer", "mean_error:lift", 1.0, floor="prior", low=-0.5, high=2.5)
    text = page_of(run.run(), out=tmp_path)
    assert "<b>less is better</b>" in text and "although of the score itself less is better" in text
    assert Page(text).row("seer")[1] == "+1.00 [−0.50, +2.50]"
    assert Page(text).row("seer")[3] == "3.00 [2.90, 3.10]"
    assert 'class="forest unclear"' in text


def test_every_panel_of_judges_has_its_results(usual: Any, tmp_path: Path) -> None:
    usual.score("seer", "accuracy", 0.123, judge="strict")
    text = page_of(usual.run(), out=tmp_path)
    assert "<small>judged by option</small>" in text and "<small>judged by strict</small>" in text
    assert "12.3" in text


def test_a_blind_condition_that_failed_does_not_pass_for_a_low_floor(usual: Any, tmp_path: Path) -> None:
    usual.score("seer", "accuracy", 0.0, condition="guess", coverage=0.0)
    usual.score("seer", "accuracy", 0.3, condition="swap", coverage=0.5)
    row = Page(page_of(usual.run(), out=tmp_path)).row("seer")
    assert row[6:10] == ["40.0", "30.0coverage 50 %", "–", "–"]


def test_a_run_without_scores_says_so(made: Callable[..., Any], tmp_path: Path) -> None:
    text = page_of(made().model("seer", lambda q: ("Yes", "read", True)).run(), out=tmp_path)
    assert "This run has no scores yet" in text


def test_examples_are_those_with_the_smallest_question_ids(made: Callable[..., Any], tmp_path: Path) -> None:
    def mixed(question: Any) -> tuple[str, str, bool]:
        return ("Yes", "read", True) if question.id.endswith("-0") else ("what?", "unreadable", False)

    run = made(patients=5).model("seer", mixed).score("seer", "accuracy", 0.5).run()
    text = page_of(run, out=tmp_path)
    shown = re.findall(r"question (\w+-\d)", text)
    assert shown == [f"{n:06d}plain-0" for n in (1, 2, 3)] + [f"{n:06d}plain-1" for n in (1, 2)]
    assert "phantoms://ecg/00001" in text and "12 x 5000" in text and "hash hplain" in text


def test_measures_are_explained_in_a_sentence(usual: Any, tmp_path: Path) -> None:
    usual.score("seer", "accuracy:gain", 0.2, condition="text", unit="pair")
    usual.score("seer", "spin_consistency", 0.3, condition="spin", unit="pair", direction="less")
    text = page_of(usual.run(), out=tmp_path)
    assert "(multi-modal gain). More is better." in text
    assert "although the probe changed the study. Less is better." in text
    assert "The study as it is." in text


def test_methods_hold_the_command_that_repeats_the_run(usual: Any, tmp_path: Path) -> None:
    text = page_of(usual.run(), out=tmp_path)
    assert (
        "overread run ecg_steps --protocol chain --conditions blank,text --model chance --model prior --model seer "
        "--data phantoms=PATH --seed 0 --seeds 1 --samples 1" in text
    )
    assert "f00d" in text and "Be brief." in text


def test_the_same_run_gives_the_same_bytes(usual: Any, tmp_path: Path) -> None:
    run = usual.run()
    first = write_page([run], tmp_path / "a.html").read_bytes()
    assert write_page([Run(run.folder)], tmp_path / "deeper" / "b.html").read_bytes() == first


def test_the_page_of_two_thousand_questions_is_small(made: Callable[..., Any], tmp_path: Path) -> None:
    run = made(patients=334).model("seer", lambda q: ("No, " * 200, "read", False))
    for number in range(500):
        run.score("seer", "accuracy", 0.5, slice=f"diagnosis={number:03d}")
    path = write_page([run.score("seer", "accuracy", 0.5).run()], tmp_path / "page.html")
    assert path.stat().st_size < 3_000_000
    assert "300 more slices" in path.read_text(encoding="utf-8")
