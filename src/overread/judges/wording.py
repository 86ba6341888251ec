"""The part of a reply that answers, and texts made comparable: what judges of text share.

Nothing here decides which answer was given. Everything runs in time linear in the text: lengths are capped, and no
expression can backtrack over more than a few dozen characters.
"""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Any

LONGEST_REPLY = 131_072
"""Characters of a reply that are looked at, counted from its end, where answers stand."""
LONGEST_ANSWER = 4_000
"""Characters that may remain once thoughts, and all before an answer marker, are gone. More is not read at all."""

_THOUGHT = re.compile(r"<(/?)think(?:ing)?\s?>", re.IGNORECASE)
_MARKER = re.compile(
    r"(?<![A-Za-z])answers?(?:[ \t]is|[ \t]are)?[ \t]?[*_]{0,3}[ \t]?(?:[:=：]|\r?\n)[ \t]?[*_]{0,3}|<answer>",
    re.IGNORECASE,
)
_CLOSED = re.compile(r"</answer>", re.IGNORECASE)
_NO_MARKER = re.compile(r"\b(?:wrong|incorrect|not|possible|previous|initial|first|other|no)[ \t]{1,3}$", re.IGNORECASE)
_BOXED = re.compile(r"\\boxed\{(?:\\[a-z]{1,8}\{)?([^{}]{1,500})\}", re.IGNORECASE)
_FENCE = re.compile(r"^```[A-Za-z]{0,10}\s|```$")
_JSON_NAMES = ("answer", "answers", "final_answer", "choice", "choices")
_JSON_UNITS = ("unit", "units")

_INVISIBLE = dict.fromkeys([*range(0x20), *range(0x7F, 0xA0), *range(0x200B, 0x2010), 0xAD, 0x2060, 0xFEFF])
_DASHES = dict.fromkeys([*range(0x2010, 0x2014), 0x2212], "-") | dict.fromkeys([0x2014, 0x2015], " - ")
_QUOTES = dict.fromkeys([0x2018, 0x2019, 0x201A, 0x2032, 0xB4], "'")
_DROPPED = dict.fromkeys([0x22, 0x60, 0x201C, 0x201D, 0x201E, 0xAB, 0xBB])
_LINES = {9: " ", 10: "\n", 13: "\n", 0x85: "\n", 0x2028: "\n", 0x2029: "\n"}
_TABLE: dict[int, Any] = _INVISIBLE | _DASHES | _QUOTES | _DROPPED | _LINES

_EMPHASIS = re.compile(r"(?<!\w)[*_]+|[*_]+(?!\w)")
_HEADING = re.compile(r"^ ?#{1,6} ", re.MULTILINE)
_QUOTED = re.compile(r"(?<!\w)'([^'\n]{1,200})'(?!\w)")
_SPACES = re.compile(r" {2,}")
_UNIT_GAP = re.compile(
    r"(?<![\w.])(\d{1,9}(?:\.\d{1,9})?) (?=(?:ms|s|sec|mv|uv|μv|mm|cm|ml|l|bpm|hz|hu|%|°|degrees?)(?!\w))",
    re.IGNORECASE,
)
_RANGE_GAP = re.compile(r"(?:(?<=\d)|(?<=\d[s%°])|(?<=\d[mcuμ][smvMV])|(?<=\dbpm)) - (?=[+-]?\d)")
_BULLET = re.compile(r"^(?:[-•·▪◦‣]\s*)+(?=[^\W\d]|[\[(>])")
_PAIRS = {"(": ")", "[": "]", "{": "}", "'": "'"}


def spoken(text: str) -> str:
    """What the reply says outside its thoughts, from its last answer marker on; empty where that cannot be told.

    `<think>...</think>` is removed, and so is everything before a closing tag that was never opened (some chat
    templates open it themselves); a thought that never ends leaves nothing. Markers are `Answer:`, `Final answer:`,
    `<answer>` and `\\boxed{}`; the last one wins.
    """
    said = _without_thoughts(text)
    if "\\boxed" in said:
        boxes = _BOXED.findall(said)
        return boxes[-1].strip() if boxes else ""
    for marker in reversed(list(_MARKER.finditer(said))):
        if _NO_MARKER.search(said, max(0, marker.start() - 20), marker.start()):
            continue
        said = said[marker.end() :]
        closed = _CLOSED.search(said)
        said = said[: closed.start()] if closed else said
        break
    said = said.strip()
    return said if len(said) <= LONGEST_ANSWER else ""


def _without_thoughts(text: str) -> str:
    cut = max(0, len(text) - LONGEST_REPLY)
    inside = bool(cut) and text.rfind("<think", 0, cut) > text.rfind("</think", 0, cut)
    said, start = text[cut:], 0
    kept: list[str] = []
    if not inside and "<" not in said:
        return said
    for tag in _THOUGHT.finditer(said):
        if tag[1]:
            if not inside:
                kept.clear()
            inside, start = False, tag.end()
        elif not inside:
            kept.append(said[start : tag.start()])
            inside = True
    return "" if inside else "\n".join([*kept, said[start:]])


def json_answer(text: str) -> tuple[str, ...] | None:
    """The answer in a JSON reply, one text a choice; None where the text is no JSON, () where it holds no answer.

    An object answers by exactly one of the names answer, answers, final_answer, choice, choices; its unit is added.
    """
    body = _FENCE.sub("", text.strip()).strip()
    if body.endswith("}"):
        body = body[max(0, body.rfind("{")) :]
    if not (body.startswith("{") and body.endswith("}")) and not (body.startswith("[") and body.endswith("]")):
        return None
    try:
        value = json.loads(body, object_pairs_hook=_answer_of)
    except (ValueError, RecursionError):
        return None
    values = value if isinstance(value, list | tuple) else [value]
    pieces = [v if isinstance(v, str) else repr(v) for v in values if isinstance(v, str | int | float)]
    return tuple(pieces) if len(pieces) == len(values) and not any(isinstance(v, bool) for v in values) else ()


def _answer_of(pairs: list[tuple[str, Any]]) -> Any:
    answers = [value for name, value in pairs if name.lower() in _JSON_NAMES]
    units = [value for name, value in pairs if name.lower() in _JSON_UNITS]
    if len(answers) != 1:
        return None
    return f"{answers[0]} {units[0]}" if units and not isinstance(answers[0], list | dict) else answers[0]


def tidy(text: str) -> str:
    """The text with its letter case, without what only decorates it.

    Unicode is brought to its compatible form; emphasis, code marks, double quotes and invisible characters go; dashes,
    apostrophes and line ends become plain ones; `120 ms` becomes `120ms` and `1 s - 2 s` `1s-2s`.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    text = _SPACES.sub(" ", text.translate(_TABLE))
    if "*" in text or "_" in text:
        text = _EMPHASIS.sub("", text)
    if "#" in text:
        text = _HEADING.sub("", text)
    if "'" in text:
        text = _QUOTED.sub(r"\1", text)
    return _RANGE_GAP.sub("-", _UNIT_GAP.sub(r"\1", text)).strip()


def plain(text: str) -> str:
    """`tidy` without letter case."""
    return tidy(text).casefold()


def bare(text: str) -> str:
    """A plain text without bullet, surrounding brackets and quotes, and final punctuation."""
    before = ""
    while text != before:
        before = text
        text = _BULLET.sub("", text.strip().rstrip(".,;:!")).strip()
        if len(text) > 1 and _PAIRS.get(text[0]) == text[-1] and not any(c in text[1:-1] for c in (text[0], text[-1])):
            text = text[1:-1]
    return text
