"""Whether answers need the media and follow them: the same question under two conditions, or of two models.

Pairs share protocol, model, judge, question item, seed and sample. A pair counts where both replies exist and did
not fail; what was refused or unreadable was an answer without credit. `credit` is that of `accuracy`. Each measure is a
ratio of sums over pairs (sum / weight), with the condition that stands against `plain` as its condition:

    accuracy:gain               plain - text, over all pairs
    accuracy:mirage_score       text / plain
    accuracy:leakage            text - text of the named base model, not below 0
    accuracy:reliance_blank     plain - blank;  reliance_swap: plain - swap
    image_sensitivity           share of scored pairs plain/blank and plain/swap, both read, that were read differently
    PROBE_consistency           share of pairs plain/PROBE, both read, in which what was read is the same
    PROBE_follow                share of pairs plain/PROBE with both right, where the probe leaves an answer right

`order` and `wording` change what should not matter, so consistency is good there. All other probes change the media;
their consistency is taken where they do not leave the answer as it was, and there an answer that stays did not follow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from overread.media.conditions import BLIND, TEXT_PROBES
from overread.metrics import accuracy
from overread.metrics.contract import GROUPS
from overread.metrics.floors import PLAIN, is_absent
from overread.metrics.statistics import Direction

GAIN, MIRAGE, LEAKAGE = "accuracy:gain", "accuracy:mirage_score", "accuracy:leakage"
SENSITIVITY = "image_sensitivity"
CLEAN = "clean"
MATCH: tuple[str, ...] = ("protocol", "judge", "item", "seed", "sample", "nth")


def direction(measure: str) -> Direction:
    """Which is better."""
    if measure in (MIRAGE, LEAKAGE):
        return "less"
    probe, _, kind = measure.rpartition("_")
    return "less" if kind == "consistency" and probe not in TEXT_PROBES else "more"


def _rows(marks: pl.DataFrame) -> pl.DataFrame:
    """One side of a pair each; `nth` tells apart questions that share an item."""
    rows = marks.filter(pl.col("kind").is_in(accuracy.KINDS)).select(
        *GROUPS, "slices", "item", "seed", "sample", "parsed",
        read=pl.col("status") == "read",
        unreadable=pl.col("status") == "unreadable",
        there=~is_absent(),
        credit=accuracy.credit(),
        scored="scored",
        answer=pl.col("answer").list.sort().list.join("\n"),
        nth=pl.int_range(pl.len()).over(*GROUPS, "item", "seed", "sample", order_by="place"),
    )  # fmt: skip
    if rows["parsed"].str.contains("\n", literal=True).any():
        # Several options may be read in any order.
        rows = rows.with_columns(pl.col("parsed").str.split("\n").list.sort().list.join("\n"))
    return rows


def _match(rows: pl.DataFrame, other: pl.DataFrame, on: tuple[str, ...]) -> pl.DataFrame:
    """Pairs; a pair is in the clean slice only if both sides are, as replies that decided on it must not be scored."""
    pairs = rows.join(other, on=on, suffix="_other")
    pairs = pairs.with_columns(pl.col("condition_other").alias("condition"))
    decided = pl.col("slices").list.contains(CLEAN) & ~pl.col("slices_other").list.contains(CLEAN)
    without = pl.col("slices").list.set_difference(pl.lit([CLEAN], dtype=pl.List(pl.String)))
    return pairs.with_columns(slices=pl.when(decided).then(without).otherwise(pl.col("slices")))


def _units(pairs: pl.DataFrame, total: pl.Expr, weight: pl.Expr | None = None) -> pl.DataFrame:
    each = pl.lit(1.0) if weight is None else weight
    return pairs.select(*GROUPS, "slices", total.cast(pl.Float64).alias("sum"), each.alias("weight"))


def matched(marks: pl.DataFrame) -> pl.DataFrame:
    """All pairs of a plain mark with the same one under another condition, whether their replies exist or not."""
    rows = _rows(marks)
    return _match(
        rows.filter(pl.col("condition") == PLAIN), rows.filter(pl.col("condition") != PLAIN), ("model", *MATCH)
    )


def over_conditions(pairs: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """Every measure of pairs across conditions, with its units (columns of GROUPS, `slices`, `sum`, `weight`)."""
    found = pairs.filter(pl.col("there") & pl.col("there_other"))
    credit, other = pl.col("credit"), pl.col("credit_other")
    same = pl.col("parsed").eq_missing(pl.col("parsed_other"))
    kept = pl.col("scored_other") & (pl.col("answer") == pl.col("answer_other"))
    for (condition,), part in found.group_by("condition"):
        read = part.filter(pl.col("read") & pl.col("read_other"))
        scored = part.filter("scored_other")
        if condition == "text":
            yield GAIN, _units(scored, credit - other)
            yield MIRAGE, _units(scored, other, credit)
        elif condition in ("blank", "swap"):
            yield f"accuracy:reliance_{condition}", _units(scored, credit - other)
            # Where the partner has the same key, reading it right gives the same answer and says nothing.
            yield SENSITIVITY, _units(read.filter("scored_other"), ~same)
        elif condition not in BLIND:
            comparable = read if condition in TEXT_PROBES else read.filter(~kept)
            yield f"{condition}_consistency", _units(comparable, same)
            yield f"{condition}_follow", _units(scored, credit * other)


def over_models(marks: pl.DataFrame, base: Mapping[str, str]) -> pl.DataFrame:
    """Pairs of each model's imageless mark with that of its base model, for leakage.

    A base model that never looks is asked under `plain` alone; what it says there is its imageless reply.
    """
    ours_or_base = (pl.col("condition") == "text") | pl.col("model").is_in(list(base.values()))
    rows = _rows(marks.filter(pl.col("condition").is_in(["text", PLAIN]) & ours_or_base))
    names = pl.DataFrame(
        {"model": list(base), "base": list(base.values())}, schema={"model": pl.String, "base": pl.String}
    )
    ours = rows.filter(pl.col("condition") == "text").join(names, on="model")
    imageless = rows.sort(pl.col("condition") == PLAIN).with_columns(base=pl.col("model"))
    return _match(ours, imageless.unique(["base", *MATCH], keep="first", maintain_order=True), ("base", *MATCH))


def leakage(pairs: pl.DataFrame) -> pl.DataFrame:
    """The units of `accuracy:leakage`."""
    found = pairs.filter(pl.col("there") & pl.col("there_other"))
    return _units(found, pl.col("credit") - pl.col("credit_other"))
