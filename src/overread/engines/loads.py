"""How much a model would be asked, and what the replies that it gave have cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import polars as pl

from overread.engines.posing import Poser, group
from overread.models.contract import Load, Posed
from overread.runs.folder import EXAM_TABLES, Run
from overread.runs.replies import ReplyReader
from overread.runs.standing import Slot

LOOKED_AT = 400
"""So many dialogues of a part are measured, evenly spread; the others are taken to be like them."""
SHOWN_CHARACTERS = 20
"""What a reply that later turns show is taken to be long."""


class _Anything(dict[Slot, str]):
    """Some text for every reply that a turn may show."""

    def __missing__(self, slot: Slot) -> str:
        return "x" * SHOWN_CHARACTERS


def load_of(run: Run, repeats: int = 1) -> Load:
    """The load of a whole exam for a model that looks, each question sent with all that precedes it."""
    totals: Counter[str] = Counter()
    whole: Counter[str] = Counter()
    for index in range(len(run.parts)):
        tables = {table: run.part(table, index) for table in EXAM_TABLES}
        asked = tables["questions"].select("dialogue", "id")
        wanted = group([(dialogue, question, 0, 0) for dialogue, question in asked.iter_rows()])
        some = wanted[:: max(1, len(wanted) // LOOKED_AT)]
        poser = Poser.of_part(tables, some)
        seen: Counter[str] = Counter()
        kinds: Counter[str] = Counter()
        for one in some:
            _count(poser.pose(one, _Anything(), "", _never), seen, kinds)
        share = repeats * asked.height / max(1, seen["questions"])
        totals.update({name: round(count * share) for name, count in seen.items()})
        whole.update({kind: round(count * share) for kind, count in kinds.items()})
    return Load(totals["questions"], totals["messages"], totals["characters"], totals["pictures"], dict(whole))


def spent_by(run: Run, identity: str) -> list[Mapping[str, Any]]:
    """The usage of all replies that a run has from a model, also of those that do not count."""
    reader = ReplyReader(run.folder)
    reader.refresh()
    end = run.parts[-1][1] if run.parts else 0
    replies = reader.between(0, end, ["id", "place", "identity", "usage"])
    mine = replies.filter((pl.col("identity") == identity) & (pl.col("usage") != "{}"))
    usage: list[Mapping[str, Any]] = mine["usage"].str.json_decode(_USAGE).to_list()
    return [{name: count for name, count in one.items() if count is not None} for one in usage]


COUNTED = ("prompt_tokens", "tokens", "uncounted_tokens", "uncounted_written")
_USAGE = pl.Struct({name: pl.Int64() for name in COUNTED})


def _never(medium: Any) -> Any:
    raise AssertionError("an estimate looks at nothing")


def _count(posed: Posed, totals: Counter[str], whole: Counter[str]) -> None:
    for pending in posed.questions:
        messages = posed.prompt(pending)
        totals.update(questions=1, messages=len(messages), characters=sum(len(m.text) for m in messages))
        for medium in (medium for message in messages for medium in message.media):
            if medium.select and medium.kind != "ecg":
                totals["pictures"] += len(medium.select)
            else:
                whole[medium.kind] += 1
