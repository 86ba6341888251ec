"""Rhythm: which rhythm does the ECG show?

paper: none
media: ecg
licence: Apache-2.0
terms: open
"""

from collections.abc import Iterator, Sequence

from overread.exam.script import Ask, Options, Say, Script
from overread.tables import Case

ARCHIVES = ("phantoms",)
PROTOCOLS = ("single",)
PROBES = ("reverse",)
JUDGES = ("option",)
METRICS = ("accuracy", "./metric.py")  # a path starts at this file; the first is the headline


def exam(cases: Sequence[Case], seed: int, options: Options) -> Iterator[Script]:
    """One question about each ECG."""
    shown = [case for case in cases if case.media[0].kind == "ecg"]
    rhythms = tuple(sorted({str(case.facts["rhythm"]) for case in shown}))
    for case in shown:
        ask = Ask(
            template="rhythm",
            text="Which rhythm does this ECG show?",
            kind="choice",
            options=rhythms,
            answer=(str(case.facts["rhythm"]),),
            media=(case.media[0].name,),
            stage="rhythm",
            slices=(f"sex={case.facts['sex']}",),
        )
        yield Script(case, item=case.id, turns=(Say("You read ECGs.", role="system"), ask))
