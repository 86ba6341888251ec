"""Measures the ECG and answers the exam `ecg_steps` by rule; no weights.

Every answer follows from the signal that is shown, whatever the conversation says of it. Which fact decides, and at
which threshold, is read from `prompts/ecg_steps.yaml`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import yaml

from overread.errors import BadInput, unknown_name
from overread.exam.framing import PROMPTS
from overread.measure.ecg import EcgFacts, measure_ecg
from overread.measure.remembered import Remembered
from overread.models.contract import Answer, Pending, Posed, Seen, Setting, seen_by_tensor
from overread.tables import Question, content_id

KINDS = ("choice",)
FORMS = {"ecg": "signal"}
SAMPLES = False
VARIANTS: tuple[str, ...] = ()

ADAPTER = 1
"""Raised whenever the same question about the same signal may get another answer than before."""

_RANGE = re.compile(
    r"(?:(?P<below>below)\s+)?(?P<low>\d+(?:\.\d+)?)(?:\s+to\s+(?P<high>\d+(?:\.\d+)?))?.*?(?P<up>above)?"
)


class EcgSolver:
    """Answers by measuring."""

    def __init__(self, book: str) -> None:
        """`book` is the text of `ecg_steps.yaml`."""
        self._hash = content_id(book)
        self._rules = Rules(yaml.safe_load(book))
        self._known: Remembered[EcgFacts] = Remembered()

    def identity(self) -> Mapping[str, Any]:
        """The version of this file and of the rules."""
        return {"name": "ecg_solver", "variant": "", "adapter": ADAPTER, "prompts": self._hash, "options": {}}

    def answer(self, dialogues: Iterable[Posed]) -> Iterator[Answer]:
        """One answer a pending question, in order."""
        for posed in dialogues:
            for pending in posed.questions:
                yield self._one(posed, pending)

    def _one(self, posed: Posed, pending: Pending) -> Answer:
        question, seed, sample = pending.question, pending.seed, pending.sample
        shown = [medium for message in posed.prompt(pending) for medium in message.media]
        if not shown:
            return Answer(question.id, seed, sample, "refused", "no signal was shown")
        seen: tuple[Seen, ...] = ()
        for medium in shown:
            given = posed.look(medium)
            seen += (seen_by_tensor(medium, given),)
        # Of several signals the last is meant: it stands nearest to the question.
        rate_hz = float(given.facts["rate_hz"])
        try:
            facts = self._known.get((given.hash, given.shape, rate_hz), lambda: measure_ecg(given.data, rate_hz))
        except BadInput as error:
            return Answer(question.id, seed, sample, "refused", error.what, seen=seen)
        text = self._rules.answer(question, facts)
        if text is None or text not in question.options:
            reason = f"the solver has no answer to {question.template!r} among the options"
            return Answer(question.id, seed, sample, "refused", reason, seen=seen)
        return Answer(question.id, seed, sample, choice=(question.options.index(text),), seen=seen)


class Rules:
    """What follows from the facts of an ECG."""

    def __init__(self, book: Mapping[str, Any]) -> None:
        self._book = book

    def answer(self, question: Question, facts: EcgFacts) -> str | None:
        """The text of the right option; None where the rules say nothing."""
        match question.template.split("/"):
            case ["first", target] if target in self._book["diagnoses"]:
                return _yes(self._has(target, facts))
            case [target, name, stage] if name in self._steps(target):
                return self._step(target, name, stage, question.options, facts)
        return None

    def _step(self, target: str, name: str, stage: str, options: Sequence[str], facts: EcgFacts) -> str | None:
        step = self._book["steps"][name]
        found = _found(step, facts)
        if stage == "criterion":
            return str(self._book["criterion"]["options"][step["criterion"]])
        if stage == "finding":
            return _yes(found)
        if stage == "measurement":
            return _range_of(options, getattr(facts, step["fact"]))
        if stage == "decision":
            further = str(self._book["decision"]["further"])
            last = name == self._steps(target)[-1]
            return further if found and not last and further in options else _yes(self._has(target, facts))
        return None

    def _steps(self, target: str) -> Sequence[str]:
        steps: Sequence[str] = self._book["diagnoses"].get(target, {}).get("steps", ())
        return steps

    def _has(self, target: str, facts: EcgFacts) -> bool:
        return all(_found(self._book["steps"][name], facts) for name in self._steps(target))


def _yes(true: bool) -> str:
    return "Yes" if true else "No"


def _found(step: Mapping[str, Any], facts: EcgFacts) -> bool:
    value = getattr(facts, step["fact"])
    if "is" in step:
        return bool(value == step["is"])
    if value is None:
        return False
    return bool(value < step["below"]) if "below" in step else bool(value > step["above"])


def _range_of(options: Sequence[str], value: float | None) -> str | None:
    """The option whose range holds the value: `below 40 bpm`, `40 to 50 bpm`, `140 bpm and above`."""
    for option in options:
        match = _RANGE.fullmatch(option)
        if match is None or value is None:
            continue
        low = float(match["low"])
        if match["below"]:
            inside = value < low
        elif match["high"]:
            inside = low <= value < float(match["high"])
        else:
            inside = bool(match["up"]) and value >= low
        if inside:
            return option
    return None


def check(setting: Setting) -> None:
    """Refuses variants that are not there, and options: there are none."""
    if setting.variant:
        raise unknown_name("variant of ecg_solver", setting.variant, VARIANTS)
    for name in setting.options:
        raise unknown_name("option of ecg_solver", name, ())


def load(setting: Setting) -> EcgSolver:
    """The solver; it has neither variants nor options."""
    check(setting)
    return EcgSolver((PROMPTS / "ecg_steps.yaml").read_text(encoding="utf-8"))
