"""Which of the options a text chooses; nothing where that is not certain.

One of many is read, in this order, from: the option's own text; its letter, its number, or `letter. text`; the first
line where the others do not contradict it; `the answer is ...`; a leading Yes or No; a marked letter and a reason; the
one option that the sentences assert. Many-of is read from a list all of whose pieces can be read. Where a text refuses
to answer, an option that it names all the same is not read.
"""

from __future__ import annotations

import re

from overread.judges.mentions import CLASH, NOTHING, asserted, mentions, says_no, unsure
from overread.judges.offered import Offered
from overread.judges.refusals import refuses
from overread.judges.wording import bare, json_answer, spoken, tidy

MOST_LINES = 100
"""A text of more lines is not read line by line."""

_LABEL = re.compile(r"(?:(?:option|choice|answer|letter|number) )?[(\[]?([a-z]|\d{1,3})[)\]]?[.:]?")
_CORRECT = re.compile(
    r"(.{1,20}?) (?:is|would be) (?:the )?(?:correct|right|best|answer)(?: answer| option| choice| one)?"
)
_LABELLED = re.compile(
    r"(?:(?:option|choice) )?(?P<open>[(\[]?)(?P<label>[a-z]|\d{1,3})(?P<close>[)\]]?) ?"
    r"(?:(?P<mark>[.):,])(?P<gap> ?)|(?P<dash>- ?)| |(?<=[)\]]))(?P<rest>[^\s].*)",
    re.DOTALL,
)
_REASON = re.compile(r"(?:because|since|due to|given|based on)\b")
# "A. fib" and "A-flutter" are rhythms, not the letter A.
_RHYTHM = re.compile(r"(?:fib|flut|tach)")
_TURNS = re.compile(r"(?:or|and|but|however|actually|wait|hmm|correction|alternatively|no,|not)\b")
_ANSWER_IS = re.compile(
    r"\b(?:answers?|(?:correct|right|best) (?:options?|choices?))(?: letters?)? (?:is|are|would be|should be|must be)"
    r"\b ?|\bi(?:'d| would| will)? (?:choose|select|pick|go with)\b ?",
    re.IGNORECASE,
)
_DENIED_MARKER = re.compile(r"(?:\b(?:not|never|no|wrong|incorrect|cannot)\b|n't\b)[^.!?\n]{0,80}$", re.IGNORECASE)
_YES_NO = re.compile(r"(yes|no)\b(?!['/-]\w)")
_NO_GOES_ON = re.compile(r" (?:it|there|this|that|the|they|i|we|because|since)\b")
_LISTED = re.compile(r"^leads?(?:\(s\))? ?: ?")
_JOINED = re.compile(r"[\s,;/&]*(?:and\b[\s,;/&]*)*")


def read(text: str, among: Offered, *, many: bool) -> tuple[int, ...] | None:
    """Indices of the options that a reply's text chooses, in the options' order; None where it cannot be read."""
    if text in among.exact:
        return (among.exact[text],)
    short = text.strip().rstrip(".").casefold()  # most replies are no longer than this
    index = among.forms.get(short, among.labels.get(short, NOTHING))
    if index != NOTHING:
        return (index,)
    said = spoken(text)
    if not said:
        return None
    if said in among.exact:
        return (among.exact[said],)
    pieces = json_answer(said) if said[-1] in "}]`" else None
    if pieces is not None:
        return _pieces(pieces, among, many=many)
    words = tidy(said)
    if many:
        return _list(words, among)
    index = _one(words, among)
    return (index,) if index >= 0 else None


def _pieces(pieces: tuple[str, ...], among: Offered, *, many: bool) -> tuple[int, ...] | None:
    if many and len(pieces) == 1:
        return _list(tidy(pieces[0]), among)
    chosen = {among.exact[piece] if piece in among.exact else _strict(tidy(piece), among) for piece in pieces}
    if not chosen or min(chosen) < 0 or (not many and len(chosen) > 1):
        return None
    return tuple(sorted(chosen))


def _strict(words: str, among: Offered) -> int:
    """What a text is that is nothing but an answer: an option, a label, or a label with its option."""
    text = bare(words.casefold())
    index = among.forms.get(text, NOTHING)
    if index == NOTHING and among.leads:
        index = among.forms.get(re.sub(r"^leads? ", "", text), NOTHING)
    if index != NOTHING:
        return index
    label = _LABEL.fullmatch(text)
    if label:
        return among.labels.get(label[1], NOTHING)
    called = _CORRECT.fullmatch(text)
    if called:
        return _strict(called[1], among)
    both = _LABELLED.fullmatch(text)
    if not both or both["label"] not in among.labels:
        return NOTHING
    rest = bare(both["rest"])
    label_index, text_index = among.labels[both["label"]], among.forms.get(rest, among.labels.get(rest, NOTHING))
    if text_index in (label_index, NOTHING):
        return text_index
    article = both["label"] in "ai" and not both["mark"] and not both["close"] and not both["rest"].startswith("(")
    return NOTHING if article else CLASH


def _with_reason(words: str, among: Offered) -> int:
    """A marked letter and whatever is said for it: `B. The P waves are absent`."""
    text = bare(words.casefold())
    both = _LABELLED.fullmatch(text)
    if not both or both["label"] not in among.labels or both["label"].isdigit():
        return NOTHING
    if _RHYTHM.match(both["rest"]) or (both["mark"] in (".", ":") and not both["gap"]):
        return NOTHING
    loose = not (both["close"] or both["mark"] in (".", ":", ")"))
    if loose and not _REASON.match(both["rest"]) and (both["label"] in "ai" or not (both["mark"] or both["dash"])):
        return NOTHING
    index = among.labels[both["label"]]
    rest = words[max(0, len(words) - len(both["rest"]) - 2) :]
    named = {mention.option for mention in mentions(rest, among)} | _other_labels(rest, among)
    return CLASH if named - {index} or _TURNS.match(both["rest"]) or unsure(rest) else index


def _other_labels(words: str, among: Offered) -> set[int]:
    letters = re.findall(r"(?<![\w'./-])\(?([A-Z])(?![\w'/-])", words)
    return {
        among.labels[letter.casefold()]
        for letter in letters
        if letter not in "AI" and letter.casefold() in among.labels
    }


def _yes_no(words: str, among: Offered) -> int:
    """`Yes, there is ...`; a No must not be the beginning of `no evidence`."""
    text = words.casefold()
    lead = _YES_NO.match(text)
    if not lead or lead[1] not in among.forms:
        return NOTHING
    rest, index = text[lead.end() :], among.forms[lead[1]]
    if rest[:1] not in (",", ".", ";", ":", "!", "\n", " ") or rest.lstrip()[:1] in ("/", "&", "|", "?"):
        return NOTHING
    if lead[1] == "no" and rest[:1] == " " and rest[1:2] != "-" and not _NO_GOES_ON.match(rest):
        return NOTHING
    others = {mention.option for mention in mentions(words[lead.end() :], among) if not mention.denied} - {index}
    against = says_no(rest) if lead[1] == "yes" else re.search(r"\byes\b", rest)
    return CLASH if others or against or unsure(rest) else index


def _by_lines(words: str, among: Offered) -> int:
    """The first line, where it is nothing but an answer and no later line is another answer."""
    lines = [line for line in words.split("\n") if line.strip()]
    if len(lines) < 2 or len(lines) > MOST_LINES:
        return NOTHING
    first = _strict(lines[0], among)
    if first < 0:
        return first
    for line in lines[1:]:
        other = _strict(line, among)
        if other == NOTHING:
            other = _with_reason(line, among)
        if other not in (NOTHING, first) or _TURNS.match(line.casefold().lstrip()):
            return CLASH
    return first


def _refused(words: str, among: Offered) -> bool:
    """Whether a text refuses to answer, save where an option offered is such a sentence itself."""
    return refuses(words) and not any(map(refuses, among.forms))


def _one(words: str, among: Offered) -> int:
    index = _strict(words, among)
    if index != NOTHING:
        return index
    if _refused(words, among):
        return CLASH
    for reader in (_by_lines, _after_marker, _yes_no, _with_reason, asserted):
        index = reader(words, among)
        if index != NOTHING:
            return index
    return NOTHING


def _after_marker(words: str, among: Offered) -> int:
    """What follows each `the answer is`; all must say the same."""
    markers = list(_ANSWER_IS.finditer(words))
    if not markers:
        return NOTHING
    if len(markers) > MOST_LINES:
        return CLASH
    ends = [marker.start() for marker in markers[1:]] + [len(words)]
    found = set()
    for marker, end in zip(markers, ends, strict=True):
        if _DENIED_MARKER.search(words, max(0, marker.start() - 80), marker.start()):
            return CLASH
        said = words[marker.end() : end].lstrip(": ")
        for reader in (_strict, _by_lines, _yes_no, _with_reason, asserted):
            index = reader(said, among)
            if index != NOTHING:
                break
        found.add(index)
    return found.pop() if len(found) == 1 else CLASH


def _list(words: str, among: Offered) -> tuple[int, ...] | None:
    """All options of a list; None where a piece cannot be read or the list only repeats the question's."""
    if _refused(words, among):
        return None
    marker = None
    for marker in _ANSWER_IS.finditer(words):
        if _DENIED_MARKER.search(words, max(0, marker.start() - 80), marker.start()):
            return None
    if marker:
        words = words[marker.end() :].lstrip(": ")
    whole = _strict(words, among)
    if whole >= 0:
        return (whole,)
    chosen = _scan(words, among)
    first, _, rest = words.partition("\n")
    if chosen is None and rest and rest.count("\n") < MOST_LINES:
        lines = [line for line in rest.split("\n") if line.strip()]
        if not any(_scan(line, among) or _TURNS.match(line.casefold().lstrip()) for line in lines):
            chosen = _scan(first, among)
    return chosen


def _scan(words: str, among: Offered) -> tuple[int, ...] | None:
    text = words.casefold().strip()
    if text.endswith("..."):
        return None
    text = _LISTED.sub("", text, count=1).rstrip(".,;:!").strip()
    if text[:1] in "([{" and text[-1:] in ")]}" and not any(c in text[1:-1] for c in "()[]{}"):
        text = text[1:-1].strip()
    chosen: list[int] = []
    numbers: list[tuple[str, int]] = []
    named, place = set(), 0
    while place < len(text):
        piece = among.piece.match(text, place)
        found = _of_piece(piece, among, numbers) if piece else []
        if piece is None or not found:
            return None
        chosen += found
        if piece["form"]:
            named.update(found)
        place = piece.end()
        joined = _JOINED.match(text, place)
        place = joined.end() if joined and joined.end() > place else len(text) + (place < len(text))
    if place > len(text) or not chosen or not _in_step(numbers, among):
        return None
    # Three or more options, all of them and by their texts, repeat the question's own list.
    echo = len(among.exact) > 2 and len(named) == len(among.exact)
    return None if echo else tuple(sorted(set(chosen)))


def _of_piece(piece: re.Match[str], among: Offered, numbers: list[tuple[str, int]]) -> list[int]:
    if piece["form"]:
        index = among.forms[piece["form"]]
        if piece["number"]:
            numbers.append((piece["number"], index))
        if piece["letter"] and among.labels.get(piece["letter"]) != index:
            return []
        return [index]
    if piece["label"]:
        return [among.labels[piece["label"]]]
    low, high = int(piece["low"]), int(piece["high"])
    spanned = [among.forms.get(f"v{lead}", among.forms.get(f"lead v{lead}", NOTHING)) for lead in range(low, high + 1)]
    return [] if NOTHING in spanned else spanned


def _in_step(numbers: list[tuple[str, int]], among: Offered) -> bool:
    """Numbers before options are either the options' own or count the list's lines."""
    own = all(among.labels.get(number) == index for number, index in numbers)
    counted = [int(number) for number, _ in numbers] == list(range(1, len(numbers) + 1))
    return own or (counted and (len(numbers) > 1 or "1" not in among.labels))
