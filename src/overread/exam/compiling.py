"""Compiles scripts: each, under each condition, becomes one dialogue with its questions and key.

All conditions and protocols of one item follow each other, and a batch never splits an item; so whatever compares
conditions, or takes the reply of another dialogue, finds both sides in the same part of the exam.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import operator
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from overread.errors import BadInput
from overread.exam.framing import Framing
from overread.exam.script import Ask, Say, Script, Take, Tell, key_text
from overread.exam.survey import Asked, Partner, Survey, answers_of
from overread.exam.waves import Step, plan
from overread.media.conditions import BLIND, TEXT_PROBES, vary
from overread.quick import quick
from overread.tables import TERMS, Dialogue, Key, Question, Turn

_key, _question, _turn = quick(Key), quick(Question), quick(Turn)

VALUES = {
    kind: operator.attrgetter(*[field.name for field in dataclasses.fields(kind)]) for kind in (Say, Ask, Tell, Take)
}
"""For each kind of turn, what gives all its values, in order."""

MEDIUM_COST = 1000
"""What one medium costs beside text, roughly in tokens."""


@dataclasses.dataclass(frozen=True, slots=True)
class Exam:
    """What is compiled: an exam under a protocol and conditions."""

    benchmark: str
    protocol: str
    conditions: tuple[str, ...]
    seed: int
    framings: dict[str, Framing]


@dataclasses.dataclass(slots=True)
class Part:
    """Some whole items of the exam, as rows."""

    start: int
    dialogues: list[Dialogue] = dataclasses.field(default_factory=list)
    questions: list[Question] = dataclasses.field(default_factory=list)
    key: list[Key] = dataclasses.field(default_factory=list)

    @property
    def stop(self) -> int:
        """The place after its last question."""
        return self.start + len(self.questions)


def compile_parts(exam: Exam, scripts: Iterable[Script], found: Survey, part_size: int) -> Iterator[Part]:
    """The exam in parts of about `part_size` questions."""
    part = Part(0)
    closed: set[str] = set()
    for item, group in _by_item(scripts):
        if found.chosen is not None and item not in found.chosen:
            continue
        if item in closed:
            raise BadInput(
                f"the scripts of item {item!r} do not follow each other",
                where=f"benchmark {exam.benchmark}",
                do="yield all scripts of one item one after the other",
            )
        closed.add(item)
        if len(part.questions) >= part_size:
            yield part
            part = Part(part.stop)
        _Item(exam, found, part).write(group)
    if part.questions:
        yield part


def _by_item(scripts: Iterable[Script]) -> Iterator[tuple[str, list[Script]]]:
    group: list[Script] = []
    for script in scripts:
        if group and script.item != group[0].item:
            yield group[0].item, group
            group = []
        group.append(script)
    if group:
        yield group[0].item, group


class _Item:
    """Writes all dialogues of one item into a part."""

    def __init__(self, exam: Exam, found: Survey, part: Part) -> None:
        self.exam = exam
        self.found = found
        self.part = part
        self.named: dict[tuple[str, str, str], tuple[str, str, tuple[str, ...]]] = {}
        self.waves: dict[str, int] = {}

    def write(self, group: Sequence[Script]) -> None:
        blind = group[0].case.patient in self.found.blind
        swapped = blind and "swap" in self.exam.conditions
        partner = self.found.partner(group, self.exam.seed) if swapped else None
        for script in group:
            for condition in self.exam.conditions:
                looks = condition == "plain" or condition in TEXT_PROBES
                if not looks and not script.shown_media():
                    continue
                if condition in BLIND and (not blind or (condition == "swap" and partner is None)):
                    continue
                self._dialogue(script, condition, partner if condition == "swap" else None)

    def _dialogue(self, script: Script, condition: str, partner: Partner | None) -> None:
        exam = self.exam
        framing = exam.framings["wording" if condition == "wording" else "plain"]
        media = partner.media_for(script) if partner else None
        varied = vary(script, condition, exam.seed, media, framing.guess)
        if condition == "order" and varied == script:
            return  # no question has options to reorder
        shown = varied.shown_media()
        head = (exam.benchmark, exam.protocol, script.case.id, script.item, script.name, condition)
        turns = _Turns(self, varied, condition, framing, hashlib.blake2b(repr((*head, shown)).encode(), digest_size=12))
        turns.write(answers_of(varied) if partner else {}, partner)
        dialogue = Dialogue(
            id=turns.id,
            benchmark=exam.benchmark,
            protocol=exam.protocol,
            case=script.case.id,
            patient=script.case.patient,
            item=script.item,
            condition=condition,
            terms=max(script.case.terms, partner.terms if partner else "open", key=TERMS.index),
            media=shown,
            turns=tuple(turns.turns),
            place=self.part.stop,
            cost=MEDIUM_COST * len(shown) + turns.length // 4 + 1,
        )
        self.part.dialogues.append(dialogue)
        self.part.questions.extend(turns.questions(self.part.stop))
        self.part.key.extend(turns.key)


class _Turns:
    """Writes the turns of one dialogue, with the running hash of what a model is sent."""

    def __init__(self, item: _Item, script: Script, condition: str, framing: Framing, digest: hashlib.blake2b) -> None:
        self.item, self.script, self.condition, self.framing = item, script, condition, framing
        self.addresses = {m.name: f"{m.uri}\x1e{m.select}\x1e{m.change}" for m in script.shown_media()}
        self.id = self._identify(digest)
        self.sent = hashlib.blake2b(digest_size=12)
        self.turns: list[Turn] = []
        self.steps: list[Step] = []
        self.drafts: list[tuple[str, Ask, str, str, str]] = []
        self.key: list[Key] = []
        self.length = 0

    def _identify(self, digest: hashlib.blake2b) -> str:
        # The representation of a whole dataclass takes three times as long as that of its values.
        values = [(type(turn).__name__, VALUES[type(turn)](turn)) for turn in self.script.turns]
        digest.update(repr(values).encode("utf-8", "surrogatepass"))
        return digest.hexdigest()

    def write(self, answers: dict[Asked, int], partner: Partner | None) -> None:
        seen: Counter[str] = Counter()
        for turn in self.script.turns:
            if isinstance(turn, Say):
                self._send(turn.role, turn.text, turn.media)
                self.turns.append(_turn(turn.role, turn.text, turn.media))
            elif isinstance(turn, Take):
                self._take(turn)
            elif isinstance(turn, Tell):
                self._tell(turn.ask)
            else:
                same = False
                if partner is not None:
                    asked = (self.script.name, turn.template, seen[turn.template])
                    seen[turn.template] += 1
                    same = partner.answers.get(asked, answers[asked]) == answers[asked]
                self._ask(turn, scored=turn.scored and not same)

    def _send(self, role: str, text: str, media: tuple[str, ...]) -> None:
        self.length += len(text)
        self.sent.update(f"{role}\x1f{self._attached(media)}\x1f{text}\x1d".encode("utf-8", "surrogatepass"))

    def _attached(self, media: tuple[str, ...]) -> str:
        if not media:
            return ""
        try:
            return "\x1c".join([self.addresses[name] for name in media])
        except KeyError as error:
            raise BadInput(
                f"the script of item {self.script.item!r} attaches a medium {error.args[0]!r} that it does not have",
                where=f"benchmark {self.item.exam.benchmark}",
                do=f"its media are: {', '.join(self.addresses) or 'none'}",
            ) from error

    def _take(self, take: Take) -> None:
        try:
            question, shown, media = self.item.named[take.script, take.ask, self.condition]
        except KeyError as error:
            raise BadInput(
                f"item {self.script.item!r} takes the reply to {take.ask!r} of {take.script!r}, which is not known yet",
                where=f"benchmark {self.item.exam.benchmark}",
                do="yield the script that is taken from first, within the same item",
            ) from error
        self._send("user", shown, media)
        self.turns.append(_turn("user", shown, media, source=question))
        self.steps.append(Step(None, question))

    def _shown(self, ask: Ask) -> str:
        if ask.shown_as == "asked":
            return self.framing.ask(ask)
        return ask.text if ask.shown_as == "question" else self.framing.ask(ask, options=ask.shown_as)

    def _tell(self, ask: Ask) -> None:
        shown, answer = self._shown(ask), key_text(ask.answer, whole=ask.whole, unit=ask.unit)
        self._send("user", shown, ask.media)
        self._send("assistant", answer, ())
        self.turns.append(_turn("user", shown, ask.media))
        self.turns.append(_turn("assistant", answer))

    def _ask(self, ask: Ask, *, scored: bool) -> None:
        _check(ask, self.script.item)
        question = f"{self.id}-{len(self.drafts)}"
        asked = self.framing.ask(ask)
        shown = asked if ask.shown_as == "asked" else self._shown(ask)
        prompt = self.sent.copy()
        prompt.update(
            f"ask\x1f{self._attached(ask.media)}\x1f{asked}\x1f{_offered(ask.options)[0]}".encode(
                "utf-8", "surrogatepass"
            )
        )
        self.drafts.append((question, ask, asked, shown, prompt.hexdigest()))
        number = None if isinstance(ask.answer, tuple) else float(ask.answer)
        answer = key_text(ask.answer, whole=ask.whole, unit=ask.unit)
        self.key.append(
            _key(
                question=question,
                place=self.item.part.stop + len(self.drafts) - 1,
                answer=ask.answer if isinstance(ask.answer, tuple) else (answer,),
                number=number,
                tolerance=ask.tolerance,
                stage=ask.stage,
                slices=ask.slices,
                scored=scored,
            )
        )
        self.turns.append(_turn("user", shown, ask.media, question=question))
        self.item.named[self.script.name, ask.name or ask.template, self.condition] = (question, shown, ask.media)
        if ask.shows == "nothing":
            self.steps.append(Step(question, None))
            return
        self._send("user", shown, ask.media)
        if ask.shows == "key":
            self._send("assistant", answer, ())
        self.steps.append(Step(question, question if ask.shows == "reply" else None))

    def questions(self, start: int) -> Iterator[Question]:
        """The rows of the questions, with their waves."""
        waves = plan(self.steps, self.item.waves)
        prefix = f"{self.script.item}/{self.script.name}" if self.script.name else self.script.item
        for n, ((question, ask, asked, shown, prompt), (_, wave, parents)) in enumerate(
            zip(self.drafts, waves, strict=True)
        ):
            yield _question(
                id=question,
                dialogue=self.id,
                place=start + n,
                item=f"{prefix}/{n}",
                template=ask.template,
                kind=ask.kind,
                asked=asked,
                shown=shown,
                shows=ask.shows,
                prompt=prompt,
                options=ask.options,
                many=ask.many,
                low=ask.low,
                high=ask.high,
                whole=ask.whole,
                unit=ask.unit,
                wave=wave,
                parents=parents,
            )


@functools.lru_cache(maxsize=4096)
def _offered(options: tuple[str, ...]) -> tuple[str, frozenset[str]]:
    """Options as one text, and as a set; the same few stand in most questions of an exam."""
    return repr(options), frozenset(options)


def _check(ask: Ask, item: str) -> None:
    wrong = ""
    if ask.kind == "choice":
        answer = ask.answer if isinstance(ask.answer, tuple) else ()
        if not ask.options:
            wrong = "is a choice without options"
        elif len(offered := _offered(ask.options)[1]) < len(ask.options):
            wrong = "has the same option twice"
        elif not offered.issuperset(answer) or (len(answer) != 1 and not ask.many):
            wrong = "has a key that is not among its options, or not exactly one"
    elif ask.kind == "number" and (isinstance(ask.answer, tuple) or not abs(ask.answer) < float("inf")):
        wrong = "asks for a number and its key is none"
    elif ask.kind == "number" and (ask.low is None) != (ask.high is None):
        wrong = "has only one end of a range"
    elif ask.low is not None and ask.high is not None and not isinstance(ask.answer, tuple):
        if not -float("inf") < ask.low < ask.high < float("inf"):
            wrong = f"has a range from {ask.low:g} to {ask.high:g}, which is none"
        elif not ask.low <= ask.answer <= ask.high:
            wrong = f"has the key {ask.answer:g}, outside its range from {ask.low:g} to {ask.high:g}"
    if wrong:
        raise BadInput(
            f"question {ask.template!r} of item {item!r} {wrong}",
            do="mend the benchmark, or the archive it is made from",
        )
