"""What is read of texts that state numbers: a table of texts, with what must be read (None: unreadable)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overread.judges.quantity import read

CASES = [
    # text, unit, tolerance, whole, expected
    ("120", "ms", None, False, 120.0),
    ("120 ms", "ms", None, False, 120.0),
    ("120ms", "ms", None, False, 120.0),
    ("120 ms.", "ms", None, False, 120.0),
    ("**120 ms**", "ms", None, False, 120.0),
    ("120 milliseconds", "ms", None, False, 120.0),
    ("0.12 s", "ms", None, False, 120.0),
    ("0.12 seconds", "ms", None, False, 120.0),
    ("120 ms", "s", None, False, 0.12),
    ("120 ms (0.12 s)", "ms", None, False, 120.0),
    ("0.12 s = 120 ms", "ms", None, False, 120.0),
    ("1500 uV", "mV", None, False, 1.5),
    ("1500 µV", "mV", None, False, 1.5),
    ("1.1 mV", "mV", None, False, 1.1),
    ("4.5 cm", "mm", None, False, 45.0),
    ("45 mm", "cm", None, False, 4.5),
    ("0.12 L", "ml", None, False, 120.0),
    ("120 cc", "ml", None, False, 120.0),
    ("120 cm³", "ml", None, False, 120.0),
    ("75 bpm", "bpm", None, False, 75.0),
    ("75 beats per minute", "bpm", None, False, 75.0),
    ("75/min", "bpm", None, False, 75.0),
    ("55%", "%", None, False, 55.0),
    ("55 percent", "%", None, False, 55.0),
    ("55 per cent", "%", None, False, 55.0),
    ("-30°", "°", None, False, -30.0),
    ("−30 degrees", "degrees", None, False, -30.0),
    ("minus 30 degrees", "degrees", None, False, -30.0),
    ("+45", "degrees", None, False, 45.0),
    ("-12.5", "", None, False, -12.5),
    (".5", "", None, False, 0.5),
    ("1e3", "", None, False, 1000.0),
    ("40 HU", "HU", None, False, 40.0),
    ("60 ml/m2", "ml/m2", None, False, 60.0),
    # separators
    ("1,200", "ml", None, False, 1200.0),
    ("1,234,567.5", "", None, False, 1234567.5),
    ("0,5", "", None, False, 0.5),
    ("12,5 mm", "mm", None, False, 12.5),
    ("0,500", "", None, False, 0.5),
    ("1.234,5", "", None, False, 1234.5),
    ("1.234", "", None, False, 1.234),
    ("12,40", "frame", None, True, None),
    ("1.2.3", "", None, False, None),
    ("12,34,56", "", None, False, None),
    ("1 200 ml", "ml", None, False, None),
    # words around it
    ("about 120 ms", "ms", None, False, 120.0),
    ("approximately 120 ms", "ms", None, False, 120.0),
    ("~120 ms", "ms", None, False, 120.0),
    ("EDV=12", "ml", None, False, 12.0),
    ("EDV: 12 ml", "ml", None, False, 12.0),
    ("QRS - 120 ms", "ms", None, False, 120.0),
    ("frame 12", "frame", None, True, 12.0),
    ("Frame #12", "frame", None, True, 12.0),
    ("Frame 12 (0.4 s)", "frame", None, True, 12.0),
    ("12.0", "frame", None, True, 12.0),
    ("12.4", "frame", None, True, 12.4),
    ("The PR interval is 180 ms.", "ms", None, False, 180.0),
    ("The PR interval in lead V1 is 180 ms.", "ms", None, False, 180.0),
    ("In the 12-lead ECG the PR interval is 180 ms", "ms", None, False, 180.0),
    ("PR 180 ms, rate 75 bpm", "ms", None, False, 180.0),
    ("The QRS is 130 ms (>120 ms)", "ms", None, False, 130.0),
    ("The EF is not 55 but 40%", "%", None, False, 40.0),
    ("Answer: 120 ms", "ms", None, False, 120.0),
    ("First I read 90 ms. Final answer: 120 ms", "ms", None, False, 120.0),
    ("120 ms\nThe normal range is 120-200 ms.", "ms", None, False, 120.0),
    ("<think>90? 95?</think>120", "ms", None, False, 120.0),
    ("<think>120", "ms", None, False, None),
    ('{"answer": 120}', "ms", None, False, 120.0),
    ('{"answer": 0.12, "unit": "s"}', "ms", None, False, 120.0),
    ("\\boxed{120}", "ms", None, False, 120.0),
    # words for numbers
    ("twelve", "", None, True, 12.0),
    ("Twelve ms", "ms", None, False, 12.0),
    ("zero", "", None, True, 0.0),
    ("twenty-five", "", None, True, None),
    ("twenty five", "", None, True, None),
    ("a hundred and twenty", "ms", None, False, None),
    ("two point five", "", None, False, None),
    ("twelfth", "", None, True, None),
    # ranges
    ("120-130 ms", "ms", None, False, None),
    ("120-130 ms", "ms", 4.0, False, None),
    ("120-130 ms", "ms", 5.0, False, 125.0),
    ("120 ms - 130 ms", "ms", 10.0, False, 125.0),
    ("120ms-130ms", "ms", None, False, None),
    ("between 120 and 130 ms", "ms", 5.0, False, 125.0),
    ("120 to 130 ms", "ms", 5.0, False, 125.0),
    ("0.12-0.13 s", "ms", 5.0, False, 125.0),
    ("120 ± 5 ms", "ms", 5.0, False, 120.0),
    ("120 ± 5 ms", "ms", 1.0, False, None),
    ("130-120 ms", "ms", 50.0, False, None),
    ("not between 120 and 130", "ms", 5.0, False, None),
    # what is not one number
    ("12/40", "frame", None, True, None),
    ("12/12", "frame", None, True, None),
    ("12 / 40", "frame", None, True, None),
    ("frame 12 of 40", "frame", None, True, None),
    ("12:30", "", None, False, None),
    ("12x40", "", None, False, None),
    ("10^3", "", None, False, None),
    ("10²", "", None, False, None),
    ("5½", "", None, False, None),
    ("120, 130 ms", "ms", None, False, None),
    ("120 or 130 ms", "ms", None, False, None),
    ("12 and 14", "", None, True, None),
    ("80 + 40", "ms", None, False, None),
    ("12 ms,14 ms", "ms", None, False, None),
    (">120 ms", "ms", None, False, None),
    ("Above 240ms", "ms", None, False, None),
    ("at least 120 ms", "ms", None, False, None),
    ("less than 120", "ms", None, False, None),
    ("120 ms or more", "ms", None, False, None),
    ("120+", "ms", None, False, None),
    ("120?", "ms", None, False, None),
    ("not 120", "ms", None, False, None),
    ("120 mm", "ms", None, False, None),
    ("120x", "ms", None, False, None),
    ("axis-30", "degrees", None, False, None),
    ("3 leads", "", None, True, 3.0),
    ("3 ms", "", None, True, 3.0),
    ("V1", "", None, True, None),
    ("III", "", None, True, None),
    ("NaN", "", None, False, None),
    ("inf", "", None, False, None),
    ("1e400", "", None, False, None),
    ("٣", "", None, False, None),
    ("", "ms", None, False, None),
    ("I cannot measure it.", "ms", None, False, None),
    # units that are not known, and prefixes
    ("0.071 kbpm", "bpm", None, False, None),
    ("0.071kbpm", "bpm", None, False, None),
    ("The rate is 0.071 kbpm.", "bpm", None, False, None),
    ("0.071 kilo bpm", "bpm", None, False, None),
    ("0.071 kilobpm", "", None, False, None),
    ("71 Mbpm", "bpm", None, False, None),
    ("0.0012 kHz", "bpm", None, False, 72.0),
    ("120000 microseconds", "ms", None, False, 120.0),
    ("0.001 h", "s", None, False, 3.6),
    ("0.0011 V", "mV", None, False, 1.1),
    ("1.2 dl", "ml", None, False, 120.0),
    ("2 days", "ms", None, False, None),
    ("45 inches", "mm", None, False, None),
    ("16 kPa", "mmHg", None, False, None),
    ("71 smoots", "bpm", None, False, None),
    ("71 approximately", "bpm", None, False, 71.0),
    ("12 ms is the duration", "ms", None, False, 12.0),
    ("71 on this tracing", "bpm", None, False, 71.0),
    ("0.071 kbpm, that is 71 bpm", "bpm", None, False, 71.0),
]


@pytest.mark.parametrize(("text", "unit", "tolerance", "whole", "expected"), CASES)
def test_a_number_is_read_or_left_unreadable(
    text: str, unit: str, tolerance: float | None, whole: bool, expected: float | None
) -> None:
    assert read(text, unit, tolerance, whole=whole) == expected


@given(st.text(max_size=200), st.sampled_from(["", "ms", "frame", "%", "ml/min"]), st.sampled_from([None, 0.0, 5.0]))
def test_no_text_raises(text: str, unit: str, tolerance: float | None) -> None:
    read(text, unit, tolerance, whole=False)


@given(st.text(alphabet="0123456789 .,-+/e%msx±()=\nontwe", max_size=40))
def test_no_soup_of_digits_raises_or_is_read_as_something_that_is_not_finite(text: str) -> None:
    value = read(text, "ms", 5.0, whole=False)
    assert value is None or abs(value) < float("inf")


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e6, max_value=1e6))
@pytest.mark.parametrize("form", ["{}", "{} ms", "**{}ms**.", "about {} ms", "Answer: {}", "The PR interval is {} ms."])
def test_a_rendered_number_reads_back(form: str, value: float) -> None:
    assert read(form.format(repr(value)), "ms", None, whole=False) == value


@given(st.text(alphabet=st.characters(exclude_categories=["Nd", "No", "Nl", "L"]), max_size=100))
def test_a_text_without_digits_or_letters_states_no_number(text: str) -> None:
    assert read(text, "ms", 5.0, whole=False) is None


@pytest.mark.parametrize(
    "piece",
    ["9", "1,", "1.", "-", "1 ", "1-", "1e", " or ", "not ", "one ", "+-", "1/", "(", "Answer: ", "<think>", "½"],
)
def test_a_megabyte_of_anything_is_read_to_its_end(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    read(text, "ms", 5.0, whole=False)
    read(text[:4_000], "ms", 5.0, whole=False)
