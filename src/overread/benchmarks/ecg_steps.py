"""ECG in steps: one diagnosis, asked for and then reasoned out on a teacher-forced chain

paper: none; a thin exam of our own that proves the shapes of the field's protocols
media: ecg
licence: Apache-2.0
terms: open

Each ECG gets one diagnosis, in half of them a wrong one. First: is it there? Then, step by step: what has to be looked
at, what is found, in which range it was measured, and what follows. What is asked lies in `prompts/ecg_steps.yaml`.

    chain       the first reply stays in the history as the model gave it, every later one is shown as the key has it
    condensed   the same; the history keeps only the question lines, without options
    free        the model's own replies throughout
    commit      after each step a yes or no on a history of keys, all on one shared first reply
    single      every question alone
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import yaml

from overread.exam.framing import PROMPTS
from overread.exam.script import Ask, Options, Say, Script, ShownAs, Take, Tell
from overread.media.conditions import seeded
from overread.tables import Case, Shows

ARCHIVES = ("phantoms",)
PROTOCOLS = ("chain", "condensed", "free", "commit", "single")
PROBES = ("reverse",)
JUDGES = ("option",)
METRICS = ("accuracy", "completion", "depth", "coverage", "unreadable")
MODELS = ("ecg_solver",)

YES_NO = ("Yes", "No")


def exam(cases: Sequence[Case], seed: int, options: Options) -> Iterator[Script]:
    """One item an ECG."""
    book = yaml.safe_load((PROMPTS / "ecg_steps.yaml").read_text(encoding="utf-8"))
    for case in cases:
        if any(medium.kind == "ecg" for medium in case.media):
            yield from _scripts(_Chain(case, seed, book), options.protocol)


class _Chain:
    """The questions about one ECG."""

    def __init__(self, case: Case, seed: int, book: Mapping[str, Any]) -> None:
        self.case, self.book, self.seed = case, book, seed
        self.say = Say(book["system"], role="system")
        diagnoses = book["diagnoses"]
        present = [name for name in diagnoses if self._has(name)]
        absent = [name for name in diagnoses if name not in present]
        draw = seeded("ecg_steps", seed, case.id)
        pool = present if present and (draw.random() < 0.5 or not absent) else absent
        self.target: str = pool[int(draw.integers(len(pool)))]
        self.name = diagnoses[self.target]["name"]
        self.kept = diagnoses[self.target]["reversed"] == "kept"
        self.label = "Yes" if self.target in present else "No"
        self.slices = (f"diagnosis={self.target}", f"sex={case.facts.get('sex', 'unknown')}")

    def first(self) -> Ask:
        """Is the diagnosis there?"""
        return self._ask("first", f"first/{self.target}", YES_NO, self.label, stage="diagnosis")

    def steps(self) -> Iterator[list[Ask]]:
        """The questions of each step, its decision last, up to the step that decides."""
        names = self.book["diagnoses"][self.target]["steps"]
        for position, name in enumerate(names):
            step = self.book["steps"][name]
            found = self._found(step)
            last = position + 1 == len(names) or not found
            further = self.book["decision"]["further"]
            verdict = self.label if last else further
            template = f"{self.target}/{name}"
            asks = [self._criterion(template, step), self._finding(template, step, found)]
            asks.extend(self._measure(template, step))
            decision = self._ask("decision", f"{template}/decision", (*YES_NO, further), verdict, stage="decision")
            yield [*asks, decision]
            if last:
                return

    def _has(self, diagnosis: str) -> bool:
        return all(self._found(self.book["steps"][name]) for name in self.book["diagnoses"][diagnosis]["steps"])

    def _found(self, step: Mapping[str, Any]) -> bool:
        value = self.case.facts.get(step["fact"])
        if "is" in step:
            return bool(value == step["is"])
        if value is None:
            return False
        return bool(value < step["below"]) if "below" in step else bool(value > step["above"])

    def _criterion(self, template: str, step: Mapping[str, Any]) -> Ask:
        names = self.book["criterion"]["options"]
        draw = seeded("ecg_steps", self.seed, self.case.id, template)
        order = [list(names.values())[i] for i in draw.permutation(len(names))]
        return self._ask("criterion", f"{template}/criterion", order, names[step["criterion"]], stage="criterion")

    def _finding(self, template: str, step: Mapping[str, Any], found: bool) -> Ask:
        answer = "Yes" if found else "No"
        return self._ask(step, f"{template}/finding", YES_NO, answer, stage="finding")

    def _measure(self, template: str, step: Mapping[str, Any]) -> Iterator[Ask]:
        measure, value = step.get("measure"), self.case.facts.get(step["fact"])
        if measure is not None and value is not None:
            options, answer = _ranges(measure["bins"], measure["unit"], float(value))
            yield self._ask(measure, f"{template}/measurement", options, answer, stage="measurement")

    def _ask(
        self, words: str | Mapping[str, Any], template: str, options: Sequence[str], answer: str, *, stage: str
    ) -> Ask:
        texts = self.book[words] if isinstance(words, str) else words
        return Ask(
            template=template,
            text=texts["text"].replace("{name}", self.name),
            wording=texts["wording"].replace("{name}", self.name),
            kind="choice",
            options=tuple(options),
            answer=(answer,),
            stage=stage,
            slices=self.slices,
            follow={"reverse": (answer,)} if self.kept else {},
        )


def _ranges(bins: Sequence[float], unit: str, value: float) -> tuple[list[str], str]:
    """Ranges as options, and the one that holds the value; a limit belongs to the range above it."""
    options = [f"below {bins[0]:g} {unit}"]
    options += [f"{low:g} to {high:g} {unit}" for low, high in itertools.pairwise(bins)]
    options.append(f"{bins[-1]:g} {unit} and above")
    return options, options[sum(1 for limit in bins if value >= limit)]


def _scripts(chain: _Chain, protocol: str) -> Iterator[Script]:
    item = f"{chain.case.id}/{chain.target}"
    media = tuple(medium.name for medium in chain.case.media if medium.kind == "ecg")
    first = dataclasses.replace(chain.first(), media=media, name="first")
    if protocol == "commit":
        yield Script(chain.case, item, (chain.say, dataclasses.replace(first, shows="reply")), name="first")
        yield from _branches(chain, item)
        return
    asks = [ask for step in chain.steps() for ask in step]
    if protocol == "single":
        for number, ask in enumerate([first, *asks]):
            alone = dataclasses.replace(ask, media=media)
            yield Script(chain.case, item, (chain.say, alone), name=f"single{number}")
        return
    shows: Shows = "reply" if protocol == "free" else "key"
    shown_as: ShownAs = "question" if protocol == "condensed" else "asked"
    turns = [dataclasses.replace(first, shows="reply", shown_as=shown_as)]
    turns += [dataclasses.replace(ask, shows=shows, shown_as=shown_as) for ask in asks]
    yield Script(chain.case, item, (chain.say, *turns))


def _branches(chain: _Chain, item: str) -> Iterator[Script]:
    told: list[Tell] = []
    for number, step in enumerate(chain.steps()):
        told += [Tell(ask) for ask in step[:-1]]
        forced = dataclasses.replace(
            step[-1],
            options=YES_NO,
            answer=(chain.label,),
            shown_as=step[-1].options,
            stage=f"commit {number + 1}",
        )
        yield Script(chain.case, item, (chain.say, Take("first", "first"), *told, forced), name=f"commit{number + 1}")
        told.append(Tell(step[-1]))
