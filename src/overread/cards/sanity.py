"""Sanity: ten questions a medium that show whether a model runs, looks and answers; nothing about how good it is

paper: none
media: ecg, clip, volume
licence: Apache-2.0
terms: open

`media` and `kinds` (with commas) say what the model takes. ECGs and clips are asked about as in `ecg_steps` and
`heartbeat`, so that the built-in solvers can answer; of volumes it is asked which kidney holds a lesion.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from overread.benchmarks import ecg_steps, heartbeat
from overread.exam.script import Ask, Options, Say, Script
from overread.tables import Case

ARCHIVES = ("phantoms",)
PROTOCOLS = ("single",)
PROBES = ()
JUDGES = ("option", "number")
METRICS = ("accuracy",)
OPTIONS = {"media": "ecg,clip,volume", "kinds": "choice,number"}

QUESTIONS = 10
"""Of each medium, and each about another study."""

Scripts = Iterable[Script]


def exam(cases: Sequence[Case], seed: int, options: Options) -> Iterator[Script]:
    """Ten scripts of one question each for every medium that is wanted and that can be asked about in these kinds."""
    media, kinds = (options.values[name].split(",") for name in ("media", "kinds"))
    for medium in media:
        makers = [make for kind, make in ASKED.get(medium, {}).items() if kind in kinds]
        if makers:
            yield from makers[0](cases, seed)


def askable(medium: str, kinds: Iterable[str]) -> bool:
    """Whether there are questions about this medium in one of these kinds."""
    return any(kind in kinds for kind in ASKED.get(medium, {}))


def _ecgs(cases: Sequence[Case], seed: int) -> Iterator[Script]:
    """Is the diagnosis there? What is asked about most comes first, so that there are partners to swap with."""
    alone = ecg_steps.exam(cases, seed, Options(protocol="single"))
    first = [script for script in alone if script.name == "single0"]
    asked = Counter(_template(script) for script in first)
    first.sort(key=lambda script: (-asked[_template(script)], _template(script)))
    return itertools.islice(first, QUESTIONS)


def _template(script: Script) -> str:
    ask = script.turns[-1]
    return ask.template if isinstance(ask, Ask) else ""


def _clips(cases: Sequence[Case], seed: int) -> Iterator[Script]:
    """Where is the frame? Windows of one length, so that each has a partner to be swapped with."""
    windows = list(heartbeat.exam(cases, seed, Options()))
    lengths = Counter(len(script.media[0].select) for script in windows if script.media)
    if lengths:
        common = lengths.most_common(1)[0][0]
        same = (script for script in windows if script.media and len(script.media[0].select) == common)
        yield from itertools.islice(same, QUESTIONS)


def _clip_choices(cases: Sequence[Case], seed: int) -> Iterator[Script]:
    """In which half of the window is the frame? For models that choose and give no numbers."""
    for script in _clips(cases, seed):
        ask = script.turns[-1]
        if isinstance(ask, Ask) and isinstance(ask.answer, float) and ask.high is not None:
            which = "largest" if ask.stage == "ed" else "smallest"
            choice = Ask(
                template=f"half/{ask.stage}",
                text=f"In which half of this clip is the left ventricle at its {which}?",
                kind="choice",
                options=HALVES,
                answer=(HALVES[int(ask.answer > ask.high / 2)],),
                media=ask.media,
                stage=ask.stage,
            )
            yield Script(script.case, script.item, (script.turns[0], choice), media=script.media)


def _volumes(cases: Sequence[Case], seed: int) -> Iterator[Script]:
    """Which kidney holds a lesion?"""
    shown = [case for case in cases if case.media[0].kind == "volume"]
    for case in shown[:QUESTIONS]:
        side = str(case.facts["lesions"]["side"] or "neither")
        ask = Ask(
            template="lesion/side",
            text="Which kidney holds a cyst?",
            kind="choice",
            options=SIDES,
            answer=(side,),
            media=(case.media[0].name,),
            stage="side",
        )
        yield Script(case, f"{case.id}/side", (Say("You read CT volumes.", role="system"), ask))


HALVES = ("the first half", "the second half")
SIDES = ("left", "right", "neither")
ASKED: dict[str, dict[str, Callable[[Sequence[Case], int], Iterator[Script]]]] = {
    "ecg": {"choice": _ecgs},
    "clip": {"number": _clips, "choice": _clip_choices},
    "volume": {"choice": _volumes},
}
"""For each medium and kind of question who writes the scripts; of several kinds the first is taken."""
