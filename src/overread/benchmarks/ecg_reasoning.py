"""ECG-Reasoning-Benchmark: 17 diagnoses, each reasoned out question by question

paper: arXiv 2603.14326
media: ecg
licence: ODbL (samples), MIT (the upstream code); no code of it is used
terms: credentialed

First: is the diagnosis there? Then loop after loop: which criterion, what is found, in which leads, where, how large,
and what follows. The questions are those of the samples; what stands around them is ours
(`prompts/ecg_reasoning.yaml`).

    default         the first reply stays in the history as the model gave it, later questions are shown with the key
    forced-commit   after each loop a yes or no, on a history of keys
    free            the model's own replies throughout

Settings, `--set ecg_reasoning.KEY=VALUE`:

    history     C (default), A or B: what the history shows of the first question and where the ECG stands in it
    condensed   true: earlier turns show their question alone, without options and instructions
    note        false: the first question has no note on the grid of a drawn ECG
    prompts     a file of another system text and framing
    release     0.0.1 or 0.0.2, where the samples do not tell it themselves
    media       archive (default); phantoms: made-up ECGs stand in for all ECGs; none: no ECG at all
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from overread.archives.reasoning_releases import RELEASES
from overread.benchmarks.reasoning_chains import Chain, Manner
from overread.errors import BadInput, unknown_name
from overread.exam.framing import PROMPTS
from overread.exam.script import Options, Script
from overread.exam.survey import rank
from overread.tables import Case, Media

ARCHIVES = ("ecg_reasoning",)
PROTOCOLS = ("default", "forced-commit", "free")
PROBES = ()
JUDGES = ("option",)
METRICS = (
    "accuracy", "first_accuracy", "completion_hard", "completion_soft", "reasoning_depth", "gt_rda", "self_rda",
    "coverage", "unreadable",
)  # fmt: skip
MODELS = ("ecg_solver",)
VARIANTS = ("ptbxl", "mimic_iv_ecg")
OPTIONS = {
    "history": "C", "condensed": "false", "note": "true", "prompts": "", "release": "", "media": "archive",
}  # fmt: skip
FRAMING = "ecg_reasoning.yaml"
AUDIT = {
    "completion_hard": "completion_hard", "completion_soft": "completion_soft", "depth": "reasoning_depth",
    "gt_rda": "gt_rda", "self_rda": "self_rda", "first_accuracy": "first_accuracy",
}  # fmt: skip
AUDIT_BY = "diagnosis"

MEDIA = ("archive", "phantoms", "none")
TRUTHS = {"true": True, "false": False}


def archives(values: Mapping[str, str]) -> tuple[str, ...]:
    """Whose cases it needs."""
    return (*ARCHIVES, "phantoms") if values["media"] == "phantoms" else ARCHIVES


def remarks(values: Mapping[str, str]) -> Iterator[str]:
    """What whoever reads its scores has to know."""
    if values["media"] == "phantoms":
        yield "made-up ECGs stand in for the real ones: no score of a model that looks means anything about its reading"
    if values["media"] == "none":
        yield "no ECG was shown"


def exam(cases: Sequence[Case], seed: int, options: Options) -> Iterator[Script]:
    """One item a sample."""
    values = {**OPTIONS, **options.values}
    samples = [case for case in cases if case.archive == "ecg_reasoning"]
    if options.variant:
        samples = [case for case in samples if case.facts["source"] == options.variant]
    release, manner, showing = _release(samples, values), _manner(values, options.protocol), _Showing(values, cases)
    for case in samples:
        shown, media = showing(case, seed)
        yield from Chain(shown, release, media, manner).scripts()


def _release(samples: Sequence[Case], values: Mapping[str, str]) -> str:
    told = {case.facts["release"] for case in samples} - {""}
    given = values["release"]
    if given and given not in RELEASES:
        raise unknown_name("release", given, RELEASES, where="--set ecg_reasoning.release")
    if len(told | {given} - {""}) > 1:
        raise BadInput(
            f"the samples are of different releases: {', '.join(sorted(told))}; {given or 'none'} was given",
            where="ecg_reasoning",
            do="give samples of one release; results on different releases must not be mixed",
        )
    return given or next(iter(told), "")


def _manner(values: Mapping[str, str], protocol: str) -> Manner:
    for name in ("condensed", "note"):
        if values[name] not in TRUTHS:
            raise BadInput(f"{name} must be true or false, not {values[name]!r}", where=f"--set ecg_reasoning.{name}")
    book = _book(Path(values["prompts"]) if values["prompts"] else PROMPTS / FRAMING)
    note = book["note"] if TRUTHS[values["note"]] else ""
    return Manner(protocol, values["history"], TRUTHS[values["condensed"]], book["system"], note)


def _book(file: Path) -> dict[str, str]:
    """System text and note; that the file can be read was seen when its framing was."""
    found: Any = yaml.safe_load(file.read_text(encoding="utf-8"))
    for name in ("system", "note"):
        if not isinstance(found.get(name), str):
            raise BadInput(f"the file has no text {name!r}", where=str(file), do=f"see {PROMPTS / FRAMING}")
    return {name: found[name].strip() for name in ("system", "note")}


class _Showing:
    """Which ECG stands with a sample: its own, a made-up one, or none."""

    def __init__(self, values: Mapping[str, str], cases: Sequence[Case]) -> None:
        self.kind = values["media"]
        if self.kind not in MEDIA:
            raise unknown_name("kind of media", self.kind, MEDIA, where="--set ecg_reasoning.media")
        self.phantoms = [case for case in cases if case.archive == "phantoms" and case.media[0].kind == "ecg"]
        if self.kind == "phantoms" and not self.phantoms:
            raise BadInput("there are no ECGs among the phantoms", where="phantoms", do="overread build phantoms")

    def __call__(self, case: Case, seed: int) -> tuple[Case, tuple[Media, ...]]:
        if self.kind == "archive":
            return case, case.media
        bare = dataclasses.replace(case, terms="open")  # the samples are open; only ECGs are not
        if self.kind == "none":
            return bare, ()
        place = rank(seed, "standing in", case.facts["source"], str(case.facts["sample"])) % len(self.phantoms)
        return bare, (dataclasses.replace(self.phantoms[place].media[0], name="ecg"),)
