from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overread.errors import BadInput
from overread.media import sheet


def test_the_named_profiles_are_these() -> None:
    assert sheet.profiles() == ("clinical", "6x2", "12x1", "upstream")


@pytest.mark.parametrize("name", ["clinical", "6x2", "12x1", "upstream"])
def test_every_profile_can_be_read(name: str) -> None:
    made = sheet.sheet_of(name)
    assert isinstance(made, sheet.Plot if name == "upstream" else sheet.Paper)
    assert sheet.sheet_of(name) == made and hash(made)


@pytest.mark.parametrize("name", ["red", "blue", "green", "grey"])
def test_every_set_of_colours_can_be_read(name: str) -> None:
    assert sheet.colours_of(name).paper.startswith("#f")


def test_settings_are_read_by_their_kind() -> None:
    made = sheet.sheet_of("clinical, dpi=150 ,rows=v1+V2/II I,rhythm=,pulse=No,row_mm=25")
    assert isinstance(made, sheet.Paper)
    assert (made.dpi, made.pulse, made.row_mm) == (150.0, False, 25.0)
    assert (made.rows, made.rhythm) == ((("V1", "V2"), ("II", "I")), ())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("clinic", "no sheet named"),
        ("clinical,paper=blue", "no setting of a sheet named 'paper'"),
        ("clinical,dpi", "no setting"),
        ("clinical,dpi=fine", "no number"),
        ("clinical,dpi=nan", "dpi is nan"),
        ("clinical,dpi=1", "dpi is 1"),
        ("clinical,gain_mm_mv=0", "gain_mm_mv"),
        ("clinical,grid=dots", "value of grid"),
        ("clinical,pulse=perhaps", "value of pulse"),
        ("clinical,header=all", "value of header"),
        ("clinical,colours=pink", "set of colours"),
        ("clinical,rows=I II/III", "not all as many"),
        ("clinical,rows=", "no leads"),
        ("clinical,rhythm=V9", "no lead named 'V9'"),
        ("clinical,row_mm=33", "row_mm"),
        ("clinical,names=before", "one lead only"),
        ("upstream,dpi=100", "no setting"),
    ],
)
def test_a_wrong_setting_is_told(text: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        sheet.sheet_of(text)


def test_colours_are_checked() -> None:
    with pytest.raises(BadInput, match="no colour"):
        dataclasses.replace(sheet.colours_of("red"), trace="black")


@given(st.text())
def test_any_text_is_a_sheet_or_bad_input(text: str) -> None:
    for name in (text, f"clinical,{text}", f"clinical,dpi={text}", f"6x2,rows={text}"):
        try:
            sheet.sheet_of(name)
        except BadInput:
            continue
