"""Every model against its contract: answers what it is asked, once, with receipts, and from nothing that comes later.

Models are put to dialogues made here, with every kind of question and every way of showing, and to every exam of the
catalogue that phantoms can sit and whose media they take.
"""

from __future__ import annotations

import dataclasses
import json
import runpy
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from overread import catalog, pipeline
from overread.columns import to_frame
from overread.engines.candidates import MAY_FIT, Candidate, parse_model, seat_candidate
from overread.engines.checking import checked
from overread.engines.receipts import Witness, fault
from overread.errors import BadInput
from overread.exam.compiling import Exam, compile_parts
from overread.exam.framing import load_framings
from overread.exam.script import Ask, Say, Script, Tell
from overread.exam.survey import survey
from overread.media.contract import KINDS as MEDIA_KINDS
from overread.models.contract import Answer, ExamTables, Message, Posed, seen_by_tensor
from overread.runs.folder import Run, write_exam_part
from overread.settings import Settings
from overread.tables import Case, Dialogue, Key, Question, Turn, canonical

HERE = Path(__file__).parent
EXAMPLE = str(HERE / "examples" / "model.py")
CHAT = f"serve={sys.executable} {HERE.parent / 'models' / 'chat_server.py'} {{port}},url=http://127.0.0.1:{{port}}/v1"
NEEDS = {
    "foreign": f"[script={HERE / 'foreign_script.py'}]",
    "openai_chat": f"[model=toy,{CHAT}]",
    "hf_vlm": "[path=TINY,new_tokens=2,batch=32]",
    "clip": "[path=WEIGHTS/tiny-clip,device=cpu]",
    "upstream_ecg": f"[path={HERE.parent / 'models' / 'upstream' / 'looks.py'}]",
}
"""What must be said of models that cannot be had by their name alone; WEIGHTS and TINY become weights."""

SPECS = [
    f"{text}{NEEDS.get(name, '')}"
    for name, entry in catalog.entries("models").items()
    for text in (name, *(f"{name}:{variant}" for variant in entry.variants))
] + [EXAMPLE]
SEES_THE_KEY = {"oracle"}
PoseAll = Callable[..., list[Posed]]


def scripts(cases: Sequence[Case]) -> Iterator[Script]:
    """Dialogues with every kind of question that a key can hold, and every way of showing."""
    colours = ("Red", "Green", "Blue")
    for n, case in enumerate(cases):
        medium = case.media[0]
        one = Ask("colour", "Which?", "choice", (colours[n % 3],), colours, media=(medium.name,), shows="key")
        many = Ask("several", "Which ones?", "choice", colours[: n % 3 + 1], colours, many=True, shows="reply")
        far = Ask("far", "How far?", "number", float(n % 7), low=0, high=9, whole=True, shows="key")
        deep = Ask("deep", "How deep?", "number", n % 5 + 0.5, low=0, high=6.5, unit="mm", tolerance=1, shows="nothing")
        word = Ask("word", "Its name?", "text", (colours[-n % 3],), shows="key", shown_as="question")
        told = Tell(dataclasses.replace(one, template="told", media=()))
        last = dataclasses.replace(one, template="last", media=(), options=colours[:2], answer=(colours[n % 2],))
        yield Script(case, f"i{n}", (Say("Look.", role="system"), one, many, far, deep, told, word, last))


@pytest.fixture
def exams(everyone: dict[str, str], cases_of: Callable[..., list[Case]], tmp_path: Path) -> Callable[..., list[Run]]:
    """Small compiled exams whose media a model takes; models that never look are given all of them."""

    def make(forms: Mapping[str, str]) -> list[Run]:
        wanted = set(forms or ("ecg",))
        shown = [case for case in cases_of(("phantoms",)) if case.media[0].kind in wanted]
        exam = Exam("made", "p", ("plain", "blank", "text"), 0, load_framings())
        found = survey(scripts(shown), 0, None, everyone=True, swap=False)
        (part,) = compile_parts(exam, scripts(shown), found, 10_000)
        frames = {"dialogues": to_frame(part.dialogues, Dialogue), "questions": to_frame(part.questions, Question)}
        folder = tmp_path / "made"
        write_exam_part(folder, 0, {**frames, "key": to_frame(part.key, Key)})
        runs = [Run.publish(folder, {"exam": {"seed": 0}, "parts": [[0, part.stop]]})]
        for name, entry in catalog.entries("benchmarks").items():
            if entry.texts("ARCHIVES") == ("phantoms",) and (not forms or entry.card["media"] in wanted):
                settings = Settings(name, (), everyone, "", "blank,text", limit=4, out=str(tmp_path / name))
                runs.append(pipeline.compile_exam(settings))
        return runs

    return make


def tables_of(run: Run) -> ExamTables:
    return ExamTables(*(run.table(table).lazy() for table in ("dialogues", "questions", "key")))


def seated(spec: str, run: Run) -> Candidate:
    return seat_candidate(spec, lambda: tables_of(run), ())


@pytest.fixture(params=SPECS, ids=lambda spec: str(spec).rpartition("/")[2])
def spec(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    text = str(request.param)
    if "TINY" in text:
        return text.replace("TINY", str(request.getfixturevalue("tiny")("idefics3_small")))
    if "WEIGHTS" not in text:
        return text
    folder = tmp_path_factory.getbasetemp() / "weights"
    if not (folder / "tiny-clip").exists():
        runpy.run_path(str(HERE.parent / "models" / "clip" / "towers.py"))["clip"](folder / "tiny-clip")
    return text.replace("WEIGHTS", str(folder))


@pytest.fixture
def sittings(
    spec: str, exams: Callable[..., list[Run]], posed_of: PoseAll
) -> Iterator[list[tuple[Run, Candidate, list[Posed]]]]:
    """The model with each of its exams, every dialogue posed as the engine would."""
    module = catalog.load("models", parse_model(spec)[0])
    found: list[tuple[Run, Candidate, list[Posed]]] = []
    for run in exams(dict(module.FORMS) or ({"ecg": "signal"} if spec.startswith("foreign") else {})):
        candidate = seated(spec, run)
        if asked := posed_of(run, candidate.forms, sorted(candidate.kinds)):
            found.append((run, candidate, asked))
        else:
            close(candidate.model)  # an exam that asks in kinds which it does not answer
    assert found
    yield found
    for _, candidate, _ in found:
        close(candidate.model)


def close(model: Any) -> None:
    """Lets a model give back what it holds."""
    if hasattr(model, "close"):
        model.close()


def answers_of(model: Any, posed: Iterable[Posed]) -> list[Answer]:
    return [checked(answer) for answer in model.answer(list(posed))]


def said(answer: Answer) -> tuple[Any, ...]:
    """What an answer says, without how long it took."""
    return tuple(getattr(answer, name) for name in ("status", "text", "choice", "option_scores", "number", "spread"))


def test_every_question_is_answered_once_with_a_receipt_for_every_medium(
    sittings: list[tuple[Run, Candidate, list[Posed]]],
) -> None:
    answered = False
    for _, candidate, posed in sittings:
        assert posed
        answers = answers_of(candidate.ready(), posed)
        answered |= any(answer.status == "answered" for answer in answers)
        asked = [(p.question.id, p.seed, p.sample) for one in posed for p in one.questions]
        assert Counter((a.question, a.seed, a.sample) for a in answers) == Counter(asked)
        blank = {p.question.id for one in posed if one.dialogue.condition == "blank" for p in one.questions}
        broken = [a.reason for a in answers if a.status == "failed" and a.question not in blank]
        assert broken == [], "only an emptied study may be more than a model can measure"
        by_question = {answer.question: answer for answer in answers}
        for one in posed:
            given = one.look.given if isinstance(one.look, Witness) else {}
            for pending in one.questions:
                answer = by_question[pending.question.id]
                if candidate.forms and answer.status != "failed":
                    assert fault(one, pending, answer, given) == ""
                elif not candidate.forms:
                    assert answer.seen == () and given == {}, "a model that takes no media looked at one"
    assert answered


def test_the_same_questions_again_get_the_same_answers_in_any_order(
    spec: str, sittings: list[tuple[Run, Candidate, list[Posed]]]
) -> None:
    """At one seed and sample; a model that draws takes its draws from those."""
    for run, candidate, posed in sittings:
        before = {answer.question: said(answer) for answer in answers_of(candidate.ready(), posed)}
        model = seated(spec, run).ready()
        again = {answer.question: said(answer) for answer in answers_of(model, reversed(posed))}
        close(model)
        assert again == before


def upset(posed: Posed, place: int) -> Posed:
    """The same dialogue with one question, and everything after it replaced by something else."""
    pending = posed.questions[place]
    later = [Message(message.role, f"otherwise {n}", ()) for n, message in enumerate(posed.script[pending.upto :])]
    turns = list(posed.dialogue.turns)
    asked = next(n for n, turn in enumerate(turns) if turn.question == pending.question.id)
    turns[asked + 1 :] = [Turn(turn.role, f"otherwise {n}") for n, turn in enumerate(turns[asked + 1 :])]
    return dataclasses.replace(
        posed,
        script=(*posed.script[: pending.upto], *later),
        questions=(pending,),
        dialogue=dataclasses.replace(posed.dialogue, turns=tuple(turns)),
    )


def peeks(model: Any, posed: Sequence[Posed]) -> list[str]:
    """The questions whose answer changes when what comes later in the dialogue changes."""
    before = {answer.question: said(answer) for answer in answers_of(model, posed)}
    others = [upset(one, place) for one in posed for place in range(len(one.questions))]
    return [answer.question for answer in answers_of(model, others) if said(answer) != before[answer.question]]


def test_no_answer_depends_on_what_comes_later_in_the_dialogue(
    sittings: list[tuple[Run, Candidate, list[Posed]]],
) -> None:
    for _, candidate, posed in sittings:
        assert peeks(candidate.ready(), posed) == []


def reversed_key(run: Run, patient: str) -> ExamTables:
    """The exam with every answer of one patient replaced by another one."""
    tables = {table: run.table(table) for table in ("dialogues", "questions", "key")}
    theirs = tables["dialogues"].filter(pl.col("patient") == patient)["id"]
    asked = tables["questions"].filter(pl.col("dialogue").is_in(theirs.implode()))
    changed = {}
    for question, options, answer in asked.join(tables["key"], left_on="id", right_on="question").select(
        "id", "options", "answer"
    ).iter_rows():  # fmt: skip
        others = [option for option in options if option not in answer]
        changed[question] = others[:1] or options[:1] or ["otherwise"]
    key = tables["key"].with_columns(
        answer=pl.Series(
            [changed.get(q, a) for q, a in tables["key"].select("question", "answer").iter_rows()],
            dtype=pl.List(pl.String),
        ),
        number=pl.when(pl.col("question").is_in(list(changed))).then(pl.col("number") + 1).otherwise("number"),
    )
    return ExamTables(tables["dialogues"].lazy(), tables["questions"].lazy(), key.lazy())


def learns_from_themselves(spec: str, run: Run, posed: Sequence[Posed]) -> list[str]:
    """The questions whose answer changes when the key of the same patient's dialogues changes."""
    found = []
    before = {a.question: said(a) for a in answers_of(seated(spec, run).ready(), posed)}
    for patient in sorted({one.dialogue.patient for one in posed})[:4]:
        exam = reversed_key(run, patient)
        model = seat_candidate(spec, lambda exam=exam: exam, ()).ready()  # type: ignore[misc]
        theirs = [one for one in posed if one.dialogue.patient == patient]
        found += [a.question for a in answers_of(model, theirs) if said(a) != before[a.question]]
    return found


def test_no_answer_but_the_oracles_depends_on_the_key_of_the_same_patient(
    spec: str, sittings: list[tuple[Run, Candidate, list[Posed]]]
) -> None:
    fitted = parse_model(spec)[1].name in MAY_FIT
    for run, _, posed in sittings if fitted else ():
        changed = learns_from_themselves(spec, run, posed)
        assert bool(changed) == (spec in SEES_THE_KEY)


def test_the_identity_is_plain_json_and_stable(spec: str, exams: Callable[..., list[Run]]) -> None:
    run = exams({})[0]
    first, second = (seated(spec, run) for _ in range(2))
    json.loads(canonical(first.seat.details))
    assert first.seat == second.seat
    for candidate in (first, second):
        assert json.loads(json.dumps(dict(candidate.model.identity()))) == dict(candidate.model.identity())
        close(candidate.model)


def test_an_unknown_option_is_refused_by_name(spec: str) -> None:
    bare, _, options = spec.partition("[")
    strange = f"{bare}[{options.removesuffix(']')}{',' if options else ''}no_such_option=1]"
    with pytest.raises(BadInput) as error:
        seat_candidate(strange, lambda: pytest.fail("fitted"), ())
    assert "no_such_option" in str(error.value)


def test_the_file_declares_what_it_takes(spec: str) -> None:
    entry = catalog.describe("models", parse_model(spec)[0])
    module = catalog.load("models", parse_model(spec)[0])
    assert entry.title and set(module.KINDS) and set(module.FORMS) <= set(MEDIA_KINDS)
    for kind, form in module.FORMS.items():
        assert form in __import__(f"overread.media.{kind}", fromlist=["x"]).FORMS
    if module.FORMS == {}:
        assert entry.constants.get("FORMS") == {}, "FORMS must be readable without importing"


class Peeker:
    """Chooses by what it should not know: a part of the dialogue that `later` gives."""

    def __init__(self, later: Callable[[Posed, int], object]) -> None:
        self.later = later

    def answer(self, dialogues: Iterable[Posed]) -> Iterator[Answer]:
        for posed in dialogues:
            for n, pending in enumerate(posed.questions):
                seen = [seen_by_tensor(m, posed.look(m)) for part in posed.prompt(pending) for m in part.media]
                text = repr(self.later(posed, n))
                yield Answer(pending.question.id, 0, 0, text=text, seen=tuple(seen))


PEEKS: dict[str, Callable[[Posed, int], object]] = {
    "the rest of the script": lambda posed, n: [message.text for message in posed.script[posed.questions[n].upto :]],
    "the last word": lambda posed, n: posed.script[-1].text,
    "the turns": lambda posed, n: [turn.text for turn in posed.dialogue.turns],
}


@pytest.mark.parametrize("peek", PEEKS)
def test_a_model_that_peeks_is_caught(peek: str, exams: Callable[..., list[Run]], posed_of: PoseAll) -> None:
    posed = posed_of(exams({"ecg": "signal"})[0], {"ecg": "signal"})
    assert peeks(Peeker(PEEKS[peek]), posed)
    assert peeks(Peeker(lambda posed, n: posed.script[: posed.questions[n].upto]), posed) == []


def test_a_prior_that_learns_from_the_same_patient_is_caught(
    exams: Callable[..., list[Run]], posed_of: PoseAll
) -> None:
    run = exams({})[0]
    posed = posed_of(run, {}, ("choice", "number", "text"))
    assert learns_from_themselves("oracle", run, posed)
