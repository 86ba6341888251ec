"""What all ECG archives do alike: make a case with facts of the same names. `contract.py` lists the facts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from overread.archives.split import part_of
from overread.errors import BadInput
from overread.roots import split
from overread.tables import Case, Json, Media, Terms, canonical, content_id

PatientFrom = Literal["archive", "folder", "study"]

LEADS = 12
_ID = re.compile(r"[^\x00-\x1f\x7f]{1,200}")


def geometry(samples: int, rate_hz: float, leads: int = LEADS) -> dict[str, Any]:
    """`geometry`, `length` and `rate_hz` of an ECG."""
    rate: int | float = int(rate_hz) if float(rate_hz).is_integer() else rate_hz
    return {"geometry": f"{leads}x{samples}@{rate:g}", "length": samples, "rate_hz": rate}


def media_of(alias: str, files: Mapping[str, str], where: str) -> tuple[Media, ...]:
    """One medium for each name, by its path below the archive's root, which is not trusted."""
    media = tuple(Media(name, "ecg", f"{alias}://{file}") for name, file in files.items())
    for medium in media:
        try:
            split(medium.uri)
        except BadInput as error:
            raise BadInput(error.what, where=f"{where} ({error.where})", do="correct the path") from error
    return media


def patient_facts(alias: str, patient: str, told: PatientFrom, *, draw: bool = True) -> tuple[str, dict[str, Any]]:
    """The patient's id and what is known of it; with `draw`, the part of a split of our own.

    A study that stands for its patient is in no part: another study of the same person might be in another one.
    """
    named = f"{alias}/study-{patient}" if told == "study" else f"{alias}/{patient}"
    facts: dict[str, Any] = {"patient_from": told}
    if draw and told != "study":
        facts["split"] = part_of(named)
    return named, facts


def case_of(alias: str, terms: Terms, patient: str, media: Sequence[Media], facts: Mapping[str, Any]) -> Case:
    """The case of a study, `facts` without those that are None; refused where they cannot be kept."""
    known = Json({name: value for name, value in facts.items() if value is not None})
    where = media[0].uri
    try:
        text = canonical(known)
        text.encode()
        patient.encode()
        where.encode()
    except ValueError:
        raise BadInput(
            "the study has facts or names that cannot be kept", where=repr(where), do="correct them"
        ) from None
    if not _ID.fullmatch(patient):
        raise BadInput("the patient's id is empty, too long or no line of text", where=where, do="correct it")
    return Case(content_id("case", alias, where, text), alias, patient, tuple(media), known, terms)
