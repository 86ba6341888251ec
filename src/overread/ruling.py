"""Asks the models of judges, through the same engine as candidates: same identity, budget, resume and terms.

    rulings/JUDGE/BATCH/    a run folder of its own for each batch of what had not been asked before

What is asked is known by its own hash (of question, options, key, reply and the judge's own words), so nothing is asked
twice of the same model: not when more replies come, and not when the judging is stopped and given again. Several runs
can share one folder of rulings (`--set ask.rulings=FOLDER`), two protocols of one exam for instance.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

import polars as pl

from overread.columns import to_frame
from overread.engines import local
from overread.engines.candidates import Candidate, seat_candidate
from overread.engines.loads import spent_by
from overread.errors import BadInput
from overread.runs.folder import Run, write_exam_part
from overread.runs.replies import ReplyReader
from overread.runs.standing import standing
from overread.tables import TERMS, Dialogue, Key, Question, QuestionKind, Terms, Turn, content_id

FOLDER = "rulings"
KIND: QuestionKind = "text"


class Rulings:
    """The rulings of judges' models on the replies of one run."""

    def __init__(self, run: Run, asking: local.Asking, kept: Path | None = None) -> None:
        """`kept` is the folder of the rulings; that in the run if None."""
        self._run = run
        self._kept = run.folder / FOLDER if kept is None else kept
        self._asking = asking
        self.notes: list[str] = []

    def of(self, label: str, model: str, prompts: Sequence[str]) -> dict[str, str]:
        """What a model says to each prompt; those that it did not answer are missing."""
        if not prompts:
            return {}
        candidate = seat_candidate(model, _no_key, ())
        if KIND not in candidate.kinds:
            raise BadInput(
                f"{model} answers no questions of kind {KIND}", where=f"--judge {label}", do="name a model that does"
            )
        folder = self._kept / label
        batches = [Run(path) for path in sorted(folder.glob("*")) if Run.exists(path)]
        known = {ask: text for batch in batches for ask, text in _said(batch, candidate).items()}
        left = sorted({prompt for prompt in prompts if content_id(prompt) not in known})
        if left:
            name = content_id(*left)
            there = next((batch for batch in batches if batch.folder.name == name), None)
            batch = there or self._publish(folder / name, left)
            spent = [u for other in batches if other is not batch for u in spent_by(other, candidate.seat.identity)]
            self.notes += local.ask(batch, [candidate], dataclasses.replace(self._asking, spent=tuple(spent)))
            known.update(_said(batch, candidate))
        return {prompt: known[ask] for prompt in prompts if (ask := content_id(prompt)) in known}

    def _publish(self, folder: Path, prompts: Sequence[str]) -> Run:
        terms = self._terms()
        dialogues, questions, keys = [], [], []
        for place, prompt in enumerate(prompts):
            ask = content_id(prompt)
            turns = (Turn("user", prompt, question=ask),)
            dialogues.append(
                Dialogue(ask, FOLDER, KIND, "", "", ask, "plain", terms, (), turns, place, len(prompt) // 4 + 1)
            )
            questions.append(Question(ask, ask, place, ask, "ruling", KIND, prompt, prompt, "nothing", ask))
            keys.append(Key(ask, place, ()))
        frames = {"dialogues": to_frame(dialogues, Dialogue), "questions": to_frame(questions, Question)}
        write_exam_part(folder, 0, {**frames, "key": to_frame(keys, Key)})
        exam = {"benchmark": FOLDER, "protocol": KIND, "seed": 0, "seeds": 1, "samples": 1}
        return Run.publish(folder, {"exam": exam, "parts": [(0, len(prompts))], "fingerprint": folder.name})

    def _terms(self) -> Terms:
        """The strictest terms of the run: its texts may tell of any of its studies."""
        found: set[Terms] = {"open"}
        for index in range(len(self._run.parts)):
            found.update(self._run.part("dialogues", index, ["terms"])["terms"].unique())
        return max(found, key=TERMS.index)


def _no_key() -> NoReturn:
    raise BadInput("a model that learns from the key cannot judge by it", where="--judge", do="name another model")


def _said(batch: Run, candidate: Candidate) -> Mapping[str, str]:
    """What a model answered in a batch, by question."""
    reader = ReplyReader(batch.folder)
    reader.refresh()
    questions = batch.part("questions", 0)
    mine = reader.between(*batch.parts[0]).filter(pl.col("identity") == candidate.seat.identity)
    counted = standing(questions, mine).replies.filter(pl.col("status") == "answered")
    return dict(counted.select("question", "text").drop_nulls().iter_rows())
