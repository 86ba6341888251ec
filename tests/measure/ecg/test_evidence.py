from __future__ import annotations

import functools

import pytest

from overread.errors import BadInput
from overread.measure.ecg import Measured, measure_ecg
from overread.measure.ecg.evidence import evidence
from overread.phantoms.ecg import ecg_phantom


@functools.cache
def measured(rhythm: str, rate_hz: int = 500) -> Measured:
    made = ecg_phantom(7, rhythm, rate_hz=rate_hz, snr_db=30.0)
    return measure_ecg(made.mv, made.rate_hz)


@pytest.mark.parametrize("rate_hz", [250, 500])
def test_the_evidence_of_an_interval_is_as_long_as_the_interval(rate_hz):
    found = measured("normal", rate_hz)
    for name in ("pr_ms", "qrs_ms", "qt_ms", "rr_ms"):
        spans = evidence(found, name)
        assert len(spans) >= 8
        lengths = sorted((last - first) * 1000 / rate_hz for first, last in spans)
        assert lengths[len(lengths) // 2] == pytest.approx(getattr(found.facts, name), abs=2000 / rate_hz + 2)


def test_the_evidence_of_an_r_wave_is_where_the_lead_is_highest():
    made = ecg_phantom(7, "normal", snr_db=30.0)
    spans = evidence(measured("normal"), "V5.r_mv")
    tallest = int(made.mv[4 + 6].argmax())
    assert any(first <= tallest <= last for first, last in spans)


def test_what_is_premature_dropped_or_blocked_is_pointed_at():
    early = evidence(measured("premature_ventricular"), "premature")
    true = ecg_phantom(7, "premature_ventricular", snr_db=30.0).boundaries
    assert len(early) == int(true.kinds.sum())
    mobitz = measured("second_degree_av_block/mobitz")
    gaps, lone = evidence(mobitz, "dropped"), evidence(mobitz, "blocked_p")
    assert gaps and lone and all(any(a < p and q < b for a, b in gaps) for p, q in lone)


def test_what_is_not_there_has_no_evidence():
    assert evidence(measured("normal"), "premature") == () == evidence(measured("normal"), "dropped")


@pytest.mark.parametrize("name", ["mood", "V1.mood", "V9.r_mv", ""])
def test_unknown_facts_are_named(name):
    with pytest.raises(BadInput, match="fact"):
        evidence(measured("normal"), name)
