"""Asks models on this machine, part by part and wave by wave.

Before each wave the engine looks up which replies count by now (its own, those of an earlier run, those of other
processes on the same run) and asks only what is missing. A failed reply is asked again by the next run, not by this.
"""

from __future__ import annotations

import dataclasses
import os
import platform
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from overread.engines.candidates import Candidate
from overread.engines.checking import failed
from overread.engines.loads import load_of, spent_by
from overread.engines.origin import origin
from overread.engines.posing import Poser, Wanted, group
from overread.engines.receipts import Proof, Receipts, Witness, fault
from overread.engines.taking import HANGS_ENOUGH, Taken, Taker, close_model, slot_of
from overread.exam.survey import rank
from overread.media.reader import MediaReader
from overread.models.contract import Answer, Model, Pending, Posed
from overread.quick import quick
from overread.roots import Roots
from overread.runs.folder import Run, write_json
from overread.runs.replies import ReplyReader, ReplyWriter
from overread.runs.standing import COLUMNS, Standing, standing
from overread.tables import SCHEMA_VERSION, Receipt, Reply, content_id

_made: type[Reply] = quick(Reply)

HELD_MOST = 256
"""So many answers are held back at most until two studies are seen to reach a model differently."""

REASONS_TOLD = 3
"""So many of the commonest reasons of failed replies are told at the end."""

LOOK_AGAIN_SECONDS = 2.0
"""So often a worker looks for replies that others have written meanwhile."""


@dataclasses.dataclass(frozen=True, slots=True)
class Asking:
    """How the models of a run are asked."""

    roots: Roots
    seed: int = 0
    seeds: int = 1
    samples: int = 1
    shard: tuple[int, int] = (1, 1)
    seconds: float = 600.0
    batch: int = 0
    """Dialogues a batch; 0: as the model likes."""
    command: tuple[str, ...] = ()
    progress: Callable[[str, int, int], None] = lambda model, done, whole: None
    """Is told model, questions done and questions to do."""
    tell: Callable[[str], None] = lambda text: None
    """Is told, before anything is asked, what it will cost."""
    allowed: tuple[str, ...] = ()
    """Archives whose data may be sent to another machine whatever their terms; recorded with the worker."""
    spent: tuple[Mapping[str, Any], ...] = ()
    """Usage of replies to the same model that lie elsewhere and count against the same limit."""


def ask(run: Run, candidates: Sequence[Candidate], asking: Asking) -> list[str]:
    """Asks every candidate what it has not answered yet; returns what the user should know, a sentence each."""
    worker = f"{platform.node() or 'host'}-{os.getpid()}-{secrets.token_hex(3)}"
    register(run, candidates, asking, worker, _estimates(run, candidates, asking))
    notes: list[str] = []
    with ReplyWriter(run.folder, worker) as writer:
        for candidate in candidates:
            notes.extend(_Asker(run, candidate, asking, writer).ask_all())
    return notes


def _estimates(run: Run, candidates: Sequence[Candidate], asking: Asking) -> dict[str, Any]:
    """What each model that can tell will cost, told before the first question."""
    found: dict[str, Any] = {}
    for candidate in candidates:
        if candidate.estimate is None:
            continue
        repeats = len(candidate.seat.repeats(asking.seed, asking.seeds, asking.samples))
        found[candidate.seat.model] = dict(candidate.estimate(load_of(run, repeats)))
        said = ", ".join(f"{name} {value}" for name, value in found[candidate.seat.model].items())
        asking.tell(f"{candidate.seat.model}: the whole exam is {said}")
    return found


def register(
    run: Run, candidates: Sequence[Candidate], asking: Asking, worker: str, estimates: Mapping[str, Any]
) -> None:
    """Writes who asks, with what, on which machine."""
    document = {
        "schema": SCHEMA_VERSION,
        "worker": worker,
        "engine": "local",
        "started": time.time(),
        "command": list(asking.command),
        "shard": list(asking.shard),
        **origin(),
        "models": [dataclasses.asdict(candidate.seat) for candidate in candidates],
        "environments": {c.seat.model: c.provenance for c in candidates if c.provenance},
        "remote": {c.seat.model: c.remote for c in candidates if c.remote},
        "allow_remote": list(asking.allowed),
        "estimates": dict(estimates),
    }
    write_json(run.folder / "workers" / f"{worker}.json", document)


class _Asker:
    """Asks one model."""

    def __init__(self, run: Run, candidate: Candidate, asking: Asking, writer: ReplyWriter) -> None:
        self.run, self.candidate, self.asking, self.writer = run, candidate, asking, writer
        self.identity = candidate.seat.identity
        self.replies = ReplyReader(run.folder)
        self.taker = Taker(self._ready, asking.seconds)
        self.receipts = Receipts()
        self.tried: set[tuple[str, int, int]] = set()
        self.done = self.whole = self.failed = 0
        self.reasons: Counter[str] = Counter()
        self.proof = Proof()
        self.blind = ""
        """Why the model is known not to look; none of its replies counts then."""
        self.held: list[Taken] = []
        """Answers about studies that wait for the proof that different studies reach the model differently."""

    def ask_all(self) -> list[str]:
        try:
            with MediaReader(self.asking.roots, self.candidate.forms, seed=self.asking.seed) as reader:
                for index in range(len(self.run.parts)):
                    if self._given_up():
                        break
                    self._part(index, reader)
        finally:
            self.taker.close()
            close_model(self.candidate.model)
        return self._notes()

    def _ready(self) -> Model:
        """The model, ready to be asked; one that counts what it costs is told what this run has cost so far."""
        model = self.candidate.ready()
        begin = getattr(model, "begin", None)
        if begin is not None:
            begin([*self.asking.spent, *spent_by(self.run, self.identity)])
        return model

    def _part(self, index: int, reader: MediaReader) -> None:
        start, stop = self.run.parts[index]
        self.tried.clear()
        questions = self.run.part("questions", index)
        tables: dict[str, pl.DataFrame] = {"questions": questions}
        for wave in questions["wave"].unique().sort().to_list():
            self.replies.refresh()
            now = standing(questions, self._mine(start, stop))
            wanted = group(list(self._pending(index, questions, wave, now)))
            if not wanted:
                continue
            if "key" not in tables:
                tables["key"] = self.run.part("key", index)
                tables["dialogues"] = self.run.part("dialogues", index)
            turn = rank(self.asking.seed, self.writer.worker) % len(wanted)
            self._wave(wanted[turn:] + wanted[:turn], Poser.of_part(tables, wanted), now, reader)

    def _mine(self, start: int, stop: int) -> pl.DataFrame:
        return self.replies.between(start, stop, COLUMNS).filter(pl.col("identity") == self.identity)

    def _pending(
        self, index: int, questions: pl.DataFrame, wave: int, now: Standing
    ) -> Iterator[tuple[str, str, int, int]]:
        """(dialogue, question, seed, sample) of this wave, this shard and this model that have no reply yet."""
        asked = questions.filter(pl.col("wave") == wave)
        if not self.candidate.seat.looks:
            plain = self.run.part("dialogues", index, ["id", "condition"]).filter(pl.col("condition") == "plain")
            asked = asked.filter(pl.col("dialogue").is_in(plain["id"].implode()))
        if self.asking.shard[1] > 1:
            asked = asked.filter(pl.col("place").is_between(*self.run.shard(self.asking.shard), closed="left"))
        answered = now.replies.filter(pl.col("status") != "failed")
        for seed, sample in self._repeats():
            have = answered.filter((pl.col("seed") == seed) & (pl.col("sample") == sample))
            missing = asked.join(have.select("place"), on="place", how="anti")
            for dialogue, question, parents in missing.select("dialogue", "id", "parents").iter_rows():
                heard = all((parent, self.identity, seed, sample) in now.said for parent in parents)
                if heard and (question, seed, sample) not in self.tried:
                    yield dialogue, question, seed, sample

    def _repeats(self) -> list[tuple[int, int]]:
        return self.candidate.seat.repeats(self.asking.seed, self.asking.seeds, self.asking.samples)

    def _wave(self, wanted: Sequence[Wanted], poser: Poser, now: Standing, reader: MediaReader) -> None:
        size = self.asking.batch or self.candidate.batch
        batches = [wanted[i : i + size] for i in range(0, len(wanted), size)]
        self.whole += sum(len(one.questions) for one in wanted)
        looked = time.monotonic()
        others: set[tuple[str, int, int]] = set()
        for number, batch in enumerate(batches):
            if time.monotonic() - looked > LOOK_AGAIN_SECONDS:
                others |= self._answered_by_others()
                looked = time.monotonic()
            left = [rest for one in batch if (rest := _without(one, others)).questions]
            if number + 1 < len(batches) and self.candidate.seat.looks:
                reader.ahead(list(poser.media_of(batches[number + 1])))
            self._batch([self._pose(poser, one, now, reader) for one in left], now)
            self.asking.progress(self.candidate.seat.model, self.done, self.whole)
            if self._given_up():
                break
        self._let_go(now)  # a wave that showed a single study proves nothing, and is kept as it is

    def _answered_by_others(self) -> set[tuple[str, int, int]]:
        found: set[tuple[str, int, int]] = set()
        for chunk in self.replies.refresh():
            theirs = chunk.filter((pl.col("identity") == self.identity) & (pl.col("status") != "failed"))
            found.update(theirs.select("question", "seed", "sample").iter_rows())
        return found

    def _pose(self, poser: Poser, wanted: Wanted, now: Standing, reader: MediaReader) -> Posed:
        return poser.pose(wanted, now.said, self.identity, Witness(reader.look))

    def _batch(self, posed: Sequence[Posed], now: Standing) -> None:
        able: list[Posed] = []
        for one in posed:
            cannot = [p for p in one.questions if p.question.kind not in self.candidate.kinds]
            for pending in cannot:
                reason = f"the model does not answer questions of kind {pending.question.kind}"
                self._record([(one, pending, failed(slot_of(pending), reason))], now)
            if not cannot:
                able.append(one)
            elif len(cannot) < len(one.questions):
                able.append(dataclasses.replace(one, questions=tuple(p for p in one.questions if p not in cannot)))
        if not able:
            return
        for answers in self.taker.take(able):
            self._record(answers, now)
            self.asking.progress(self.candidate.seat.model, self.done, self.whole)

    def _given_up(self) -> bool:
        return self.taker.hung >= HANGS_ENOUGH or bool(self.blind or self.taker.stopped)

    def _let_go(self, now: Standing) -> None:
        held, self.held = self.held, []
        self._write(held, now)

    def _record(self, answers: Iterable[Taken], now: Standing) -> None:
        """Writes answers; the first ones about studies are held back until two studies are seen to differ."""
        come = list(answers)
        if self.proof.given or not self.candidate.seat.looks:
            self._write(come, now)
            return
        self._write([taken for taken in come if not taken[2].seen], now)
        self.held += [taken for taken in come if taken[2].seen]
        for posed, _, answer in come:
            given = posed.look.given if isinstance(posed.look, Witness) else {}
            self.blind = self.blind or self.proof.fault(answer, given)
        if self.proof.given or self.blind or len(self.held) >= HELD_MOST:
            self._let_go(now)

    def _write(self, answers: Iterable[Taken], now: Standing) -> None:
        replies: list[Reply] = []
        receipts: dict[str, Receipt] = {}
        for posed, pending, answer in answers:
            given = self._held_against_receipts(posed, pending, answer)
            mine = [self.receipts.of(seen) for seen in given.seen]
            replies.append(self._reply(pending, given, mine, now))
            receipts.update({receipt.id: receipt for receipt in mine})
            if given.status == "failed":
                self.failed += 1
                self.reasons[given.reason] += 1
        self.writer.add(replies, receipts.values())
        self.tried.update([(reply.question, reply.seed, reply.sample) for reply in replies])
        self.done += len(replies)

    def _held_against_receipts(self, posed: Posed, pending: Pending, answer: Answer) -> Answer:
        """The answer, or a failed one where its receipts do not show that the model got what was attached."""
        if not self.candidate.seat.looks or answer.status == "failed":
            return answer
        given = posed.look.given if isinstance(posed.look, Witness) else {}
        reason = fault(posed, pending, answer, given) or self.blind or self.proof.fault(answer, given)
        return dataclasses.replace(failed(slot_of(answer), reason), usage=answer.usage) if reason else answer

    def _reply(self, pending: Pending, answer: Answer, receipts: Sequence[Receipt], now: Standing) -> Reply:
        question = pending.question
        prompt: str | None = question.prompt
        if question.parents:
            asked = {"prompt": question.prompt, "parents": question.parents}
            prompt = now.prompt(asked, self.identity, answer.seed, answer.sample)
        blob = None
        if answer.blob is not None:
            blob = content_id(answer.blob.hex())
            self.writer.put_blob(answer.blob, blob)
        at = time.time()
        return _made(
            id=self.writer.new_id(),
            question=question.id,
            place=question.place,
            model=self.candidate.seat.model,
            identity=self.identity,
            seed=answer.seed,
            sample=answer.sample,
            prompt=prompt or question.prompt,
            status=answer.status,
            reason=answer.reason,
            text=answer.text,
            choice=answer.choice,
            option_scores=answer.option_scores,
            number=answer.number,
            spread=answer.spread,
            blob=blob,
            receipts=tuple([receipt.id for receipt in receipts]),
            usage=answer.usage,
            seconds=answer.seconds,
            at=at,
            provenance=self.writer.worker,
        )

    def _notes(self) -> list[str]:
        name, taker = self.candidate.seat.model, self.taker
        notes = []
        if self.failed:
            told = "; ".join(
                f"{' '.join(reason.split())} ({count})" for reason, count in self.reasons.most_common(REASONS_TOLD)
            )
            notes.append(
                f"{name}: {self.failed} of {self.done} questions failed; the same command asks them again: {told}"
            )
        if taker.hung >= HANGS_ENOUGH:
            notes.append(f"{name}: given up after it hung {taker.hung} times; its other questions were not asked")
        if taker.stopped:
            notes.append(f"{name}: {taker.stopped}; the same command goes on with what is missing")
        if taker.unknown or taker.repeated:
            notes.append(f"{name}: answered {taker.unknown} questions that nobody asked and {taker.repeated} twice")
        return notes


def _without(wanted: Wanted, answered: set[tuple[str, int, int]]) -> Wanted:
    if not answered:
        return wanted
    left = tuple(q for q in wanted.questions if (q, wanted.seed, wanted.sample) not in answered)
    return dataclasses.replace(wanted, questions=left)
