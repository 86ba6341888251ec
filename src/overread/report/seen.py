"""What reached each model, as the receipts of its replies tell."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping

import polars as pl

from overread.runs.folder import Run
from overread.runs.replies import receipts_of, reply_files

LEVELS = ("none", "sent", "tensor")
"""From the weakest on."""
NEVER, NOT_ASKED = "never looks", "not asked"
SHAPES = 3
"""So many different shapes are named; the others are counted."""

_REPLY = ["id", "place", "identity", "status", "receipts"]


@dataclasses.dataclass(frozen=True, slots=True)
class Seen:
    """What one model was given in one form under one change of the media."""

    model: str
    level: str
    form: str
    change: str
    replies: int
    """Replies whose prompt showed it."""
    hashes: int
    """Different contents that reached the model."""
    shapes: tuple[str, ...]
    more_shapes: int
    tokens: tuple[int, int] | None
    """The fewest and the most media tokens; None where the model does not tell."""


@dataclasses.dataclass(frozen=True, slots=True)
class Witnessed:
    """The receipts of a run, in short."""

    levels: Mapping[str, str]
    """For each model the weakest level among its replies to questions that show a study as it is."""
    without: Mapping[str, int]
    """For each model how many answered questions show a study without any receipt of it."""
    rows: tuple[Seen, ...]


def _places(run: Run) -> pl.DataFrame:
    """For each question its place, its condition and whether its prompt shows a medium."""
    frames = [pl.DataFrame(schema={"place": pl.Int64, "condition": pl.String, "shown": pl.Boolean})]
    for index in range(len(run.parts)):
        turns = run.part("dialogues", index, ["id", "condition", "turns"]).explode("turns")
        asked = turns.select(
            "condition",
            id=pl.col("turns").struct.field("question"),
            shown=(pl.col("turns").struct.field("media").list.len() > 0).cast(pl.Int8).cum_max().over("id") > 0,
        )
        frames.append(run.part("questions", index, ["id", "place"]).join(asked, on="id").select(frames[0].columns))
    return pl.concat(frames)


def witnessed(run: Run) -> Witnessed:
    """Reads all receipts of a run, and of its replies only which receipts they hold."""
    names = {seat.identity: seat.model for seat in run.seats()}
    looking = [seat.model for seat in run.seats() if seat.looks]
    places = _places(run)
    counted, bare = [], []
    asked: set[str] = set()
    for replies in reply_files(run.folder, _REPLY):
        mine = replies.filter((pl.col("status") == "answered") & pl.col("identity").is_in(list(names)))
        mine = mine.join(places, on="place").filter("shown")
        mine = mine.with_columns(model=pl.col("identity").replace_strict(names, return_dtype=pl.String))
        mine = mine.filter(pl.col("model").is_in(looking))
        plain = mine.filter(pl.col("condition") == "plain")
        asked.update(plain["model"].unique())
        bare.append(plain.filter(pl.col("receipts").list.len() == 0).group_by("model").len())
        held = mine.explode("receipts").drop_nulls("receipts").group_by("model", "condition", receipt="receipts").len()
        counted.append(held)
    without = {} if not bare else dict(pl.concat(bare).group_by("model").agg(pl.col("len").sum()).iter_rows())
    table = receipts_of(run.folder).rename({"id": "receipt"})
    held = pl.concat(counted) if counted else pl.DataFrame(schema=_HELD)
    found = held.join(table, on="receipt", how="left").with_columns(pl.col("level").fill_null("none"))
    levels = {seat.model: NOT_ASKED if seat.looks else NEVER for seat in run.seats()}
    levels |= {model: _weakest(found, model, model in without) for model in asked}
    return Witnessed(levels, without, tuple(_rows(found)))


_HELD = {"model": pl.String, "condition": pl.String, "receipt": pl.String, "len": pl.UInt32}


def _weakest(found: pl.DataFrame, model: str, lacks: bool) -> str:
    mine = found.filter((pl.col("model") == model) & (pl.col("condition") == "plain"))
    present = {*mine["level"].unique(), *(["none"] if lacks else [])}
    return next(level for level in LEVELS if level in present)


def _rows(found: pl.DataFrame) -> Iterator[Seen]:
    groups = found.group_by("model", "level", "form", "change").agg(
        replies=pl.col("len").sum(),
        hashes=pl.col("hash").n_unique(),
        shapes=pl.col("shape").list.eval(pl.element().cast(pl.String)).list.join(" x ").unique().sort(),
        fewest=pl.col("tokens").min(),
        most=pl.col("tokens").max(),
    )
    for row in groups.sort("model", "change", "form", "level", nulls_last=True).iter_rows(named=True):
        shapes = [shape for shape in row["shapes"] if shape]
        yield Seen(
            model=row["model"],
            level=row["level"],
            form=row["form"] or "",
            change=row["change"] or "",
            replies=row["replies"],
            hashes=row["hashes"],
            shapes=tuple(shapes[:SHAPES]),
            more_shapes=max(0, len(shapes) - SHAPES),
            tokens=None if row["fewest"] is None else (row["fewest"], row["most"]),
        )
