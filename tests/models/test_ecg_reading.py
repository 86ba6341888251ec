from __future__ import annotations

import functools

import numpy as np
import pytest

from overread.errors import BadInput
from overread.guidelines.diagnoses import book, diagnoses
from overread.measure.ecg import measure_ecg
from overread.models.ecg_reading import EcgReading
from overread.phantoms.ecg import ecg_phantom


@functools.cache
def reading(recipe: str) -> EcgReading:
    made = ecg_phantom(9, recipe, snr_db=30.0)
    return EcgReading(measure_ecg(made.mv, made.rate_hz))


def test_a_finding_says_where_it_is_seen():
    found = reading("complete_left_bundle_branch_block/notched").finding("notched_lateral_r")
    assert found.holds and found.leads and found.sure > 0.5
    assert {one.part for one in found.evidence} == set(found.leads)
    assert all(0 <= one.start < one.stop <= 5000 and one.about == "notched" for one in found.evidence)


def test_a_diagnosis_has_the_evidence_of_its_findings():
    found = reading("second_degree_av_block/mobitz").diagnosis("second_degree_av_block")
    assert found.holds and {one.about for one in found.evidence} == {"dropped", "blocked_p"}
    assert [one.name for one in reading("normal").path("second_degree_av_block")] == ["dropped_beat"]


def test_every_finding_and_diagnosis_is_read():
    one = reading("normal")
    assert all(one.finding(name).holds is not None for name in book()["findings"] if name != "wide_premature_beat")
    assert one.finding("wide_premature_beat").holds is None
    assert not any(one.diagnosis(name).holds for name in diagnoses())


def test_without_the_leads_a_finding_is_not_evaluable():
    made = ecg_phantom(9, "normal", snr_db=30.0)
    mv = made.mv.copy()
    mv[6:] = np.nan
    found = EcgReading(measure_ecg(mv, made.rate_hz)).finding("st_elevation_anterior")
    assert found.holds is None and found.sure == 0.0


def test_values_and_their_places_are_told():
    one = reading("first_degree_av_block")
    assert one.value("pr_ms") > 200 and one.value("V1.s_mv") > 0.3
    first, last = one.spans_s("pr_ms")[0]
    assert last - first == pytest.approx(one.value("pr_ms") / 1000, abs=0.01)
    with pytest.raises(BadInput, match="fact"):
        one.value("V1.mood")
