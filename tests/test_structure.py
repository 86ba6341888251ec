"""Rules on the shape of the code, so that it stays readable."""

from __future__ import annotations

import ast
import re
import statistics
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import overread

ROOT = Path(__file__).parents[1]
SRC = ROOT / "src" / "overread"
MODULES = sorted(SRC.rglob("*.py"))
Function = ast.FunctionDef | ast.AsyncFunctionDef

COMMAND_DECORATORS = {"command", "group", "option", "argument"}
VAGUE_NAMES = {"util", "utils", "helper", "helpers", "manager", "managers", "base"}
MACHINE_PATHS = re.compile(rb"(?<![\w.~-])/(work|root|home/\w+|Users/\w+|opt/wheels)/")
TEMPORARY_PATHS = re.compile(rb"(?<![\w.~-])/(var/)?tmp/")
REGISTRY_HOSTS = re.compile(
    rb"pypi\.org|pythonhosted\.org|download\.pytorch\.org|npmjs\.(org|com)|conda\.anaconda\.org"
)


def short(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def functions(tree: ast.Module) -> Iterator[tuple[Function, bool]]:
    """Every function, and whether it is bound to a class or an instance."""
    for parent in ast.walk(tree):
        for node in ast.iter_child_nodes(parent):
            if isinstance(node, Function):
                static = any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in node.decorator_list)
                yield node, isinstance(parent, ast.ClassDef) and not static


def is_command(function: Function) -> bool:
    """A command has as many parameters as it has options."""
    called = [d.func if isinstance(d, ast.Call) else d for d in function.decorator_list]
    return any(isinstance(d, ast.Attribute) and d.attr in COMMAND_DECORATORS for d in called)


def parameters(function: Function, bound: bool) -> int:
    given = function.args
    return len(given.posonlyargs) + len(given.args) + len(given.kwonlyargs) - int(bound)


def swallows(handler: ast.ExceptHandler) -> bool:
    """Whether it catches everything without naming it, or everything only to drop it."""
    if handler.type is None:
        return True
    named = {node.id for node in ast.walk(handler.type) if isinstance(node, ast.Name)}
    idle = all(
        isinstance(statement, ast.Pass | ast.Continue)
        or (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
        for statement in handler.body
    )
    return idle and bool(named & {"Exception", "BaseException"})


def committed_files() -> list[Path]:
    """What is in the repository, or would be if it were added."""
    command = ["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout.decode()
    return [ROOT / name for name in listing.split("\0") if name and (ROOT / name).is_file()]


@pytest.fixture(scope="module")
def trees() -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in MODULES}


def test_no_module_is_longer_than_400_lines() -> None:
    lengths = {short(path): len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    assert {name: n for name, n in lengths.items() if n > 400} == {}


def test_half_of_the_modules_have_at_most_150_lines() -> None:
    lengths = [len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES]
    assert statistics.median(n for n in lengths if n) <= 150


def test_no_function_is_longer_than_60_lines(trees: dict[Path, ast.Module]) -> None:
    lengths = {
        f"{short(path)}:{function.lineno} {function.name}": (function.end_lineno or 0) - function.lineno + 1
        for path, tree in trees.items()
        for function, _ in functions(tree)
    }
    assert {name: n for name, n in lengths.items() if n > 60} == {}


def test_no_function_but_a_command_takes_more_than_6_parameters(trees: dict[Path, ast.Module]) -> None:
    counts = {
        f"{short(path)}:{function.lineno} {function.name}": parameters(function, bound)
        for path, tree in trees.items()
        for function, bound in functions(tree)
        if not is_command(function)
    }
    assert {name: n for name, n in counts.items() if n > 6} == {}


def test_no_error_is_swallowed(trees: dict[Path, ast.Module]) -> None:
    found = [
        f"{short(path)}:{node.lineno}"
        for path, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ExceptHandler) and swallows(node)
    ]
    assert found == []


def test_every_module_and_package_has_a_docstring(trees: dict[Path, ast.Module]) -> None:
    assert [short(path) for path, tree in trees.items() if not ast.get_docstring(tree)] == []
    folders = {path.parent for path in MODULES}
    assert [short(folder) for folder in folders if not (folder / "__init__.py").exists()] == []


def test_module_names_say_what_is_inside() -> None:
    vague = [
        p for p in MODULES if VAGUE_NAMES & {w for part in p.relative_to(SRC).parts for w in re.split(r"[_.]", part)}
    ]
    assert [short(path) for path in vague] == []


def test_the_test_folders_are_no_packages() -> None:
    assert [short(path) for path in (ROOT / "tests").rglob("__init__.py")] == []


def test_no_committed_file_names_a_machine_path_or_a_registry() -> None:
    found = []
    for path in committed_files():
        text = path.read_bytes()
        rules = [MACHINE_PATHS, REGISTRY_HOSTS] + ([TEMPORARY_PATHS] if path.is_relative_to(SRC) else [])
        found += [f"{short(path)}: {match[0].decode()}" for rule in rules if (match := rule.search(text))]
    assert found == []


def test_the_version_is_the_same_everywhere() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {overread.__version__}\n" in citation
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert f"\nlicense: {project['license']}\n" in citation
    assert "Apache License\n                           Version 2.0" in (ROOT / "LICENSE").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("try: f()\nexcept: raise", True),
        ("try: f()\nexcept Exception: pass", True),
        ("try: f()\nexcept (ValueError, Exception):\n    'why'\n    pass", True),
        ("try: f()\nexcept Exception as error: g(error)", False),
        ("try: f()\nexcept ValueError: pass", False),
    ],
)
def test_the_rule_on_swallowed_errors_tells_them_apart(source: str, wanted: bool) -> None:
    [handler] = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ExceptHandler)]
    assert swallows(handler) is wanted


def test_the_rule_on_parameters_counts_what_a_caller_gives() -> None:
    source = """
class A:
    def method(self, a, b, *, c): ...
    @staticmethod
    def alone(a, b): ...
    def outer(self):
        def inner(a, b, c): ...
@main.command("list")
@click.option("--json")
def command(a, b, c, d, e, f, g): ...
"""
    found = {f.name: (parameters(f, bound), is_command(f)) for f, bound in functions(ast.parse(source))}
    assert found == {
        "method": (3, False),
        "alone": (2, False),
        "outer": (0, False),
        "inner": (3, False),
        "command": (7, True),
    }
