"""The tables of the page below the headline: other metrics, slices, probes and measures of validity, receipts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from overread.metrics.floors import PLAIN
from overread.metrics.pairs import direction
from overread.metrics.sums import ALL
from overread.report import words
from overread.report.cells import Cell, Grid, Line, absent, not_asked, score_cell
from overread.report.numbers import count
from overread.report.seen import NOT_ASKED, Witnessed
from overread.report.table import Scores, direction_of, group_of
from overread.runs.folder import Seat

MODELS, REFERENCES = "models", "floors and references"
CONTRASTIVE = "contrastive models, for which the options are scored"
LIMIT = 200
"""Slices that are shown; more than a reader can take in."""


def better(direction_: str) -> str:
    """Which is better, in words."""
    return "less is better" if direction_ == "less" else "more is better"


def unit_of(metric: str) -> str:
    """The unit of a metric as a head says it."""
    return "in per cent" if words.is_share(metric) else ""


def grouped(seats: Sequence[Seat]) -> list[tuple[str, list[Seat]]]:
    """Candidates, and below them those that are contrastive, and floors and references."""
    named = (("model", MODELS), ("contrastive", CONTRASTIVE), ("reference", REFERENCES))
    found = [(name, [seat for seat in seats if group_of(seat) == group]) for group, name in named]
    return [(name, some) for name, some in found if some]


def _cell(scores: Scores, model: str, metric: str, slice_: str = ALL) -> Cell:
    share = words.is_share(metric)
    lift = scores.get(model, metric + words.LIFT, slice_=slice_)
    over = None
    if lift is not None and lift["value"] is not None:
        gained = score_cell(lift, share=share, signed=True)
        over = Cell(f"{gained.text} {gained.interval}".strip() + f" over {lift['floor']}")
    return score_cell(scores.get(model, metric, slice_=slice_), share=share, lift=over)


def metrics_grid(scores: Scores, seats: Sequence[Seat], metrics: Sequence[str]) -> Grid:
    """Every metric under `plain`, over all questions."""
    heads = tuple((m, ", ".join(filter(None, (unit_of(m), better(direction_of(m)))))) for m in metrics)
    groups = tuple(
        (name, tuple(Line(s.model, tuple(_cell(scores, s.model, m) for m in metrics)) for s in some))
        for name, some in grouped(seats)
    )
    return Grid("every metric of every model", "model", heads, groups)


def slices_grid(scores: Scores, seats: Sequence[Seat], metric: str) -> tuple[Grid, int]:
    """The headline metric on each slice, and how many slices are left out."""
    ordered = [seat for _, some in grouped(seats) for seat in some]
    slices = [name for name in scores.names("slice") if name != ALL]
    groups: dict[str, list[Line]] = {}
    for name in slices[:LIMIT]:
        label, equals, value = name.partition("=")
        cells = tuple(_cell(scores, seat.model, metric, name) for seat in ordered)
        sizes = [row["n"] for seat in ordered if (row := scores.get(seat.model, metric, slice_=name)) is not None]
        note = f"n = {count(max(sizes))}" if sizes else ""
        groups.setdefault(label if equals else "", []).append(Line(value if equals else name, cells, note))
    grid = Grid(
        f"{metric} of every model on every slice",
        "slice",
        tuple((seat.model, "") for seat in ordered),
        tuple((label, tuple(lines)) for label, lines in groups.items()),
    )
    return grid, max(0, len(slices) - LIMIT)


def measures_grid(scores: Scores, seats: Sequence[Seat], metric: str, conditions: Sequence[str]) -> Grid:
    """The headline metric under every condition, and every measure over pairs of conditions, of models that look."""
    looking = [seat for seat in seats if seat.looks]
    under = [
        Line(f"{metric}, {name}", tuple(_under(scores, s.model, metric, name) for s in looking), words.condition(name))
        for name in conditions
    ]
    found = sorted({(m, c) for _, c, m, slice_ in scores.rows if slice_ == ALL and words.is_measure(m)})
    over = [
        Line(
            _measure_label(name, condition),
            tuple(_measure(scores, seat.model, name, condition) for seat in looking),
            f"{words.measure(name)} {better(direction(name)).capitalize()}.",
        )
        for name, condition in found
    ]
    both = (("under each condition", tuple(under)), ("over pairs of conditions", tuple(over)))
    groups = tuple((name, lines) for name, lines in both if lines and looking)
    return Grid(
        "probes and measures of validity of every model that looks",
        "measure",
        tuple((seat.model, "") for seat in looking),
        groups,
    )


def _under(scores: Scores, model: str, metric: str, condition: str) -> Cell:
    row = scores.get(model, metric, condition)
    return score_cell(row, share=words.is_share(metric)) if row else not_asked()


def _measure(scores: Scores, model: str, name: str, condition: str) -> Cell:
    row = scores.get(model, name, condition)
    signed = name.startswith("accuracy:") and "mirage" not in name
    return score_cell(row, share=True, signed=signed) if row else not_asked()


def _measure_label(name: str, condition: str) -> str:
    words_ = name.removeprefix("accuracy:").replace("_", " ")
    return words_ if condition in words_.split() or condition == PLAIN else f"{words_} ({condition})"


def receipts_grid(found: Witnessed, seats: Sequence[Seat]) -> Grid:
    """What reached each model that looks."""
    heads = ("level", "form", "shapes", "contents", "media tokens", "replies")
    notes = ("", "", "", "different hashes", "each", "whose prompt showed it")
    looking = [seat.model for seat in seats if seat.looks]
    groups = tuple((model, tuple(_received(found, model))) for model in looking)
    return Grid("receipts of every model that looks", "the study", tuple(zip(heads, notes, strict=True)), groups)


def _received(found: Witnessed, model: str) -> Iterator[Line]:
    for row in found.rows:
        if row.model != model:
            continue
        shapes = ", ".join(row.shapes) + (f" and {row.more_shapes} more" if row.more_shapes else "")
        tokens = absent("the model does not tell")
        if row.tokens is not None:
            tokens = Cell(
                f"{row.tokens[0]}" if row.tokens[0] == row.tokens[1] else "\N{EN DASH}".join(map(str, row.tokens))
            )
        cells: Iterable[Cell] = (
            Cell(row.level, title=words.level(row.level)),
            Cell(row.form) if row.form else absent("not told"),
            Cell(shapes) if shapes else absent("not told"),
            Cell(count(row.hashes)),
            tokens,
            Cell(count(row.replies)),
        )
        yield Line(row.change or "as it is", tuple(cells))
    if model in found.without:
        bare = (Cell("none", title=words.level("none")), *[absent("there is no receipt")] * 4)
        yield Line("without receipt", (*bare, Cell(count(found.without[model]))))
    elif found.levels.get(model) == NOT_ASKED:
        yield Line("nothing", (Cell(NOT_ASKED, title=words.level(NOT_ASKED), absent=True, span=6),))
