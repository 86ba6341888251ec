"""Measures the ECG and answers the exams `ecg_steps` and `ecg_reasoning` by rule; no weights.

What is on the recording follows from the signal that is shown, whatever the conversation says of it; the receipt says
at which samples it was read. For `ecg_steps`, which fact decides, and at which threshold, is read from
`prompts/ecg_steps.yaml`. Chains of reasoning are answered by the findings and graphs of `overread.guidelines`
(`ecg_chain.py`): there the next criterion and the decision follow from what the conversation tells was found.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import yaml

from overread.errors import BadInput, unknown_name
from overread.exam.framing import PROMPTS
from overread.measure.ecg import Measured, measure_ecg
from overread.measure.remembered import Remembered
from overread.models.contract import Answer, Pending, Posed, Seen, Setting, seen_by_tensor
from overread.models.ecg_chain import Said, said
from overread.models.ecg_options import option_of_value
from overread.models.ecg_reading import EcgReading
from overread.models.ecg_spoken import words
from overread.tables import Evidence, Question, content_id

KINDS = ("choice",)
FORMS = {"ecg": "signal"}
SAMPLES = False
VARIANTS: tuple[str, ...] = ()

ADAPTER = 3
"""Raised whenever the same question about the same signal may get another answer than before."""


class EcgSolver:
    """Answers by measuring."""

    def __init__(self, book: str) -> None:
        """`book` is the text of `ecg_steps.yaml`."""
        self._hash = content_id(book, words())
        self._rules = Rules(yaml.safe_load(book))
        self._known: Remembered[Measured] = Remembered()

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
        key = (given.hash, given.shape, rate_hz)
        try:
            measured = self._known.get(key, lambda: measure_ecg(given.data, rate_hz))
        except BadInput as error:
            return Answer(question.id, seed, sample, "refused", error.what, seen=seen)
        found = self._found(posed, pending, measured)
        if isinstance(found, str):
            return Answer(question.id, seed, sample, "refused", found, seen=seen)
        evidence = _moved(found.evidence, given.indices)
        seen = (*seen[:-1], dataclasses.replace(seen[-1], evidence=evidence))
        return Answer(question.id, seed, sample, choice=found.choice, seen=seen)

    def _found(self, posed: Posed, pending: Pending, measured: Measured) -> Said | str:
        """The answer, or why there is none."""
        question = pending.question
        if not self._rules.know(question):
            *before, last = posed.prompt(pending)
            found = said(before, last.text, question.options, EcgReading(measured))
            return f"{question.template!r}: {found}" if isinstance(found, str) else found
        text = self._rules.answer(question, Facts(measured))
        if text is None or text not in question.options:
            return f"the solver has no answer to {question.template!r} among the options"
        return Said((question.options.index(text),), self._rules.evidence(question, EcgReading(measured)))


def _moved(evidence: Sequence[Evidence], indices: Sequence[int]) -> tuple[Evidence, ...]:
    """Evidence in native samples: what was measured begins where the selection does."""
    start = indices[0] if indices else 0
    return tuple(dataclasses.replace(one, start=one.start + start, stop=one.stop + start) for one in evidence)


class Facts:
    """The facts of a measured ECG as `ecg_steps` names them."""

    def __init__(self, measured: Measured) -> None:
        self._facts = measured.facts

    def __getitem__(self, name: str) -> Any:
        if name == "regular":
            # The exam counts premature and missing beats as irregular.
            return bool(self._facts.regular) and not (self._facts.premature or self._facts.dropped)
        return getattr(self._facts, name)


class Rules:
    """What follows from the facts of an ECG."""

    def __init__(self, book: Mapping[str, Any]) -> None:
        self._book = book

    def know(self, question: Question) -> bool:
        """Whether a question is one of `ecg_steps`."""
        match question.template.split("/"):
            case ["first", target]:
                return target in self._book["diagnoses"]
            case [target, name, _]:
                return name in self._steps(target)
        return False

    def answer(self, question: Question, facts: Facts) -> str | None:
        """The text of the right option; None where the rules say nothing."""
        match question.template.split("/"):
            case ["first", target] if target in self._book["diagnoses"]:
                return _yes(self._has(target, facts))
            case [target, name, stage] if name in self._steps(target):
                return self._step(target, name, stage, question.options, facts)
        return None

    def evidence(self, question: Question, reading: EcgReading) -> tuple[Evidence, ...]:
        """Where the facts that an answer follows from were read."""
        match question.template.split("/"):
            case ["first", target] if target in self._book["diagnoses"]:
                names = list(self._steps(target))
            case [_, name, "finding" | "measurement" | "decision"]:
                names = [name]
            case _:
                names = []
        facts = [self._book["steps"][name]["fact"] for name in names]
        return tuple(one for fact in facts for one in reading.shown(fact))

    def _step(self, target: str, name: str, stage: str, options: Sequence[str], facts: Facts) -> str | None:
        step = self._book["steps"][name]
        found = _found(step, facts)
        if stage == "criterion":
            return str(self._book["criterion"]["options"][step["criterion"]])
        if stage == "finding":
            return _yes(found)
        if stage == "measurement":
            return _range_of(options, facts[step["fact"]])
        if stage == "decision":
            further = str(self._book["decision"]["further"])
            last = name == self._steps(target)[-1]
            return further if found and not last and further in options else _yes(self._has(target, facts))
        return None

    def _steps(self, target: str) -> Sequence[str]:
        steps: Sequence[str] = self._book["diagnoses"].get(target, {}).get("steps", ())
        return steps

    def _has(self, target: str, facts: Facts) -> bool:
        return all(_found(self._book["steps"][name], facts) for name in self._steps(target))


def _yes(true: bool) -> str:
    return "Yes" if true else "No"


def _found(step: Mapping[str, Any], facts: Facts) -> bool:
    value = facts[step["fact"]]
    if "is" in step:
        return bool(value == step["is"])
    if value is None:
        return False
    return bool(value < step["below"]) if "below" in step else bool(value > step["above"])


def _range_of(options: Sequence[str], value: float | None) -> str | None:
    """The option whose range holds the value: `below 40 bpm`, `40 to 50 bpm`, `140 bpm and above`."""
    index = option_of_value(options, value)
    return None if index is None else options[index]


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
