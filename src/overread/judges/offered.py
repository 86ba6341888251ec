"""The options of a question, prepared for finding them in texts; prepared once for all replies to them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from overread.judges.wording import bare, plain, tidy

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_LEAD = re.compile(r"(?:lead )?(i|ii|iii|avr|avl|avf|v[1-6])")
_EXPLAINED = re.compile(r"([^()]+?) ?\(([^()]{2,})\)")
_NUMERIC = re.compile(r"[<>≤≥±+\-\[( ]*\d")
_NO_WORDS = frozenset({"no", "not", "none", "never"})

LEFT = r"(?<![\w'/+.-])"
RIGHT = r"(?![\w'/+-]|\.\w)"
"""Where a token begins and ends: compounds with hyphen, slash, apostrophe or plus are one token."""


class Offered(NamedTuple):
    """Options as they may be written; all indices are those of the first option of the same text."""

    options: tuple[str, ...]
    exact: dict[str, int]
    forms: dict[str, int]
    """Bare plain text -> index; a form that two options share is left out."""
    labels: dict[str, int]
    """Letter, or number from 1 (not where the options are numbers or leads themselves) -> index."""
    leads: bool
    written: dict[str, int]
    """Bare text with its letter case -> index, for abbreviations inside sentences."""
    mention: re.Pattern[str]
    """Finds a tidy text's options, the longest at each place, and marked letters such as `option B`."""
    piece: re.Pattern[str]
    """Finds one piece of a plain list: an option, a range of leads, a label."""


def _unique(pairs: Iterable[tuple[str, int]]) -> dict[str, int]:
    distinct = {pair for pair in pairs if pair[0]}
    shared = Counter(form for form, _ in distinct)
    return {form: index for form, index in distinct if shared[form] == 1}


def _forms(options: tuple[str, ...], first: dict[str, int], leads: bool) -> tuple[dict[str, int], dict[str, int]]:
    """Bare forms without and with letter case. An option's own text goes before what is only a part of it."""
    cased: list[tuple[str, int]] = []
    parts: list[tuple[str, int]] = []
    for option, index in first.items():
        whole = bare(tidy(option))
        cased.append((whole, index))
        explained = _EXPLAINED.fullmatch(whole)
        if explained:
            parts += [(bare(part), index) for part in explained.groups()]
        if leads and whole[:5].casefold() == "lead ":
            parts.append((whole[5:], index))
    own = _unique((form.casefold(), index) for form, index in cased)
    taken = {form.casefold() for form, _ in cased}
    more = _unique((form.casefold(), index) for form, index in parts if form.casefold() not in taken)
    forms = own | more
    return forms, {form: index for form, index in [*parts, *cased] if forms.get(form.casefold()) == index}


def is_abbreviation(form: str) -> bool:
    """Whether a form is told from an English word only by its capitals: `NORM`, `AF`, `1dAVb`."""
    return " " not in form and sum(c.isupper() for c in form) > 1


def _either(forms: Iterable[str]) -> str:
    return "|".join(re.escape(form) for form in sorted(forms, key=lambda form: (-len(form), form)))


def _mention(written: dict[str, int], labels: dict[str, int]) -> re.Pattern[str]:
    short = [form for form in written if is_abbreviation(form)]
    # One letter, or a word that negates, is never looked for inside a sentence.
    long = [f for f in written if not is_abbreviation(f) and len(f) > 1 and f.casefold() not in _NO_WORDS]
    every = [
        f"(?-i:{re.escape(f)})" if f in short else re.escape(f) for f in sorted(short + long, key=len, reverse=True)
    ]
    marks = _either(labels)
    either = f"(?P<form>{'|'.join(every)})" if every else "(?P<form>(?!))"
    marked = rf"(?:option|choice|answer) \(?(?P<named>{marks})\)?|\((?P<bracketed>{marks})\)" if marks else "(?!)"
    return re.compile(rf"{LEFT}(?=(?P<whole>{either}|{marked}){RIGHT})", re.IGNORECASE)


def _piece(forms: dict[str, int], labels: dict[str, int], leads: bool) -> re.Pattern[str]:
    end = r"(?=\s*(?:[,;/&]|\n|and\b|$))"
    label = rf"[(\[]?(?P<label>{_either(labels) or '(?!)'})[)\]]?[.:]?"
    numbered = r"(?:(?P<number>\d{1,2})[.)] |(?P<letter>[a-z])[.):] ?)?"
    spans = r"v(?P<low>[1-6]) ?(?:-|to |through )(?: ?v)?(?P<high>[1-6])" if leads else "(?!)"
    lead = "(?:leads? )?" if leads else ""
    form = rf"{numbered}{lead}[(\[{{]?(?P<form>{_either(forms) or '(?!)'})[)\]}}]?"
    return re.compile(rf"(?:[-•·▪◦‣] *)?(?:{form}|{lead}(?P<span>{spans})|(?:option |choice )?{label})\.?{end}")


@lru_cache(maxsize=4096)
def offered(options: tuple[str, ...]) -> Offered:
    """The options, prepared."""
    first = {option: options.index(option) for option in options}
    plains = [bare(plain(option)) for option in first]
    leads = bool(plains) and all(_LEAD.fullmatch(text) for text in plains)
    forms, written = _forms(options, first, leads)
    places = list(enumerate(options))
    labels = {_LETTERS[place]: first[option] for place, option in places[:26]}
    if not leads and not any(_NUMERIC.match(option) for option in options):
        labels |= {str(place + 1): first[option] for place, option in places}
    labels = {label: index for label, index in labels.items() if label not in forms}
    return Offered(
        options, first, forms, labels, leads, written, _mention(written, labels), _piece(forms, labels, leads)
    )
