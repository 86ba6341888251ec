"""Scores of ECG-Reasoning-Benchmark as upstream's tables: one row a model, columns in upstream's order.

Counted from marks, so any judge will do. Shares of nothing are 0.0, as upstream writes them, but for the bins of
forced commitment: there a bin without decisions has no accuracy.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from overread.benchmarks.reasoning_chains import BINS, COMMIT
from overread.metrics import completion_hard, completion_soft, gt_rda, reasoning_depth, self_rda
from overread.metrics.reasoning import CRITERION, DECISION, FIRST, GROUNDINGS, STEPS, steps_of
from overread.runs.parts import write_atomically

TOTAL = "total"
FINDING = STEPS[1]
Counts = dict[str, float]
Tables = dict[tuple[str, str], list[dict[str, Any]]]
"""For each source and name (`total` or a diagnosis) its rows."""

_GROUP = ("model", "source", "diagnosis")


def tables(parts: Iterable[pl.DataFrame], release: str = "0.0.2") -> Tables:
    """The tables of teacher-forced exams, with the columns of a release."""
    counted = _counted(parts, _chain_counts)
    return _rows(counted, lambda model, counts: _row(model, counts, release))


def forced_tables(parts: Iterable[pl.DataFrame]) -> Tables:
    """The tables of forced commitment."""
    return _rows(_counted(parts, _forced_counts), _forced_row)


def write_tables(found: Mapping[tuple[str, str], list[dict[str, Any]]], folder: Path) -> Iterator[Path]:
    """`<folder>/<source>/<name>.csv`; yields what was written."""
    for (source, name), rows in sorted(found.items()):
        text = io.StringIO()
        writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        path = folder / source / f"{name}.csv"
        write_atomically(path, text.getvalue().encode())
        yield path


def _counted(
    parts: Iterable[pl.DataFrame], count: Callable[[pl.DataFrame], Iterable[pl.DataFrame]]
) -> dict[tuple[str, str, str], Counts]:
    """For each model, source and diagnosis what was counted, by name."""
    found: dict[tuple[str, str, str], Counts] = {}
    for marks in parts:
        plain = marks.filter((pl.col("condition") == "plain") & (pl.col("kind") == "choice"))
        first = plain.filter((pl.col("seed") == plain["seed"].min()) & (pl.col("sample") == 0))
        if first.is_empty():
            continue
        for frame in count(first):
            labelled = frame.with_columns(source=_label("source"), diagnosis=_label("diagnosis"))
            sums = labelled.group_by(*_GROUP, "name").agg(pl.col("count").sum())
            for model, source, diagnosis, name, value in sums.select(*_GROUP, "name", "count").iter_rows():
                counts = found.setdefault((model, source, diagnosis), {})
                counts[name] = counts.get(name, 0.0) + float(value)
    return found


def _label(name: str) -> pl.Expr:
    """The value of a slice."""
    labels = pl.col("slices").list.eval(pl.element().filter(pl.element().str.starts_with(f"{name}=")))
    return labels.list.first().str.strip_prefix(f"{name}=")


def _named(frame: pl.DataFrame, name: str | pl.Expr, count: pl.Expr) -> pl.DataFrame:
    named = pl.lit(name) if isinstance(name, str) else name
    return frame.select("model", "slices", name=named, count=count.cast(pl.Float64))


def _chain_counts(marks: pl.DataFrame) -> Iterator[pl.DataFrame]:
    asked = marks.filter(pl.col("stage").is_in([FIRST, *STEPS]))
    yield _named(asked, pl.format("{} total", "stage"), pl.lit(1.0))
    yield _named(asked, pl.format("{} correct", "stage"), pl.col("credit"))
    for name, metric in (
        ("hard", completion_hard), ("soft", completion_soft), ("gt", gt_rda), ("self", self_rda),
    ):  # fmt: skip
        values = metric.values(marks)
        yield _named(values, name, pl.col("value"))
        if name == "hard":
            yield _named(values, "samples", pl.lit(1.0))
    depth = reasoning_depth.values(marks)
    yield _named(depth, "depth_sum", pl.col("value") * pl.col("weight"))
    yield _named(depth, "depth_total", pl.col("weight"))
    yield _named(steps_of(marks).filter("decides"), "loops", pl.lit(1.0))


def _forced_counts(marks: pl.DataFrame) -> Iterator[pl.DataFrame]:
    first, forced = marks.filter(pl.col("stage") == FIRST), marks.filter(pl.col("stage") == COMMIT)
    there = pl.col("status") != "missing"  # upstream passes over what was not answered
    for frame, name in ((first, pl.lit(FIRST)), (forced, _label("coverage"))):
        yield _named(frame.filter(there), pl.concat_str(name, pl.lit(" total")), pl.lit(1.0))
        yield _named(frame.filter(there), pl.concat_str(name, pl.lit(" correct")), pl.col("credit"))


def _rows(counted: Mapping[tuple[str, str, str], Counts], row: Callable[[str, Counts], dict[str, Any]]) -> Tables:
    found: Tables = {}
    totals: dict[tuple[str, str], Counts] = {}
    for (model, source, diagnosis), counts in sorted(counted.items()):
        found.setdefault((source, diagnosis), []).append(row(model, counts))
        total = totals.setdefault((source, model), {})
        for name, value in counts.items():
            total[name] = total.get(name, 0.0) + value
    for (source, model), total in totals.items():
        found.setdefault((source, TOTAL), []).append(row(model, total))
    return found


def _plain(value: float) -> float | int:
    """A count as a whole number, unless it is an expectation."""
    return int(value) if value == int(value) else value


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _row(model: str, counts: Counts, release: str) -> dict[str, Any]:
    def of(name: str) -> float:
        return counts.get(name, 0.0)

    old = release == "0.0.1"
    row: dict[str, Any] = {"model": model}

    def add(prefix: str, total: float, correct: float, suffix: str = "") -> None:
        row[f"{prefix}_total{suffix}"] = _plain(total)
        row[f"{prefix}_correct{suffix}"] = _plain(correct)
        row[f"{prefix}_accuracy{suffix}"] = _share(correct, total)

    samples = of("samples")
    add("idq", of(f"{FIRST} total"), of(f"{FIRST} correct"))
    add("gt_reasoning_based_diagnosis", samples, of("gt"))
    if not old:
        add("self_reasoning_based_diagnosis", samples, of("self"))
    row["reasoning_total"] = _plain(samples)
    if old:
        row |= {"completed": _plain(of("hard")), "completion": _share(of("hard"), samples)}
    else:
        row |= {f"completed_{kind}": _plain(of(kind)) for kind in ("hard", "soft")}
        row |= {f"completion_{kind}": _share(of(kind), samples) for kind in ("hard", "soft")}
    row["per_loop_total"] = _plain(of("loops"))
    row["per_loop_depth_total"] = _plain(of("depth_total"))
    row["per_loop_depth_sum"] = of("depth_sum")
    row["depth"] = _share(of("depth_sum"), of("depth_total"))
    for stage in (CRITERION, FINDING, *GROUNDINGS, DECISION):
        prefix = {FINDING: "finding", DECISION: "decision"}.get(stage, stage) if old else stage
        add(prefix, of(f"{stage} total"), of(f"{stage} correct"), "_w_gt")
    return row


def _forced_row(model: str, counts: Counts) -> dict[str, Any]:
    def of(name: str) -> float:
        return counts.get(name, 0.0)

    total, correct = of(f"{FIRST} total"), of(f"{FIRST} correct")
    row: dict[str, Any] = {"model": model, "idq_total": _plain(total), "idq_correct": _plain(correct)}
    row["idq_accuracy"] = _share(correct, total)
    for number, (low, high) in enumerate(BINS, start=1):
        label = f"({low}, {high}]"
        total, correct = of(f"{label} total"), of(f"{label} correct")
        row |= {f"bin{number}_lo": low, f"bin{number}_hi": high}
        row |= {f"bin{number}_total": _plain(total), f"bin{number}_correct": _plain(correct)}
        row[f"bin{number}_accuracy"] = correct / total if total else ""
    return row
