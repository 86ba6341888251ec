"""ECG reasoning: new chains of questions on 17 diagnoses, in the form of ECG-Reasoning-Benchmark 0.0.2

media: ecg
terms: those of the archive

`overread build ecg_reasoning phantoms --data phantoms=DIR --out EXAM` writes `phantoms.jsonl` and, in `evidence`, the
samples that each answer was read from and what could not be measured; `overread run ecg_reasoning --data
ecg_reasoning=EXAM --data phantoms=DIR` sits it. `overread build ecg_reasoning ludb --data ludb=DIR --out EXAM` does the
same on recordings, whose keys are what is measured on them: a chain is written only where every finding on its way is
sure and clear of its threshold.

The graphs are those of `guidelines/ecg.yaml`, the words those of `ecg_questions.yaml`. Keys of phantoms come from their
truth and from nothing that measures. Each diagnosis has as many ECGs with it as without, each patient is in one part of
the split, and what can be guessed from options alone is not asked (`ecg_items.py`).
"""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from overread.archives.ecg_reasoning import OTHERS
from overread.archives.reasoning_samples import DECISION, FIRST, FURTHER, YES_NO
from overread.archives.split import part_of
from overread.builders.ecg_items import Asked, Span, lead_offers, lead_pairs, ranges, segment
from overread.builders.ecg_studies import Study, studies
from overread.errors import BadInput, unknown_name
from overread.guidelines.diagnoses import Decision, book, diagnoses
from overread.media.conditions import seeded
from overread.roots import Roots
from overread.runs.parts import write_atomically
from overread.tables import Case

CRITERIA = 5
GROUNDINGS = {"leads": "lead_grounding"}
EVIDENCE = "evidence.jsonl"
LEFT_OUT = "left_out.txt"
"""What cannot be measured, a line each, and why."""


def build(
    source: Sequence[Case],
    out: Path,
    *,
    archive: str = "phantoms",
    roots: Roots | None = None,
    per: int = 20,
    seed: int = 0,
) -> Path:
    """Writes an exam on the ECGs of an archive: of each diagnosis at most `per` with it, and as many without.

    `roots` say where the recordings lie that have to be measured; phantoms need none.
    """
    if archive != "phantoms" and archive not in OTHERS:
        raise unknown_name("archive of ECGs", archive, OTHERS)
    left_out: list[str] = []
    known = list(studies(source, archive, roots, left_out))
    chosen = [(study, name, decision) for name in diagnoses() for study, decision in _balanced(known, name, per, seed)]
    if not chosen:
        raise BadInput("no diagnosis has ECGs with and without it", where=archive, do="build more ECGs, of all recipes")
    offers = _offers(chosen, seed)
    lines, evidence = [], []
    for number, (study, name, decision) in enumerate(chosen):
        others = _Others(known, study)
        sample, read = _Writer(study, name, decision, offers, (number, others, seed)).sample(archive)
        lines.append(json.dumps(sample, ensure_ascii=False))
        evidence.append(json.dumps({"id": number, "data_source": archive, "steps": read}))
    write_atomically(out / f"{archive}.jsonl", ("\n".join(lines) + "\n").encode())
    write_atomically(out / "evidence" / LEFT_OUT, "".join(f"{line}\n" for line in left_out).encode())
    write_atomically(out / "evidence" / EVIDENCE, ("\n".join(evidence) + "\n").encode())
    return out


@functools.cache
def questions() -> Mapping[str, Any]:
    """The words of `ecg_questions.yaml`."""
    text = (resources.files("overread.builders") / "ecg_questions.yaml").read_text(encoding="utf-8")
    found: Mapping[str, Any] = yaml.safe_load(text)
    return found


def _balanced(known: Sequence[Study], name: str, per: int, seed: int) -> Iterator[tuple[Study, Decision]]:
    """ECGs with a diagnosis and as many without it, all of them clear of every threshold on the way."""
    decided = [(study, study.reading.decide(name)) for study in known]
    sure = [one for one in decided if one[0].clear(one[1])]
    sides = [[one for one in sure if one[1].present is present] for present in (True, False)]
    count = min(per, *map(len, sides))
    for present, side in zip((True, False), sides, strict=True):
        for place in seeded("build", name, present, seed).permutation(len(side))[:count]:
            yield side[int(place)]


Chosen = tuple[Study, str, Decision]


def _ways(chosen: Sequence[Chosen]) -> Mapping[tuple[str, ...], list[tuple[int, Study]]]:
    """By the findings made so far, the last one included, the chains that came there."""
    ways: dict[tuple[str, ...], list[tuple[int, Study]]] = {}
    for number, (study, name, decision) in enumerate(chosen):
        way = [name]
        for finding, outcome in decision.path:
            way += [finding, str(outcome.holds)]
            ways.setdefault(tuple(way), []).append((number, study))
    return ways


@dataclasses.dataclass(frozen=True, slots=True)
class Offers:
    """The leads offered, by number of the chain and finding, in balance over all chains that went the same way."""

    several: Mapping[tuple[int, str], dict[str, bool]]
    pairs: Mapping[tuple[int, str], tuple[str, str]]
    """The right one first."""


def _offers(chosen: Sequence[Chosen], seed: int) -> Offers:
    several: dict[tuple[int, str], dict[str, bool]] = {}
    pairs: dict[tuple[int, str], tuple[str, str]] = {}
    for way, gone in _ways(chosen).items():
        finding = way[-2]
        for thing in questions()["findings"][finding].get(way[-1] == "True", ()):
            if thing == "leads":
                found = lead_offers(seeded("leads", *way, seed), [study.leads(finding) for _, study in gone])
                several |= {(number, finding): offer for (number, _), offer in zip(gone, found, strict=True)}
            elif "which" in thing:
                matched = lead_pairs(seeded("pairs", *way, seed), [_heights(study, thing) for _, study in gone])
                pairs |= {(n, finding): pair for (n, _), pair in zip(gone, matched, strict=True) if pair is not None}
    return Offers(several, pairs)


def _heights(study: Study, thing: Mapping[str, Any]) -> dict[str, float]:
    """What two leads are compared by, so that the right one has the greater number."""
    sign, fact = _compared(thing)
    values = {lead: study.number({"fact": fact, "lead": lead}) for lead in thing["leads"]}
    return {lead: sign * value for lead, value in values.items() if value is not None}


def _compared(thing: Mapping[str, Any]) -> tuple[float, str]:
    return (1.0, thing["most"]) if "most" in thing else (-1.0, thing["least"])


class _Others:
    """The other patients' ECGs, that wrong answers come from."""

    def __init__(self, studies: Sequence[Study], study: Study) -> None:
        self._studies = [one for one in studies if one.case.patient != study.case.patient]

    def waves(self, thing: str) -> list[Span]:
        """Where waves of a kind lie in some of them."""
        return [span for study in self._studies[:: max(1, len(self._studies) // 40)] for span in study.waves[thing]]

    def numbers(self, thing: Mapping[str, Any], finding: str, holds: bool | None) -> list[float]:
        """The numbers of those in which the finding is the same, so that it does not tell which is right."""
        same = (study for study in self._studies if study.reading.finding(finding).holds is holds)
        return [value for study in same if (value := study.number(thing)) is not None]


class _Writer:
    """Writes one chain."""

    def __init__(
        self,
        study: Study,
        name: str,
        decision: Decision,
        offers: Offers,
        among: tuple[int, _Others, int],
    ) -> None:
        """`among`: its number, the ECGs that wrong answers are taken from, the seed."""
        self.study, self.name, self.decision, self.offers = study, name, decision, offers
        self.number, self.others, seed = among
        number = self.number
        self.rng: np.random.Generator = seeded("chain", name, study.case.id, number, seed)
        self.words, self.findings = questions()["words"], questions()["findings"]
        self.called = questions()["names"][name]
        self.evidence: list[dict[str, Any]] = []

    def sample(self, archive: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """The chain in the form of 0.0.2, and the evidence of its answers."""
        case, present = self.study.case, bool(self.decision.present)
        label = YES_NO[not present]
        first = self._question(FIRST, self.words["first"], Asked(list(YES_NO), [label], []))
        del first["answer_idx"]
        path = self.decision.path
        loops = [self._loop(place, place + 1 == len(path), label) for place in range(len(path))]
        metadata = {
            "id": self.number,
            "data_source": archive,
            "ecg_id": case.media[0].uri.rsplit("/", 1)[-1],
            "target_dx": self.name,
            "dx_label": present,
            "path_idx": 0,
            "subject_id": case.patient.partition("/")[2],
            "record": case.media[0].uri,
            "split": part_of(case.patient),
        }
        return {"metadata": metadata, "data": {FIRST: first, "reasoning": loops}}, self.evidence

    def _loop(self, place: int, last: bool, label: str) -> dict[str, Any]:
        finding, outcome = self.decision.path[place]
        words, holds = self.findings[finding], bool(outcome.holds)
        nth = self.words["nth"][place]
        criterion = self.words["criterion"].replace("{nth}", nth)
        decided = label if last else FURTHER
        return {
            "criterion_selection": self._question("criterion_selection", criterion, self._criterion(finding)),
            "finding_identification": self._question(
                "finding_identification", words["ask"], Asked(list(YES_NO), [YES_NO[not holds]], [])
            ),
            "ecg_grounding": list(self._groundings(finding, words, holds, place)),
            DECISION: self._question(DECISION, self.words["decision"], Asked([*YES_NO, FURTHER], [decided], [])),
        }

    def _criterion(self, finding: str) -> Asked:
        """The right observation among those of other diagnoses."""
        own = {name for name, _ in self.decision.path} | set(book()["diagnoses"][self.name])
        others = [one["label"] for name, one in self.findings.items() if name not in own]
        picked = [others[int(i)] for i in self.rng.permutation(len(others))[: CRITERIA - 1]]
        right = self.findings[finding]["label"]
        options = [[*picked, right][int(i)] for i in self.rng.permutation(CRITERIA)]
        return Asked(options, [right], [])

    def _groundings(self, finding: str, words: Mapping[Any, Any], holds: bool, place: int) -> Iterator[dict[str, Any]]:
        for thing in words.get(holds, ()):
            stage, text, asked = self._thing(thing, finding, words)
            if asked is not None:
                self.evidence += [
                    {"loop": place + 1, "type": stage, "about": finding, "samples": list(span)}
                    for span in asked.evidence
                ]
                yield self._question(stage, text, asked)

    def _thing(
        self, thing: str | Mapping[str, Any], finding: str, words: Mapping[str, Any]
    ) -> tuple[str, str, Asked | None]:
        if isinstance(thing, Mapping) and "which" in thing:
            return "lead_grounding", self.words["pair"].replace("{which}", thing["which"]), self._pair(thing, finding)
        if isinstance(thing, Mapping):
            measured = self._measured(thing, finding)
            return "measurement_grounding", self.words["measure"].replace("{of}", thing["of"]), measured
        if thing == "leads":
            text = self.words["leads"].replace("{seen}", words["seen"])
            return "lead_grounding", text, self._leads(self.offers.several.get((self.number, finding), {}))
        waves, ordinary = self.study.waves[thing], {"early": "qrs", "blocked": "p"}.get(thing)
        wrong = (
            [span for span in self.study.waves[ordinary] if span not in waves] if ordinary else self.others.waves(thing)
        )
        asked = segment(self.rng, waves, wrong, questions()["segments"][thing], self.study.size)
        return "wave_grounding", self.words[thing], asked

    def _measured(self, thing: Mapping[str, Any], finding: str) -> Asked | None:
        value = self.study.number(thing)
        unit = questions()["units"][thing["fact"].rsplit("_", 1)[-1]]
        holds = dict(self.decision.path)[finding].holds
        if value is None:
            return None
        asked = ranges(self.rng, value, self.others.numbers(thing, finding, holds), unit)
        fact = f"{thing['lead']}.{thing['fact']}" if "lead" in thing else thing["fact"]
        return None if asked is None else dataclasses.replace(asked, evidence=self.study.seen(fact))

    def _pair(self, thing: Mapping[str, Any], finding: str) -> Asked | None:
        pair = self.offers.pairs.get((self.number, finding))
        if pair is None:
            return None
        seen = self.study.seen(f"{pair[0]}.{_compared(thing)[1]}") or list(self.study.waves["qrs"][:1])
        return Asked([f"Lead {pair[int(i)]}" for i in self.rng.permutation(2)], [f"Lead {pair[0]}"], seen)

    def _leads(self, offered: Mapping[str, bool]) -> Asked | None:
        right = [f"Lead {lead}" for lead, holds in offered.items() if holds]
        if not right or len(offered) < 2:
            return None
        options = [f"Lead {list(offered)[int(i)]}" for i in self.rng.permutation(len(offered))]
        whole = self.study.waves["qrs"][:1]
        return Asked(options, [option for option in options if option in right], list(whole))

    def _question(self, stage: str, text: str, asked: Asked) -> dict[str, Any]:
        listed = stage.endswith("grounding")
        indices = [asked.options.index(answer) for answer in asked.answer]
        return {
            "question": text.replace("{name}", self.called),
            "options": asked.options,
            "answer": asked.answer if listed else asked.answer[0],
            "answer_idx": indices if listed else indices[0],
            "question_type": stage,
        }
