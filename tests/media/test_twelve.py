"""The twelve leads out of any file: never in a wrong order, never made up."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overread.errors import BadInput
from overread.media import ecg
from overread.media.ecg_files import Rows
from overread.media.leads import LEADS
from overread.media.twelve import twelve
from overread.media.wfdb import write_record

HERE = Path("r")
FORMS = (str, str.upper, str.lower, "ECG {}".format, "Lead {}".format, "EKG_{}".format, " {} ".format)


def rows(names: list[str], values: np.ndarray, units: str = "mV") -> Rows:
    return Rows(tuple(names), (units,) * len(names), values.astype(float), 500.0, 0)


@given(order=st.permutations(range(12)), data=st.data())
def test_whatever_the_order_and_the_spelling_every_lead_is_in_its_place(order: list[int], data: st.DataObject) -> None:
    values = np.arange(12.0)[:, None] + np.zeros((12, 3))
    names = [data.draw(st.sampled_from(FORMS))(LEADS[i]) for i in order]
    extra = data.draw(st.lists(st.sampled_from(["V7", "C3", "-aVR", "MLII", "resp"]), unique=True, max_size=3))
    found = twelve(rows(names + extra, np.vstack([values[order], np.full((len(extra), 3), 99.0)])), HERE)
    assert np.array_equal(found.mv, values) and found.derived == found.missing == ()


def test_leads_that_follow_from_two_others_are_computed_and_named(tmp_path: Path, trees: ModuleType) -> None:
    mv = trees.phantom(3)
    eight = [0, 1, *range(6, 12)]
    write_record(tmp_path, "r", mv[eight], 500, [LEADS[i] for i in eight])
    signal = ecg.read(tmp_path / "r")
    assert signal.derived == ("III", "aVR", "aVL", "aVF") and signal.missing == () and signal.doubts == ()
    assert np.allclose(signal.mv, mv, atol=0.0011), "the phantom's leads are rounded to whole microvolts"
    facts = ecg.deliver(signal, "signal").facts
    assert facts["derived"] == signal.derived
    assert np.allclose(signal.mv[2], signal.mv[1] - signal.mv[0], atol=1e-6)
    assert np.allclose(signal.mv[3:6].sum(axis=0), 0, atol=1e-6)


def test_what_is_derived_of_an_invalid_sample_is_invalid() -> None:
    values = np.array([[1.0, np.nan, 3.0], [2.0, 2.0, np.nan]])
    found = twelve(rows(["I", "II"], values), HERE, partial=True)
    for lead in ("III", "aVR", "aVL", "aVF"):
        assert np.isnan(found.mv[LEADS.index(lead)]).tolist() == [False, True, True]
    assert found.mv[[2, 3, 4, 5], 0].tolist() == [1.0, -1.5, 0.0, 1.5]


@pytest.mark.parametrize(
    ("names", "missing", "derived"),
    [
        (["II"], [lead for lead in LEADS if lead != "II"], ()),
        (["I"], list(LEADS[1:]), ()),
        (["I", "II", "V1"], ["V2", "V3", "V4", "V5", "V6"], ("III", "aVR", "aVL", "aVF")),
        (["I", "II", "III"], list(LEADS[6:]), ("aVR", "aVL", "aVF")),
        (["V1", "V2"], [*LEADS[:6], *LEADS[8:]], ()),
    ],
)
def test_fewer_leads_are_read_only_when_asked_for_and_what_is_missing_is_said(
    tmp_path: Path, trees: ModuleType, names: list[str], missing: list[str], derived: tuple[str, ...]
) -> None:
    mv = trees.phantom(3)
    write_record(tmp_path, "r", mv[[LEADS.index(name) for name in names]], 500, names)
    with pytest.raises(BadInput, match=f"missing: {missing[0]}"):
        ecg.read(tmp_path / "r")
    signal = ecg.read(tmp_path / "r", partial=True)
    assert signal.missing == tuple(missing) and signal.derived == derived and signal.doubts == ()
    for lead, row, whole in zip(LEADS, signal.mv, mv, strict=True):
        assert np.isnan(row).all() if lead in missing else np.allclose(row, whole, atol=0.0011)


def test_one_signal_that_does_not_say_which_lead_it_is_is_taken_as_lead_two_with_a_doubt() -> None:
    for name in ("ECG", "", "EKG 1"):
        found = twelve(rows([name], np.ones((1, 3))), HERE, partial=True)
        assert found.mv[1].tolist() == [1, 1, 1] and len(found.missing) == 11
        assert "does not say which lead" in found.doubts[0]
        with pytest.raises(BadInput, match="missing"):
            twelve(rows([name], np.ones((1, 3))), HERE)
    with pytest.raises(BadInput, match="none of the signals"):
        twelve(rows(["ECG 1", "ECG 2"], np.ones((2, 3))), HERE, partial=True)


def test_a_modified_lead_stands_in_only_when_asked_for_and_with_a_doubt() -> None:
    found = twelve(rows(["MLII", "V5"], np.ones((2, 3))), HERE, partial=True)
    assert "II" not in found.missing and "MLII is a modified lead" in found.doubts[0]
    both = twelve(rows(["MLII", "II"], np.array([[5.0], [7.0]])), HERE, partial=True)
    assert both.mv[1, 0] == 7.0 and both.doubts == ()
    with pytest.raises(BadInput, match="II"):
        twelve(rows(["MLII", *(lead for lead in LEADS if lead != "II")], np.ones((12, 3))), HERE)


def test_two_spellings_of_one_lead_are_refused() -> None:
    with pytest.raises(BadInput, match="II appears twice"):
        twelve(rows(["I", "II", "DII"], np.ones((3, 3))), HERE, partial=True)


def test_a_lead_of_another_unit_than_the_others_is_scaled_by_its_own() -> None:
    found = twelve(Rows(("I", "II"), ("mV", "uV"), np.array([[1.0], [500.0]]), 500.0, 0), HERE, partial=True)
    assert found.mv[:3, 0].tolist() == [1.0, 0.5, -0.5]


def test_a_negative_gain_turns_the_signal_over(tmp_path: Path, trees: ModuleType) -> None:
    mv = trees.phantom(3)
    header = write_record(tmp_path, "r", mv, 500, LEADS)
    header.write_text(header.read_text().replace("1000(0)/mV", "-1000(0)/mV"))
    assert np.array_equal(ecg.read(tmp_path / "r").mv, -mv)


def test_names_in_an_error_cannot_write_to_the_terminal() -> None:
    with pytest.raises(BadInput) as caught:
        twelve(rows(["\x1b[2Jevil\n" * 9], np.ones((1, 3))), HERE, partial=True)
    assert "\x1b" not in str(caught.value) and "\n" not in caught.value.what


def test_voltages_beyond_any_number_are_refused() -> None:
    with pytest.raises(BadInput, match="beyond"):
        twelve(rows(["I"], np.array([[1e300]]), "V"), HERE, partial=True)


def test_units_that_are_not_told_are_millivolts_only_where_that_can_be(tmp_path: Path, trees: ModuleType) -> None:
    mv = trees.phantom(3)
    for factor, units in ((1.0, ""), (25.0, "")):
        leads = [(lead, units, 500, np.clip(row * factor, -32, 32)) for lead, row in zip(LEADS, mv, strict=True)]
        (tmp_path / "r.edf").write_bytes(trees.edf(leads))
        if factor == 1.0:
            signal = ecg.read(tmp_path / "r.edf")
            assert np.allclose(signal.mv, mv, atol=1e-6) and any("does not tell its units" in d for d in signal.doubts)
        else:
            with pytest.raises(BadInput, match="units"):
                ecg.read(tmp_path / "r.edf")
