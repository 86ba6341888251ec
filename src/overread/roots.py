"""Where data lie on this machine: `alias://relative/path` to a file below the alias's folder, and nowhere else.

Addresses come from data files and are not trusted: what leaves its folder, by `..` or by a symbolic link, is refused.
An address may name a place inside an HDF5 file: `alias://exams_part0.hdf5#exam=1169160`. What is looked for on the
disk, and must lie below the folder, is then the file before the `#`.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from overread.errors import BadInput, unknown_name
from overread.paths import is_folder

SETTINGS_FILE = "overread.toml"
VARIABLE_PREFIX = "OVERREAD_DATA_"

_ALIAS = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_INSIDE = re.compile(r"(.+\.(?:hdf5|h5))#([a-z]{1,16}=[0-9]{1,18})", re.DOTALL)
_REMEMBERED = 65536


def variable_of(alias: str) -> str:
    """The environment variable that may hold an alias's folder: `ptb-xl` is read from `OVERREAD_DATA_PTB_XL`."""
    return VARIABLE_PREFIX + re.sub(r"[^A-Z0-9]", "_", alias.upper())


def inside(address: str) -> tuple[str, str]:
    """An address or path without and with only the place inside its file: `a.hdf5#exam=7` gives `a.hdf5`, `exam=7`."""
    found = _INSIDE.fullmatch(address)
    return (found[1], found[2]) if found else (address, "")


class Roots:
    """The folders of all aliases. Resolving is remembered, so asking again for an address costs nothing."""

    def __init__(self, paths: Mapping[str, Path], variables: Mapping[str, Path] | None = None) -> None:
        """`paths` by alias; `variables` by name of environment variable, for aliases that are not among them."""
        for alias in paths:
            _check_alias(alias)
        self._paths = {alias: path.absolute() for alias, path in paths.items()}
        self._variables = {name: path.absolute() for name, path in (variables or {}).items()}
        self._real: dict[str, Path] = {}
        self._known: dict[tuple[str, bool], Path] = {}

    @classmethod
    def find(cls, given: Mapping[str, str], folder: Path, environment: Mapping[str, str]) -> Roots:
        """What the command line gave, then `OVERREAD_DATA_ALIAS`, then `[data]` in `folder`'s overread.toml.

        Relative paths start at `folder`.
        """
        for alias, text in given.items():
            _check_alias(alias)
            if not text:
                raise BadInput(f"data alias {alias!r} has no path", where="--data", do=f"--data {alias}=PATH")
        variables = {
            name: _place(text, folder, name)
            for name, text in environment.items()
            if name.startswith(VARIABLE_PREFIX) and name != VARIABLE_PREFIX and text
        }
        paths = _settings(folder / SETTINGS_FILE)
        paths = {alias: variables.get(variable_of(alias), path) for alias, path in paths.items()}
        paths |= {alias: _place(text, folder, f"--data {alias}") for alias, text in given.items()}
        return cls(paths, variables)

    def names(self) -> tuple[str, ...]:
        """All aliases in alphabetical order; one known only by its environment variable appears in small letters."""
        taken = {variable_of(alias) for alias in self._paths}
        rest = {name[len(VARIABLE_PREFIX) :].lower() for name in self._variables if name not in taken}
        return tuple(sorted({*self._paths, *rest}))

    def knows(self, alias: str) -> bool:
        """Whether it was said where the data of an alias lie; its folder may still be missing."""
        return alias in self._paths or variable_of(alias) in self._variables

    def root(self, alias: str) -> Path:
        """The folder of an alias, which exists."""
        path = self._paths.get(alias) or self._variables.get(variable_of(alias))
        if path is None:
            if not self.names():
                raise BadInput(f"there is no data alias {alias!r}", where="--data", do=f"say --data {alias}=PATH")
            error = unknown_name("data alias", alias, self.names(), where="--data")
            raise BadInput(error.what, where=error.where, do=f"say --data {alias}=PATH ({error.do})")
        if alias not in self._real:
            if not is_folder(path):
                raise BadInput(
                    f"the folder of data alias {alias!r} is not there", where=str(path), do=f"say --data {alias}=PATH"
                )
            self._real[alias] = Path(os.path.realpath(path))
        return path

    def resolve(self, uri: str, *, must_exist: bool = True) -> Path:
        """The path of `alias://relative/path`, below the alias's folder even after symbolic links are followed.

        The path is the one of the address, links not replaced, so that files beside it are found beside it; it keeps
        a place inside the file.
        `must_exist=False` serves addresses that stand for several files (a WFDB record without its extension).
        """
        found = self._known.get((uri, must_exist))
        if found is None:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            found = self._known[uri, must_exist] = self._resolve(uri, must_exist)
        return found

    def _resolve(self, uri: str, must_exist: bool) -> Path:
        alias, relative = split(uri)
        root = self.root(alias)
        file, place = inside(relative)
        path = root / file
        try:
            below = Path(os.path.realpath(path)).is_relative_to(self._real[alias])
            exists = path.exists()
        except (OSError, ValueError, RuntimeError) as error:
            raise BadInput(f"the address cannot be a file: {error}", where=repr(uri), do="correct it") from error
        if not below:
            raise BadInput(
                f"the address leaves the folder of {alias!r} by a symbolic link",
                where=repr(uri),
                do=f"put the file itself below {root}",
            )
        if must_exist and not exists:
            raise BadInput("there is no such file", where=f"{uri} ({path})", do=f"check --data {alias}={root}")
        return path.with_name(f"{path.name}#{place}") if place else path


def split(uri: str) -> tuple[str, str]:
    """Alias and relative path of an address, both checked; touches no disk."""
    alias, mark, relative = uri.partition("://")
    advice = "write alias://relative/path"
    if not mark or not _ALIAS.fullmatch(alias) or not relative or "\0" in relative:
        raise BadInput("this is not an address of a medium", where=repr(uri), do=advice)
    if relative.startswith(("/", "\\")) or _DRIVE.match(relative):
        raise BadInput("the address has an absolute path", where=repr(uri), do=advice)
    if ".." in PurePosixPath(relative.replace("\\", "/")).parts:
        raise BadInput("the address goes up with '..'", where=repr(uri), do=advice)
    return alias, relative


def _check_alias(alias: str) -> None:
    if not _ALIAS.fullmatch(alias):
        raise BadInput(
            f"{alias!r} cannot be a data alias",
            where="--data or [data]",
            do="use letters, digits, '_', '-' and '.', starting with a letter or digit",
        )


def _place(text: str, folder: Path, where: str) -> Path:
    try:
        return folder / Path(text).expanduser()
    except RuntimeError as error:
        raise BadInput(f"the path {text!r} cannot be expanded", where=where, do="write it in full") from error


def _settings(file: Path) -> dict[str, Path]:
    """The `[data]` section of a settings file; nothing where there is no such file."""
    try:
        text = file.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return {}
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise BadInput(
            "the settings are not UTF-8 text", where=f"{file}:{line}", do="save the file as UTF-8"
        ) from error
    except OSError as error:
        raise BadInput(f"the settings cannot be read: {error.strerror}", where=str(file), do="correct it") from error
    try:
        section = tomllib.loads(text).get("data", {})
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        found = re.search(r"at line (\d+)", str(error))
        line = int(found[1]) if found else text.count("\n") + 1
        raise BadInput(f"the settings are not TOML: {error}", where=f"{file}:{line}", do="correct the line") from error
    advice = 'write ALIAS = "path" below [data]'
    if not isinstance(section, dict):
        raise BadInput("'data' is not a section", where=str(file), do=advice)
    paths: dict[str, Path] = {}
    for alias, value in section.items():
        _check_alias(alias)
        if not isinstance(value, str) or not value:
            raise BadInput(f"the path of data alias {alias!r} is not text", where=str(file), do=advice)
        paths[alias] = _place(value, file.parent, str(file))
    return paths
