"""ECG-Reasoning-Benchmark: 6,443 ECGs with a chain of questions each, on 17 diagnoses

media: ecg (WFDB, 500 Hz), which lies in the archives ptbxl and mimic_ecg
terms: open
licence: ODbL (the samples); the ECGs as their archives say
access: https://huggingface.co/datasets/Jwoo5/ECG-Reasoning-Benchmark

A case is one sample: its ECG by address, and its questions with their answers as facts (`first`, `loops`), whichever of
the file forms it comes from: JSONL of the releases 0.0.1 and 0.0.2, Parquet, one JSON file a sample, the names of keys
before March 2026. `release` is what the words of the source's samples tell, or empty; `metadata` what the file said.
Samples on MIMIC-IV-ECG are credentialed, because their ECG is. The patients of PTB-XL are not told by the samples:
there the ECG is the patient. What cannot be asked whole is left out, by name.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from overread.archives.ecg_cases import geometry, patient_facts
from overread.archives.reasoning_files import Found, read_all, releases
from overread.archives.reasoning_samples import Sample, Step
from overread.errors import BadInput
from overread.roots import split
from overread.tables import Case, Json, Media, Terms, canonical, content_id

ALIAS = "ecg_reasoning"
TERMS: Terms = "open"
ACCESS = "https://huggingface.co/datasets/Jwoo5/ECG-Reasoning-Benchmark (open); its ECGs: --data ptbxl, mimic_ecg"
HUB = "Jwoo5/ECG-Reasoning-Benchmark"
EXPECTED = (("*.jsonl", "the samples of a source, one a line"),)
OTHERS = ("ptbxl", "mimic_ecg", "phantoms", "ludb", "ecg_folder")
"""Aliases of the archives that its ECGs lie in."""

TERMS_OF: dict[str, Terms] = {"mimic_ecg": "credentialed", "ecg_folder": "local-only"}
"""Of the archives that are not open."""
SAMPLES, RATE_HZ = 5000, 500


def cases(root: Path) -> Iterator[Case]:
    """The samples in the order of their files."""
    yield from cases_of(list(read_all(root)), str(root))


def left_out(root: Path) -> Iterator[str]:
    """What makes no case, a line each, and why."""
    for found in read_all(root):
        yield from (str(fault) for fault in found.faults if fault.fatal)


def fetch(out: Path) -> Path:
    """Fetches the samples from the hub of Hugging Face into a folder."""
    try:
        hub: Any = importlib.import_module("huggingface_hub")
    except ImportError as error:
        raise BadInput("fetching from the hub needs huggingface_hub", do="pip install overread[hf]") from error
    try:
        hub.snapshot_download(HUB, repo_type="dataset", local_dir=str(out), allow_patterns=["*.jsonl", "*.parquet"])
    except Exception as error:
        # Whatever keeps a hub from answering is one thing to the user: there is no way to it from here.
        what = f"the hub does not give {HUB}: {type(error).__name__}: {str(error)[:200]}"
        raise BadInput(what, where=str(out), do=f"fetch it elsewhere and bring it here: {ACCESS}") from error
    return out


def cases_of(found: list[Found], where: str) -> Iterator[Case]:
    """The cases of what was read."""
    samples = [one.sample for one in found if one.sample is not None]
    if not samples:
        why = next((f": {fault}" for one in found for fault in one.faults if fault.fatal), "")
        raise BadInput(f"there is no sample of ECG-Reasoning-Benchmark{why}", where=where, do=f"get it: {ACCESS}")
    told = releases(samples)
    for sample in samples:
        yield case_of(sample, told[sample.source])


def address_of(sample: Sample) -> str:
    """Where the ECG of a sample lies; empty where that cannot be told."""
    if sample.record:
        return sample.record
    if sample.source == "ptbxl" and sample.ecg.isdecimal() and len(sample.ecg) <= 5:
        number = int(sample.ecg)
        return f"ptbxl://records500/{number // 1000 * 1000:05d}/{number:05d}_hr"
    if sample.source == "mimic_iv_ecg" and sample.subject.isdecimal() and sample.ecg.isdecimal():
        return f"mimic_ecg://files/p{sample.subject[:4]}/p{sample.subject}/s{sample.ecg}/{sample.ecg}"
    return ""


def case_of(sample: Sample, release: str, **more: Any) -> Case:
    """The case of a sample; `more` are further facts."""
    address = address_of(sample)
    alias = split(address)[0] if address else ALIAS
    if alias not in (ALIAS, *OTHERS):
        raise BadInput(f"the ECG lies in {alias!r}, which is no archive of ECGs", where=sample.name, do="correct it")
    patient, known = patient_facts(alias, sample.subject or sample.ecg, "archive" if sample.subject else "study")
    facts = Json(
        {
            **known,
            **geometry(SAMPLES, RATE_HZ),
            "study": sample.ecg,
            "source": sample.source,
            "sample": sample.number,
            "diagnosis": sample.diagnosis,
            "label": sample.label,
            "release": release,
            "metadata": sample.metadata,
            "first": as_fact(sample.first),
            "loops": [[as_fact(step) for step in loop] for loop in sample.loops],
            **more,
        }
    )
    media = (Media("ecg", "ecg", address),) if address else ()
    try:
        text = canonical(facts)
        text.encode()
    except ValueError:
        raise BadInput("the sample holds what cannot be kept", where=sample.name, do="correct it") from None
    case = content_id("case", ALIAS, sample.name, text)
    return Case(case, ALIAS, patient, media, facts, TERMS_OF.get(alias, TERMS))


def as_fact(step: Step) -> dict[str, Any]:
    """A question as a fact of a case; lists keep the order that keys of an object would lose."""
    return {
        "stage": step.stage,
        "question": step.question,
        "options": list(step.options),
        "answer": list(step.answer),
    }


def step_of(fact: dict[str, Any]) -> Step:
    """The question that a fact holds."""
    return Step(fact["stage"], fact["question"], tuple(fact["options"]), tuple(fact["answer"]))
