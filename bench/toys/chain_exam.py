"""Teacher-forced chains of fifteen questions on one picture

media: image
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from overread.exam.script import Ask, Options, Script
from overread.tables import Case

sys.path.insert(0, str(Path(__file__).parents[1]))
from chain import Turn, turns_of

ARCHIVES = (str(Path(__file__).with_name("records.py")),)
PROTOCOLS = ("chain",)
PROBES = ()
JUDGES = ("option",)
METRICS = ("accuracy",)


def exam(cases: Sequence[Case], seed: int, options: Options) -> Iterator[Script]:
    """One dialogue a record."""
    for number, case in enumerate(cases):
        yield Script(case, case.id, tuple([_ask(turn) for turn in turns_of(number)]))


@functools.cache
def _ask(turn: Turn) -> Ask:
    """A question; all dialogues that have the same one with the same key share it."""
    return Ask(
        template=turn.template,
        text=turn.text,
        kind="choice",
        options=turn.options,
        answer=(turn.answer,),
        shows="key",
        media=("record",) if turn.template == "step1" else (),
    )
