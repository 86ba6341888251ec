from __future__ import annotations

import io
import json
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from PIL import Image

from overread.errors import BadInput
from overread.media import sheet
from overread.media.ecg import LEADS

RATE = 500.0
CLINICAL = "clinical,dpi=101.6"
PROFILES = (CLINICAL, "6x2,dpi=101.6", "12x1,dpi=101.6", "upstream")
MM = 4
"""Pixels a millimetre at this resolution."""


def flat(samples: int = 5000) -> np.ndarray:
    return np.zeros((12, samples), dtype=np.float32)


def spike(lead: str, at: float, mv: float, samples: int = 5000) -> np.ndarray:
    """Flat but for one triangle of 40 ms."""
    found = flat(samples)
    middle = round(at * RATE)
    found[LEADS.index(lead), middle - 10 : middle + 11] = mv * (1 - np.abs(np.arange(-10, 11)) / 10)
    return found


def dark(image: np.ndarray) -> np.ndarray:
    """Where the trace is, or text: grid lines are bright in at least one colour."""
    return image.astype(int).max(axis=2) < 200


def inked(drawn: sheet.Drawn, empty: sheet.Drawn) -> np.ndarray:
    """Where two drawings differ."""
    return (drawn.image != empty.image).any(axis=2)


def rows_of(mask: np.ndarray) -> tuple[int, int]:
    rows = np.flatnonzero(mask.any(axis=1))
    return int(rows[0]), int(rows[-1])


@pytest.fixture(scope="module")
def empty() -> Callable[[str], sheet.Drawn]:
    """Sheets of flat lines, each drawn once."""
    known: dict[str, sheet.Drawn] = {}
    return lambda name: known.setdefault(name, sheet.draw(flat(), RATE, LEADS, name))


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(("lead", "at", "mv"), [("V2", 5.9, 0.9), ("aVF", 3.1, -0.8)])
def test_a_spike_lands_where_its_box_says(
    profile: str, lead: str, at: float, mv: float, empty: Callable[[str], sheet.Drawn]
) -> None:
    drawn = sheet.draw(spike(lead, at, mv), RATE, LEADS, profile)
    box = next(one for one in drawn.boxes if one.lead == lead and one.seconds[0] <= at < one.seconds[1])
    x, y = (float(one) for one in box.to_px(at, mv))
    top, bottom = rows_of(inked(drawn, empty(profile)))
    columns = np.flatnonzero(inked(drawn, empty(profile)).any(axis=0))
    assert (top if mv > 0 else bottom) == pytest.approx(y, abs=4)
    assert (columns[0] + columns[-1] + 1) / 2 == pytest.approx(x, abs=2)
    left, upper, right, lower = box.rectangle
    assert left <= x <= right and upper <= y <= lower


@pytest.mark.parametrize("profile", PROFILES)
def test_every_profile_draws_every_lead_and_the_scale_is_true(
    profile: str, empty: Callable[[str], sheet.Drawn]
) -> None:
    drawn = empty(profile)
    assert {box.lead for box in drawn.boxes} == set(LEADS)
    per_s, per_mv = (100, 40) if profile == "upstream" else (25 * MM, 10 * MM)
    assert all(box.px_per_s == pytest.approx(per_s) for box in drawn.boxes)
    assert all(box.px_per_mv == pytest.approx(per_mv) for box in drawn.boxes)
    assert all(box.state == "drawn" for box in drawn.boxes)
    assert drawn.samples == (0, 5000)
    height, width = drawn.image.shape[:2]
    for box in drawn.boxes:
        left, top, right, bottom = box.rectangle
        assert 0 <= left < right <= width and 0 <= top < bottom <= height
        x, y = (int(one) for one in box.to_px(np.mean(box.seconds), 0))
        ink = drawn.image[y - 1 : y + 2, x].astype(int).sum(axis=1).min()
        assert ink < 400, f"no flat line of {box.lead}"


def test_the_clinical_sheet_goes_on_in_time_and_ends_with_a_rhythm_strip(empty: Callable[[str], sheet.Drawn]) -> None:
    boxes = empty(CLINICAL).boxes
    order = "I aVR V1 V4 II aVL V2 V5 III aVF V3 V6 II"
    assert " ".join(box.lead for box in boxes) == order
    assert [box.seconds for box in boxes[:4]] == [(0, 2.5), (2.5, 5), (5, 7.5), (7.5, 10)]
    assert boxes[-1].seconds == (0, 10)
    assert boxes[1].samples == (1250, 2500)
    assert empty(CLINICAL).box("II") is boxes[4]


def test_lines_of_the_grid_stand_every_millimetre_and_heavier_ones_every_five() -> None:
    drawn, colours = sheet.draw(flat(), RATE, LEADS, "clinical"), sheet.colours_of("red")
    left, top, right, _ = (round(edge) for edge in drawn.boxes[0].rectangle)
    paper = [int(colours.paper[n : n + 2], 16) for n in (1, 3, 5)]
    between_two_lines = drawn.image[top + 4, left + 240 : right].astype(int)
    apart = np.abs(between_two_lines - paper).sum(axis=1)
    lines = np.flatnonzero((apart > 30) & (apart >= np.roll(apart, 1)) & (apart > np.roll(apart, -1)))
    heavy = np.flatnonzero(apart > 130)
    assert len(lines) == pytest.approx((right - left) / 8 - 30, abs=1)
    assert set(np.diff(lines[1:-1])) == {8}
    assert set(np.diff(heavy)) == {40}


def test_the_calibration_pulse_is_one_millivolt_high_and_a_fifth_of_a_second_wide(
    empty: Callable[[str], sheet.Drawn],
) -> None:
    drawn = empty(CLINICAL)
    box = drawn.boxes[0]
    left, top, _, bottom = (round(edge) for edge in box.rectangle)
    pulse = dark(drawn.image)[top:bottom, left - 14 * MM : left - 4]
    first, last = rows_of(pulse)
    line = round(0.3 * MM)
    assert last - first == pytest.approx(10 * MM + line, abs=2)
    heights = np.flatnonzero(pulse[first + 4 : last - 4].any(axis=0))
    assert heights[-1] - heights[0] == pytest.approx(5 * MM + line, abs=2)
    assert top + last == pytest.approx(box.affine[5], abs=line)


def test_settings_behind_the_name_change_scale_and_looks() -> None:
    fast = sheet.draw(flat(), RATE, LEADS, "clinical,speed_mm_s=50,gain_mm_mv=5,dpi=203.2,seconds=5")
    assert fast.boxes[0].px_per_s == pytest.approx(400)
    assert fast.boxes[0].px_per_mv == pytest.approx(40)
    assert fast.samples == (0, 2500)
    bare = sheet.draw(
        flat(), RATE, LEADS, "12x1,grid=none,header=none,footer=false,pulse=no,axis=no,dpi=50,colours=grey"
    )
    assert (bare.image[..., 0] == bare.image[..., 2]).all()
    assert sheet.draw(flat(), RATE, LEADS, "6x2,rhythm=II+V1,dpi=50").boxes[-1].lead == "V1"
    same = sheet.draw(flat(), RATE, LEADS, "6x2,together=yes,dpi=50")
    assert {box.seconds for box in same.boxes} == {(0, 5)}
    assert same.samples == (0, 2500)


def test_a_short_record_leaves_no_column_empty_and_says_the_true_seconds() -> None:
    drawn = sheet.draw(flat(3000), RATE, LEADS, "clinical,dpi=50")
    assert [box.seconds for box in drawn.boxes[:4]] == [(0, 2.5), (2.5, 5), (3.5, 6), (3.5, 6)]
    assert [box.samples for box in drawn.boxes[:4]] == [(0, 1250), (1250, 2500), (1750, 3000), (1750, 3000)]
    tiny = sheet.draw(flat(1), RATE, LEADS, "clinical,dpi=50")
    assert tiny.boxes[3].seconds == (0, 2.5) and tiny.samples == (0, 1)


def test_of_a_long_record_the_first_seconds_or_later_ones_are_drawn() -> None:
    assert sheet.draw(flat(30000), RATE, LEADS, "clinical,dpi=50").samples == (0, 5000)
    later = sheet.draw(flat(30000), RATE, LEADS, "clinical,dpi=50,start_s=12")
    assert later.samples == (6000, 11000)
    assert later.boxes[1].seconds == (14.5, 17)
    with pytest.raises(BadInput, match="begin"):
        sheet.draw(flat(), RATE, LEADS, "clinical,start_s=10")


@pytest.mark.parametrize("profile", ["12x1,dpi=101.6", "upstream"])
def test_what_is_no_number_is_left_out(profile: str, empty: Callable[[str], sheet.Drawn]) -> None:
    mv = flat()
    mv[1, 2000:3000] = np.nan
    mv[1, 2500] = np.inf
    drawn = sheet.draw(mv, RATE, LEADS, profile)
    gone = np.flatnonzero(inked(drawn, empty(profile)).any(axis=0))
    (first, last), _ = drawn.box("II").to_px([4.0, 6.0], 0)
    assert gone[0] == pytest.approx(first, abs=3) and gone[-1] == pytest.approx(last, abs=3)
    rows = rows_of(inked(drawn, empty(profile)))
    assert rows[1] - rows[0] < 6


@pytest.mark.parametrize("profile", PROFILES)
def test_missing_leads_and_leads_without_a_number_are_told(profile: str, empty: Callable[[str], sheet.Drawn]) -> None:
    keep = [n for n, lead in enumerate(LEADS) if lead != "V3"]
    mv = flat()
    mv[LEADS.index("aVL")] = np.nan
    drawn = sheet.draw(mv[keep], RATE, [LEADS[n].upper() for n in keep], profile)
    assert {box.lead: box.state for box in drawn.boxes if box.state != "drawn"} == {"V3": "missing", "aVL": "empty"}
    for lead in ("V3", "aVL"):
        left, top, right, bottom = (round(edge) for edge in drawn.box(lead).rectangle)
        written = inked(drawn, empty(profile))[top + 1 : bottom, left + 8 : right]
        first, last = rows_of(written)
        assert last - first > 8, "words are higher than a flat line"


def test_a_huge_trace_is_cut_off_and_stays_out_of_the_rows_beyond_the_next(empty: Callable[[str], sheet.Drawn]) -> None:
    mv = flat()
    mv[0, 100:600:2] = 1e9
    mv[0, 101:600:2] = -1e30
    drawn = sheet.draw(mv, RATE, LEADS, CLINICAL)
    _, top, _, bottom = drawn.box("I").rectangle
    below_header = inked(drawn, empty(CLINICAL))[: round(drawn.boxes[-1].rectangle[3])]
    first, last = rows_of(below_header)
    half = (bottom - top) / 2
    assert first >= top - 2 and last <= bottom + half + 2


def test_a_tall_trace_moves_its_zero_line_by_whole_millimetres() -> None:
    drawn = sheet.draw(spike("V2", 5.9, 3.1), RATE, LEADS, CLINICAL)
    high = drawn.box("V2").mv[1]
    assert high > 3.1 and (high * 10) % 1 == pytest.approx(0, abs=1e-9)
    assert drawn.box("V1").mv == (-2, 2)
    wild = spike("V2", 5.9, 9.0)
    assert sheet.draw(wild, RATE, LEADS, CLINICAL).box("V2").mv == (-2, 2), "it finds no room anyway"


def test_the_same_signal_gives_the_same_bytes_whatever_was_drawn_before() -> None:
    noise = np.random.default_rng(0).normal(size=(12, 5000)).astype(np.float32)
    for profile in ("clinical,dpi=80", "upstream"):
        before = sheet.draw(flat(), RATE, LEADS, profile).png()
        marks = [sheet.Mark("", 100, 200, "P", "x")]
        sheet.draw(noise, RATE, LEADS, profile, heading=sheet.Heading("Somebody", lines=("a",)), marks=marks)
        assert sheet.draw(flat(), RATE, LEADS, profile).png() == before


def test_threads_do_not_draw_on_each_others_sheets() -> None:
    signals = [spike("I", 1.0, level / 10) for level in range(1, 7)]
    alone = [sheet.draw(one, RATE, LEADS, "upstream").image for one in signals]
    found: list[np.ndarray | None] = [None] * len(signals)

    def work(number: int) -> None:
        found[number] = sheet.draw(signals[number], RATE, LEADS, "upstream").image

    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(signals))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(one, other) for one, other in zip(alone, found, strict=True))


def test_the_png_holds_the_picture_and_its_resolution(empty: Callable[[str], sheet.Drawn]) -> None:
    drawn = empty(CLINICAL)
    opened = Image.open(io.BytesIO(drawn.png()))
    assert np.array_equal(np.asarray(opened), drawn.image)
    assert opened.info["dpi"] == pytest.approx((101.6, 101.6), abs=0.1)


def test_facts_are_plain_json_and_hold_every_box(empty: Callable[[str], sheet.Drawn]) -> None:
    facts = json.loads(json.dumps(empty(CLINICAL).facts()))
    assert (facts["speed_mm_s"], facts["gain_mm_mv"]) == (25, 10)
    assert [one["lead"] for one in facts["boxes"]] == [box.lead for box in empty(CLINICAL).boxes]
    assert facts["boxes"][0]["px_per_mv"] == 40


def test_an_anonymous_header_does_not_depend_on_the_person() -> None:
    def said(text: str, patient: str) -> bytes:
        heading = sheet.Heading(patient, "id " + patient, "F", "60", "2020 " + patient)
        return sheet.draw(flat(), RATE, LEADS, text, heading=heading).png()

    assert said("clinical,dpi=80,header=anonymous", "Ann") == said("clinical,dpi=80,header=anonymous", "Bob")
    assert said("clinical,dpi=80", "Ann") != said("clinical,dpi=80", "Bob")
    assert said("clinical,dpi=80,header=none", "Ann") == said("clinical,dpi=80,header=none", "Bob")


def test_any_text_can_stand_in_a_header() -> None:
    heading = sheet.Heading(
        "$\\frac{x}$\n\t\0 漢字 \U0001f600 " * 50, "%s", "", "", "", ("a" * 9999, "b", "c", "d", "e")
    )
    drawn = sheet.draw(flat(), RATE, LEADS, "clinical,dpi=60", heading=heading)
    assert not dark(drawn.image)[:, -5:].any(), "a long line ran off the sheet"


MARKS = [sheet.Mark("II", 200, 260, "P"), sheet.Mark("ii", 300, 340, "QRS", "wide"), sheet.Mark("", 400, 400, "peak")]


@pytest.mark.parametrize("profile", [CLINICAL, "upstream"])
def test_marks_lie_where_their_samples_are(profile: str, empty: Callable[[str], sheet.Drawn]) -> None:
    drawn = sheet.draw(flat(), RATE, LEADS, profile, marks=MARKS[:1])
    box = drawn.box("II")
    left, top, right, bottom = (round(edge) for edge in box.rectangle)
    changed = inked(drawn, empty(profile))[top:bottom, left:right]
    columns = left + np.flatnonzero(changed.any(axis=0))
    (first, last), _ = box.to_px([200 / RATE, 260 / RATE], 0)
    assert columns[0] == pytest.approx(first, abs=2) and columns[-1] == pytest.approx(last, abs=2)
    left, top, right, bottom = (round(edge) for edge in drawn.box("III").rectangle)
    assert not inked(drawn, empty(profile))[top + 1 : bottom - 1, left:right].any()


def test_marks_of_all_leads_kinds_of_ones_own_and_labels_are_drawn() -> None:
    drawn = sheet.draw(flat(), RATE, LEADS, CLINICAL, marks=MARKS)
    plain = sheet.draw(flat(), RATE, LEADS, CLINICAL, marks=MARKS[:2])
    boxes = [box for box in drawn.boxes if box.samples[0] <= 400 < box.samples[1]]
    assert len(boxes) == 4
    for box in boxes:
        x, y = (int(one) for one in box.to_px(400 / RATE, 0.5))
        assert inked(drawn, plain)[y, x - 2 : x + 3].any()


@pytest.mark.parametrize(
    "mark",
    [
        sheet.Mark("II", 10, 5, "P"),
        sheet.Mark("II", -1, 5, "P"),
        sheet.Mark("II", 4000, 5000, "P"),
        sheet.Mark("X", 1, 5, "P"),
    ],
)
def test_a_mark_that_lies_nowhere_is_refused(mark: sheet.Mark) -> None:
    with pytest.raises(BadInput):
        sheet.draw(flat(), RATE, LEADS, marks=[mark])


@pytest.mark.parametrize(
    ("mv", "rate", "leads", "profile", "said"),
    [
        (flat(), RATE, LEADS, "poster", "no sheet named 'poster'"),
        (flat(), RATE, LEADS, "", "no sheet"),
        (flat(0), RATE, LEADS, "clinical", "no samples"),
        (np.zeros((0, 10)), RATE, (), "clinical", "no samples"),
        (np.zeros(10), RATE, ("I",), "clinical", "dimensions"),
        (flat(), RATE, LEADS[:11], "clinical", "12 signals and 11 names"),
        (flat(), RATE, (*LEADS[:11], "V7"), "clinical", "no lead named 'V7'"),
        (flat(), RATE, (*LEADS[:11], "i"), "clinical", "twice"),
        (flat(), 0.0, LEADS, "clinical", "sampling rate"),
        (flat(), float("nan"), LEADS, "clinical", "sampling rate"),
        (flat(), -500, LEADS, "upstream", "sampling rate"),
        (flat(), "500", LEADS, "upstream", "sampling rate"),
        ([["a"]], RATE, ("I",), "clinical", "no array of numbers"),
        (flat(30000), RATE, LEADS, "upstream", "pixels in width"),
        (flat(), RATE, LEADS, "clinical,dpi=800", "pixels"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_words(mv: Any, rate: Any, leads: Any, profile: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        sheet.draw(mv, rate, leads, profile)
