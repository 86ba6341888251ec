"""Own cases: a file of your own that names studies and the questions about them, one case a line

media: ecg, clip, volume, image
terms: open, where a line says nothing else
licence: yours
access: write it; docs/own_cases.md shows the form

Files are named from the folder in which the JSONL file lies, and stay below it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn, get_args

from overread.errors import BadInput
from overread.roots import split
from overread.tables import Case, Json, Media, Terms, canonical, content_id

ALIAS = "own"
TERMS: Terms = "open"
ACCESS = "write a file of cases (docs/own_cases.md) and say overread run cases.jsonl"
EXPECTED = (("*.jsonl", "one case a line: id, patient, media, questions"),)

KIND_OF = {
    ".hea": "ecg", ".edf": "ecg", ".avi": "clip", ".mp4": "clip", ".dcm": "clip", ".nii": "volume", ".nii.gz": "volume",
    ".png": "image", ".jpg": "image", ".jpeg": "image",
}  # fmt: skip
"""What a file holds, by its ending, where the line does not say it."""

_CASE = {"id", "patient", "media", "facts", "terms", "questions"}
_MEDIUM = {"name", "kind", "file", "select"}
_QUESTION: dict[str, type | tuple[type, ...]] = {
    "text": str, "answer": (str, int, float, list), "options": list, "many": bool, "low": (int, float),
    "high": (int, float), "whole": bool, "unit": str, "tolerance": (int, float), "template": str, "stage": str,
    "slices": dict, "wording": str,
}  # fmt: skip
_ENDING = re.compile(r"\.(nii\.gz|[a-z0-9]+)$", re.IGNORECASE)


def cases(root: Path) -> Iterator[Case]:
    """The cases of all JSONL files of a folder."""
    files = sorted(root.glob("*.jsonl"))
    if not files:
        raise BadInput("there is no file of cases", where=str(root), do=ACCESS)
    for file in files:
        yield from cases_of(file)


def cases_of(file: Path) -> Iterator[Case]:
    """The cases of one file, in its order."""
    seen: set[str] = set()
    try:
        with file.open("rb") as stream:
            for number, line in enumerate(stream, start=1):
                if not line.strip():
                    continue
                case = _Line(line, f"{file}:{number}").case()
                if case.id in seen:
                    _fail(
                        "the id stands on an earlier line too", f"{file}:{number}", "give every case an id of its own"
                    )
                seen.add(case.id)
                yield case
    except OSError as error:
        raise BadInput(f"the cases cannot be read: {error.strerror}", where=str(file), do="check the file") from error


class _Line:
    """One line of the file."""

    def __init__(self, line: bytes, where: str) -> None:
        self.where = where
        try:
            self.fields = json.loads(line.decode("utf-8"))
        except (ValueError, RecursionError) as error:
            raise BadInput(f"the line is not JSON: {error}", where=where, do="mend the line") from error
        self._known(self.fields, _CASE, "case")

    def case(self) -> Case:
        name, patient = (self._text(self.fields, key, "case") for key in ("id", "patient"))
        terms = self.fields.get("terms", TERMS)
        if terms not in get_args(Terms):
            self._fail(f"the terms {terms!r} are not known", f"write one of {', '.join(get_args(Terms))}")
        facts = self.fields.get("facts", {})
        if not isinstance(facts, dict):
            self._fail("'facts' is no object", 'write "facts": {"age": 61}')
        questions = self._list("questions")
        for question in questions:
            self._question(question)
        media = tuple(self._medium(medium, n) for n, medium in enumerate(self._list("media", least=0)))
        if len({medium.name for medium in media}) < len(media):
            self._fail("two media have one name", 'give each a "name" of its own')
        shape = {"geometry": "", "length": 0}  # not read before they are looked at: any two may be swapped
        known = Json({**shape, **facts, "id": name, "questions": questions})
        try:
            text = canonical(known)
            text.encode()
        except ValueError as error:
            self._fail(f"the line holds what cannot be kept: {error}", "take it out")
        return Case(content_id("case", ALIAS, name, text), ALIAS, f"{ALIAS}/{patient}", media, known, terms)

    def _medium(self, said: Any, place: int) -> Media:
        fields = {"file": said} if isinstance(said, str) else said
        self._known(fields, _MEDIUM, "medium")
        file = self._text(fields, "file", "medium")
        ending = _ENDING.search(file)
        kind: Any = fields.get("kind", KIND_OF.get(ending[0].lower() if ending else ""))
        if kind not in KIND_OF.values():
            self._fail(f"what {file!r} is cannot be told", 'say "kind": "ecg", "clip", "volume" or "image"')
        select = fields.get("select", [])
        if not isinstance(select, list) or not all(type(i) is int and 0 <= i < 2**31 for i in select):
            self._fail(f"'select' of {file!r} is no list of positions", "write whole numbers from 0")
        uri = f"{ALIAS}://{file.removesuffix('.hea')}"
        try:
            split(uri)
        except BadInput as error:
            raise BadInput(
                error.what, where=f"{self.where} ({error.where})", do="name a file below this one's folder"
            ) from error
        return Media(str(fields.get("name", kind if place == 0 else f"{kind}{place + 1}")), kind, uri, tuple(select))

    def _question(self, said: Any) -> None:
        self._known(said, set(_QUESTION), "question")
        for key in ("text", "answer"):
            if key not in said:
                self._fail(f"a question has no {key!r}", f'write "{key}": ...')
        for key, value in said.items():
            if not isinstance(value, _QUESTION[key]) or (isinstance(value, bool) and _QUESTION[key] is not bool):
                self._fail(f"{key!r} of a question cannot be {value!r}", "see docs/own_cases.md")
        number = isinstance(said["answer"], int | float)
        if number == bool(said.get("options")):
            self._fail("a question needs options, or a number as its answer", "see docs/own_cases.md")
        texts = [*said.get("options", ()), *(said["answer"] if isinstance(said["answer"], list) else ())]
        if not all(isinstance(text, str) and text.strip() for text in texts):
            self._fail("an option or an answer is no text", 'write them in quotes: ["Yes", "No"]')
        if not number:
            self._answer(said["answer"], said["options"], many=said.get("many"))

    def _answer(self, answer: str | list[str], options: list[str], *, many: bool | None) -> None:
        if len(set(options)) < len(options):
            self._fail("a question has the same option twice", "give every option a text of its own")
        told = [answer] if isinstance(answer, str) else answer
        for text in told:
            if text not in options:
                self._fail(f"the answer {text!r} is not among the options", f"write one of {', '.join(options)}")
        if len(told) != 1 and many is False:
            self._fail(f"{len(told)} answers to a question that takes one", 'say "many": true, or give one answer')

    def _known(self, fields: Any, known: set[str], what: str) -> None:
        if not isinstance(fields, dict):
            self._fail(f"a {what} is no object", "see docs/own_cases.md")
        unknown = sorted(set(fields) - known)
        if unknown:
            self._fail(f"a {what} has no field {unknown[0]!r}", f"the fields are {', '.join(sorted(known))}")

    def _text(self, fields: Mapping[str, Any], key: str, what: str) -> str:
        value = fields.get(key)
        if not isinstance(value, str) or not value.strip() or len(value) > 512:
            self._fail(f"a {what} has no {key!r}", f'write "{key}": "..."')
        return value

    def _list(self, key: str, least: int = 1) -> list[Any]:
        value = self.fields.get(key, [])
        if not isinstance(value, list) or len(value) < least:
            self._fail(
                f"{key!r} is no list" if not isinstance(value, list) else f"{key!r} is empty", "see docs/own_cases.md"
            )
        return value

    def _fail(self, what: str, do: str) -> NoReturn:
        _fail(what, self.where, do)


def _fail(what: str, where: str, do: str) -> NoReturn:
    raise BadInput(what, where=where, do=do)
