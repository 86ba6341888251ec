"""Finds a benchmark, model, judge, metric or archive by its file name; the folder is the registry.

Listing reads docstrings and constants without importing anything, so it is fast and never loads torch. The first line
of a docstring is the title; `key: value` lines after it are the card. A path to a .py file works where a name does, and
other packages can offer theirs under the entry points `overread.benchmarks`, `overread.models`, ...

What a benchmark names by path (`METRICS = ("accuracy", "./my_metric.py")`) is looked for beside the benchmark's file,
wherever the command is given, and from then on goes by its own name (`my_metric`). A file of cases (`cases.jsonl`) is
the benchmark `own`, bound to that file, and so is its archive. A model may also be named by its card
(`overread.cards`): what is loaded then is the file of the card's adapter.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import importlib
import importlib.metadata
import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

from overread.cards.finding import cards, find_card
from overread.errors import BadInput, unknown_name
from overread.paths import is_file
from overread.tables import content_id

KINDS = ("benchmarks", "models", "judges", "metrics", "archives", "builders")
_HERE = Path(__file__).parent
CASES = ".jsonl"
"""How a file of one's own cases ends."""
_OWN = "own"
_NOT_ENTRIES = {"__init__", "contract"}
_CARD = re.compile(r"^([a-z][a-z _-]*): +(.+)$")


@dataclasses.dataclass(frozen=True, slots=True)
class Entry:
    """One thing of the catalogue, as its file describes it."""

    kind: str
    name: str
    title: str
    card: dict[str, str]
    constants: dict[str, object]
    path: str
    module: str = ""
    """How it is imported where another package offers it."""
    functions: frozenset[str] = frozenset()
    """What the file defines, told without importing it."""

    @property
    def variants(self) -> tuple[str, ...]:
        """What may stand behind a colon."""
        return self.texts("VARIANTS")

    def texts(self, constant: str) -> tuple[str, ...]:
        """A constant that is a tuple of texts; empty where the file has none."""
        value = self.constants.get(constant, ())
        return tuple(map(str, value)) if isinstance(value, tuple | list) else ()


_brought: dict[tuple[str, str], Entry] = {}
"""What benchmarks have named by path, by kind and name."""


@functools.cache
def entries(kind: str) -> dict[str, Entry]:
    """All entries of a kind by name; nothing is imported."""
    files = {p.stem: p for p in sorted((_HERE / kind).glob("*.py")) if p.stem not in _NOT_ENTRIES}
    found = {name: _describe(kind, name, path) for name, path in files.items() if _offers(kind, path)}
    for point in importlib.metadata.entry_points(group=f"overread.{kind}"):
        path = _offered(point.module)
        if path is not None and point.name not in found:
            found[point.name] = dataclasses.replace(_describe(kind, point.name, path), module=point.module)
    return found


def _offered(module: str) -> Path | None:
    """The file of a module of another package; None where that package is broken: the others still work."""
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return None
    return Path(spec.origin) if spec is not None and spec.origin is not None else None


_OFFERS = {
    "benchmarks": {"exam"},
    "models": {"load"},
    "judges": {"judge"},
    "metrics": {"values", "score"},
    "archives": {"cases"},
    "builders": {"build"},
}


def _tree(path: Path) -> ast.Module:
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError) as error:
        raise BadInput(f"this is not a Python file: {error}", where=str(path), do="mend the file") from error


def _offers(kind: str, path: Path) -> bool:
    """Whether a file is an entry: it defines the function that its kind needs. Other files are parts of entries."""
    return any(isinstance(node, ast.FunctionDef) and node.name in _OFFERS[kind] for node in _tree(path).body)


def _describe(kind: str, name: str, path: Path) -> Entry:
    tree = _tree(path)
    lines = (ast.get_docstring(tree) or name).splitlines()
    card = {m[1]: m[2].strip() for line in lines[1:] if (m := _CARD.match(line))}
    constants: dict[str, object] = {}
    for node in tree.body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        value = getattr(node, "value", None)
        if isinstance(target, ast.Name) and target.id.isupper() and value is not None:
            try:
                constants[target.id] = ast.literal_eval(value)
            except ValueError:
                continue  # computed when imported; listing does without
    functions = frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))
    return Entry(kind, name, lines[0].rstrip("."), card, constants, str(path), functions=functions)


def split_variant(text: str) -> tuple[str, str]:
    """`name:variant` -> both; a path keeps its colons."""
    if is_path(text):
        return text, ""
    name, _, variant = text.partition(":")
    return name, variant


def is_path(text: str) -> bool:
    """Whether a name is a path to a file."""
    return text.endswith((".py", CASES)) or "/" in text or "\\" in text


def describe(kind: str, text: str) -> Entry:
    """The entry of a name, `name:variant` or path, checked to exist."""
    found = find_card(text) if kind == "models" else None
    if found is not None:
        card = found[0].varied(found[1])
        told = {"kind": card.kind, "weights": card.weights, "licence": card.licence}
        adapter = describe(kind, card.adapter).constants if card.adapter.partition(":")[0] in entries(kind) else {}
        constants = {**adapter, "VARIANTS": tuple(card.variants)}
        return Entry(kind, card.name, card.title, {k: v for k, v in told.items() if v}, constants, str(card.path))
    if is_path(text):
        path = Path(text)
        if not is_file(path):
            raise BadInput(f"there is no such file for {kind}", where=text, do="give the path of a .py file")
        if path.suffix == CASES and _OWN in entries(kind):
            return dataclasses.replace(entries(kind)[_OWN], name=path.stem, path=text)
        if not _offers(kind, path):
            needed = " or ".join(sorted(_OFFERS[kind]))
            raise BadInput(
                f"the file defines no function {needed}", where=text, do="see CONTRIBUTING.md for an example"
            )
        return _describe(kind, path.stem, path)
    name, variant = split_variant(text)
    known = {**entries(kind), **{named: entry for (of, named), entry in _brought.items() if of == kind}}
    if name not in known:
        raise unknown_name(kind.removesuffix("s"), name, [*known, *(cards() if kind == "models" else ())])
    entry = known[name]
    if variant and variant not in entry.variants:
        raise unknown_name(f"variant of {name}", variant, entry.variants)
    return entry


def load(kind: str, text: str) -> ModuleType:
    """Imports the file of an entry, and checks that it has the constants that its contract asks for."""
    found = find_card(text) if kind == "models" else None
    if found is not None and found[0].adapter:
        return load(kind, found[0].adapter)
    entry = describe(kind, text)
    try:
        module = _module(kind, entry)
    except ModuleNotFoundError as error:
        extra = _EXTRAS.get((error.name or "").partition(".")[0])
        if extra is None:
            raise
        raise BadInput(
            f"{text} needs {error.name}, which is not installed", do=f"pip install 'overread[{extra}]'"
        ) from error
    _check(kind, module, entry.path)
    if kind == "benchmarks" and Path(entry.path).suffix != CASES:
        for constant, named in _BRINGS.items():
            names = tuple(_bring(named, name, Path(entry.path)) for name in getattr(module, constant))
            setattr(module, constant, names)
    return module


_EXTRAS = {"torch": "hf", "transformers": "hf", "accelerate": "hf", "openai": "api", "h5py": "hdf5"}
"""Which extra brings a library that only some models and files need."""


def _module(kind: str, entry: Entry) -> ModuleType:
    path = Path(entry.path)
    if path.suffix == CASES:
        return _bound(kind, path.resolve())
    if path.parent == _HERE / kind:
        return importlib.import_module(f"overread.{kind}.{entry.name}")
    return importlib.import_module(entry.module) if entry.module else _load_path(path.resolve())


def _bound(kind: str, file: Path) -> ModuleType:
    """`own` of a kind, bound to one file of cases."""
    own = importlib.import_module(f"overread.{kind}.{_OWN}")
    module = ModuleType(f"overread_cases_{content_id(kind, str(file))}")
    vars(module).update({name: value for name, value in vars(own).items() if not name.startswith("__")})
    module.__file__ = str(file)
    if kind == "archives":
        module.cases = lambda root: own.cases_of(file)  # type: ignore[attr-defined]
    else:
        module.ARCHIVES = (str(file),)  # type: ignore[attr-defined]
    return module


_BRINGS = {"ARCHIVES": "archives", "JUDGES": "judges", "METRICS": "metrics"}
_NEEDED: dict[str, dict[str, str]] = {
    "benchmarks": dict.fromkeys(("ARCHIVES", "PROTOCOLS", "PROBES", "JUDGES", "METRICS"), "tuple"),
    "models": {"KINDS": "tuple", "FORMS": "dict"},
    "judges": {"KINDS": "tuple"},
    "metrics": {"UNIT": "str", "DIRECTION": "str"},
    "archives": {"ALIAS": "str", "TERMS": "str", "ACCESS": "str", "EXPECTED": "tuple"},
    "builders": {},
}


def _check(kind: str, module: ModuleType, path: str) -> None:
    for name, wanted in _NEEDED[kind].items():
        value = getattr(module, name, None)
        if type(value).__name__ != wanted:
            said = f"has {name} = {value!r}, which is no {wanted}" if hasattr(module, name) else f"lacks {name}"
            raise BadInput(f"the file {said}", where=path, do=f"give {name} as a {wanted}; see CONTRIBUTING.md")


def _bring(kind: str, name: str, benchmark: Path) -> str:
    """The name by which something that a benchmark names by path is known from now on."""
    if not is_path(name):
        return name
    file = (benchmark.parent / name).resolve()
    entry = describe(kind, str(file))
    before = _brought.get((kind, entry.name))
    clash = entries(kind).get(entry.name) or (before if before and _differ(Path(before.path), file) else None)
    if clash:
        raise BadInput(
            f"two {kind} are named {entry.name!r}",
            where=f"{file} and {clash.path}",
            do=f"give the file that {benchmark} names another name",
        )
    _brought[kind, entry.name] = entry
    return entry.name


def _differ(one: Path, other: Path) -> bool:
    return one != other and one.is_file() and file_hash(one) != file_hash(other)


def file_hash(path: Path) -> str:
    """Tells one content of a file from another."""
    return content_id(path.read_text(encoding="utf-8", errors="replace"))


def _load_path(path: Path) -> ModuleType:
    name = f"overread_file_{path.stem}_{content_id(str(path), file_hash(path))}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise BadInput("this is not a Python file", where=str(path), do="give the path of a .py file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise BadInput(
            f"the file fails when it is loaded: {type(error).__name__}: {error}", where=str(path), do="mend it"
        ) from error
    return module
