"""Own cases: the questions that stand in a file of your own

paper: none
media: ecg, clip, volume, image
licence: yours
terms: open

`overread run cases.jsonl --model ...` sits it; docs/own_cases.md shows the form of the file.

    single      every question alone
    chain       the questions of a case one after the other; earlier ones are shown with the key as their answer
    free        the same; earlier ones are shown with the model's own replies
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from overread.exam.script import Ask, Options, Script
from overread.tables import Case, Shows

ARCHIVES = ("own",)
PROTOCOLS = ("single", "chain", "free")
PROBES = ()
JUDGES = ("option", "number")
METRICS = ("accuracy", "mean_error", "coverage", "unreadable")


def exam(cases: Sequence[Case], seed: int, options: Options) -> Iterator[Script]:
    """One item a case."""
    for case in cases:
        asks = [_ask(question) for question in case.facts["questions"]]
        media = tuple(medium.name for medium in case.media)
        if options.protocol == "single":
            for n, ask in enumerate(asks):
                yield Script(case, case.id, (dataclasses.replace(ask, media=media),), name=f"question{n + 1}")
            continue
        shows: Shows = "key" if options.protocol == "chain" else "reply"
        turns = [dataclasses.replace(ask, shows=shows) for ask in asks]
        yield Script(case, case.id, (dataclasses.replace(turns[0], media=media), *turns[1:]))


def _ask(said: Mapping[str, Any]) -> Ask:
    """The prior learns by the template; where a question names none, its text is it."""
    answer = said["answer"]
    number = isinstance(answer, int | float)
    told = (answer,) if isinstance(answer, str) else answer
    return Ask(
        template=said.get("template", said["text"]),
        text=said["text"],
        kind="number" if number else "choice",
        answer=float(answer) if number else tuple(told),
        options=tuple(said.get("options", ())),
        many=said.get("many", isinstance(answer, list) and len(answer) != 1),
        low=said.get("low"),
        high=said.get("high"),
        whole=said.get("whole", False),
        unit=said.get("unit", ""),
        tolerance=said.get("tolerance"),
        stage=said.get("stage", ""),
        slices=tuple(f"{name}={value}" for name, value in sorted(said.get("slices", {}).items())),
        wording=said.get("wording", ""),
    )
