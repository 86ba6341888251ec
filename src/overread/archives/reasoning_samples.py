"""One sample of ECG-Reasoning-Benchmark, whatever form its file has, brought into one shape; faults are named.

    raw = {"metadata": {...}, "data": {"initial_diagnostic_question": {...}, "reasoning": [loop, ...]}}

A loop is an object whose keys, in their order, are the steps: criterion_selection, finding_identification,
ecg_grounding (a list of questions), diagnostic_decision; the oldest files say finding, grounding, decision. Answers may
be texts or lists, and become lists.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from typing import Any

FIRST = "initial_diagnostic_question"
CRITERION = "criterion_selection"
FINDING = "finding_identification"
GROUNDING = "ecg_grounding"
DECISION = "diagnostic_decision"
GROUNDINGS = ("lead_grounding", "wave_grounding", "measurement_grounding")
STAGES = (FIRST, CRITERION, FINDING, *GROUNDINGS, DECISION)
"""The types of question, as the files call them."""
STEPS = (CRITERION, FINDING, GROUNDING, DECISION)
"""The steps of a loop, in their order."""
YES_NO = ("Yes", "No")
FURTHER = "Further findings are required to confirm the diagnosis"
SEVERAL = "select all possible leads"
"""A question that says this, in any case of letters, takes several answers."""

REPLY = "overread_reply"
"""In results that overread wrote: what of a reply its text cannot hold."""

_OLD_NAMES = {"finding": FINDING, "grounding": GROUNDING, "decision": DECISION}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_ADDRESS = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*://[^\x00-\x1f]{1,255}")
LONGEST = 20_000
"""Characters of a question or an option."""
MOST = 64
"""Loops, steps of a loop, options of a question."""


@dataclasses.dataclass(frozen=True, slots=True)
class Fault:
    """Something wrong with a sample."""

    kind: str
    sample: str
    """`source/id`, or where it lies as long as that is not known."""
    step: str
    """`loop 2 wave_grounding`; empty: the sample as a whole."""
    what: str
    fatal: bool = False
    """Whether the sample is left out for it."""

    def __str__(self) -> str:
        place = f", {self.step}" if self.step else ""
        return f"{self.sample}{place}: {self.what}"


@dataclasses.dataclass(frozen=True, slots=True)
class Step:
    """One question of a sample."""

    stage: str
    """One of `STAGES`."""
    question: str
    options: tuple[str, ...]
    answer: tuple[str, ...]
    response: str | None = None
    """What a model said, in files of results."""
    reply: Mapping[str, Any] | None = None
    """What of its reply text cannot hold, in results that overread wrote: choice, option_scores, status, reason."""

    @property
    def many(self) -> bool:
        """Whether it takes several answers."""
        return SEVERAL in self.question.casefold() or len(self.answer) > 1

    @property
    def offered(self) -> tuple[str, ...]:
        """Its options, each once."""
        return tuple(dict.fromkeys(self.options))


@dataclasses.dataclass(frozen=True, slots=True)
class Sample:
    """One ECG with one diagnosis, and the questions that lead to it."""

    source: str
    number: int
    diagnosis: str
    label: bool
    ecg: str
    subject: str
    path: int | None
    record: str
    """Address of the ECG where the file itself tells it; archives are found by `source` and `ecg`."""
    metadata: dict[str, Any]
    """As the file has it."""
    first: Step
    loops: tuple[tuple[Step, ...], ...]

    @property
    def name(self) -> str:
        """By which it is called: numbers are unique only within a source."""
        return f"{self.source}/{self.number}"

    def steps(self) -> Iterator[tuple[str, Step]]:
        """All questions, each with its place in words."""
        yield FIRST, self.first
        for number, loop in enumerate(self.loops, start=1):
            for step in loop:
                yield f"loop {number} {step.stage}", step


class Broken(Exception):
    """A sample that cannot be read; holds its faults."""

    def __init__(self, *faults: Fault) -> None:
        self.faults = faults
        super().__init__("; ".join(map(str, faults)))


def read_sample(raw: Any, where: str, hints: Mapping[str, Any]) -> tuple[Sample, list[Fault]]:
    """A raw sample in one shape, with the faults that do not spoil it; `hints` are what its path tells.

    Raises `Broken` where it cannot be asked whole.
    """
    return _Reader(raw, where, hints).sample()


class _Reader:
    def __init__(self, raw: Any, where: str, hints: Mapping[str, Any]) -> None:
        self.name, self.faults = where, list[Fault]()
        if not isinstance(raw, dict):
            raise self._broken("not_a_sample", "", "it is no object")
        metadata, data = raw.get("metadata"), raw.get("data")
        if not isinstance(metadata, dict) or not isinstance(data, dict):
            raise self._broken("not_a_sample", "", "it has no metadata or no data")
        self.metadata: dict[str, Any] = dict(metadata)
        self.told = {**hints, **{k: v for k, v in metadata.items() if v is not None}}
        self.data = data

    def sample(self) -> tuple[Sample, list[Fault]]:
        told = self.told
        source, number, diagnosis = told.get("data_source"), told.get("id"), told.get("target_dx")
        if isinstance(source, str) and isinstance(number, int):
            self.name = f"{source}/{number}"
        for field, value in (("data_source", source), ("target_dx", diagnosis)):
            if not isinstance(value, str) or not _NAME.fullmatch(value):
                raise self._broken("metadata", "", f"its {field} is no name")
        if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < 2**31:
            raise self._broken("metadata", "", "its id is no whole number")
        label, ecg = told.get("dx_label"), str(told.get("ecg_id", ""))
        if not isinstance(label, bool):
            raise self._broken("metadata", "", "its dx_label is neither true nor false")
        subject, path, record = str(told.get("subject_id", "")), told.get("path_idx"), str(told.get("record", ""))
        for field, text in (("ecg_id", ecg), ("subject_id", subject or "0")):
            if not _NAME.fullmatch(text):
                raise self._broken("metadata", "", f"its {field} is no name")
        if record and not _ADDRESS.fullmatch(record):
            raise self._broken("metadata", "", "its record is no address")
        made = Sample(
            source=str(source),
            number=number,
            diagnosis=str(diagnosis),
            label=label,
            ecg=ecg,
            subject=subject,
            path=path if isinstance(path, int) else None,
            record=record,
            metadata=self.metadata,
            first=self._first(YES_NO[not label]),
            loops=tuple(self._loops()),
        )
        return made, self.faults

    def _first(self, right: str) -> Step:
        """The first question; its key is the label, whatever its answer says."""
        raw = self.data.get(FIRST)
        if not isinstance(raw, dict):
            raise self._broken("missing_step", FIRST, "the step is missing")
        said = raw.get("answer")
        step = self._step({**raw, "answer": right, "options": raw.get("options") or list(YES_NO)}, FIRST, FIRST)
        if said is not None and said not in (right, [right]):
            self._note("label", FIRST, f"its answer is {said!r} and the label says {right!r}; the label counts")
        return step

    def _loops(self) -> Iterator[tuple[Step, ...]]:
        loops = self.data.get("reasoning")
        if not isinstance(loops, list) or not loops or len(loops) > MOST:
            raise self._broken("no_loops", "", "it has no reasoning loops, or more than anybody would ask")
        for number, raw in enumerate(loops, start=1):
            if not isinstance(raw, dict):
                raise self._broken("missing_step", f"loop {number}", "the loop is no object")
            yield self._loop(
                {_OLD_NAMES.get(str(key), str(key)): value for key, value in raw.items()}, f"loop {number}"
            )

    def _loop(self, raw: Mapping[str, Any], place: str) -> tuple[Step, ...]:
        unknown = [key for key in raw if key not in STEPS]
        if unknown:
            raise self._broken("unknown_stage", place, f"there is no step {unknown[0]!r}")
        for key in STEPS:
            if raw.get(key) is None:
                raise self._broken("missing_step", f"{place} {key}", "the step is missing")
        steps: list[Step] = []
        for key, value in raw.items():
            if key != GROUNDING:
                steps.append(self._step(value, key, f"{place} {key}"))
                continue
            if not isinstance(value, list) or len(value) > MOST:
                raise self._broken("missing_step", f"{place} {key}", "it is no list of questions")
            steps += [self._step(one, "", f"{place} {key} {n}") for n, one in enumerate(value, start=1)]
        return tuple(steps)

    def _step(self, raw: Any, stage: str, place: str) -> Step:
        if not isinstance(raw, dict):
            raise self._broken("missing_step", place, "the step is no object")
        stage = stage or str(raw.get("question_type"))
        if stage not in STAGES:
            raise self._broken("unknown_stage", place, f"there is no type of question {stage[:64]!r}")
        question, options = raw.get("question"), raw.get("options")
        if not isinstance(question, str) or not question.strip() or len(question) > LONGEST:
            raise self._broken("missing_step", place, "it has no question")
        if not isinstance(options, list) or not options or len(options) > MOST:
            raise self._broken("no_options", place, "it has no options")
        said = raw.get("answer")
        answer: list[Any] = said if isinstance(said, list) else [said]
        if isinstance(said, str) and stage in GROUNDINGS:
            self._note("answer_no_list", place, "its answer is a text, where later files have a list")
        for text in (*options, *answer):
            if not isinstance(text, str) or not text.strip() or len(text) > LONGEST:
                raise self._broken("no_answer", place, "an option or its answer is no text")
        return self._sound(Step(stage, question, tuple(options), tuple(answer), *_said(raw)), raw, place)

    def _sound(self, step: Step, raw: Mapping[str, Any], place: str) -> Step:
        if not step.answer or not set(step.answer) <= set(step.options):
            raise self._broken("answer_not_offered", place, f"its answer {', '.join(step.answer)!r} is not offered")
        if len(set(step.answer)) < len(step.answer):
            raise self._broken("answer_twice", place, "its answer names an option twice")
        if len(step.answer) > 1 and SEVERAL not in step.question.casefold():
            self._note("several_answers", place, "it has several answers and does not ask for them")
        index = raw.get("answer_idx")
        indices = index if isinstance(index, list) else [index]
        if index is not None and step.stage != FIRST:
            right = [step.options[i] for i in indices if isinstance(i, int) and 0 <= i < len(step.options)]
            if right != list(step.answer):
                self._note("answer_index", place, f"answer_idx {index} is not where its answer stands")
        return step

    def _note(self, kind: str, place: str, what: str) -> None:
        self.faults.append(Fault(kind, self.name, place, what))

    def _broken(self, kind: str, place: str, what: str) -> Broken:
        return Broken(*self.faults, Fault(kind, self.name, place, what, fatal=True))


def _said(raw: Mapping[str, Any]) -> tuple[str | None, Mapping[str, Any] | None]:
    """What a model said; anything but text was never a reply."""
    response, reply = raw.get("model_response"), raw.get(REPLY)
    return (response if isinstance(response, str) else None), (reply if isinstance(reply, dict) else None)
