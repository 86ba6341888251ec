"""The delineator beside the waves that cardiologists drew in LUDB: the half of the records that it was not tuned on.

It was tuned on the records with odd numbers; those with even numbers are held against the targets here.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from overread.archives.ludb import boundaries
from overread.measure.ecg import Boundaries, delineate
from overread.measure.ecg.agreement import Agreement, agreement, consensus, drawn_spans, drawn_within, found_spans
from overread.media.ecg import read
from overread.media.leads import LEADS

pytestmark = pytest.mark.real


def even_records(root: Path) -> list[str]:
    """The numbers of the records that the delineator was not tuned on."""
    numbers = sorted(int(path.stem) for path in (root / "data").glob("*.hea"))
    return [str(number) for number in numbers if number % 2 == 0]


@pytest.fixture(scope="module")
def found(real_data: Path) -> dict[str, Boundaries]:
    root = real_data / "ludb"
    records = {}
    for record in even_records(root):
        study = read(root / "data" / f"{record}.hea")
        records[record] = delineate(study.mv, study.rate_hz)
    return records


@pytest.fixture(scope="module")
def agreed(real_data: Path, found: dict[str, Boundaries]) -> dict[str, Agreement]:
    """By wave: found joint boundaries beside the consensus over leads, all records together."""
    total = {kind: Agreement() for kind in ("p", "qrs", "t")}
    for record, marks in found.items():
        waves = boundaries(real_data / "ludb", record)
        for kind in total:
            true = consensus(drawn_spans(waves, kind), marks.rate_hz)
            total[kind] += agreement(true, found_spans(marks, kind), marks.rate_hz, drawn_within(waves))
    return total


def test_no_record_fails(real_data: Path, found: dict[str, Boundaries]) -> None:
    assert len(found) == len(even_records(real_data / "ludb")) >= 50
    assert all(len(marks.peaks) >= 3 and marks.usable.all() for marks in found.values())


def test_qrs_complexes_are_found_and_timed(agreed: dict[str, Agreement]) -> None:
    qrs = agreed["qrs"]
    assert qrs.f1 >= 0.995
    for bias, spread in (qrs.onset, qrs.offset):
        assert abs(bias) <= 5.0 and spread <= 12.0


def test_p_waves_are_found_and_timed(agreed: dict[str, Agreement]) -> None:
    assert agreed["p"].f1 >= 0.95
    assert abs(agreed["p"].offset[0]) <= 8.0 and abs(agreed["p"].onset[0]) <= 8.0


def test_t_waves_are_found_and_timed(agreed: dict[str, Agreement]) -> None:
    assert agreed["t"].f1 >= 0.98
    assert abs(agreed["t"].offset[0]) <= 8.0


def test_each_lead_has_boundaries_near_those_drawn_in_it(real_data: Path, found: dict[str, Boundaries]) -> None:
    total = {kind: Agreement() for kind in ("p", "qrs", "t")}
    for record, marks in found.items():
        waves = boundaries(real_data / "ludb", record)
        for kind in total:
            for lead, drawn in zip(LEADS, drawn_spans(waves, kind), strict=True):
                found_here = found_spans(marks, kind, lead)
                total[kind] += agreement(drawn, found_here, marks.rate_hz, drawn_within(waves))
    assert total["qrs"].f1 >= 0.99 and total["t"].f1 >= 0.98 and total["p"].f1 >= 0.94
    assert all(abs(bias) <= 8.0 for one in total.values() for bias in (one.onset[0], one.offset[0]))
