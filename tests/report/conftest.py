from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from overread.columns import to_frame
from overread.runs.folder import Run, part_name, write_exam_part, write_json
from overread.runs.parts import write_part
from overread.tables import Case, Dialogue, Json, Key, Media, Question, Receipt, Reply, Score, Turn, Verdict

CONDITIONS = ("plain", "blank", "text")
MEDIUM = Media("ecg", "ecg", "phantoms://ecg/00001")


@dataclasses.dataclass
class Made:
    """A run on disk, written row by row: two questions a dialogue, one dialogue a condition and patient."""

    folder: Path
    benchmark: str = "ecg_steps"
    patients: int = 3
    conditions: tuple[str, ...] = CONDITIONS
    command: tuple[str, ...] = ()
    questions: list[Question] = dataclasses.field(default_factory=list)
    replies: list[Reply] = dataclasses.field(default_factory=list)
    receipts: dict[str, Receipt] = dataclasses.field(default_factory=dict)
    verdicts: list[Verdict] = dataclasses.field(default_factory=list)
    scores: list[Score] = dataclasses.field(default_factory=list)
    seats: dict[str, bool] = dataclasses.field(default_factory=dict)
    shown: dict[str, bool] = dataclasses.field(default_factory=dict)
    asked: str = "Is the rate above 100?"
    condition_of: dict[str, str] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        dialogues, key = [], []
        for patient in range(self.patients):
            for condition in self.conditions:
                dialogue = self._dialogue(f"{self.patients - patient:06d}{condition}", patient, condition)
                dialogues.append(dialogue)
                for question in self.questions[-2:]:
                    key.append(Key(question.id, question.place, ("Yes",), stage="finding", slices=("sex=F",)))
        tables = ((dialogues, Dialogue), (self.questions, Question), (key, Key))
        frames = {row.TABLE: to_frame(rows, row) for rows, row in tables}
        write_exam_part(self.folder, 0, frames)
        case = Case("c", "phantoms", "phantoms/0", (MEDIUM,), Json())
        write_part(self.folder / "cases" / part_name(0), to_frame([case], Case))

    def _dialogue(self, id_: str, patient: int, condition: str) -> Dialogue:
        media = () if condition in ("text", "guess") else (dataclasses.replace(MEDIUM, change=_change(condition)),)
        turns = [Turn("system", "Be brief.")]
        place = len(self.questions)
        for number in range(2):
            question = Question(
                f"{id_}-{number}", id_, place + number, id_, "t", "choice", self.asked, self.asked, "key", "p",
                options=("Yes", "No"),
            )  # fmt: skip
            self.questions.append(question)
            self.condition_of[question.id] = condition
            attached = tuple(m.name for m in media) if not number else ()
            turns.append(Turn("user", self.asked, attached, question=question.id))
        return Dialogue(
            id_, self.benchmark, "chain", "c", f"phantoms/{patient}", f"i{patient}", condition, "open", media,
            tuple(turns), place=place,
        )  # fmt: skip

    def model(self, name: str, say: Callable[[Question], Any], *, looks: bool = True, level: str = "tensor") -> Made:
        """Lets a model answer: `say` gives (text, verdict status, correct), or None where the reply is missing."""
        self.seats[name] = looks
        for question in self.questions:
            condition = self.condition_of[question.id]
            said = say(question) if looks or condition == "plain" else None
            if said is None:
                continue
            text, status, correct = said
            held = []
            if looks and condition != "text" and level:
                receipt = Receipt(
                    f"r{condition}{level}", level, MEDIUM.uri, "signal", (0, 5000), (12, 5000), f"h{condition}", 196,
                    _change(condition),
                )  # fmt: skip
                self.receipts[receipt.id] = receipt
                held.append(receipt.id)
            failed = status == "failed"
            reply = Reply(
                f"{name}/{question.id}", question.id, question.place, name, f"id-{name}", 0, 0, "p",
                "failed" if failed else "answered", text if failed else "", None if failed else text,
                receipts=tuple(held),
            )  # fmt: skip
            self.replies.append(reply)
            self.verdicts.append(
                Verdict(
                    question.id, question.place, reply.id, name, 0, 0, "option", status,
                    text if status == "read" else None, correct, float(bool(correct)),
                )
            )  # fmt: skip
        return self

    def score(self, model: str, metric: str, value: float | None, **about: Any) -> Made:
        given = {
            "condition": "plain", "judge": "option", "slice": "all", "unit": "question", "direction": "more",
            "low": None if value is None else value - 0.1, "high": None if value is None else value + 0.1,
            "n": 6, "patients": 3, "coverage": 1.0, "unreadable": 0.0, **about,
        }  # fmt: skip
        self.scores.append(Score(self.benchmark, "chain", model=model, metric=metric, value=value, **given))
        return self

    def run(self) -> Run:
        """Writes everything and opens it."""
        panels = {score.judge for score in self.scores} or {"option"}
        for panel in panels:
            rows = sorted(self.verdicts, key=lambda verdict: verdict.place)
            write_part(self.folder / "verdicts" / panel / part_name(0), to_frame(rows, Verdict))
        replies = sorted(self.replies, key=lambda reply: reply.place)
        write_part(self.folder / "replies" / "w-00000.parquet", to_frame(replies, Reply))
        write_part(self.folder / "receipts" / "w-00000.parquet", to_frame(self.receipts.values(), Receipt))
        write_part(self.folder / "scores" / part_name(0), to_frame(self.scores, Score))
        models = [
            {"model": name, "identity": f"id-{name}", "looks": looks, "samples": True, "details": {"name": name}}
            for name, looks in self.seats.items()
        ]
        worker = {"started": 1.7e9, "overread": "0", "python": "3", "platform": "p", "versions": {}, "models": models}
        write_json(self.folder / "workers" / "w.json", worker)
        exam = {
            "benchmark": self.benchmark, "protocol": "chain", "conditions": list(self.conditions), "blind": "all",
            "options": {}, "seed": 0, "seeds": 1, "samples": 1, "limit": None,
        }  # fmt: skip
        counts = {"cases": 1, "items": self.patients, "questions": len(self.questions), "blind_patients": 3}
        manifest = {
            "exam": exam, "parts": [(0, len(self.questions))], "counts": counts, "without_swap_partner": 0,
            "fingerprint": "f00d", "command": list(self.command),
        }  # fmt: skip
        return Run.publish(self.folder, manifest)


def _change(condition: str) -> str:
    return condition if condition in ("blank", "reverse") else ""


def right(question: Question) -> tuple[str, str, bool]:
    return "Yes", "read", True


@pytest.fixture
def made(tmp_path: Path) -> Callable[..., Made]:
    """Makes runs; each call another folder."""
    folders: Iterable[Path] = (tmp_path / f"run{number}" for number in range(9))

    def make(**about: Any) -> Made:
        return Made(next(iter(folders)), **about)

    return make


@pytest.fixture
def usual(made: Callable[..., Made]) -> Made:
    """A run of two floors and one model that looks, with the scores that it would have."""
    run = made().model("chance", right, looks=False).model("prior", right, looks=False).model("seer", right)
    for model, value in (("chance", 0.5), ("prior", 0.55), ("seer", 0.8)):
        run.score(model, "accuracy", value)
    run.score("seer", "accuracy", 0.4, condition="blank").score("seer", "accuracy", None, condition="text")
    return run.score("seer", "accuracy:lift", 0.25, floor="prior", low=0.05, high=0.45)
