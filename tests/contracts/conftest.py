"""What the contract tests share: every entry of the catalogue, and data for those that need some."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType

import polars as pl
import pytest

from overread import catalog, pipeline
from overread.builders import phantoms
from overread.engines.posing import Poser, group
from overread.engines.receipts import Witness
from overread.errors import BadInput
from overread.media.reader import MediaReader
from overread.models.contract import Posed
from overread.runs.folder import EXAM_TABLES, Run
from overread.settings import Settings
from overread.tables import QUESTION_KINDS, Case

EXAMPLES = Path(__file__).parent / "examples"


@pytest.fixture(scope="session")
def everyone(tmp_path_factory: pytest.TempPathFactory, trees: ModuleType) -> dict[str, str]:
    """Where the data of each alias lie: a few phantoms of every kind, made-up archives, real data for the others."""
    folder = phantoms.build(tmp_path_factory.mktemp("everyone") / "phantoms", patients=6)
    real = Path(os.environ.get("OVERREAD_REAL_DATA", folder))
    aliases = [catalog.load("archives", name).ALIAS for name in catalog.entries("archives")]
    found = {alias: str(real / alias) for alias in aliases if (real / alias).is_dir()}
    made = {alias: str(make(tmp_path_factory.mktemp(alias))) for alias, make in trees.MAKERS.items()}
    return {**found, **made, "phantoms": str(folder)}


@pytest.fixture(scope="session")
def cases_of(everyone: dict[str, str]) -> object:
    """The cases of some archives; a test of an archive that is not on this machine is skipped by name."""
    known: dict[tuple[str, ...], list[Case]] = {}

    def read(archives: Sequence[str]) -> list[Case]:
        names = tuple(archives)
        if names not in known:
            try:
                known[names] = list(pipeline.read_cases(Settings("", data=everyone), names))
            except BadInput as error:
                if "data alias" not in error.what:
                    raise
                pytest.skip(f"no data: {error.what}")
        return known[names]

    return read


@pytest.fixture
def posed_of(everyone: dict[str, str]) -> Iterator[Callable[..., list[Posed]]]:
    """All dialogues of a compiled run as they are put to a model; a reply that is shown says what the key says."""
    with contextlib.ExitStack() as stack:

        def pose(run: Run, forms: Mapping[str, str], kinds: Sequence[str] = QUESTION_KINDS) -> list[Posed]:
            roots = pipeline.find_roots(everyone)
            reader = stack.enter_context(MediaReader(roots, forms))
            tables = {table: run.table(table) for table in EXAM_TABLES}
            answers = dict(zip(tables["key"]["question"], tables["key"]["answer"].list.join(", "), strict=True))
            said = {(question, "x", 0, 0): text for question, text in answers.items()}
            asked = tables["questions"].filter(pl.col("kind").is_in(kinds))
            if not forms:
                plain = tables["dialogues"].filter(pl.col("condition") == "plain")
                asked = asked.filter(pl.col("dialogue").is_in(plain["id"].implode()))
            wanted = group([(dialogue, question, 0, 0) for dialogue, question in asked["dialogue", "id"].iter_rows()])
            poser = Poser.of_part(tables, wanted)
            return [poser.pose(one, said, "x", Witness(reader.look)) for one in wanted]

        yield pose
