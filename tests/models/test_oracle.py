from __future__ import annotations

import dataclasses

import pytest

from overread.errors import BadInput
from overread.models import oracle
from overread.models.contract import Setting


def fitted(exam, **options):
    model = oracle.load(Setting("oracle", options=options))
    model.fit(exam.tables())
    return model


def test_the_answer_follows_the_key_through_a_change_of_order(new_exam):
    exam = new_exam()
    exam.add("phantoms/1", ({"options": ("A", "B", "C"), "many": True}, ("C", "A")))
    model = fitted(exam)
    assert exam.answers(model)["d0q0"].choice == (0, 2)
    exam.questions["d0q0"] = dataclasses.replace(exam.questions["d0q0"], options=("B", "C", "A"))
    assert exam.answers(model)["d0q0"].choice == (1, 2)


def test_numbers_and_texts_are_the_keys(new_exam):
    exam = new_exam()
    number = {"kind": "number", "low": 0.0, "high": 99.0}
    exam.add("phantoms/1", (number, 41.5), ({"kind": "text"}, ("A normal heart.",)))
    answers = exam.answers(fitted(exam))
    assert answers["d0q0"].number == 41.5
    assert answers["d0q1"].text == "A normal heart."


def test_real_patients_are_refused_without_naming_them(new_exam):
    exam = new_exam()
    exam.add("phantoms/1", ({"options": ("A", "B")}, ("A",)))
    exam.add("hospital/secret-77", ({"options": ("A", "B")}, ("A",)))
    with pytest.raises(BadInput) as caught:
        fitted(exam)
    assert "hospital" in str(caught.value) and "anywhere=true" in str(caught.value)
    assert "secret-77" not in str(caught.value)
    with pytest.raises(BadInput):
        fitted(exam, anywhere="false")
    assert exam.answers(fitted(exam, anywhere="true"))["d1q0"].choice == (0,)


def test_a_key_that_is_not_among_the_options_fails_and_a_missing_key_is_refused(new_exam):
    exam = new_exam()
    exam.add("phantoms/1", ({"options": ("A", "B")}, ("Z",)), ({"options": ("A", "B")}, ("A",)))
    key = exam.key.pop("d0q1")
    model = fitted(exam)
    exam.key["d0q1"] = key
    answers = exam.answers(model)
    assert answers["d0q0"].status == "failed" and "not among" in answers["d0q0"].reason
    assert answers["d0q1"].status == "refused" and answers["d0q1"].choice is None


def test_bad_settings_are_named():
    for options in ({"anywhere": "maybe"}, {"anywher": "true"}):
        with pytest.raises(BadInput, match="anywher"):
            oracle.load(Setting("oracle", options=options))
    with pytest.raises(BadInput, match="draw"):
        oracle.load(Setting("oracle", "draw"))
    identities = [oracle.load(Setting("oracle", options={"anywhere": a})).identity() for a in ("true", "false")]
    assert identities[0] != identities[1]
