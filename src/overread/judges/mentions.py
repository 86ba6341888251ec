"""Options inside sentences: which one option a text asserts, if it asserts exactly one.

A mention counts only between words that neither qualify nor continue it: `ST elevation` is not ST, `progressive
prolongation of the PR interval` is not prolongation of the PR interval, `the rate is normal` is not Normal.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from overread.judges.offered import Offered, is_abbreviation

NOTHING = -1
"""The text names no option in a way that is read."""
CLASH = -2
"""The text contradicts itself; nothing in it may be read."""
LONGEST_SENTENCE = 600
"""Characters. In a longer sentence it cannot be told what a negation reaches, so nothing in it is asserted."""
MOST_MENTIONS = 60
"""A text that names options more often than this is not searched further; it says nothing clear."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_BEFORE = _words(
    """is are was were be been being a an the this that these it its as of to with for by from at in on and but also so
    thus therefore hence likely most probably clearly definitely shows show showing shown demonstrates demonstrating
    indicates indicate indicating suggests suggest suggesting suggestive reveals reveal has have had having represents
    confirms confirm supports support meets favors favours say think believe choose select pick see sees called means
    diagnosis answer option choice criterion finding label lead leads would"""
)
_AFTER = _words(
    """is are was were can with and because since as in on at by due seen present detected found noted here but given
    based which where when that for exists not so therefore while although"""
)
_ABOUT_ALL = _BEFORE | _words(
    """i my we our ecg ekg eeg echo clip image images scan trace tracing study recording rhythm patient patient's video
    volume overall final best correct right conclusion impression interpretation classification class view consistent
    compatible classified considered here based looking"""
)
_WORD = re.compile(r"[\w']+")
_SENTENCE = re.compile(r"[.!?](?=\s|$)|[;\n]")
_DENIES = (
    r"\b(?:no|not|none|neither|nor|never|cannot|absent|absence|lacks?|lacking|fails?|den(?:y|ies|ied)|unlikely|negative"
    r"|against|false|less|least|hardly|rarely|doubt(?:ful)?|improbable"
    r"|wrong|incorrect|exclud(?:e|es|ed|ing)|except|rul(?:e|es|ed|ing) (?:\w+ )?out"
    r"|differs?|unlike)\b|n't\b"
)
_DENIES_BEFORE = re.compile(
    rf"{_DENIES}|\b(?:without|rather than|instead of|free of|other than|versus|non|history|previous|prior|former)\b",
    re.IGNORECASE,
)
_DENIES_AFTER = re.compile(_DENIES, re.IGNORECASE)
_RESET = re.compile(r"\bbut\b|\bhowever\b|, (?:and )?(?:so|therefore|thus|hence)\b", re.IGNORECASE)
_REASON = re.compile(r"\b(?:with|without|because|since|given|due to)\b", re.IGNORECASE)
_CONTRAST = re.compile(r"[,(] ?(?:and )?(?:not|rather than|instead of) (?:\w+ ){0,2}(?=\x01)", re.IGNORECASE)
_UNSURE = re.compile(
    r"\b(?:maybe|perhaps|possibly|might|could|may|unsure|uncertain|unclear|undetermined|indeterminate|unable"
    r"|cannot tell|can't tell|not (?:sure|certain)|hard to (?:say|tell)|difficult to (?:say|tell)|depends"
    r"|either|whether|if|which|options|or)\b"
    r"|\?",
    re.IGNORECASE,
)
_NO_AS_ANSWER = re.compile(r"(?:^|[,.;:!?\n/-]|\b(?:and|or|but)\b) *no *(?=$|[,.;!?\n/])", re.IGNORECASE)
_CAPITAL = re.compile(r"(?<![\w'./-])([B-HJ-Z])(?![\w'/-])")


class Mention(NamedTuple):
    """An option named in a text."""

    option: int
    """Its index."""
    start: int
    stop: int
    denied: bool
    free: bool
    """No neighbouring word qualifies or continues it."""


def mentions(text: str, among: Offered) -> list[Mention]:
    """All options that a tidy text names at token boundaries, the longest where one contains another."""
    spans: list[tuple[int, int, int, str]] = []
    shouted = text.isupper() and text.count(" ") > 2
    reach = 0
    for match in among.mention.finditer(text):
        start, stop = match.span("whole")
        if stop <= reach:
            continue
        form, label = match["form"], match["named"] or match["bracketed"]
        if form is None:
            index = among.labels.get(label.casefold(), NOTHING)
        elif shouted and is_abbreviation(form):
            index = NOTHING  # among capitals an abbreviation is not told from a word
        else:
            index = among.written.get(form, among.forms.get(form.casefold(), NOTHING))
        if index != NOTHING:
            spans.append((index, start, stop, form or ""))
            reach = stop
        if len(spans) > MOST_MENTIONS:
            return [Mention(index, start, stop, True, False) for index, start, stop, _ in spans]
    masked = _masked(text, [(start, stop) for _, start, stop, _ in spans])
    ends = [match.start() for match in _SENTENCE.finditer(masked)] + [len(masked)]
    found, sentence = [], 0
    for index, start, stop, form in spans:
        while ends[sentence] < start:
            sentence += 1
        begin = ends[sentence - 1] + 1 if sentence else 0
        before, after = masked[begin:start], masked[stop : ends[sentence]]
        denied = len(before) + len(after) > LONGEST_SENTENCE or _denied(before, after)
        found.append(Mention(index, start, stop, denied, not denied and (not form or _free(before, after, form))))
    return found


def _masked(text: str, spans: list[tuple[int, int]]) -> str:
    parts, last = [], 0
    for start, stop in spans:
        begin = max(start, last)
        parts += [text[last:begin], "\x01" * (stop - begin)]
        last = stop
    return "".join([*parts, text[last:]])


def _denied(before: str, after: str) -> bool:
    """Whether a negation reaches a mention: all before it in its sentence, and all after it up to a reason."""
    resets = [match.end() for match in _RESET.finditer(before)]
    if _DENIES_BEFORE.search(before, resets[-1] if resets else 0):
        return True
    after = _CONTRAST.sub(" ", after)
    reason = _REASON.search(after)
    return bool(_DENIES_AFTER.search(after, 0, reason.start() if reason else len(after)))


def _free(before: str, after: str, form: str) -> bool:
    words_before = [word.casefold() for word in _WORD.findall(before)]
    if (
        before.endswith(" ")
        and words_before
        and before.rstrip()[-1:] not in ",:(-\x01"
        and words_before[-1] not in _BEFORE
    ):
        return False
    follows = _WORD.match(after.lstrip(" ")) if after.startswith(" ") else None
    if follows and follows[0].casefold() not in _AFTER:
        return False
    # A plain word such as "normal" says something about the sentence's subject, so that must be the study as a whole.
    return not form.isalpha() or is_abbreviation(form) or all(word in _ABOUT_ALL for word in words_before)


def asserted(text: str, among: Offered) -> int:
    """The one option that a tidy text asserts, or NOTHING, or CLASH."""
    found = mentions(text, among)
    named = {mention.option for mention in found if not mention.denied}
    denied = {mention.option for mention in found if mention.denied}
    if not named:
        return NOTHING
    if len(named) > 1 or named & denied:
        return CLASH
    masked = _masked(text, [(mention.start, mention.stop) for mention in found])
    index = named.pop()
    if _UNSURE.search(masked) or ("no" in among.forms and _NO_AS_ANSWER.search(masked)):
        return CLASH
    if any(among.labels.get(letter.casefold(), index) != index for letter in _CAPITAL.findall(masked)):
        return CLASH
    return index if any(mention.free for mention in found if not mention.denied) else NOTHING


def says_no(text: str) -> bool:
    """Whether `no` stands in a text as an answer of its own, not before a noun."""
    return bool(_NO_AS_ANSWER.search(text))


def unsure(text: str) -> bool:
    """Whether a text offers several things or will not commit itself."""
    return bool(_UNSURE.search(text))
