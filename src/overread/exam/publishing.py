"""Compiles an exam into a run folder, and knows again what was compiled there.

Parts carry a tag made of the settings and the data, so that what a killed process, or one with other settings, left
behind is never taken for part of the exam. The manifest is written last.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from overread.catalog import describe, file_hash, is_path, split_variant
from overread.columns import to_frame
from overread.errors import BadInput, BadRun, OverreadError, unknown_name
from overread.exam.compiling import Exam, Part, compile_parts
from overread.exam.framing import PROMPTS, load_framings
from overread.exam.script import Options, Script
from overread.exam.survey import survey
from overread.media.conditions import parse_conditions
from overread.runs.folder import Run, part_name, write_exam_part
from overread.runs.parts import write_part
from overread.settings import Settings
from overread.tables import Case, Dialogue, Key, Question, canonical, content_id

DEFAULT_FRAMING = PROMPTS / "framing.yaml"

PART_SIZE = 16_384
"""Questions a part: what is held in memory at once."""


def exam_of(settings: Settings, module: ModuleType) -> tuple[Exam, dict[str, Any]]:
    """The exam as the settings mean it, and what tells it from others."""
    entry = describe("benchmarks", settings.benchmark)
    name = str(Path(entry.path).resolve()) if is_path(settings.benchmark) else settings.benchmark
    if not module.PROTOCOLS:
        raise BadInput("the benchmark has no protocol", where=entry.path, do="name at least one in PROTOCOLS")
    protocol = settings.protocol or module.PROTOCOLS[0]
    options = settings.section(entry.name, getattr(module, "OPTIONS", {}))
    if protocol not in module.PROTOCOLS:
        raise unknown_name(f"protocol of {entry.name}", protocol, module.PROTOCOLS, where="--protocol")
    conditions = parse_conditions(settings.conditions, module.PROBES)
    wanted = {
        "benchmark": name,
        "file": file_hash(Path(entry.path)) if is_path(settings.benchmark) else "",
        "protocol": protocol,
        "conditions": list(conditions),
        "blind": "a fifth" if settings.conditions == "floors" else "all",
        "options": options,
        "seed": settings.seed,
        "seeds": settings.seeds,
        "samples": settings.samples,
        "limit": settings.limit,
    }
    framing = _framing_of(module, options)
    if framing != DEFAULT_FRAMING:
        framings = load_framings(framing)
        wanted["framing"] = file_hash(framing)
    else:
        framings = load_framings()
    return Exam(name, protocol, conditions, settings.seed, framings), wanted


def _framing_of(module: ModuleType, options: Mapping[str, str]) -> Path:
    """The file that says how questions are framed: the user's, the benchmark's own, or the one for all."""
    if options.get("prompts"):
        return Path(options["prompts"])
    return PROMPTS / str(getattr(module, "FRAMING", DEFAULT_FRAMING.name))


def fingerprints(cases: Sequence[Case]) -> dict[str, str]:
    """For each archive a hash of its cases with all their facts."""
    found: dict[str, hashlib.blake2b] = {}
    for case in sorted(cases, key=lambda case: case.id):
        digest = found.setdefault(case.archive, hashlib.blake2b(digest_size=12))
        media = repr(case.media)
        digest.update(f"{case.id}\x1f{case.patient}\x1f{media}\x1f{canonical(case.facts)}\x1d".encode())
    return {archive: digest.hexdigest() for archive, digest in sorted(found.items())}


def check_same_data(run: Run, cases: Sequence[Case]) -> None:
    """Refuses to go on with a run on other data than it was compiled from."""
    now = fingerprints(cases)
    for archive, before in run.manifest.get("data", {}).items():
        if now.get(archive) != before:
            raise BadRun(
                f"the data of {archive!r} are not those that the run was compiled from",
                where=str(run.folder),
                do=f"give the data of that time with --data {archive}=PATH, or choose another folder with --out",
            )


def publish(settings: Settings, module: ModuleType, cases: Sequence[Case], left_out: Sequence[str] = ()) -> Run:
    """Cases -> dialogues, questions and key in the run folder; `left_out` tells what of the data made no case."""
    exam, wanted = exam_of(settings, module)
    data = fingerprints(cases)
    tag = content_id(canonical(wanted), canonical(data))[:8]
    scripts = _scripts(settings, module, cases, Options(exam.protocol, _variant(settings), wanted["options"]))
    everyone, swap = wanted["blind"] == "all", "swap" in exam.conditions
    found = survey(scripts(), settings.seed, settings.limit, everyone=everyone, swap=swap)
    if not found.questions:
        raise BadInput(
            f"the benchmark {settings.benchmark} finds nothing to ask in {len(cases)} cases",
            where=", ".join(module.ARCHIVES),
            do="check the data with `overread data check ALIAS`",
        )
    written = _Written()
    for part in compile_parts(exam, scripts(), found, PART_SIZE):
        written.add(part, settings.folder, tag)
    if written.plain != found.questions:
        raise BadInput(
            f"the benchmark asked {found.questions} questions when it was surveyed and {written.plain} when compiled",
            where=f"benchmark {settings.benchmark}",
            do="let `exam` yield the same scripts whenever it is called: draw with `seeded(...)`",
        )
    kept = to_frame((case for case in cases if case.id in written.cases), Case)
    write_part(settings.folder / "cases" / part_name(0, tag), kept)
    counts = {"cases": len(written.cases), "items": found.items, "questions": written.parts[-1][1]}
    manifest = {
        "exam": wanted,
        "tag": tag,
        "parts": written.parts,
        "counts": {**counts, "blind_patients": len(found.blind)},
        "without_swap_partner": found.unpaired,
        "fingerprint": written.digest.hexdigest(),
        "data": data,
        "left_out": list(left_out),
        "remarks": list(module.remarks(wanted["options"])) if hasattr(module, "remarks") else [],
        "command": list(settings.command),
    }
    published = Run.publish(settings.folder, manifest)
    published.check_same_exam(wanted)  # another process may have been a moment later, with other settings
    return published


class _Written:
    """Parts on their way to disk, and what the manifest says of them."""

    def __init__(self) -> None:
        self.parts: list[tuple[int, int]] = []
        self.cases: set[str] = set()
        self.plain = 0
        self.digest = hashlib.blake2b(digest_size=12)

    def add(self, part: Part, folder: Path, tag: str) -> None:
        """Writes one part."""
        frames = {
            "dialogues": to_frame(part.dialogues, Dialogue),
            "questions": to_frame(part.questions, Question),
            "key": to_frame(part.key, Key),
        }
        write_exam_part(folder, len(self.parts), frames, tag)
        self.parts.append((part.start, part.stop))
        self.cases.update(dialogue.case for dialogue in part.dialogues)
        self.digest.update("".join([question.prompt for question in part.questions]).encode())
        self.digest.update("\x1e".join([answer for key in part.key for answer in key.answer]).encode())
        plain = {dialogue.id for dialogue in part.dialogues if dialogue.condition == "plain"}
        self.plain += sum(1 for question in part.questions if question.dialogue in plain)


def _variant(settings: Settings) -> str:
    return split_variant(settings.benchmark)[1]


def _scripts(
    settings: Settings, module: ModuleType, cases: Sequence[Case], options: Options
) -> Callable[[], Iterator[Script]]:
    """The benchmark's scripts, anew at each call; what a benchmark raises is told with its name."""

    def scripts() -> Iterator[Script]:
        try:
            yield from module.exam(cases, settings.seed, options)
        except OverreadError:
            raise
        except Exception as error:
            what = f"the benchmark {settings.benchmark} fails: {type(error).__name__}: {error}"
            raise BadInput(
                what, where=str(module.__file__), do="mend the benchmark, or the data it is made from"
            ) from error

    return scripts
