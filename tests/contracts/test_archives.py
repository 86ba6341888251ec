"""Every archive and every builder against its contract; an archive that is not on this machine is skipped by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path

import pytest

from overread import catalog, pipeline
from overread.archives.contract import check
from overread.columns import rows_of, to_frame
from overread.errors import BadInput
from overread.media.contract import KINDS as MEDIA_KINDS
from overread.tables import Case, canonical

ARCHIVES = list(catalog.entries("archives"))
BUILDERS = list(catalog.entries("builders"))
SOME = 200
"""So many cases of a large archive are looked at."""


@pytest.mark.parametrize("name", ARCHIVES)
def test_an_archive_says_what_it_is_under_which_terms_and_where_to_ask(name: str) -> None:
    entry, module = catalog.describe("archives", name), catalog.load("archives", name)
    assert entry.title and {"media", "terms", "licence", "access"} <= set(entry.card)
    assert module.ALIAS and module.ACCESS
    assert module.TERMS in ("open", "credentialed", "local-only")
    assert entry.card["terms"].split()[0].rstrip(",;") == module.TERMS
    for pattern, what in module.EXPECTED:
        assert pattern and what and not pattern.startswith("/")


def test_no_two_archives_have_one_alias() -> None:
    aliases = [catalog.load("archives", name).ALIAS for name in ARCHIVES]
    assert len(set(aliases)) == len(aliases)


@pytest.mark.parametrize("name", ARCHIVES)
def test_the_cases_stream_in_a_fixed_order_with_ids_of_their_own(
    name: str, everyone: dict[str, str], cases_of: Callable[[Sequence[str]], list[Case]]
) -> None:
    module = catalog.load("archives", name)
    cases_of([name])
    root = pipeline.find_roots(everyone).root(module.ALIAS)
    stream = module.cases(root)
    assert inspect.isgenerator(stream) or iter(stream) is stream, "cases must stream"
    cases = list(islice(stream, SOME))
    assert cases
    assert [case.id for case in islice(module.cases(root), SOME)] == [case.id for case in cases]
    assert len({case.id for case in cases}) == len(cases)
    roots = pipeline.find_roots(everyone)
    others = getattr(module, "OTHERS", ())
    for case in cases:
        alias, _, person = case.patient.partition("/")
        assert case.archive == name and alias in (module.ALIAS, *others) and person
        lies_in = [catalog.load("archives", medium.uri.partition("://")[0]) for medium in case.media] if others else []
        assert case.terms in {module.TERMS, *(archive.TERMS for archive in lies_in)}
        assert case.media and len({medium.name for medium in case.media}) == len(case.media)
        assert {"geometry", "length"} <= set(case.facts)
        canonical(case.facts)
        assert list(rows_of(to_frame([case], Case), Case)) == [case]
        for medium in case.media:
            assert medium.kind in MEDIA_KINDS and medium.uri.partition("://")[0] in (module.ALIAS, *others)
            roots.resolve(medium.uri, must_exist=False)


@pytest.mark.parametrize("name", ARCHIVES)
def test_what_is_expected_of_an_archive_is_what_is_there(
    name: str, everyone: dict[str, str], cases_of: Callable[[Sequence[str]], list[Case]], tmp_path: Path
) -> None:
    module = catalog.load("archives", name)
    missing = check(module, tmp_path).missing
    assert missing == tuple(pattern for pattern, _ in module.EXPECTED), "nothing is there, so all is missing"
    cases_of([name])
    assert check(module, pipeline.find_roots(everyone).root(module.ALIAS)).missing == ()


@pytest.mark.parametrize("name", ARCHIVES)
def test_an_empty_folder_is_told_by_name(name: str, tmp_path: Path) -> None:
    module = catalog.load("archives", name)
    with pytest.raises(BadInput) as error:
        list(module.cases(tmp_path))
    assert str(tmp_path) in str(error.value)


@pytest.mark.parametrize("name", BUILDERS)
def test_a_builder_gives_equal_bytes_for_equal_settings(name: str, tmp_path: Path) -> None:
    module = catalog.load("builders", name)
    given = inspect.signature(module.build).parameters
    if "source" in given:
        pytest.skip("it reads an archive")
    few = {"patients": 2} if "patients" in given else {}
    one, other = (module.build(tmp_path / folder, **few) for folder in "ab")
    names = [sorted(path.relative_to(root) for path in root.rglob("*") if path.is_file()) for root in (one, other)]
    assert names[0] == names[1] and names[0]
    assert [path for path in names[0] if (one / path).read_bytes() != (other / path).read_bytes()] == []
    assert all(parameter.default is not inspect.Parameter.empty for n, parameter in given.items() if n != "out")
