"""What a run still lacks: replies that are missing, failed, refused or unreadable, by model."""

from __future__ import annotations

import dataclasses

import polars as pl

from overread.judging import verdicts_of
from overread.runs.folder import Run
from overread.runs.replies import reply_files

REASONS = 3
"""So many different reasons for failing are told."""


@dataclasses.dataclass(frozen=True, slots=True)
class Gap:
    """How the expected replies of one model turned out."""

    model: str
    expected: int
    missing: int
    """Never asked, or not judged yet."""
    failed: int
    refused: int
    unreadable: int
    reasons: tuple[tuple[str, int], ...]
    """Why replies failed, the most frequent first."""

    @property
    def complete(self) -> bool:
        """Whether every expected reply is there and did not fail."""
        return not self.missing and not self.failed


@dataclasses.dataclass(frozen=True, slots=True)
class Turnout:
    """How many there were, and what is lacking."""

    patients: int
    conditions: dict[str, int]
    """For each condition the questions that are scored under it."""
    terms: tuple[str, ...]
    gaps: tuple[Gap, ...]

    @property
    def complete(self) -> bool:
        """Whether no reply of any model is lacking."""
        return all(gap.complete for gap in self.gaps)


def turnout(run: Run, panel: str) -> Turnout:
    """Counts what was expected of each model and what a panel of judges found, part by part."""
    patients: set[str] = set()
    terms: set[str] = set()
    scored, found, failed = [], [], []
    for index in range(len(run.parts)):
        dialogues = run.part("dialogues", index, ["id", "condition", "patient", "terms"])
        patients.update(dialogues["patient"].unique())
        terms.update(dialogues["terms"].unique())
        asked = run.part("questions", index, ["place", "dialogue"]).join(
            run.part("key", index, ["place", "scored"]).filter("scored"), on="place"
        )
        asked = asked.join(dialogues.rename({"id": "dialogue"}), on="dialogue").select("place", "condition")
        scored.append(asked.group_by("condition").len())
        verdicts = verdicts_of(run, panel, index).select("place", "reply", "model", "status").join(asked, on="place")
        found.append(verdicts.group_by("model", "status").len())
        failed.append(verdicts.filter(pl.col("status") == "failed").select("reply", "model"))
    totals = pl.concat(scored).group_by("condition").agg(pl.col("len").sum()).sort("len", "condition", descending=True)
    conditions = dict(totals.iter_rows())
    counts = {(model, status): int(n) for model, status, n in _total(found, ["model", "status"])}
    reasons = _reasons(run, pl.concat(failed))
    gaps = []
    for seat in run.seats():
        expected = sum(conditions.values()) if seat.looks else conditions.get("plain", 0)
        expected *= len(seat.repeats(run.exam["seed"], run.exam["seeds"], run.exam["samples"]))
        judged = sum(n for (model, _), n in counts.items() if model == seat.model)
        failures, refusals, blanks = (counts.get((seat.model, s), 0) for s in ("failed", "refused", "unreadable"))
        why = reasons.get(seat.model, ())
        gaps.append(Gap(seat.model, expected, expected - judged, failures, refusals, blanks, why))
    return Turnout(len(patients), conditions, tuple(sorted(terms)), tuple(gaps))


def _total(frames: list[pl.DataFrame], by: list[str]) -> list[tuple[str, str, int]]:
    return pl.concat(frames).group_by(by).agg(pl.col("len").sum()).rows() if frames else []


def _reasons(run: Run, failed: pl.DataFrame) -> dict[str, tuple[tuple[str, int], ...]]:
    if failed.is_empty():
        return {}
    frames = [
        some.filter(pl.col("status") == "failed").select("id", "reason")
        for some in reply_files(run.folder, ["id", "reason", "status"])
    ]
    if not frames:
        return {}
    replies = pl.concat(frames).unique("id").rename({"id": "reply"}).join(failed, on="reply")
    counts = replies.group_by("model", "reason").len().sort("len", "reason", descending=[True, False])
    return {
        str(model): tuple(rows.head(REASONS).select("reason", "len").iter_rows())
        for (model,), rows in counts.group_by("model", maintain_order=True)
    }
