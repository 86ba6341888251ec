"""Teacher-forced chains of fifteen questions on one picture

media: image
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from overread.exam.script import Ask, Options, Say, Script
from overread.tables import Case

sys.path.insert(0, str(Path(__file__).parents[1]))
from chain import turns_of

ARCHIVES = (str(Path(__file__).with_name("records.py")),)
PROTOCOLS = ("chain",)
PROBES = ()
JUDGES = ("option",)
METRICS = ("accuracy",)


def exam(cases: Sequence[Case], seed: int, options: Options) -> Iterator[Script]:
    """One dialogue a record."""
    for number, case in enumerate(cases):
        turns: list[Say | Ask] = []
        for turn in turns_of(number):
            turns.append(
                Ask(
                    template=turn.template,
                    text=turn.text,
                    kind="choice",
                    options=turn.options,
                    answer=(turn.answer,),
                    shows="key",
                    media=() if turns else ("record",),
                )
            )
        yield Script(case, case.id, tuple(turns))
