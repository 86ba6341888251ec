"""The README's tree, the changelog and the reference of the commands say what is there."""

from __future__ import annotations

import importlib
import importlib.util
import re
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).parents[1]
SRC = ROOT / "src" / "overread"

A_PATH = re.compile(r"[\w.-]+(/[\w.-]+)*(/|\.\w+)|Makefile|LICENSE")
TREE_RULES = " \t│├└─"


def annotated_tree(text: str) -> str:
    """The fenced block that shows the package's folder."""
    blocks = re.findall(r"^```[^\n]*\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    found: list[str] = [block for block in blocks if "src/overread/" in block]
    assert found, "the README has no annotated tree"
    return found[0]


def tree_paths(tree: str) -> list[PurePosixPath]:
    """The paths a tree names: the words that open a line, below the nearest line indented less that names a folder."""
    above: list[tuple[int, PurePosixPath]] = []
    paths: list[PurePosixPath] = []
    for line in tree.splitlines():
        text = line.lstrip(TREE_RULES)
        if not text:
            continue
        indent = len(line) - len(text)
        above = [(depth, folder) for depth, folder in above if depth < indent]
        root = above[-1][1] if above else PurePosixPath()
        words = text.split()
        named = next((i for i, word in enumerate(words) if not A_PATH.fullmatch(word.rstrip(","))), len(words))
        paths += [root / word.rstrip(",") for word in words[: max(named, 1)]]
        above.append((indent, root / words[0]))
    return paths


def sentences(changelog: str) -> list[str]:
    """The items of the lists, each on one line."""
    items: list[str] = []
    for line in changelog.splitlines():
        if match := re.match(r"\s*[-*] (.*)", line):
            items.append(match[1].strip())
        elif items and line.startswith("  ") and line.strip():
            items[-1] += " " + line.strip()
    return items


def is_one_sentence(item: str) -> bool:
    plain = re.sub(r"`[^`]*`", "code", item)
    return plain.endswith(".") and not re.search(r"[.!?]\s+[A-Z]", plain)


def test_the_tree_in_the_readme_names_only_what_exists() -> None:
    paths = tree_paths(annotated_tree((ROOT / "README.md").read_text(encoding="utf-8")))
    assert [str(path) for path in paths if not (ROOT / path).exists()] == []


def test_the_tree_in_the_readme_names_every_part_of_the_package() -> None:
    paths = tree_paths(annotated_tree((ROOT / "README.md").read_text(encoding="utf-8")))
    named = {path.parts[2] for path in paths if path.parts[:2] == ("src", "overread") and len(path.parts) > 2}
    files = (path.relative_to(SRC) for path in SRC.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    parts = {path.parts[0] for path in files if path.suffix != ".typed"}
    assert {part for part in parts if not part.startswith("__")} - named == set()


def test_every_line_of_the_changelog_is_one_sentence() -> None:
    items = sentences((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    assert items
    assert [item for item in items if not is_one_sentence(item)] == []


def test_the_reference_of_the_commands_is_what_the_commands_say() -> None:
    spec = importlib.util.spec_from_file_location("make_cli", ROOT / "docs" / "make_cli.py")
    assert spec is not None and spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    group = importlib.import_module("overread.cli").main
    written = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert [path for path, _ in script.commands(group, "overread") if f"\n## {path}\n" not in written] == []
    assert written == script.page(group, "overread"), "run python docs/make_cli.py"


def test_a_tree_is_read_by_its_indentation() -> None:
    tree = """\
Makefile              make demo
src/overread/
  tables.py           the rows. See README.md
  cli.py  errors.py
  models/             one file a way of answering
    cards/            a named model
  prompts/, report/   words
docs/  bench/         how to add things
"""
    assert [str(path) for path in tree_paths(tree)] == [
        "Makefile",
        "src/overread",
        "src/overread/tables.py",
        "src/overread/cli.py",
        "src/overread/errors.py",
        "src/overread/models",
        "src/overread/models/cards",
        "src/overread/prompts",
        "src/overread/report",
        "docs",
        "bench",
    ]


def test_a_tree_with_drawn_branches_is_read_too() -> None:
    tree = "src/overread/\n├── tables.py  rows\n└── models/\n    └── cards/\n"
    assert [str(path) for path in tree_paths(tree)][1:] == [
        "src/overread/tables.py",
        "src/overread/models",
        "src/overread/models/cards",
    ]


@pytest.mark.parametrize(
    ("item", "wanted"),
    [
        ("`overread list` names models.", True),
        ("A run resumes, e.g. after `kill -9 X. Y`.", True),
        ("A run resumes. It is fast.", False),
        ("A run resumes", False),
    ],
)
def test_one_sentence_is_told_from_two(item: str, wanted: bool) -> None:
    assert is_one_sentence(item) is wanted


def test_an_item_over_two_lines_is_one_item() -> None:
    assert sentences("# 1\n- one\n  two.\n\n- three.\n") == ["one two.", "three."]
