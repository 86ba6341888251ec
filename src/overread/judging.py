"""Lets judges find on the replies that count, part by part, and writes their verdicts."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType

import polars as pl

from overread.catalog import describe, is_path, load, split_variant
from overread.errors import BadInput, BadRun, blaming
from overread.judges.contract import COLUMNS, FINDING, RULING
from overread.runs.folder import Run, part_name, read_json, safe_name, write_json
from overread.runs.parts import read_part, write_part
from overread.runs.replies import ReplyReader
from overread.runs.standing import standing
from overread.tables import Verdict, content_id, schema

_WITH_MODEL = re.compile(r"^([^\[\]]+)\[(.+)\]$", re.DOTALL)

Rule = Callable[[str, str, Sequence[str]], Mapping[str, str]]
"""Label, model and prompts -> what the model says to each; those that it did not answer are missing."""

PANEL = "panel.json"
"""Names the judges of a folder of verdicts."""


@dataclasses.dataclass(frozen=True, slots=True)
class Panel:
    """The judges that decide together, one for each kind of question."""

    label: str
    names: tuple[str, ...]
    by_kind: dict[str, tuple[str, ModuleType]]
    models: dict[str, str]
    """The model of each judge that asks one, by the judge's name."""

    @classmethod
    def of(cls, names: Sequence[str]) -> Panel:
        """A panel of some judges; the first that takes a kind judges it."""
        by_kind: dict[str, tuple[str, ModuleType]] = {}
        models: dict[str, str] = {}
        for name in names:
            plain, model = split_judge(name)
            describe("judges", plain)
            module = load("judges", plain)
            if bool(model) != hasattr(module, "ask"):
                needs = "needs the model that it asks" if not model else "asks no model"
                raise BadInput(
                    f"the judge {plain} {needs}",
                    where=f"--judge {name}",
                    do=f"write {plain}{'' if model else '[MODEL]'}",
                )
            if model:
                models[name] = model
            for kind in module.KINDS:
                by_kind.setdefault(kind, (name, module))
        return cls(label_of(names), tuple(map(_lasting, names)), by_kind, models)

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


def split_judge(text: str) -> tuple[str, str]:
    """`NAME[MODEL]` -> the judge, and the model that it asks; without brackets no model."""
    found = _WITH_MODEL.match(text)
    return (found[1], found[2]) if found else (text, "")


def _lasting(name: str) -> str:
    """The name of a judge that is the same wherever a command is given."""
    plain, model = split_judge(name)
    return f"{Path(plain).resolve()}{f'[{model}]' if model else ''}" if is_path(plain) else name


def label_of(names: Sequence[str]) -> str:
    """What a panel of these judges is called."""
    return "+".join(dict.fromkeys(map(_label, names)))


def _label(name: str) -> str:
    plain, model = split_judge(name)
    return f"{_stem(plain)}~{content_id(model)[:6]}" if model else _stem(plain)


def _stem(plain: str) -> str:
    return Path(plain).stem if is_path(plain) else plain


def _nobody(label: str, model: str, prompts: Sequence[str]) -> Mapping[str, str]:
    raise BadInput(f"the judge {label} asks a model", do="judge by `overread judge` or `overread.pipeline.judge`")


def judge_run(run: Run, panel: Panel, rule: Rule = _nobody) -> int:
    """Writes the verdicts of a panel on every reply that counts; returns how many have none, for want of a ruling."""
    without = 0
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
        groups = [(str(kind), rows) for (kind,), rows in table.group_by("kind", maintain_order=True)]
        ruled = [(kind, _ruled(panel, kind, rows, rule)) for kind, rows in groups]
        without += table.height - sum(rows.height for _, rows in ruled)
        findings = [_find(panel, kind, rows) for kind, rows in ruled if rows.height]
        verdicts = _verdicts(counted, findings, names)
        if index == 0:
            write_json(run.folder / "verdicts" / panel.folder / PANEL, {"judges": panel.names})
        write_part(run.folder / "verdicts" / panel.folder / part_name(index), verdicts)
    return without


def _ruled(panel: Panel, kind: str, rows: pl.DataFrame, rule: Rule) -> pl.DataFrame:
    """The replies with what the judge's model says of them; those that it was to rule on and did not are left out."""
    name, module = panel.judge_of(kind)
    if name not in panel.models:
        return rows
    with blaming(f"the judge {name}", str(getattr(module, "__file__", name))):
        prompts: list[str | None] = module.ask(rows)
    said = rule(_stem(split_judge(name)[0]), panel.models[name], [prompt for prompt in prompts if prompt is not None])
    rulings = [None if prompt is None else said.get(prompt) for prompt in prompts]
    there = [prompt is None or prompt in said for prompt in prompts]
    return rows.with_columns(pl.Series(RULING, rulings, dtype=pl.String)).filter(pl.Series(there, dtype=pl.Boolean))


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
