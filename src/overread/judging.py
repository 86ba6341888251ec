"""Lets judges find on the replies that count, part by part, and writes their verdicts."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType

import polars as pl

from overread.catalog import describe, is_path, load, split_variant
from overread.errors import BadInput, BadRun, blaming
from overread.judges.contract import COLUMNS, FINDING
from overread.runs.folder import Run, part_name, read_json, safe_name, write_json
from overread.runs.parts import read_part, write_part
from overread.runs.replies import ReplyReader
from overread.runs.standing import standing
from overread.tables import Verdict, schema

PANEL = "panel.json"
"""Names the judges of a folder of verdicts."""


@dataclasses.dataclass(frozen=True, slots=True)
class Panel:
    """The judges that decide together, one for each kind of question."""

    label: str
    names: tuple[str, ...]
    by_kind: dict[str, tuple[str, ModuleType]]

    @classmethod
    def of(cls, names: Sequence[str]) -> Panel:
        """A panel of some judges; the first that takes a kind judges it."""
        by_kind: dict[str, tuple[str, ModuleType]] = {}
        for name in names:
            describe("judges", name)
            module = load("judges", name)
            for kind in module.KINDS:
                by_kind.setdefault(kind, (name, module))
        return cls(label_of(names), tuple(str(Path(n).resolve()) if is_path(n) else n for n in names), by_kind)

    def judge_of(self, kind: str) -> tuple[str, ModuleType]:
        """The judge that takes questions of a kind."""
        if kind not in self.by_kind:
            raise BadInput(
                f"no judge of {self.label!r} takes questions of kind {kind}",
                do="name one that does with --judge (overread list judges)",
            )
        return self.by_kind[kind]

    @property
    def folder(self) -> str:
        """The folder of its verdicts."""
        return safe_name(self.label)


def label_of(names: Sequence[str]) -> str:
    """What a panel of these judges is called."""
    return "+".join(dict.fromkeys(Path(name).stem if is_path(name) else name for name in names))


def judge_run(run: Run, panel: Panel) -> None:
    """Writes the verdicts of a panel on every reply that counts."""
    reader = ReplyReader(run.folder)
    reader.refresh()
    names = {seat.identity: seat.model for seat in run.seats()}
    for index, (start, stop) in enumerate(run.parts):
        questions = run.part("questions", index)
        counted = standing(questions, reader.between(start, stop)).replies
        strange = counted.filter(~pl.col("identity").is_in(list(names)))
        if strange.height:
            raise BadRun(
                f"{strange.height} replies are of models that no file in workers/ tells of",
                where=str(run.folder),
                do="give the command of the run again with the same models, which tells of them anew",
            )
        table = _table(counted, questions, run.part("key", index))
        findings = [_find(panel, str(kind), rows) for (kind,), rows in table.group_by("kind", maintain_order=True)]
        verdicts = _verdicts(counted, findings, names)
        if index == 0:
            write_json(run.folder / "verdicts" / panel.folder / PANEL, {"judges": panel.names})
        write_part(run.folder / "verdicts" / panel.folder / part_name(index), verdicts)


def _table(replies: pl.DataFrame, questions: pl.DataFrame, key: pl.DataFrame) -> pl.DataFrame:
    asked = questions.select("place", "kind", "template", "asked", "options", "many", "low", "high", "whole", "unit")
    keyed = key.select("place", "stage", "answer", "tolerance", key_number="number")
    joined = replies.rename({"id": "reply"}).join(asked, on="place").join(keyed, on="place")
    return joined.select(list(COLUMNS))


def _find(panel: Panel, kind: str, rows: pl.DataFrame) -> pl.DataFrame:
    name, module = panel.judge_of(kind)
    with blaming(f"the judge {name}", str(getattr(module, "__file__", name))):
        variant = split_variant(name)[1]
        found: pl.DataFrame = module.judge(rows, variant) if variant else module.judge(rows)
    if (
        not isinstance(found, pl.DataFrame)
        or dict(found.schema) != FINDING
        or found["reply"].to_list() != rows["reply"].to_list()
    ):
        raise BadInput(
            f"the judge {name} did not give one finding a reply, in order, with the columns {', '.join(FINDING)}",
            where=str(getattr(module, "__file__", name)),
            do="see overread/judges/contract.py",
        )
    return found.with_columns(judge=pl.lit(name))


def _verdicts(replies: pl.DataFrame, findings: Sequence[pl.DataFrame], names: dict[str, str]) -> pl.DataFrame:
    if not findings:
        return pl.DataFrame(schema=schema(Verdict))
    whose = replies.select(
        pl.col("id").alias("reply"),
        "question",
        "place",
        pl.col("identity").replace_strict(names, return_dtype=pl.String).alias("model"),
        "seed",
        "sample",
    )
    return pl.concat(findings).join(whose, on="reply").sort("place").select(list(schema(Verdict)))


def panels(run: Run) -> list[str]:
    """The folders of the verdicts that a run has."""
    return sorted(path.name for path in (run.folder / "verdicts").glob("*") if path.is_dir())


def panel_of(run: Run, folder: str) -> Panel:
    """The panel whose verdicts lie in a folder."""
    return Panel.of(judges_of(run, folder))


def judges_of(run: Run, folder: str) -> list[str]:
    """The judges whose verdicts lie in a folder; none where the verdicts were brought from elsewhere."""
    named = [] if brought(run, folder) else read_json(run.folder / "verdicts" / folder / PANEL)["judges"]
    return [str(name) for name in named]


def chosen_panel(run: Run, judges: Sequence[str] = ()) -> str:
    """The folder of the verdicts by the judges named, or by those of the benchmark; the run has it."""
    names = judges or load("benchmarks", run.exam["benchmark"]).JUDGES
    folder, known = safe_name(label_of(names)), panels(run)
    if folder in known:
        return folder
    others = f", or name those it was judged by: {' or '.join(f'--judge {name}' for name in known)}" if known else ""
    again = " ".join(f"--judge {name}" for name in judges)
    raise BadInput(
        f"the run was not judged by {label_of(names)!r}" if known else "the run was not judged",
        where=str(run.folder),
        do=f"overread judge {run.folder} {again}".rstrip() + others,
    )


def brought(run: Run, folder: str) -> bool:
    """Whether the verdicts of a folder were brought from elsewhere, by no judge that could judge again."""
    return not (run.folder / "verdicts" / folder / PANEL).is_file()


def verdicts_of(run: Run, folder: str, index: int) -> pl.DataFrame:
    """The verdicts of one panel on one part."""
    path = run.folder / "verdicts" / folder / part_name(index)
    if not path.is_file():
        raise BadRun(
            f"the replies were not judged by {folder!r}, or not all of them",
            where=str(path),
            do=f"overread judge {run.folder} --judge {folder}",
        )
    return read_part(path)


def parts_of(run: Run, folder: str) -> Iterator[tuple[int, pl.DataFrame]]:
    """The verdicts of one panel, part by part."""
    for index in range(len(run.parts)):
        yield index, verdicts_of(run, folder, index)
