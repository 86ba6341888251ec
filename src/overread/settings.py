"""The settings of a run: from the command line, a run file in TOML, or the Python API; all recorded in the run."""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from overread.archives import own
from overread.catalog import CASES, describe, is_path
from overread.errors import BadInput, unknown_name
from overread.runs.folder import safe_name


@dataclasses.dataclass(frozen=True, slots=True)
class Settings:
    """Everything that `overread run` can be told."""

    benchmark: str
    models: tuple[str, ...] = ()
    data: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """Where each data alias lies on this machine."""
    protocol: str = ""
    """Empty: the first that the benchmark has."""
    conditions: str = "floors"
    set: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """`SECTION.key` -> value; sections are the benchmark's name, `ask` and `score`."""
    judges: tuple[str, ...] = ()
    """Empty: those of the benchmark."""
    allow_remote: tuple[str, ...] = ()
    """Archives whose data may be sent to models of other machines although their terms are not open."""
    seed: int = 0
    seeds: int = 1
    samples: int = 1
    limit: int | None = None
    """So many originals, drawn by the seed; None: all."""
    engine: str = "local"
    shard: tuple[int, int] = (1, 1)
    out: str = ""
    command: tuple[str, ...] = ()

    @property
    def folder(self) -> Path:
        """The run folder."""
        name = Path(self.benchmark).stem if is_path(self.benchmark) else self.benchmark
        return Path(self.out) if self.out else Path("runs") / safe_name(name.replace(":", "-"))

    def section(self, name: str, known: Mapping[str, str]) -> dict[str, str]:
        """The values of one section of `set`, defaults filled in; an unknown key is an error."""
        given = {key.partition(".")[2]: value for key, value in self.set.items() if key.partition(".")[0] == name}
        for key in given:
            if key not in known:
                raise unknown_name(f"setting of {name}", key, known, where=f"--set {name}.{key}")
        return {**known, **given}

    def _check_types(self) -> None:
        """The command line and run files give the right types; Python may give anything."""
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if field.name in WANTED:
                wanted, fits = WANTED[field.name]
                if not fits(value):
                    raise BadInput(
                        f"{field.name} must be {wanted}, not {value!r}",
                        where=f"setting {field.name}",
                        do=f"give {field.name} as {wanted}",
                    )

    def checked(self) -> Self:
        """These settings, if they can be meant; a file of cases brings the folder that it lies in."""
        self._check_types()
        name = describe("benchmarks", self.benchmark).name
        for key in self.set:
            section, dot, _ = key.partition(".")
            if not dot or section not in (name, "ask", "score"):
                raise BadInput(
                    f"the setting {key!r} belongs to nothing",
                    where="--set",
                    do=f"write {name}.KEY=VALUE, ask.KEY=VALUE or score.KEY=VALUE",
                )
        limit = 1 if self.limit is None else self.limit
        for label, number in (("seeds", self.seeds), ("samples", self.samples), ("limit", limit)):
            if number < 1:
                raise BadInput(
                    f"--{label} must be at least 1, not {number}", do=f"give a positive number for --{label}"
                )
        for label, number in (("seeds", self.seeds), ("samples", self.samples)):
            if number > LAST_SEED:
                raise BadInput(f"--{label} must be at most {LAST_SEED}, not {number}", do="give a smaller number")
        if not 0 <= self.seed <= LAST_SEED - self.seeds:
            raise BadInput(
                f"--seed must be from 0 to {LAST_SEED - self.seeds}, not {self.seed}", do="give another seed"
            )
        if self.benchmark.endswith(CASES) and own.ALIAS not in self.data:
            folder = str(Path(self.benchmark).resolve().parent)
            return dataclasses.replace(self, data={**self.data, own.ALIAS: folder})
        return self


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _are_texts(value: Any) -> bool:
    return isinstance(value, tuple | list) and all(isinstance(name, str) for name in value)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _are_pairs(value: Any) -> bool:
    return isinstance(value, Mapping) and _are_texts([*value, *value.values()])


def _is_shard(value: Any) -> bool:
    pair = isinstance(value, tuple | list) and len(value) == 2 and all(map(_is_whole, value))
    return pair and 1 <= value[0] <= value[1]


WANTED: dict[str, tuple[str, Callable[[Any], bool]]] = {
    **dict.fromkeys(("benchmark", "protocol", "conditions", "engine", "out"), ("text", _is_text)),
    **dict.fromkeys(("models", "judges", "allow_remote"), ("names", _are_texts)),
    **dict.fromkeys(("data", "set"), ("a mapping of texts", _are_pairs)),
    **dict.fromkeys(("seed", "seeds", "samples"), ("a whole number", _is_whole)),
    "limit": ("a whole number or None", lambda value: value is None or _is_whole(value)),
    "shard": ("a pair (i, n) with 1 <= i <= n", _is_shard),
}
"""What each setting must be, in words and as a check."""

ASK = {"seconds": "600", "batch": "", "rulings": ""}
"""Section `ask`: the seconds that a model may say nothing, dialogues a batch (empty: as the model likes), and a folder
that keeps what the models of judges said, for several runs alike (empty: `rulings` in the run)."""

SCORE = {"resamples": "1000", "clean": "yes", "base": ""}
"""Section `score`: resamples of the intervals; whether to score the clean subset (yes, no); the text-only base model of
a model, as `MODEL=>BASE`, several with `;`."""

LAST_SEED = 2**31
"""Seeds are below this, so that every library takes them."""


def whole_in(section: Mapping[str, str], key: str, label: str) -> int:
    """A positive whole number of a section."""
    number = number_in(section, key, label)
    if number != int(number):
        raise BadInput(f"{label}.{key} must be a whole number, not {section[key]!r}", where=f"--set {label}.{key}")
    return int(number)


def yes_in(section: Mapping[str, str], key: str, label: str) -> bool:
    """A yes or no of a section."""
    if section[key] not in ("yes", "no"):
        raise BadInput(f"{label}.{key} must be yes or no, not {section[key]!r}", where=f"--set {label}.{key}")
    return section[key] == "yes"


def bases_in(section: Mapping[str, str], key: str, label: str) -> dict[str, str]:
    """`MODEL=>BASE` pairs of a section."""
    found = {}
    for pair in filter(None, section[key].split(";")):
        model, arrow, base = (part.strip() for part in pair.partition("=>"))
        if not (model and arrow and base):
            raise BadInput(
                f"{pair!r} is not MODEL=>BASE", where=f"--set {label}.{key}", do="name both as the run names them"
            )
        found[model] = base
    return found


def number_in(section: Mapping[str, str], key: str, label: str) -> float:
    """A positive number of a section."""
    try:
        number = float(section[key])
    except ValueError:
        number = -1.0
    if not 0 < number < 1e9:
        raise BadInput(f"{label}.{key} must be a positive number, not {section[key]!r}", where=f"--set {label}.{key}")
    return number


def parse_pairs(pairs: Sequence[str], option: str) -> dict[str, str]:
    """`KEY=VALUE` texts -> a mapping."""
    found = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key.strip():
            raise BadInput(f"{pair!r} is not KEY=VALUE", where=option, do=f"write {option} KEY=VALUE")
        found[key.strip()] = value
    return found


def parse_shard(text: str) -> tuple[int, int]:
    """`i/n` -> (i, n), counted from 1."""
    first, slash, second = text.partition("/")
    short = max(len(first), len(second)) < 7
    if slash and short and first.isdecimal() and second.isdecimal() and 1 <= int(first) <= int(second):
        return int(first), int(second)
    raise BadInput(f"{text!r} is not a shard", where="--shard", do="write i/n with 1 <= i <= n, such as 1/4")


def read_run_file(path: Path) -> dict[str, Any]:
    """The settings of a run file: the fields of `Settings`, with `data` and `set` as tables."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:  # a ValueError: bytes that are no text, or a path that no file can have
        raise BadInput(f"the run file cannot be read: {error}", where=str(path), do="give a file in TOML") from error
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"the run file is not TOML: {error}", where=str(path), do="mend the line named above") from error
    known = {field.name: field for field in dataclasses.fields(Settings) if field.name != "command"}
    found: dict[str, Any] = {}
    for key, value in document.items():
        if key not in known:
            raise unknown_name("setting of a run file", key, known, where=str(path))
        found[key] = _typed(key, value, path)
    return found


def _typed(key: str, value: Any, path: Path) -> Any:
    def wrong(wanted: str) -> BadInput:
        return BadInput(f"{key} must be {wanted}, not {value!r}", where=str(path), do=f"write {key} as {wanted}")

    if key in ("data", "set"):
        if not isinstance(value, dict):
            raise wrong("a table")
        return dict(_flat(value))
    if key in ("models", "judges", "allow_remote"):
        if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
            raise wrong("a list of names")
        return tuple(value)
    if key == "shard":
        return parse_shard(str(value))
    if key in ("seed", "seeds", "samples", "limit"):
        if not isinstance(value, int) or isinstance(value, bool):
            raise wrong("a whole number")
        return value
    if not isinstance(value, str):
        raise wrong("text")
    return value


def _flat(table: Mapping[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    for key, value in table.items():
        name = f"{prefix}{key}"
        pairs.extend(_flat(value, f"{name}.") if isinstance(value, dict) else [(name, str(value))])
    return pairs
