"""The chains of `ecg_reasoning` as scripts: what is asked, and what the history of each question shows.

History policies, for the questions after the first; all show earlier steps with the key as their answer:

    C   the ECG, the first question with the model's own reply to it, the earlier steps
    A   the first question is left out: the ECG with the first of the earlier steps, then the others
    B   the first question is left out: the earlier steps, and the ECG with the question that is asked
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from overread.archives.ecg_reasoning import step_of
from overread.archives.reasoning_samples import CRITERION, DECISION, FINDING, FIRST, GROUNDINGS, YES_NO, Step
from overread.errors import BadInput, unknown_name
from overread.exam.script import Ask, Say, Script, ShownAs, Take, Tell
from overread.tables import Case, Media, content_id

HISTORIES = ("C", "A", "B")
COMMIT = "forced_commit"
"""The stage of decisions that have to be yes or no."""
BINS = ((0, 25), (25, 50), (50, 75), (75, 100))
"""Shares of the loops shown before a forced decision, in per cent; the upper end belongs to a bin."""

PATH = (CRITERION, FINDING)
"""Steps whose answers decide which way a chain takes."""
LEADS, *WORDED_ALIKE = GROUNDINGS

# "V5" is the name of a lead; other numbers differ from sample to sample.
_NUMBER = re.compile(r"(?<!\w)\d+(?:\.\d+)?")


@dataclasses.dataclass(frozen=True, slots=True)
class Manner:
    """How a chain is asked."""

    protocol: str
    history: str
    condensed: bool
    system: str
    note: str
    """Added to the first question."""

    def __post_init__(self) -> None:
        if self.history not in HISTORIES:
            raise unknown_name("history policy", self.history, HISTORIES, where="--set ecg_reasoning.history")
        if self.history == "B" and self.protocol == "free":
            raise BadInput(
                "history B shows the ECG with the question that is asked, and a free conversation shows it once",
                where="--set ecg_reasoning.history",
                do="choose history A or C for the protocol free",
            )


def bin_of(loop: int, loops: int) -> str:
    """The bin of a decision after `loop` of `loops` loops, as a label: `(25, 50]`."""
    share = 100.0 * loop / loops
    low, high = next((low, high) for low, high in BINS if share <= high)
    return f"({low}, {high}]"


class Chain:
    """The questions of one sample."""

    def __init__(self, case: Case, release: str, media: tuple[Media, ...], manner: Manner) -> None:
        self.case, self.manner, self.media = case, manner, media
        facts = case.facts
        self.item = f"{release or 'release unknown'}/{facts['source']}/{facts['sample']}"
        self.history = "A" if facts.get("first_is_missing") and manner.history == "C" else manner.history
        self.labels = (f"diagnosis={facts['diagnosis']}", f"source={facts['source']}")
        self.label = YES_NO[not facts["label"]]
        self.path: tuple[str, ...] = ()
        self.shown_as: ShownAs = "question" if manner.condensed else "asked"
        first = self._ask(step_of(facts["first"]), self.labels)
        text = f"{first.text} {manner.note}" if manner.note else first.text
        self.first = dataclasses.replace(first, text=text, media=self._shown, name=FIRST)
        self.loops = [self._loop(loop, number) for number, loop in enumerate(facts["loops"], start=1)]

    @property
    def _shown(self) -> tuple[str, ...]:
        return tuple(medium.name for medium in self.media)

    def _loop(self, loop: Sequence[Mapping[str, Any]], number: int) -> list[Ask]:
        labels = (*self.labels, f"loop={number}")
        asks = []
        for step in (step_of(dict(fact)) for fact in loop):
            asks.append(self._ask(step, labels))
            if step.stage in PATH:
                self.path += step.answer
        return asks

    def _ask(self, step: Step, labels: tuple[str, ...]) -> Ask:
        return Ask(
            template=self._template(step),
            text=step.question.strip(),
            kind="choice",
            options=step.offered,
            answer=step.answer,
            many=step.many,
            shown_as=self.shown_as,
            stage=step.stage,
            slices=labels,
        )

    def _template(self, step: Step) -> str:
        """The same for the same question about other ECGs.

        Made of what every prompt tells. Where the history shows keys, that is also the way so far: a decision follows
        from the last criterion and finding and from how many findings were made, and a prior that has to find that out
        by itself would be no floor.
        """
        diagnosis, words = self.case.facts["diagnosis"], content_id(_NUMBER.sub("#", step.question.strip()))[:6]
        if step.stage in WORDED_ALIKE:
            return f"{step.stage}/{words}"
        if step.stage == DECISION and self.manner.protocol != "free":
            way = (*self.path[-len(PATH) :], str(self.path.count(YES_NO[0])))
            return f"{diagnosis}/{step.stage}/after-{content_id(*way)[:6]}"
        return f"{diagnosis}/{step.stage}" if step.stage == LEADS else f"{diagnosis}/{step.stage}/{words}"

    def scripts(self) -> Iterator[Script]:
        """All dialogues about this sample."""
        if self.manner.protocol == "forced-commit":
            yield from self._commits()
            return
        shows = "reply" if self.manner.protocol == "free" else "key"
        asks = [dataclasses.replace(ask, shows=shows) for loop in self.loops for ask in loop]  # type: ignore[arg-type]
        if self.history == "C":
            yield self._script("", dataclasses.replace(self.first, shows="reply"), *asks)
            return
        yield self._script("first", self.first)
        if self.history == "A":
            yield self._script("steps", dataclasses.replace(asks[0], media=self._shown), *asks[1:])
            return
        for number, ask in enumerate(asks):
            told = [Tell(earlier) for earlier in asks[:number]]
            yield self._script(
                f"step{number}", *told, dataclasses.replace(ask, media=self._shown, shows="nothing", shown_as="asked")
            )

    def _commits(self) -> Iterator[Script]:
        """After each loop a yes or no; the history then goes on with the decision as it was."""
        shows = "reply" if self.history == "C" else "nothing"
        yield self._script("first", dataclasses.replace(self.first, shows=shows))  # type: ignore[arg-type]
        told: list[Tell] = []
        for number, loop in enumerate(self.loops, start=1):
            told += [Tell(ask) for ask in loop[:-1]]
            before: list[Take | Tell] = [Take("first", FIRST), *told] if self.history == "C" else list(told)
            forced = self._forced(loop[-1], number)
            if self.history == "A":
                before[0] = Tell(dataclasses.replace(told[0].ask, media=self._shown))
            elif self.history == "B":
                forced = dataclasses.replace(forced, media=self._shown)
            yield self._script(f"commit{number}", *before, forced)
            told.append(Tell(loop[-1]))

    def _forced(self, decision: Ask, number: int) -> Ask:
        share = bin_of(number, len(self.loops))
        return dataclasses.replace(
            decision,
            template=f"{decision.template}/{COMMIT}",
            options=YES_NO,
            answer=(self.label,),
            stage=COMMIT,
            slices=(*decision.slices, f"coverage={share}"),
            shown_as="asked",
        )

    def _script(self, name: str, *turns: Ask | Tell | Take) -> Script:
        said = Say(self.manner.system, role="system")
        return Script(self.case, self.item, (said, *turns), name=name, media=self.media)


def steps_of(case: Case) -> list[Step]:
    """The questions of a case in the order in which they are asked, the first one included."""
    return [
        step_of(dict(fact)) for fact in itertools.chain([case.facts["first"]], itertools.chain(*case.facts["loops"]))
    ]


def is_decision(step: Step) -> bool:
    """Whether a question ends a loop."""
    return step.stage == DECISION
