"""Whether studies may be sent to another machine: open ones may; others only where the user says so, by archive.

The user says it with `--allow-remote ARCHIVE`, with `allow_remote = ["ARCHIVE"]` in a run file, or once for a machine
in overread.toml. It means that the agreement on these data allows sending them to that server.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping
from pathlib import Path

import polars as pl

from overread.errors import BadInput
from overread.roots import SETTINGS_FILE
from overread.runs.folder import Run

OPEN = "open"


def allowed_here(given: Collection[str], folder: Path) -> tuple[str, ...]:
    """The archives that may be sent: those given, and those that overread.toml in a folder names."""
    file = folder / SETTINGS_FILE
    try:
        named = tomllib.loads(file.read_text(encoding="utf-8")).get("allow_remote", [])
    except FileNotFoundError:
        named = []
    except (OSError, ValueError, RecursionError) as error:
        raise BadInput(f"the settings cannot be read: {error}", where=str(file), do="correct the file") from error
    if not isinstance(named, list) or not all(isinstance(name, str) for name in named):
        raise BadInput("'allow_remote' is no list of texts", where=str(file), do='write allow_remote = ["ARCHIVE"]')
    return tuple(dict.fromkeys((*given, *named)))


def check_terms(run: Run, remote: Mapping[str, str], allowed: Collection[str]) -> None:
    """Refuses models of other machines (label -> host) for an exam that shows or tells of studies not open to them."""
    if not remote:
        return
    closed = {archive: terms for archive, terms in closed_archives(run).items() if archive not in allowed}
    if not closed:
        return
    told = ", ".join(f"{archive} ({terms})" for archive, terms in sorted(closed.items()))
    models = ", ".join(f"{model} at {host}" for model, host in remote.items())
    options = " ".join(f"--allow-remote {archive}" for archive in sorted(closed))
    raise BadInput(
        f"the terms of {told} do not let these studies leave this machine, and {models} is another one",
        where=str(run.folder),
        do=f"ask a model of this machine; or, if your agreement on these data allows that server, say {options} "
        f"(run file, overread.toml: allow_remote = [...])",
    )


def closed_archives(run: Run) -> dict[str, str]:
    """The archives of an exam whose studies are not open, each with its terms; those of swapped studies as well."""
    cases = run.table("cases")
    terms_of = {case: (archive, terms) for case, archive, terms in cases.select("id", "archive", "terms").iter_rows()}
    media = cases.select("id", pl.col("media").list.eval(pl.element().struct.field("uri"))).explode("media")
    owner = {uri: terms_of[case] for case, uri in media.iter_rows()}
    found: dict[str, str] = {}
    for index in range(len(run.parts)):
        dialogues = run.part("dialogues", index, ["case", "terms", "media"])
        shown = pl.col("media").list.eval(pl.element().struct.field("uri"))
        for case, terms, uris in dialogues.select("case", "terms", shown).unique().iter_rows():
            about = [terms_of[case], *(owner[uri] for uri in uris if uri in owner)]
            found.update({archive: said for archive, said in about if said != OPEN})
            if terms != OPEN and not any(said != OPEN for _, said in about):
                found[_alias(uris, terms_of[case][0])] = terms  # another study is shown in place of the case's own
    return found


def _alias(uris: list[str], archive: str) -> str:
    """What the other study is known by, where its case is not in the exam."""
    return uris[0].partition("://")[0] if uris else archive
