"""Sits a loaded model through a sanity exam, and counts what became of the questions."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from overread import pipeline
from overread.cards import sanity
from overread.cards.evidence import CONDITIONS
from overread.engines import local
from overread.engines.candidates import Candidate
from overread.errors import BadInput
from overread.runs.folder import Run
from overread.runs.replies import receipts_of, replies_of
from overread.settings import Settings
from overread.terms import allowed_here, check_terms

LISTS = ("choice", "option_scores", "spread")
REASONS = 3
"""So many of the commonest reasons of failures and refusals are kept."""


@dataclasses.dataclass(frozen=True, slots=True)
class Found:
    """What a sitting came to."""

    media: Mapping[str, Mapping[str, Mapping[str, int]]]
    """By medium and condition: asked, answered, refused, failed, inputs."""
    changed: Mapping[str, Mapping[str, int]]
    """By medium and blind condition: answers that differ from the one under plain."""
    reasons: tuple[str, ...]
    notes: tuple[str, ...]


def exam_on_phantoms(text: str, candidate: Candidate, media: tuple[str, ...], phantoms: Path, out: Path) -> Settings:
    """The settings of the sanity exam for what this model takes."""
    wanted = [medium for medium in media or sanity.ASKED if not candidate.forms or medium in candidate.forms]
    asked = [medium for medium in wanted if sanity.askable(medium, candidate.kinds)]
    if not asked:
        raise BadInput(
            f"there is no sanity question for a model that takes {', '.join(sorted(candidate.forms)) or 'no medium'} "
            f"and answers {', '.join(sorted(candidate.kinds))}",
            where=text,
            do="check it on an exam of its own: --on BENCHMARK",
        )
    chosen = {"sanity.media": ",".join(asked), "sanity.kinds": ",".join(sorted(candidate.kinds))}
    return Settings(sanity.__file__, (text,), {"phantoms": str(phantoms)}, "", "blank,swap", set=chosen, out=str(out))


def sit(settings: Settings, candidate: Candidate) -> Found:
    """Compiles the exam, asks the model and counts; nothing is judged: the answers may all be wrong."""
    settings = settings.checked()
    run = pipeline.compile_exam(settings)
    allowed = allowed_here(settings.allow_remote, Path.cwd())
    if candidate.remote:
        check_terms(run, {candidate.seat.model: candidate.remote}, allowed)
    roots = pipeline.find_roots(settings.data)
    asking = local.Asking(roots=roots, seed=settings.seed, command=settings.command, allowed=allowed)
    notes = local.ask(run, [candidate], asking)
    return _counted(run, tuple(notes))


def _asked(run: Run) -> pl.DataFrame:
    """One row a question: its condition, its item and template, and the medium that its dialogue shows."""
    frames = []
    for index in range(len(run.parts)):
        dialogues = run.part("dialogues", index, ["id", "condition", "media"])
        shown = dialogues.select(
            "condition", dialogue="id", medium=pl.col("media").list.first().struct.field("kind").fill_null("none")
        )
        questions = run.part("questions", index, ["id", "item", "template", "dialogue"]).rename({"id": "question"})
        frames.append(questions.join(shown, on="dialogue"))
    return pl.concat(frames)


def _counted(run: Run, notes: tuple[str, ...]) -> Found:
    asked = _asked(run).filter(pl.col("condition").is_in(CONDITIONS))
    said = ["text", "choice", "number", "option_scores", "spread", "blob"]
    replies = replies_of(run.folder).select("question", "status", "reason", "receipts", *said)
    texts = [pl.col(name).cast(pl.List(pl.String)).list.join(",") for name in LISTS]
    texts += [pl.col(name).cast(pl.String) for name in said if name not in LISTS]
    replies = replies.with_columns(said=pl.concat_str(texts, separator="|", ignore_nulls=True))
    joined = asked.join(replies, on="question", how="left")
    hashes = receipts_of(run.folder).select(receipt="id", hash="hash")
    fed = joined.explode("receipts").join(hashes, left_on="receipts", right_on="receipt", how="left")
    inputs = fed.group_by("medium", "condition").agg(inputs=pl.col("hash").drop_nulls().n_unique())
    counts = joined.group_by("medium", "condition").agg(
        asked=pl.len(), **{s: (pl.col("status") == s).sum() for s in ("answered", "refused", "failed")}
    )
    media: dict[str, dict[str, dict[str, int]]] = {}
    for row in counts.join(inputs, on=["medium", "condition"]).sort("medium", "condition").iter_rows(named=True):
        names = ("asked", "answered", "refused", "failed", "inputs")
        media.setdefault(row["medium"], {})[row["condition"]] = {name: int(row[name]) for name in names}
    reasons = joined.filter(pl.col("reason").fill_null("") != "")["reason"].value_counts(sort=True)
    return Found(media, _changed(joined), tuple(reasons["reason"].head(REASONS)), notes)


def _changed(joined: pl.DataFrame) -> dict[str, dict[str, int]]:
    plain = joined.filter(pl.col("condition") == "plain").select("item", "template", "medium", plain="said")
    blind = joined.filter(pl.col("condition") != "plain").join(plain, on=["item", "template", "medium"])
    found: dict[str, dict[str, int]] = {}
    changed = blind.group_by("medium", "condition").agg(n=(pl.col("said") != pl.col("plain")).sum())
    for row in changed.sort("medium", "condition").iter_rows(named=True):
        found.setdefault(row["medium"], {})[row["condition"]] = int(row["n"])
    return found


def plain(document: Found) -> dict[str, Any]:
    """What was found, as JSON."""
    return {
        "media": document.media,
        "changed": document.changed,
        "reasons": list(document.reasons),
        "notes": list(document.notes),
    }
